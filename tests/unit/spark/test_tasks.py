"""What a tagging's tasks do, without Spark: its shuffle and its sort are played by Arrow."""

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hudi_engine.errors import NotFound, Unsupported
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.open import open_table
from hudi_engine.spark.shipped import ShippedIndex, shipped
from hudi_engine.spark.tasks import TAGS, TICKET, Lookup, Tagging, Ticketing
from hudi_engine.table.file_view import FileSlice
from tests.golden.expected_indexes import expected_indexes
from tests.golden.unpack import unpack

GOLDEN = Path(__file__).parents[2] / "golden"
WITH_RECORD_INDEX = sorted(
    path.parent.name
    for path in GOLDEN.glob("*/indexes.json.gz")
    if "record_index" in expected_indexes(path.parent.name)
)


@pytest.mark.parametrize("name", WITH_RECORD_INDEX)
def test_every_key_is_tagged_as_the_index_says(name: str, tmp_path: Path) -> None:
    table = open_table(str(unpack(name, tmp_path)))
    entries = pa.concat_tables(table.index("record_index").index.scan())
    keys, partitions = entries["key"].to_pylist(), entries["partition"].to_pylist()
    rows = pa.table({"key": [*keys, *(f"{key}?" for key in keys)], "partition": partitions * 2})

    tagged = _tagged(Lookup(shipped(table, {}), 0, 1, len(keys)), rows)

    found = tagged.filter(pc.is_valid(tagged["file_id"]))
    assert _set(found.select([0, "file_id"])) == _set(entries.select(["key", "file_id"]))
    assert len(found) == len(keys)
    assert found.column(2).equals(found.column(1))
    assert len(tagged) == len(rows)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return unpack("v9_mor_indexed", tmp_path)


def _lookup(table: Path, at_once: int = 100) -> Lookup:
    return Lookup(shipped(open_table(str(table)), {}), 0, None, at_once)


def test_a_key_that_is_null_or_new_has_no_tags_and_one_that_comes_twice_has_them_twice(table: Path) -> None:
    rows = pa.table({"key": ["s-00", None, "s-00", "new", ""], "more": [1, 2, 3, 4, 5]})

    tagged = _tagged(_lookup(table), rows).sort_by("more")

    assert tagged.column(0).to_pylist() == rows["key"].to_pylist()
    assert pc.is_valid(tagged["file_id"]).to_pylist() == [True, False, True, False, False]
    assert tagged["file_id"][0] == tagged["file_id"][2]
    assert all(tagged[tag].null_count == 3 for tag in TAGS)


@pytest.mark.parametrize("at_once", [1, 4, 1_000_000])
def test_the_answer_does_not_depend_on_how_many_keys_are_looked_up_at_once(table: Path, at_once: int) -> None:
    rows = pa.table({"key": [f"s-{number:02}" for number in range(60)] * 2})

    assert _set(_tagged(_lookup(table, at_once), rows)) == _set(_tagged(_lookup(table), rows))


def test_rows_of_many_shards_in_one_task_get_the_same_tags(table: Path) -> None:
    rows = pa.table({"key": [f"s-{number:02}" for number in range(60)]})
    lookup = _lookup(table)

    at_once = pa.Table.from_batches(Tagging(lookup)(list(Ticketing(lookup)(rows.to_batches()))))

    assert _set(at_once) == _set(_tagged(lookup, rows))


def test_a_task_reads_no_shard_but_its_own(table: Path) -> None:
    lookup = _lookup(table)
    keys = [f"s-{number:02}" for number in range(60)]
    own = [key for key, number in zip(keys, shard_numbers(pa.array(keys), 2), strict=True) if number == 0]
    _remove(table, "*record-index-0001-*")

    tagged = _tagged(lookup, pa.table({"key": own}))

    assert tagged["file_id"].null_count < len(own)
    with pytest.raises(NotFound, match="record-index-0001-"):
        _tagged(lookup, pa.table({"key": keys}))


def test_no_shard_is_read_for_rows_without_keys(table: Path) -> None:
    lookup = _lookup(table)
    _remove(table, "*record-index-*")

    assert _tagged(lookup, pa.table({"key": pa.array([None, None], pa.string())}))["file_id"].null_count == 2


def test_tasks_see_the_moment_at_which_the_index_was_shipped(table: Path) -> None:
    rows = pa.table({"key": [f"s-{number:02}" for number in range(60)]})
    before, lookup = _tagged(_lookup(table), rows), _lookup(table)
    for timeline in (table / ".hoodie/timeline", table / ".hoodie/metadata/.hoodie/timeline"):
        for file in timeline.glob("*commit*"):
            file.unlink()

    assert _set(_tagged(lookup, rows)) == _set(before)


def test_a_key_that_is_no_text_is_refused(table: Path) -> None:
    broken = pa.array([b"\xff"], pa.binary()).view(pa.string())

    with pytest.raises(Unsupported, match="record key of the dataframe that is no text"):
        _tagged(_lookup(table), pa.table({"key": broken}))


def test_keys_of_a_partition_have_the_places_of_its_shards() -> None:
    keys, index = pa.array([f"k{number}" for number in range(50)]), _by_partition({"a": 3, "b": 1, "c": 3})

    of_b = index.places(keys, pa.array(["b"] * 50))
    of_c = index.places(keys, pa.array(["c"] * 50))

    assert of_b.tolist() == [3] * 50
    assert of_c.tolist() == (4 + shard_numbers(keys, 3)).tolist()
    assert [index.partition_at(place) for place in range(7)] == ["a", "a", "a", "b", "c", "c", "c"]


def test_keys_of_partitions_that_the_index_does_not_have_are_spread_over_all_tasks() -> None:
    keys, index = pa.array([f"k{number}" for number in range(500)]), _by_partition({"a": 3, "b": 1})

    assert set(index.places(keys, pa.array(["new", None] * 250)).tolist()) == {0, 1, 2, 3}


def _by_partition(counts: dict[str | None, int]) -> ShippedIndex:
    slices = {name: tuple(FileSlice("record_index", "", "") for _ in range(count)) for name, count in counts.items()}
    return ShippedIndex("", {}, ZoneInfo("UTC"), frozenset(), slices)


def _tagged(lookup: Lookup, rows: pa.Table) -> pa.Table:
    """What Spark makes of it: a task for each ticket, sorted by key, each with functions that came in a pickle."""
    sent = pickle.dumps((Ticketing(lookup), Tagging(lookup)))
    ticketing, tagging = pickle.loads(sent)
    size = 7 + len(rows) // 10
    ticketed = pa.Table.from_batches(ticketing(rows.to_batches(max_chunksize=size)))
    results: list[pa.RecordBatch] = []
    for ticket in pc.unique(ticketed[TICKET]):
        own = ticketed.filter(pc.equal(ticketed[TICKET], ticket))
        results += tagging(own.take(pc.sort_indices(own.column(0))).to_batches(max_chunksize=size))
    return pa.Table.from_batches(results)


def _set(rows: pa.Table) -> set[tuple[Any, ...]]:
    columns: Iterable[Any] = (column.to_pylist() for column in rows.columns)
    return set(zip(*columns, strict=True))


def _remove(table: Path, shard: str) -> None:
    for file in (table / ".hoodie/metadata/record_index").glob(shard):
        file.unlink()
