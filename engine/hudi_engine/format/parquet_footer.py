"""What a Parquet footer says of its column chunks, read without Arrow: asked for a chunk whose statistics are damaged,
Arrow ends the process.

The footer is one Thrift struct in the compact protocol. Only what is asked for is kept; the rest is stepped over.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import parquet_fields as fields
from hudi_engine.format import parquet_types
from hudi_engine.format.parquet_types import Leaf

# Python needs a second and a hundred times the bytes; real footers of a thousand columns stay below.
MOST_BYTES = 4 << 20
_DEEPEST = 16
_TRUE, _FALSE, _BYTE, _BYTES = 1, 2, 3, 8
_WITH_A_NUMBER = frozenset({4, 5, 6, _BYTES})  # three lengths of numbers, and bytes, which begin with their count
_LONG_STEP, _LAST_BYTE, _LONGEST_SHIFT = 15, 127, 63
_NEVER = 1 << 80  # no number is so large
_NOTHING: Mapping[int, Any] = {}
# A struct of whole numbers alone, each behind a byte that says how far its number is from the last one's and which of
# three lengths it has: half of all structs, none of them wanted.
_OF_NUMBERS = re.compile(
    rb"(?:[%s][\x80-\xff]{0,9}[\x00-\x7f])*\x00"
    % b"".join(re.escape(bytes([step << 4 | kind])) for step in range(1, 16) for kind in (4, 5, 6))
)
_BEHIND_SCHEMA: Mapping[int, Any] = {fields.ROWS: None, fields.WRITER: None, **fields.CHUNKS}


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
    with _damage_as_corrupt_file(len(footer)):
        return list(_chunks(_Reader(footer).struct(fields.CHUNKS, 0)))


def parse_footer(footer: bytes) -> Footer:
    """The chunks, and what their values are."""
    return FooterParser().parse(footer)


class FooterParser:
    """`parse_footer` for one file after another: a schema like that of the file before is not parsed again.

    Footers with such a schema share their `leaves`. Any number of threads may use it.
    """

    def __init__(self) -> None:
        self._last: tuple[bytes, Mapping[str, Leaf]] | None = None

    def parse(self, file: bytes, start: int = 0, end: int | None = None) -> Footer:
        """The footer that stands there in a part of a file. What comes behind the writer's name is not looked at."""
        end = len(file) if end is None else end
        with _damage_as_corrupt_file(end - start):
            schema, leaves = self._schema_of(file, start)
            found, _ = _fields(_Span(file, start + len(schema), end), _BEHIND_SCHEMA, fields.SCHEMA, fields.WRITER)
            return Footer(_count(found[fields.ROWS]), _writer(found), leaves, tuple(_chunks(found)))

    def schema_of(self, file: bytes, start: int) -> tuple[bytes, Mapping[str, Leaf]]:
        """The beginning of the footer up to and with its schema, and what that says."""
        with _damage_as_corrupt_file(0):
            return self._schema_of(file, start)

    def _schema_of(self, file: bytes, start: int) -> tuple[bytes, Mapping[str, Leaf]]:
        last = self._last
        if last is None or not file.startswith(last[0], start):
            reader = _Reader(file, start)
            begin = reader.struct({fields.SCHEMA: parquet_types.WANTED, **_BEHIND_SCHEMA}, 0, upto=fields.SCHEMA)
            if begin.keys() != {fields.SCHEMA}:
                raise CorruptFile("a Parquet footer whose schema does not come first", 0)
            last = self._last = file[start : reader.at], parquet_types.leaves_of(begin[fields.SCHEMA])
        return last


def end_of_row_groups(file: bytes, behind_schema: int, end: int) -> int:
    """Where the row groups of a footer end."""
    with _damage_as_corrupt_file(end - behind_schema):
        return _fields(_Span(file, behind_schema, end), {}, fields.SCHEMA, fields.ROW_GROUPS)[1]


def writer_behind(file: bytes, row_groups: int, end: int) -> str:
    """The writer's name, which stands somewhere behind the end of the row groups."""
    with _damage_as_corrupt_file(end - row_groups):
        span = _Span(file, row_groups, end)
        return _writer(_fields(span, {fields.WRITER: None}, fields.ROW_GROUPS, fields.WRITER)[0])


class _Span(NamedTuple):
    file: bytes
    at: int
    end: int


def _fields(span: _Span, wanted: Mapping[int, Any], after: int, upto: int) -> tuple[dict[int, Any], int]:
    """Those fields of the footer behind one and up to another, and where they end."""
    reader = _Reader(span.file, span.at)
    found = reader.struct(wanted, 0, after, upto)
    if reader.at > span.end:
        raise CorruptFile("a Parquet footer that does not end where it should", span.end)
    return found, reader.at


