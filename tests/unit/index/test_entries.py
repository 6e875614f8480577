"""Values of a record index are those that real Hudi writes, and its readers' schema is the one that it stores."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction
from hudi_engine.format.hfile.read import HFile, read_hfile
from hudi_engine.index.entries import WRITTEN_SCHEMA, value_of
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of
from tests.golden.unpack import unpack

TABLES = {6: "v6_cow_indexed", 8: "v8_mor_indexed", 9: "v9_mor_indexed"}
each_version = pytest.mark.parametrize("version", TABLES)
COLUMNS = ("partition", "file_id", "instant_ms")
file_ids = st.one_of(
    st.uuids().map(str),
    st.builds(lambda uuid, number: f"{uuid}-{number}", st.uuids(), st.integers(0, 2**31 - 1)),
    st.builds(
        lambda uuid, end: f"{uuid}-{end}", st.uuids(), st.sampled_from(["", "-1", "00", "2147483648", "x", "1-1"])
    ),
    st.uuids().map(lambda uuid: str(uuid).upper()),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)


@pytest.fixture(scope="module")
def written_by_java(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[HFile]]:
    """The HFiles of a record index that 0.15.0, 1.0.2 and 1.2.0 wrote."""
    folder = tmp_path_factory.mktemp("golden")
    return {version: hfiles(unpack(name, folder / name)) for version, name in TABLES.items()}


def hfiles(table: Path) -> list[HFile]:
    paths = sorted((table / ".hoodie/metadata/record_index").glob("*.hfile"))
    return [read_hfile(path.read_bytes(), 1) for path in paths]


def decoded(value: bytes, version: int) -> dict[str, Any]:
    entries = pa.table({"key": pa.array([b"k"], pa.large_binary()), "value": pa.array([value], pa.large_binary())})
    (row,) = family_of(IndexKind.RECORD_INDEX).decode(entries, WRITTEN_SCHEMA[version]).to_pylist()
    return dict(row)


@each_version
def test_the_schema_is_that_of_files_by_java(version: int, written_by_java: dict[int, list[HFile]]) -> None:
    for file in written_by_java[version]:
        assert json.loads(WRITTEN_SCHEMA[version]) == without_comments(json.loads(file.info["schema"]))


def without_comments(tree: Any) -> Any:
    match tree:
        case dict():
            return {key: without_comments(value) for key, value in tree.items() if key != "doc"}
        case list():
            return [without_comments(item) for item in tree]
        case _:
            return tree


@each_version
def test_values_are_those_of_java_to_the_byte_but_for_the_file_name_that_compaction_adds(
    version: int, written_by_java: dict[int, list[HFile]]
) -> None:
    checked = 0
    for file in written_by_java[version]:
        rows = family_of(IndexKind.RECORD_INDEX).decode(file.entries, file.info["schema"].decode())
        for row, value in zip(rows.to_pylist(), file.entries["value"].to_pylist(), strict=True):
            ours = value_of(row["partition"], row["file_id"], row["instant_ms"], version)
            # Four meta columns are null; the fifth has the name of the HFile, behind its branch and its length.
            assert value[:5] == b"\0\0\0\0\2"
            assert ours[:5] == bytes(5)
            name_bytes = value[5] >> 1
            assert ours[5:] == value[6 + name_bytes :]
            checked += 1
    assert checked >= 18


@each_version
@given(
    partition=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    file_id=file_ids,
    instant_ms=st.integers(-(2**62), 2**62),
)
def test_whatever_a_file_group_is_called_its_name_is_read_back(
    version: int, partition: str, file_id: str, instant_ms: int
) -> None:
    row = decoded(value_of(partition, file_id, instant_ms, version), version)

    assert tuple(row[name] for name in COLUMNS) == (partition, file_id, instant_ms)


def test_the_name_of_a_uuid_takes_fewer_bytes_than_the_name_as_it_is() -> None:
    as_numbers = value_of("p", "4c5cb1c9-5f8c-4f5e-9a3b-000000000001-0", 1, 9)
    as_it_is = value_of("p", "4c5cb1c9-5f8c-4f5e-9a3b-000000000001-x", 1, 9)

    assert b"4c5cb1c9" not in as_numbers
    assert b"4c5cb1c9" in as_it_is


def test_a_table_version_that_is_not_written_is_refused() -> None:
    with pytest.raises(Contradiction, match="table version 7"):
        value_of("p", "f", 1, 7)
