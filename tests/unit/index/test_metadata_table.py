"""What is offered of a metadata table, and what is refused with a word on what to do."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.open import IndexedTable, open_table
from tests.golden.unpack import unpack


def test_an_index_in_flight_is_offered_to_nobody(tmp_path: Path) -> None:
    table = _changed(
        tmp_path,
        lambda text: text.replace(
            "hoodie.table.metadata.partitions=bloom_filters,column_stats,files,partition_stats,record_index,",
            "hoodie.table.metadata.partitions.inflight=record_index\n"
            "hoodie.table.metadata.partitions=bloom_filters,column_stats,files,partition_stats,",
        ),
    )

    with pytest.raises(Contradiction, match="record_index is in flight"):
        open_table(str(table)).index("record_index")


def test_an_index_that_is_not_listed_is_not_read_though_its_files_are_there(tmp_path: Path) -> None:
    table = _changed(tmp_path, lambda text: text.replace(",record_index", ""))

    with pytest.raises(NotFound, match="complete are: bloom_filters, column_stats, files"):
        open_table(str(table)).index("record_index")


def test_an_index_with_a_shard_missing_is_refused_because_keys_would_be_sought_in_wrong_shards(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    for file in (table / ".hoodie/metadata/secondary_index_by_celsius").glob("*-0004-0_*"):
        file.unlink()

    with pytest.raises(Contradiction, match=r"shards \[0, 1, 2, 3, 5, 6, 7, 8, 9\], expected 0 to 9"):
        open_table(str(table)).index("secondary_index_by_celsius")


def test_an_index_without_any_file_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    shutil.rmtree(table / ".hoodie/metadata/record_index")

    with pytest.raises(Contradiction, match="has no shards"):
        open_table(str(table)).index("record_index")


def test_a_snapshot_whose_last_shard_was_cleaned_away_is_refused_and_not_taken_for_a_smaller_index(
    tmp_path: Path,
) -> None:
    path = unpack("v9_mor_indexed", tmp_path)
    table = open_table(str(path))

    folder = path / ".hoodie/metadata/record_index"
    for file in folder.glob("*record-index-0001-0_*"):
        file.unlink()
    (folder / "record-index-0001-0_0-9-9_20991231000000000.hfile").touch()

    with pytest.raises(Contradiction, match=r"record-index-0001-0.*Open the table again"):
        table.index("record_index")


def test_properties_that_an_update_left_in_their_backup_only_are_found(tmp_path: Path) -> None:
    path = unpack("v9_mor_indexed", tmp_path)
    properties = path / ".hoodie/metadata/.hoodie/hoodie.properties"
    properties.rename(properties.with_name("hoodie.properties.backup"))

    found = open_table(str(path)).index("record_index").locate(["r-0"])

    assert len(found) == 1


def test_a_log_that_grew_within_one_tick_of_the_clock_is_not_taken_from_the_cache(tmp_path: Path) -> None:
    path = unpack("v6_mor_record_index_large", tmp_path)
    folder = path / ".hoodie/metadata/record_index"
    first, *later = sorted(folder.glob(".record-index-0000-0_20261118151433090001.log.*"))
    appended = b"".join(file.read_bytes() for file in later)
    for file in later:
        file.unlink()
    os.utime(first, (1, 1))
    table = open_table(str(path))
    before = _count(table)

    with first.open("ab") as log:
        log.write(appended)
    os.utime(first, (1, 1))

    assert _count(table.refreshed()) == _count(open_table(str(path))) != before


_NO_TEXTS = ([1], [b"\xff"], ["\ud800"], [None], pa.array([b"\xff"]), pa.array([["a"]]))


@pytest.mark.parametrize("keys", _NO_TEXTS, ids=range(len(_NO_TEXTS)))
def test_what_is_no_text_is_refused_as_a_record_key(keys: Any, tmp_path: Path) -> None:
    index = open_table(str(unpack("v9_mor_indexed", tmp_path))).index("record_index")

    with pytest.raises(Unsupported, match="record key"):
        index.locate(keys)


def _count(table: IndexedTable) -> int:
    return sum(map(len, table.index("record_index").index.scan()))


def _changed(folder: Path, change: Callable[[str], str]) -> Path:
    """A table whose properties say something else of its indexes."""
    table = unpack("v9_mor_indexed", folder)
    properties = table / ".hoodie/hoodie.properties"
    before = properties.read_text()
    properties.write_text(change(before))
    assert properties.read_text() != before
    return table


def test_a_secondary_index_without_a_definition_is_refused_because_its_keys_could_be_anywhere(tmp_path: Path) -> None:
    table = unpack("v9_mor_indexed", tmp_path)
    (table / ".hoodie/.index_defs/index.json").unlink()

    with pytest.raises(Contradiction, match="no definition says of which column"):
        open_table(str(table)).index("secondary_index_by_celsius")
