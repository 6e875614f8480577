"""What a Parquet footer says of its column chunks, read without Arrow: asked for a chunk whose statistics are damaged,
Arrow ends the process.

The footer is one Thrift struct in the compact protocol. Only what is asked for is kept; the rest is stepped over.
"""

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import parquet_types
from hudi_engine.format.parquet_types import Leaf

# Python needs a second and a hundred times the bytes; real footers of a thousand columns stay below.
MOST_BYTES = 4 << 20
_DEEPEST = 16
_TRUE, _FALSE, _BYTE = 1, 2, 3
_SCHEMA, _ROWS, _ROW_GROUPS, _WRITER, _COLUMNS, _META_DATA = 2, 3, 4, 6, 1, 3
_PATH, _VALUES, _RAW, _STORED, _STATISTICS = 3, 5, 6, 7, 12
_OLD_MAX, _OLD_MIN, _NULLS, _MAX, _MIN = 1, 2, 3, 5, 6
# By field number: what to keep of a struct, and of the structs in it. None: the value itself.
_WANTED: Mapping[int, Any] = {
    _ROW_GROUPS: {
        _COLUMNS: {
            _META_DATA: {
                _PATH: None,
                _VALUES: None,
                _RAW: None,
                _STORED: None,
                _STATISTICS: {_OLD_MAX: None, _OLD_MIN: None, _NULLS: None, _MAX: None, _MIN: None},
            }
        }
    }
}
_WHOLE: Mapping[int, Any] = {_SCHEMA: parquet_types.WANTED, _ROWS: None, _WRITER: None, **_WANTED}


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """A column of one row group. `path` is that of the file's schema, dotted; `nulls` None: the footer does not say."""

    path: str
    values: int
    stored_bytes: int
    raw_bytes: int
    nulls: int | None
    has_bounds: bool
    bounds: tuple[bytes, bytes] | None = field(default=None, compare=False)
    """The least and the greatest as the writer put them: what they are worth is for the reader of types to say."""
    has_old_bounds: bool = field(default=False, compare=False)
    """Whether the bounds stand in the fields that are given up, for which bytes were compared with a sign."""


@dataclass(frozen=True, slots=True)
class Footer:
    """`leaves` by the path of the file's schema. `writer` is what calls itself the file's writer, or nothing."""

    rows: int
    writer: str
    leaves: Mapping[str, Leaf]
    chunks: tuple[ColumnChunk, ...]


def parse_column_chunks(footer: bytes) -> list[ColumnChunk]:
    """Every chunk, by row group and column."""
    with _damage_as_corrupt_file(footer):
        return list(_chunks(_Reader(footer).struct(_WANTED, 0)))


def parse_footer(footer: bytes) -> Footer:
    """The chunks, and what their values are."""
    with _damage_as_corrupt_file(footer):
        found = _Reader(footer).struct(_WHOLE, 0)
        leaves = parquet_types.leaves_of(found[_SCHEMA])
        return Footer(_count(found[_ROWS]), found.get(_WRITER, b"").decode(), leaves, tuple(_chunks(found)))


@contextmanager
def _damage_as_corrupt_file(footer: bytes) -> Iterator[None]:
    if len(footer) > MOST_BYTES:
        raise Unsupported(f"a Parquet footer of {len(footer)} bytes; {MOST_BYTES} is the most that is looked into")
    try:
        yield
    except (IndexError, KeyError, TypeError, AttributeError, struct.error, ValueError) as broken:
        raise CorruptFile(f"not a Parquet footer: {broken!r}", 0) from broken


def _chunks(found: Mapping[int, Any]) -> Iterator[ColumnChunk]:
    for group in found.get(_ROW_GROUPS, ()):
        for column in group[_COLUMNS]:
            yield _chunk(column[_META_DATA])


def _chunk(about: Mapping[int, Any]) -> ColumnChunk:
    statistics = about.get(_STATISTICS, {})
    has_bounds = _MIN in statistics and _MAX in statistics
    has_old_bounds = not has_bounds and _OLD_MIN in statistics and _OLD_MAX in statistics
    ends = (_OLD_MIN, _OLD_MAX) if has_old_bounds else (_MIN, _MAX)
    return ColumnChunk(
        path=b".".join(about[_PATH]).decode(),
        values=_count(about[_VALUES]),
        stored_bytes=_count(about[_STORED]),
        raw_bytes=_count(about[_RAW]),
        nulls=_count(statistics[_NULLS]) if _NULLS in statistics else None,
        has_bounds=has_bounds,
        bounds=(_octets(statistics[ends[0]]), _octets(statistics[ends[1]])) if has_bounds or has_old_bounds else None,
        has_old_bounds=has_old_bounds,
    )


def _count(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise CorruptFile(f"{value!r:.60} in a Parquet footer where a count was expected", 0)
    return value


def _octets(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise CorruptFile(f"{value!r:.60} in a Parquet footer where a bound was expected", 0)
    return value


class _Reader:
    """Steps through Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, wanted: Mapping[int, Any], depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            value = self._value(head & 15, wanted.get(number) or {}, depth)
            if number in wanted:
                found[number] = value
        return found

    def _value(self, kind: int, wanted: Mapping[int, Any], depth: int) -> Any:
        if depth > _DEEPEST:
            raise CorruptFile("a Parquet footer nested without end", self._at)
        value: Any = None
        match kind:
            case 1 | 2:
                value = kind == _TRUE
            case 3:
                value = self._byte()
            case 4 | 5 | 6:
                value = self._signed()
            case 7:
                value = self._bytes(8)
            case 8:
                value = self._bytes(self._unsigned())
            case 9 | 10:
                value = self._list(wanted, depth)
            case 11:
                self._map(depth)
            case 12:
                value = self.struct(wanted, depth + 1)
            case _:
                raise CorruptFile(f"a field of the unknown type {kind} in a Parquet footer", self._at)
        return value

    def _list(self, wanted: Mapping[int, Any], depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._unsigned()
        kind = head & 15
        if count > len(self._data) - self._at:
            raise CorruptFile(f"a list of {count} in a Parquet footer of {len(self._data)} bytes", self._at)
        if kind in {_TRUE, _FALSE}:  # in a list each boolean has a byte of its own
            kind = _BYTE
        return [self._value(kind, wanted, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> None:
        count = self._unsigned()
        kinds = self._byte() if count else 0
        if count > len(self._data) - self._at:
            raise CorruptFile(f"a map of {count} in a Parquet footer of {len(self._data)} bytes", self._at)
        for _ in range(count):
            self._value(kinds >> 4, {}, depth + 1)
            self._value(kinds & 15, {}, depth + 1)

    def _byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def _bytes(self, length: int) -> bytes:
        end = self._at + length
        if end > len(self._data):
            raise CorruptFile("a Parquet footer that ends inside of a value", self._at)
        value = self._data[self._at : end]
        self._at = end
        return value

    def _unsigned(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise CorruptFile("a number without end in a Parquet footer", self._at)

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
