"""The statistics of data files and partitions: of base files from their footers, of logs from their rows."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from hudi_engine.compute.column_promotion import together
from hudi_engine.compute.footer_ranges import Ranges, ranges_of_footer
from hudi_engine.compute.log_ranges import ranges_of_blocks
from hudi_engine.errors import CorruptFile
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.names import parse_log_file
from hudi_engine.format.parquet_footer import Footer, parse_footer
from hudi_engine.index.column_range import ColumnRange
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.stats_entries import can_keep
from hudi_engine.storage.protocol import FileStat, Storage, is_remote

_TAIL_BYTES: Final = 64 << 10
"""What is asked for at first: the footer with its length, mostly."""

_MAGIC: Final = b"PAR1"
_LEAST_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class StatsReader:
    """Reads the ranges of data files: of these columns, for an index of this version.

    `is_valid_instant` says which blocks of a log count.
    """

    storage: Storage
    columns: tuple[str, ...]
    version: IndexVersion
    is_valid_instant: Callable[[str], bool]

    def ranges_of_file(self, partition: str, stat: FileStat) -> Ranges | None:
        """Those of one file; none of a file that is neither Parquet nor a log with rows or deletions that count.

        None where an entry would lead queries past rows, or cannot be written: then there must be none of the file in
        `column_stats`, nor of its partition in `partition_stats`, so that queries read them.
        """
        try:
            found: Ranges | None = ()
            log = parse_log_file(stat.name)
            if log is not None and not log.is_cdc:
                found = self._of_log(partition, stat)
            elif log is None and stat.name.endswith(".parquet"):
                found = ranges_of_footer(_footer_of(self.storage, stat), partition, stat.name, self.columns)
        except CorruptFile as corrupt:
            raise corrupt.in_file(stat.path) from corrupt
        return found if found is not None and all(can_keep(each, self.version) for each in found) else None

    def _of_log(self, partition: str, stat: FileStat) -> Ranges | None:
        blocks = read_blocks(self.storage.read(stat.path), is_store_atomic=is_remote(self.storage))
        live = live_blocks(blocks, self.is_valid_instant)
        return ranges_of_blocks(live, partition, stat.name, self.columns) if live else ()


def partition_ranges(
    partition: str, files: Iterable[Ranges | None], kinds: Mapping[str, pa.DataType], version: IndexVersion
) -> Ranges | None:
    """The ranges of a partition from those of the files of its newest slices, in the types that columns have now.

    They are tight, as Java calls those that all files were looked at for. None if one of the files has none. Of the
    files one at a time is in memory.
    """
    wholes: dict[str, ColumnRange] = {}
    count, in_files = 0, Counter[str]()
    for ranges in files:
        if ranges is None:
            return None
        count += bool(ranges)
        for each in ranges:
            blank = ColumnRange(partition, None, each.column, None, None, None, 0, 0, 0, 0, True)
            whole = wholes.get(each.column, blank)
            wholes[each.column] = together([each], kinds.get(each.column), whole)
            in_files[each.column] += 1
    found = tuple(whole for column, whole in wholes.items() if in_files[column] == count)
    return found if all(can_keep(each, version) for each in found) else None


def _footer_of(storage: Storage, stat: FileStat) -> Footer:
    size = stat.size_bytes
    start = max(0, size - _TAIL_BYTES)
    tail = storage.read_range(stat.path, start, size - start) if size >= _LEAST_BYTES else b""
    length = int.from_bytes(tail[-8:-4], "little")
    if tail[-4:] != _MAGIC or length > size - _LEAST_BYTES:
        raise CorruptFile(f"no Parquet footer in a file of {size} bytes, whose last are {tail[-8:].hex()}", size)
    missing = length + 8 - len(tail)
    if missing > 0:
        tail = storage.read_range(stat.path, start - missing, missing) + tail
    return parse_footer(tail[-8 - length : -8])
