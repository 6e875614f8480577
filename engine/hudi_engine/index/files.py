"""Which partitions and files a table has, without listing a folder: what a user asks of the `files` index."""

from collections.abc import Mapping

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
    rows = index.find(pa.array([partition_identifier(partition)])).filter(pc.field("name").is_valid())
    columns = [pa.repeat(pa.scalar(partition), len(rows)), rows["name"], rows["size_bytes"]]
    return pa.table(columns, schema=FILES).sort_by("name")


def listings(index: Index) -> Mapping[str, tuple[FileStat, ...]]:
    """Every partition with its files, as a listing of its folder would show them but for their times."""
    return {partition: listing_of(index, partition) for partition in partitions(index)}


def listing_of(index: Index, partition: str) -> tuple[FileStat, ...]:
    """The files of one partition, in order of their names."""
    files = files_of(index, partition).to_pylist()
    prefix = f"{partition}/" if partition else ""
    return tuple(FileStat(prefix + file["name"], file["size_bytes"], 0) for file in files)
