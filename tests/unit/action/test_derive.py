"""What an index lacks is found by the data alone: each entry that is missing or leads elsewhere, and no other."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.action.derive import Changes, derive, touched
from hudi_engine.action.keeping import Question
from hudi_engine.action.reading import Group, Reading
from hudi_engine.action.shard_changes import in_parts, is_in_effect, shard_changes, still_holds
from hudi_engine.errors import Contradiction
from hudi_engine.table.contents import CommitMetadata, WriteStat
from hudi_engine.table.zone import to_ms
from tests.golden.unpack import unpack
from tests.kit.damaged import change_entry, remove_entry, shard_number
from tests.unit.action.builds import reading_of

LAST = "9" * 17
GOLDEN = [
    "v6_cow_indexed",
    "v6_mor_strange_keys",
    "v8_mor_indexed",
    "v9_cow_partitioned_record_index",
    "v9_mor_indexed",
    "v9_mor_pending_rolled_back",
]
GLOBAL = [name for name in GOLDEN if "partitioned" not in name]


def groups_of(reading: Reading) -> frozenset[Group]:
    return frozenset((each.partition, each.file_id) for each in reading.metadata.data.snapshot().slices)


def ask(reading: Reading, groups: Iterable[Group] | None = None) -> Changes:
    return derive(reading, Question(LAST, frozenset(groups_of(reading) if groups is None else groups)))


def entries_of(reading: Reading) -> list[dict[str, Any]]:
    return [row for rows in reading.index.scan() for row in rows.to_pylist()]


def keys_of(rows: pa.Table) -> list[str]:
    return sorted(key.decode() for key in rows["key"].to_pylist())


def some_keys(table: Path) -> list[str]:
    """Keys that are in the index once, of different file groups."""
    entries = entries_of(reading_of(table))
    names = [each["key"] for each in entries]
    once = [each for each in entries if names.count(each["key"]) == 1]
    return sorted({each["file_id"]: each["key"] for each in once}.values())


@pytest.mark.parametrize("name", GOLDEN)
def test_a_whole_index_lacks_nothing(name: str, tmp_path: Path) -> None:
    found = ask(reading_of(unpack(name, tmp_path)))

    assert found.count == 0
    assert found.looked_at > 0


@pytest.mark.parametrize("name", GOLDEN)
def test_each_entry_that_was_removed_is_put_back_as_it_was(name: str, tmp_path: Path) -> None:
    table = unpack(name, tmp_path)
    lost = some_keys(table)
    was = {each["key"]: (each["partition"], each["file_id"]) for each in entries_of(reading_of(table))}
    for key in lost:
        remove_entry(table, "record_index", key)

    found = ask(reading_of(table))

    assert keys_of(found.puts) == lost
    assert not len(found.deletes)
    puts = found.puts.to_pylist()
    assert {put["key"].decode(): (put["partition"], put["file_id"]) for put in puts} == {key: was[key] for key in lost}


@pytest.mark.parametrize("name", GLOBAL)
def test_an_entry_that_leads_elsewhere_is_put_right(name: str, tmp_path: Path) -> None:
    table = unpack(name, tmp_path)
    key = some_keys(table)[0]

    def led_astray(entry: dict[str, Any]) -> None:
        location = entry["recordIndexMetadata"]
        fields = location[1] if isinstance(location, tuple) else location
        fields["fileIdHighBits"] += 1

    change_entry(table, "record_index", key, led_astray)

    found = ask(reading_of(table))

    assert keys_of(found.puts) == [key]


def test_the_instant_of_a_location_is_that_of_its_slice(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    key = some_keys(table)[0]
    remove_entry(table, "record_index", key)
    reading = reading_of(table)

    (put,) = ask(reading).puts.to_pylist()

    found = reading.slice_of((put["partition"], put["file_id"]))
    assert found is not None
    assert put["instant_ms"] == to_ms(found.base_instant, reading.metadata.data.zone)


def test_file_groups_that_were_not_touched_are_not_looked_at(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    for key in some_keys(table):
        remove_entry(table, "record_index", key)
    reading = reading_of(table)
    (first, *_) = sorted(groups_of(reading))

    found = ask(reading, [first])

    assert found.slices.keys() == {first}
    assert {(put["partition"], put["file_id"]) for put in found.puts.to_pylist()} == {first}


def test_a_key_with_rows_in_two_partitions_is_refused_with_an_example(tmp_path: Path) -> None:
    table = unpack("v9_cow_partitioned_record_index", tmp_path)
    by_partition = reading_of(table)
    keys = [each["key"] for each in entries_of(by_partition)]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    assert twice, "the golden table has no key in two partitions"
    every = [shard for group in by_partition.index.groups.values() for shard in group]
    as_one = replace(by_partition, index=replace(by_partition.index, groups={None: tuple(every)}))

    with pytest.raises(Contradiction, match="have several rows") as refused:
        ask(as_one)

    assert any(repr(key) in str(refused.value) for key in twice)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_change_goes_to_the_shard_where_its_key_is_sought(name: str, tmp_path: Path) -> None:
    table = unpack(name, tmp_path)
    lost = some_keys(table)
    for key in lost:
        remove_entry(table, "record_index", key)
    reading = reading_of(table)

    shards = shard_changes(reading, ask(reading))

    written = {key.decode(): file_id for file_id, change in shards.items() for key in change.puts["key"].to_pylist()}
    assert sorted(written) == lost
    for key, file_id in written.items():
        (group,) = [each for each in reading.index.groups.values() if file_id in _file_ids(each)]
        assert _file_ids(group)[shard_number(key, len(group))] == file_id


def test_parts_have_each_change_once_and_hold_as_the_whole_does(tmp_path: Path) -> None:
    table = unpack("v9_mor_strange_keys", tmp_path)
    lost = some_keys(table)
    for key in lost:
        remove_entry(table, "record_index", key)
    reading = reading_of(table)
    whole = ask(reading)

    parts = list(in_parts(whole, 1))

    assert sorted(key for part in parts for key in keys_of(part.puts)) == lost
    assert all(still_holds(reading_of(table), part) for part in parts)
    assert not any(is_in_effect(reading, part) for part in parts)


def test_changes_no_longer_hold_once_their_entries_are_there(tmp_path: Path) -> None:
    table, whole_table = unpack("v9_mor_indexed", tmp_path), unpack("v9_mor_indexed", tmp_path / "whole")
    remove_entry(table, "record_index", some_keys(table)[0])
    found = ask(reading_of(table))

    assert still_holds(reading_of(table), found)
    assert not still_holds(reading_of(whole_table), found)


def test_commits_touch_what_they_write_and_what_they_replace() -> None:
    stats = (WriteStat("p1", "f1", "p1/f1", 1, 0, 0, 0, 1), WriteStat("p1", "", "", 0, 0, 0, 0, 0))

    found = touched(
        [CommitMetadata("UPSERT", stats), CommitMetadata("DELETE_PARTITION", replaced={"p2": ("f2", "f3")})]
    )

    assert found == {("p1", "f1"), ("p2", "f2"), ("p2", "f3")}


def _file_ids(group: Iterable[Any]) -> list[str]:
    return [shard.file_slice.file_id for shard in group]
