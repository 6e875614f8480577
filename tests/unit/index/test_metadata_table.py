"""What is offered of a metadata table, and what is refused with a word on what to do."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.errors import Contradiction, NotFound
from hudi_engine.open import open_table
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


def _changed(folder: Path, change: Callable[[str], str]) -> Path:
    """A table whose properties say something else of its indexes."""
    table = unpack("v9_mor_indexed", folder)
    properties = table / ".hoodie/hoodie.properties"
    before = properties.read_text()
    properties.write_text(change(before))
    assert properties.read_text() != before
    return table
