"""Which entries `bloom_filters` and `column_stats` have of a data file: of its footer, or its log, and no more."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hudi_engine.compute.bloom_filters import read_bloom_filter
from hudi_engine.compute.column_stats import Looked, StatsReader
from hudi_engine.compute.order import DataFile
from hudi_engine.format.names import parse_base_file
from hudi_engine.format.parquet_footers import Part
from hudi_engine.index.bloom_entries import FileFilter, bloom_entries
from hudi_engine.index.column_range import RANGE_BYTES
from hudi_engine.index.keys import bloom_filter_key, column_stats_key
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.stats_entries import stats_entries
from hudi_engine.storage.protocol import Storage


@dataclass(frozen=True, slots=True)
class BloomFilterEntries:
    """`FileEntries` of `bloom_filters`: one of each base file that has a filter."""

    storage: Storage
    table_version: int
    index: str = IndexKind.BLOOM_FILTERS.value

    def look(self, file: DataFile) -> FileFilter | None:
        name = parse_base_file(file.stat.name)
        stored = None if name is None else read_bloom_filter(self.storage, file.stat)
        if name is None or stored is None:
            return None
        return FileFilter(file.partition, file.stat.name, name.instant, stored)

    def size_of(self, file: FileFilter | None) -> int:
        """The filter, and its entry: as it is made, in the array of all, and in that of its shard."""
        return 0 if file is None else 4 * len(file.filter.text)

    def of(self, files: Sequence[FileFilter | None]) -> pa.Table:
        return bloom_entries(filter(None, files), self.table_version)

    def keys_of(self, partition: str, name: str) -> list[str]:
        return [bloom_filter_key(partition, name)]


@dataclass(frozen=True, slots=True)
class ColumnStatsEntries:
    """`FileEntries` of `column_stats`: one of each of the columns that a file has, base file or log."""

    reader: StatsReader
    table_version: int
    index: str = IndexKind.COLUMN_STATS.value

    def look(self, file: DataFile) -> Looked:
        return self.reader.look(file.partition, file.stat)

    def size_of(self, file: Looked) -> int:
        """The footer as it was read, and what follows from it."""
        footer = len(file.found.data) if isinstance(file.found, Part) else 0
        return footer + RANGE_BYTES * len(self.reader.columns)

    def of(self, files: Sequence[Looked]) -> pa.Table:
        ranges = (each for some in self.reader.ranges_of(files) for each in some or ())
        return stats_entries(ranges, self.table_version, self.reader.version)

    def keys_of(self, partition: str, name: str) -> list[str]:
        return [column_stats_key(column, partition, name) for column in self.reader.columns]
