"""Which entries `bloom_filters` and `column_stats` have of a data file: of its footer, or its log, and no more."""

from dataclasses import dataclass

import pyarrow as pa

from hudi_engine.compute.bloom_filters import read_bloom_filter
from hudi_engine.compute.column_stats import StatsReader
from hudi_engine.compute.order import ENTRIES, DataFile
from hudi_engine.format.names import parse_base_file
from hudi_engine.index.bloom_entries import FileFilter, bloom_entries
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

    def of(self, file: DataFile) -> pa.Table:
        name = parse_base_file(file.stat.name)
        stored = None if name is None else read_bloom_filter(self.storage, file.stat)
        if name is None or stored is None:
            return ENTRIES.empty_table()
        return bloom_entries([FileFilter(file.partition, file.stat.name, name.instant, stored)], self.table_version)

    def keys_of(self, partition: str, name: str) -> list[str]:
        return [bloom_filter_key(partition, name)]


@dataclass(frozen=True, slots=True)
class ColumnStatsEntries:
    """`FileEntries` of `column_stats`: one of each of the columns that a file has, base file or log."""

    reader: StatsReader
    table_version: int
    index: str = IndexKind.COLUMN_STATS.value

    def of(self, file: DataFile) -> pa.Table:
        ranges = self.reader.ranges_of_file(file.partition, file.stat)
        return stats_entries(ranges or (), self.table_version, self.reader.version)

    def keys_of(self, partition: str, name: str) -> list[str]:
        return [column_stats_key(column, partition, name) for column in self.reader.columns]
