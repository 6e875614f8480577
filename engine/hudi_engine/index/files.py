"""Which partitions and files a table has, without listing a folder: what a user asks of the `files` index."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.index.index import Index
from hudi_engine.index.keys import ALL_PARTITIONS
from hudi_engine.index.name_ids import partition_identifier, partition_of_identifier
from hudi_engine.storage.protocol import FileStat

FILES = pa.schema([("partition", pa.string()), ("name", pa.string()), ("size_bytes", pa.int64())])


def partitions(index: Index) -> list[str]:
    """The partitions that the table has, in order; the empty path alone for a table without partitions."""
    found = index.find(pa.array([ALL_PARTITIONS]))["name"].drop_null().to_pylist()
    return sorted(map(partition_of_identifier, found)) if len(found) == 1 else sorted(found)


def files_of(index: Index, partition: str) -> pa.Table:
    """The files of a partition by the schema FILES, in order of their names; none if there is no such partition."""
    rows = _rows_of(index, [partition])
    return pa.table([pa.repeat(pa.scalar(partition), len(rows)), rows["name"], rows["size_bytes"]], schema=FILES)


def listings(index: Index) -> Mapping[str, tuple[FileStat, ...]]:
    """Every partition with its files, as a listing of its folder would show them but for their times."""
    named = {partition_identifier(partition): partition for partition in partitions(index)}
    # One search for all of them: each would read, unpack and merge the same few blocks and logs anew.
    found: dict[str, list[FileStat]] = {partition: [] for partition in named.values()}
    for row in _rows_of(index, list(named.values())).to_pylist():
        partition = named[row["key"]]
        found[partition].append(_stat(partition, row))
    return {partition: tuple(files) for partition, files in found.items()}


def listing_of(index: Index, partition: str) -> tuple[FileStat, ...]:
    """The files of one partition, in order of their names."""
    return tuple(_stat(partition, row) for row in _rows_of(index, [partition]).to_pylist())


def _rows_of(index: Index, named: Sequence[str]) -> pa.Table:
    """The rows of these partitions that are files, in order of their names."""
    keys = pa.array([partition_identifier(partition) for partition in named], pa.string())
    return index.find(keys).filter(pc.field("name").is_valid()).sort_by("name")


def _stat(partition: str, row: Mapping[str, Any]) -> FileStat:
    return FileStat(f"{partition}/{row['name']}".lstrip("/"), row["size_bytes"], 0)