def _writer(found: Mapping[int, Any]) -> str:
    writer: bytes = found.get(fields.WRITER, b"")
    return writer.decode()


@contextmanager
def _damage_as_corrupt_file(size_bytes: int) -> Iterator[None]:
    if size_bytes > MOST_BYTES:
        raise Unsupported(f"a Parquet footer of {size_bytes} bytes; {MOST_BYTES} is the most that is looked into")
    try:
        yield
    except (IndexError, KeyError, TypeError, AttributeError, struct.error, ValueError) as broken:
        raise CorruptFile(f"not a Parquet footer: {broken!r}", 0) from broken


def _chunks(found: Mapping[int, Any]) -> Iterator[ColumnChunk]:
    for group in found[fields.ROW_GROUPS]:
        for column in group[fields.COLUMNS]:
            yield _chunk(column[fields.META_DATA])


def _chunk(about: Mapping[int, Any]) -> ColumnChunk:
    statistics = about.get(fields.STATISTICS, {})
    ends = fields.ends_of(statistics)
    return ColumnChunk(
        path=b".".join(about[fields.PATH]).decode(),
        values=_count(about[fields.VALUES]),
        stored_bytes=_count(about[fields.STORED]),
        raw_bytes=_count(about[fields.RAW]),
        nulls=_count(statistics[fields.NULLS]) if fields.NULLS in statistics else None,
        has_bounds=ends == (fields.MIN, fields.MAX),
        bounds=None if ends is None else (_octets(statistics[ends[0]]), _octets(statistics[ends[1]])),
        has_old_bounds=ends == (fields.OLD_MIN, fields.OLD_MAX),
    )


def _count(value: object) -> int:
    if type(value) is not int or value < 0:  # True is an int, too
        raise CorruptFile(f"{value!r:.60} in a Parquet footer where a count was expected", 0)
    return value


def _octets(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise CorruptFile(f"{value!r:.60} in a Parquet footer where a bound was expected", 0)
    return value


class _Reader:
    """Steps through Thrift's compact protocol.

    A footer has a thousand values: numbers and bytes, as most of them are, are read where they stand, without a call.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self._at = at

    @property
    def at(self) -> int:
        return self._at

    def struct(self, wanted: Mapping[int, Any], depth: int, after: int = 0, upto: int = _NEVER) -> dict[int, Any]:
        """The fields that are wanted: all, or those behind one and up to another, which writers put in this order."""
        data, at = self._data, self._at
        found: dict[int, Any] = {}
        number = after
        while head := data[at]:
            at += 1
            if head > _LONG_STEP:
                number += head >> 4
            else:
                self._at = at
                number = self._signed()
                at = self._at
            kind = head & 15
            if kind in _WITH_A_NUMBER:
                count = shift = 0
                while (byte := data[at]) > _LAST_BYTE:
                    count |= (byte & _LAST_BYTE) << shift
                    shift += 7
                    at += 1
                    if shift > _LONGEST_SHIFT:
                        raise CorruptFile("a number without end in a Parquet footer", at)
                count |= byte << shift
                start = at = at + 1
                at += count if kind == _BYTES else 0
                if number in wanted:
                    found[number] = data[start:at] if kind == _BYTES else (count >> 1) ^ -(count & 1)
            else:
                self._at = at
                value = self._value(kind, wanted.get(number) or _NOTHING, depth)
                at = self._at
                if number in wanted:
                    found[number] = value
            if number == upto:
                break
        else:
            at += 1
        if at > len(data):
            raise CorruptFile("a Parquet footer that ends inside of a value", at)
        self._at = at
        return found

    def _value(self, kind: int, wanted: Mapping[int, Any], depth: int) -> Any:
        if depth > _DEEPEST:
            raise CorruptFile("a Parquet footer nested without end", self._at)
        value: Any = None
        match kind:
            case 12:
                plain = None if wanted else _OF_NUMBERS.match(self._data, self._at)
                if plain is None:
                    value = self.struct(wanted, depth + 1)
                else:
                    self._at = plain.end()
            case 9 | 10:
                value = self._list(wanted, depth)
            case 8:
                value = self._bytes(self._unsigned())
            case 4 | 5 | 6:
                value = self._signed()
            case 1 | 2:
                value = kind == _TRUE
            case 3:
                value = self._byte()
            case 7:
                value = self._bytes(8)
            case 11:
                self._map(depth)
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
        while shift <= _LONGEST_SHIFT:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise CorruptFile("a number without end in a Parquet footer", self._at)

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
