"""The harness itself, of indexes: what the other tests lean on when they believe Java's answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.expected_indexes import expected_indexes
from tests.golden.unpack import unpack
from tests.interop.readable import one_release
from tests.java.jvm import Jvm
from tests.kit.soak import and_in_soak


@one_release
def test_each_release_finds_the_same_in_the_indexes_of_a_table_of_version_6(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_cow_indexed", tmp_path))

    counts = real_hudi.metadata_entries(table=table, out=str(tmp_path / "out"))

    found = {name: read_lines(tmp_path / "out" / f"{name}.jsonl") for name in counts}
    assert found == expected_indexes("v6_cow_indexed")


@one_release
def test_the_entries_of_files_are_what_java_lists(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_mor_journeys", tmp_path))
    real_hudi.metadata_entries(table=table, out=str(tmp_path / "out"))

    found: dict[str, dict[str, int]] = {}
    for entry in read_lines(tmp_path / "out/files.jsonl"):
        found.setdefault(entry["key"], {})[entry["name"]] = entry["size_bytes"]

    partitions = found.pop("__all_partitions__")
    assert found == real_hudi.listed_files(table=table)
    assert set(partitions) == set(found)


@one_release
def test_java_looks_up_the_keys_that_there_are_and_no_others(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_cow_indexed", tmp_path))
    expected = expected_indexes("v6_cow_indexed")["record_index"]
    absent = ["", "s", "s-0", "s-000", "s-03", "\0", "\ud800", "😀", "\uffff", "x" * 30_000]
    (tmp_path / "keys.json").write_text(json.dumps([*absent, *(entry["key"] for entry in expected)]))

    real_hudi.metadata_lookup(table=table, keys_file=str(tmp_path / "keys.json"), out=str(tmp_path / "found"))

    located = [{name: entry[name] for name in ("key", "partition", "file_id", "instant")} for entry in expected]
    assert read_lines(tmp_path / "found") == located


@one_release
def test_java_tags_records_with_where_their_keys_are(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_cow_indexed", tmp_path))
    by_key = {entry["key"]: entry for entry in expected_indexes("v6_cow_indexed")["record_index"]}

    tagged = real_hudi.tag(table=table, keys=["s-00", "s-41", "new"], partitions=["hall", "hall", "hall"])

    new = {"key": "new", "partition": "hall", "file_id": None, "instant": None}
    assert tagged == [new, *({name: by_key[key][name] for name in new} for key in ("s-00", "s-41"))]


@pytest.mark.parametrize("version", and_in_soak(["1.2.0"], ["1.0.2", "1.1.1"]))
def test_java_finds_the_records_of_a_secondary_value(version: str, jvm: Callable[[str], Jvm], tmp_path: Path) -> None:
    table = str(unpack("v8_mor_indexed", tmp_path))

    found = jvm(version).secondary_lookup(table=table, index="secondary_index_by_celsius", values=["0.2", "9.1", "9"])

    assert found == [["0.2", ["s-00"]], ["9.1", ["s-09"]], ["9", []]]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
