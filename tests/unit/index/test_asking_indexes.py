"""What a user asks of the other indexes, of tables that real Hudi wrote."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hudi_engine.index import bloom_filters, column_stats, files, secondary_index
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.open import open_table
from tests.golden.unpack import unpack

pytestmark = pytest.mark.thorough

INDEXED = ("v6_cow_indexed", "v8_mor_indexed", "v9_mor_indexed")
COLUMNS = {"sensor": pa.string(), "seen": pa.int32(), "celsius": pa.float64()}


@pytest.fixture(scope="module", params=[*INDEXED, "v6_mor_journeys", "v9_mor_journeys", "v9_mor_upgraded"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(request.param, tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module", params=INDEXED)
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(request.param, tmp_path_factory.mktemp("golden"))


def metadata_of(base: Path) -> MetadataTable:
    return open_table(str(base)).metadata


def all_files(metadata: MetadataTable) -> pa.Table:
    index = metadata.index("files")
    return pa.concat_tables([files.files_of(index, each) for each in files.partitions(index)])


def base_files(base: Path) -> list[tuple[str, pa.Table]]:
    listed = all_files(metadata_of(base)).to_pylist()
    return [
        (each["name"], pq.read_table(base / each["partition"] / each["name"], partitioning=None))
        for each in listed
        if each["name"].endswith(".parquet")
    ]


def test_files_are_those_that_lie_in_the_folders(base: Path) -> None:
    listed = all_files(metadata_of(base)).to_pylist()

    lying = [
        path
        for path in base.rglob("*")
        if path.is_file()
        and ".hoodie" not in path.relative_to(base).parts
        and not path.name.startswith(".hoodie")
        and not path.name.endswith(".crc")
    ]
    assert {(base / each["partition"] / each["name"], each["size_bytes"]) for each in listed} == {
        (path, path.stat().st_size) for path in lying
    }


def test_partitions_listed_together_have_the_files_that_each_has_alone(base: Path) -> None:
    index = metadata_of(base).index("files")

    assert files.listings(index) == {each: files.listing_of(index, each) for each in files.partitions(index)}


def test_an_unknown_partition_has_no_files(base: Path) -> None:
    assert len(files.files_of(metadata_of(base).index("files"), "nowhere")) == 0


@pytest.mark.parametrize("column", COLUMNS)
def test_every_base_file_that_holds_a_value_is_among_those_that_may(indexed: Path, column: str) -> None:
    metadata = metadata_of(indexed)
    candidates, stored = all_files(metadata), base_files(indexed)
    values = {value for _, rows in stored for value in rows[column].drop_null().to_pylist()}

    for value in values:
        wanted = column_stats.equal_to(pa.field(column, COLUMNS[column]), value)
        found = column_stats.files_that_may_hold(metadata.index("column_stats"), candidates, wanted)
        holding = {name for name, rows in stored if value in rows[column].to_pylist()}
        assert holding <= set(found["name"].to_pylist()), value


@pytest.mark.parametrize(("column", "value"), [("sensor", "zz"), ("seen", -1), ("celsius", 1e9)])
def test_base_files_whose_bounds_exclude_a_value_are_left_out(indexed: Path, column: str, value: Any) -> None:
    metadata = metadata_of(indexed)
    wanted = column_stats.equal_to(pa.field(column, COLUMNS[column]), value)

    found = column_stats.files_that_may_hold(metadata.index("column_stats"), all_files(metadata), wanted)

    assert not [name for name in found["name"].to_pylist() if name.endswith(".parquet")]


def test_files_without_statistics_stay_in(indexed: Path) -> None:
    unknown = pa.table({"partition": ["hall", "elsewhere"], "name": ["new.parquet", "b.parquet"]})
    wanted = column_stats.equal_to(pa.field("sensor", pa.string()), "zz")

    found = column_stats.files_that_may_hold(metadata_of(indexed).index("column_stats"), unknown, wanted)

    assert found == unknown


@pytest.mark.parametrize("name", INDEXED[1:])
def test_partitions_whose_bounds_exclude_a_value_are_left_out(name: str, tmp_path: Path) -> None:
    index = metadata_of(unpack(name, tmp_path)).index("partition_stats")

    def asked(column: str, value: Any) -> list[str]:
        wanted = column_stats.equal_to(pa.field(column, COLUMNS[column]), value)
        return column_stats.partitions_that_may_hold(index, ["attic", "hall", "new"], wanted)

    assert asked("celsius", 2.3) == ["hall", "new"]
    assert asked("sensor", "s-01") == ["hall", "new"]
    assert asked("sensor", "zz") == ["new"]
    assert asked("seen", -1) == ["new"]


def test_filters_name_every_base_file_that_holds_a_key_and_few_others(indexed: Path) -> None:
    metadata, stored = metadata_of(indexed), base_files(indexed)
    candidates = all_files(metadata).filter(pc.ends_with(all_files(metadata)["name"], ".parquet"))
    keys = pa.array(["s-00", "s-01", "s-05", "nowhere", ""])

    found = bloom_filters.files_that_may_hold_keys(metadata.index("bloom_filters"), candidates, keys)

    pairs = {(row["key"], row["name"]) for row in found.to_pylist()}
    holding = {
        (key, name)
        for name, rows in stored
        for key in rows["_hoodie_record_key"].to_pylist()
        if key in keys.to_pylist()
    }
    assert holding <= pairs
    assert not [key for key, _ in pairs if key == "nowhere"]
    assert len([key for key, _ in pairs if key == ""]) == len(candidates)


def test_a_file_without_a_filter_may_hold_any_key(indexed: Path) -> None:
    log = pa.table({"partition": ["hall"], "name": [".a.log.1"]})

    found = bloom_filters.files_that_may_hold_keys(metadata_of(indexed).index("bloom_filters"), log, pa.array(["k"]))

    assert found.to_pylist() == [{"key": "k", "partition": "hall", "name": ".a.log.1"}]


@pytest.mark.parametrize("name", INDEXED[1:])
def test_a_secondary_value_has_the_keys_of_the_rows_that_have_it(name: str, tmp_path: Path) -> None:
    opened = open_table(str(unpack(name, tmp_path)))
    index = opened.metadata.index("secondary_index_by_celsius")
    table = opened.table
    reader = table.rows(table.snapshot(), ["sensor", "celsius"])
    rows = [row for part in reader.tables() for row in part.to_pylist()]

    found = secondary_index.record_keys(index, sorted({str(row["celsius"]) for row in rows} | {"2", "2.", "nothing"}))

    assert sorted((row["value"], row["key"]) for row in found.to_pylist()) == sorted(
        (str(row["celsius"]), row["sensor"]) for row in rows if row["celsius"] is not None
    )
