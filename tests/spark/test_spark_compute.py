"""A record index that Spark builds is the one that threads of one process build, whatever happens to its tasks."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.open import open_table
from tests.golden.unpack import unpack
from tests.spark.conftest import Builder

TABLES = ["v6_mor_record_index_large", "v6_mor_strange_keys", "v8_mor_pending", "v9_cow_orders", "v9_mor_compacted"]


@pytest.mark.parametrize("name", TABLES)
def test_the_files_are_those_of_threads_to_the_byte(name: str, threads: Builder, tmp_path: Path) -> None:
    table = unpack(name, tmp_path)

    ours, expected = (threads.build(how, table) for how in ("spark", "local"))

    assert ours["stored"] == expected["stored"]
    assert ours["files"] == expected["files"]
    assert ours["keys"] == expected["keys"] > 0
    assert ours["said"] == expected["said"] == []


def test_each_partition_has_shards_of_its_own_keys(threads: Builder, tmp_path: Path) -> None:
    table = unpack("v9_cow_partitioned_record_index", tmp_path)

    ours, expected = (threads.build(how, table, is_partitioned=True) for how in ("spark", "local"))

    assert ours["stored"] == expected["stored"]
    assert len(ours["files"]) > 3


def test_with_next_to_no_memory_the_files_are_the_same(threads: Builder, tmp_path: Path) -> None:
    table = unpack("v9_mor_record_index_large", tmp_path)

    ours, expected = (threads.build("spark", table, memory_bytes=size) for size in (20_000, 1 << 28))

    assert ours["stored"] == expected["stored"]
    assert threads.left_behind == []


def test_shards_without_keys_have_no_file(threads: Builder, tmp_path: Path) -> None:
    table = unpack("v9_cow_orders", tmp_path)

    built = threads.build("spark", table, shards=500)

    assert 0 < len(built["files"]) < 500
    assert {path for path, *_ in built["files"].values()} == set(built["stored"])


def test_progress_is_told_up_to_the_last_task_and_key(threads: Builder, tmp_path: Path) -> None:
    table = unpack("v9_mor_record_index_large", tmp_path)

    built = threads.build("spark", table)

    (read, read_tasks, read_steps, read_rows), (written, *shards) = built["phases"]
    assert (read, written) == ("read record keys", "write shards")
    assert read_steps == read_tasks
    assert read_rows <= built["keys"]  # what comes with the last tasks may be told with the next phase, or not at all
    assert shards[:2] == [3, 3]


@pytest.mark.parametrize("is_partitioned", [False, True])
def test_keys_that_are_there_twice_are_refused_with_the_examples_of_threads(
    is_partitioned: bool, threads: Builder, tmp_path: Path
) -> None:
    table = unpack("v9_cow_orders", tmp_path)

    ours, expected = (
        threads.build(how, table, is_partitioned=is_partitioned, is_first_slice_twice=True)
        for how in ("spark", "local")
    )

    assert ours["error"] == "Contradiction"
    assert "record keys have several rows" in ours["said"]
    assert ours["said"] == expected["said"]


def test_the_newest_rows_of_keys_in_two_partitions_are_those_of_threads(threads: Builder, tmp_path: Path) -> None:
    table = unpack("v9_cow_partitioned_record_index", tmp_path)

    ours, expected = (threads.build(how, table, keeps_newest=True) for how in ("spark", "local"))

    assert ours["stored"] == expected["stored"]
    assert ours["duplicates"] == expected["duplicates"] > 0
    # Of a key with three rows and more any two may be the example.
    told = [each["said"][0].partition(": ")[0] for each in (ours, expected)]
    assert told[0] == told[1]
    assert "record keys have several rows" in told[0]


def test_a_row_without_a_key_is_refused_as_by_threads(threads: Builder, tmp_path: Path) -> None:
    table = unpack("v9_cow_orders", tmp_path)
    base = open_table(str(table)).table.snapshot().slices[0].base_file
    assert base is not None
    damaged = table / base.stat.path
    rows = pq.read_table(damaged)
    nothing = pa.nulls(len(rows), pa.string())
    pq.write_table(rows.set_column(2, "_hoodie_record_key", nothing), damaged)

    ours, expected = (threads.build(how, table) for how in ("spark", "local"))

    assert ours["error"] == "CorruptFile"
    assert ours["said"] == expected["said"]
    assert "have no _hoodie_record_key" in ours["said"]


def test_a_shard_whose_task_dies_after_writing_it_has_one_file(cluster: Builder, tmp_path: Path) -> None:
    table = unpack("v9_mor_record_index_large", tmp_path)
    undisturbed = cluster.build("spark", table)
    fault = cluster.faults / "record-index-0001-0"
    fault.touch()

    built = cluster.build("spark", table)

    assert not fault.exists()
    assert built["stored"] == undisturbed["stored"]
    assert built["files"] == undisturbed["files"]
