"""The statistics of data files and partitions: of base files from their footers, of logs from their rows."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from hudi_engine.compute.column_promotion import together
from hudi_engine.compute.footer_ranges import FooterRanges, Ranges
from hudi_engine.compute.log_ranges import ranges_of_blocks
from hudi_engine.errors import CorruptFile
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.names import parse_log_file
from hudi_engine.format.parquet_footer import MOST_BYTES, Footer, FooterParser
from hudi_engine.format.parquet_footers import Part, parse_footers, told_of
from hudi_engine.index.column_range import ColumnRange
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.stats_entries import can_keep
from hudi_engine.storage.protocol import FileStat, Storage, is_remote

_TAIL_BYTES: Final = 64 << 10
"""What is asked for of the first file: the footer with its length, unless there is a large bloom filter in it."""
_MORE_BYTES: Final = 4 << 10
"""By so much the footers of a table differ in length, as a rule."""

_MAGIC: Final = b"PAR1"
_LEAST_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Looked:
    """What was read of one file: the footer, as it is, or of a log what follows from its rows."""

    partition: str
    name: str
    found: Part | Ranges | None


@dataclass(frozen=True, slots=True)
class StatsReader:
    """Reads the ranges of data files: of these columns, for an index of this version.

    `is_valid_instant` says which blocks of a log count. Any number of threads may use it.
    """

    storage: Storage
    columns: tuple[str, ...]
    version: IndexVersion
    is_valid_instant: Callable[[str], bool]
    _footers: "_Footers" = field(init=False, repr=False, compare=False)
    _parser: FooterParser = field(default_factory=FooterParser, init=False, repr=False, compare=False)
    _ranges: FooterRanges = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_footers", _Footers(self.storage))
        object.__setattr__(self, "_ranges", FooterRanges(self.columns))

    def look(self, partition: str, stat: FileStat) -> Looked:
        """All that has to be read of a file; nothing of one that is neither Parquet nor a log."""
        found: Part | Ranges | None = ()
        log = parse_log_file(stat.name)
        if log is not None and not log.is_cdc:
            with told_of(stat.path):
                found = self._of_log(partition, stat)
        elif log is None and stat.name.endswith(".parquet"):
            found = self._footers.read(stat)
        return Looked(partition, stat.name, found)

    def ranges_of(self, files: Sequence[Looked]) -> list[Ranges | None]:
        """Those of each file; none of a log without rows or deletions that count.

        None where an entry would lead queries past rows, or cannot be written: then there must be none of the file in
        `column_stats`, nor of its partition in `partition_stats`, so that queries read them.
        """
        parts = [file.found for file in files if isinstance(file.found, Part)]
        footers = iter(zip(parts, parse_footers(parts, self._parser), strict=True))
        return [
            self._kept(self._of_footer(file, *next(footers)) if isinstance(file.found, Part) else file.found)
            for file in files
        ]

    def _of_footer(self, file: Looked, part: Part, footer: Footer) -> Ranges | None:
        with told_of(part.path):
            return self._ranges.of(footer, file.partition, file.name)

    def _of_log(self, partition: str, stat: FileStat) -> Ranges | None:
        blocks = read_blocks(self.storage.read(stat.path), is_store_atomic=is_remote(self.storage))
        live = live_blocks(blocks, self.is_valid_instant)
        return ranges_of_blocks(live, partition, stat.name, self.columns) if live else ()

    def _kept(self, found: Ranges | None) -> Ranges | None:
        return found if found is not None and all(can_keep(each, self.version) for each in found) else None


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


class _Footers:
    """Reads the footers of one file after another, mostly at once: the next one is about as long as the last."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._tail_bytes = _TAIL_BYTES

    def read(self, stat: FileStat) -> Part:
        size = stat.size_bytes
        start = max(0, size - self._tail_bytes)
        tail = self._storage.read_range(stat.path, start, size - start) if size >= _LEAST_BYTES else b""
        length = int.from_bytes(tail[-8:-4], "little")
        if tail[-4:] != _MAGIC or length > size - _LEAST_BYTES:
            what = f"no Parquet footer in a file of {size} bytes, whose last are {tail[-8:].hex()}"
            raise CorruptFile(what, size).in_file(stat.path)
        if length > MOST_BYTES or length + 8 <= len(tail):
            return Part(stat.path, tail, len(tail) - 8 - length, len(tail) - 8)
        self._tail_bytes = length + _MORE_BYTES
        return Part(stat.path, self._storage.read_range(stat.path, size - 8 - length, length), 0, length)
