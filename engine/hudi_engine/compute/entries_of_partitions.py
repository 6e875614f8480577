"""Which entries `partition_stats` has of a data partition: one of each column that all of its newest files tell of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa

from hudi_engine.compute.column_stats import StatsReader, partition_ranges
from hudi_engine.compute.footer_ranges import Ranges
from hudi_engine.compute.order import DataPartition
from hudi_engine.index.column_range import RANGE_BYTES
from hudi_engine.index.keys import partition_stats_key
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.ranges import REMOTE_READERS, in_order
from hudi_engine.index.stats_entries import stats_entries
from hudi_engine.storage.protocol import FileStat, is_remote
from hudi_engine.table.file_view import FileSlice

_AHEAD: Final = 2 * REMOTE_READERS


@dataclass(frozen=True, slots=True)
class PartitionStatsEntries:
    """`EntriesOf` partitions; `kinds` has the types that columns have now."""

    reader: StatsReader
    table_version: int
    kinds: Mapping[str, pa.DataType]
    index: str = IndexKind.PARTITION_STATS.value

    def look(self, partition: DataPartition) -> Ranges | None:
        """Of a remote store several files are read at once, and each is made part of the whole in its turn."""
        threads = REMOTE_READERS if is_remote(self.reader.storage) else 1
        ranges = in_order(partial(self._ranges_of, partition.name), partition.files, threads, _AHEAD)
        return partition_ranges(partition.name, ranges, self.kinds, self.reader.version)

    def _ranges_of(self, partition: str, file: FileStat) -> Ranges | None:
        # What waits for its turn are ranges: a footer with a filter may have half a megabyte.
        return self.reader.ranges_of([self.reader.look(partition, file)])[0]

    def size_of(self, ranges: Ranges | None) -> int:
        return RANGE_BYTES * len(ranges or ())

    def of(self, partitions: Sequence[Ranges | None]) -> pa.Table:
        ranges = (each for some in partitions for each in some or ())
        return stats_entries(ranges, self.table_version, self.reader.version)

    def keys_of(self, partition: str) -> list[str]:
        return [partition_stats_key(column, partition) for column in self.reader.columns]


def partitions_of(slices: Iterable[FileSlice]) -> tuple[DataPartition, ...]:
    """The partitions that these slices, the newest, are of."""
    found: dict[str, list[FileStat]] = {}
    for each in slices:
        files = found.setdefault(each.partition, [])
        files.extend([] if each.base_file is None else [each.base_file.stat])
        files.extend(log.stat for log in each.log_files)
    return tuple(DataPartition(name, tuple(files)) for name, files in sorted(found.items()))
