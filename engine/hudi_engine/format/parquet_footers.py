"""The footers of many Parquet files of one table, each field of all of them at a time.

Files that one writer wrote have the same fields in the same order, so that what takes a step of Python for a footer
takes one of NumPy for all. Where they part, they are read in as many groups, and what is left over one by one.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from hudi_engine.errors import CorruptFile
from hudi_engine.format import parquet_fields as fields
from hudi_engine.format.parquet_footer import (
    MOST_BYTES,
    ColumnChunk,
    Footer,
    FooterParser,
    end_of_row_groups,
    writer_behind,
)

_FEWEST: Final = 12
"""So few are read one by one in the time that it takes to read them together."""

_PAD_BYTES: Final = 64
_DEEPEST: Final = 16
_TRUE, _FALSE, _BYTE, _BYTES, _LIST, _STRUCT = 1, 2, 3, 8, 9, 12
_NUMBERS: Final = (4, 5, 6)
_LONG_STEP, _LONG_LIST, _LAST_BYTE, _LONGEST_SHIFT = 15, 15, 127, 56
_NOTHING: Final[Mapping[int, Any]] = {}
_Each: TypeAlias = npt.NDArray[np.int64]
"""A number for each footer."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file in which its footer stands."""

    path: str
    data: bytes
    start: int
    end: int


class _PartingError(Exception):
    """Footers are not alike; `marks` tells those apart that may be."""

    def __init__(self, marks: npt.NDArray[Any]) -> None:
        super().__init__()
        self.marks = marks


@contextmanager
def told_of(path: str) -> Iterator[None]:
    """What is found damaged in here is that file."""
    try:
        yield
    except CorruptFile as corrupt:
        raise corrupt.in_file(path) from corrupt


def parse_footers(parts: Sequence[Part], parser: FooterParser) -> list[Footer]:
    """As the parser has each of them; what is wrong with one of them is raised."""
    if len(parts) < _FEWEST or any(part.end - part.start > MOST_BYTES for part in parts):
        return [_parse(part, parser) for part in parts]
    try:
        return _parse_alike(parts, parser)
    except _PartingError as parting:
        marks = np.unique(parting.marks).tolist()
        if len(marks) == 1:
            return [_parse(part, parser) for part in parts]
        found: dict[int, Footer] = {}
        for mark in marks:
            places = np.flatnonzero(parting.marks == mark).tolist()
            found |= zip(places, parse_footers([parts[place] for place in places], parser), strict=True)
        return [found[place] for place in range(len(parts))]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # what they say is no footer
        return [_parse(part, parser) for part in parts]


def _parse(part: Part, parser: FooterParser) -> Footer:
    with told_of(part.path):
        return parser.parse(part.data, part.start, part.end)


def _parse_alike(parts: Sequence[Part], parser: FooterParser) -> list[Footer]:
    first = parts[0]
    with told_of(first.path):
        schema, leaves = parser.schema_of(first.data, first.start)
        row_groups_bytes = end_of_row_groups(first.data, first.start + len(schema), first.end) - first.start
    _require_same(np.array([part.data.startswith(schema, part.start) for part in parts]))
    begins = [part.start + len(schema) for part in parts]
    # Those of the others may be longer; large bloom filters that come behind them are left out.
    heads = [part.data[at : min(part.end, at + 2 * row_groups_bytes)] for part, at in zip(parts, begins, strict=True)]
    reader = _Together(heads)
    found = reader.struct({fields.ROWS: None, **fields.CHUNKS}, 0, fields.SCHEMA, fields.ROW_GROUPS)
    columns = [
        list(_chunks(reader, column[fields.META_DATA]))
        for group in found[fields.ROW_GROUPS]
        for column in group[fields.COLUMNS]
    ]
    ends = [at + passed for at, passed in zip(begins, reader.passed().tolist(), strict=True)]
    rows, chunks = _counts(found[fields.ROWS]), zip(*columns, strict=True)
    writers = map(_writer, parts, ends)
    return [Footer(count, writer, leaves, some) for count, writer, some in zip(rows, writers, chunks, strict=True)]


def _writer(part: Part, row_groups: int) -> str:
    with told_of(part.path):
        return writer_behind(part.data, row_groups, part.end)


def _chunks(reader: "_Together", about: Mapping[int, Any]) -> Iterator[ColumnChunk]:
    """A column chunk of each footer."""
    path = b".".join(map(reader.same_octets, about[fields.PATH])).decode()
    numbers = (_counts(about[name]) for name in (fields.VALUES, fields.STORED, fields.RAW))
    statistics = about.get(fields.STATISTICS, _NOTHING)
    nulls = _counts(statistics[fields.NULLS]) if fields.NULLS in statistics else reader.each(None)
    ends = fields.ends_of(statistics)
    bounds: Any = reader.each(None)
    if ends is not None:
        bounds = zip(*(reader.octets(statistics[end]) for end in ends), strict=True)
    is_new, is_old = ends == (fields.MIN, fields.MAX), ends == (fields.OLD_MIN, fields.OLD_MAX)
    for values, stored, raw, null, pair in zip(*numbers, nulls, bounds, strict=True):
        yield ColumnChunk(path, values, stored, raw, null, is_new, pair, is_old)


def _counts(numbers: _Each) -> list[int]:
    if numbers.min() < 0:
        raise _PartingError(numbers < 0)
    counts: list[int] = numbers.tolist()
    return counts


def _require_same(found: npt.NDArray[Any]) -> None:
    if (found != found[0]).any():
        raise _PartingError(found)


class _Together:
    """Steps through Thrift's compact protocol in all of these at once, as `parquet_footer` does in one."""

    def __init__(self, heads: Sequence[bytes]) -> None:
        self._heads = heads
        self._data = np.frombuffer(b"".join(heads) + bytes(_PAD_BYTES), np.uint8)
        lengths = np.array([len(head) for head in heads])
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        self._at = self._starts.copy()

    def passed(self) -> _Each:
        """How far each was read."""
        passed: _Each = self._at - self._starts
        return passed

    def each(self, value: object) -> list[Any]:
        return [value] * len(self._heads)

    def octets(self, found: object) -> list[bytes]:
        if not isinstance(found, tuple):
            raise TypeError("a number or more where bytes were expected")
        starts, lengths = found[0] - self._starts, found[1]
        places = zip(self._heads, starts.tolist(), (starts + lengths).tolist(), strict=True)
        return [head[start:end] for head, start, end in places]

    def same_octets(self, found: object) -> bytes:
        octets = self.octets(found)
        if octets.count(octets[0]) != len(octets):
            raise _PartingError(np.array([each == octets[0] for each in octets]))
        return octets[0]

    def struct(self, wanted: Mapping[int, Any], depth: int, after: int = 0, upto: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = after
        while head := self._same_byte():
            if head <= _LONG_STEP:
                raise self._each_alone()  # no writer has such fields
            number += head >> 4
            if number in wanted:
                found[number] = self._value(head & 15, wanted[number] or _NOTHING, depth)
            else:
                self._skip(head & 15, depth)
            if number == upto:
                break
        is_beyond = self._at > self._ends
        if is_beyond.any():
            raise _PartingError(is_beyond)
        return found

    def _value(self, kind: int, wanted: Mapping[int, Any], depth: int) -> Any:
        if kind in _NUMBERS:
            numbers = self._numbers()
            return (numbers >> 1) ^ -(numbers & 1)
        if kind == _BYTES:
            lengths = self._numbers()
            starts = self._at.copy()
            self._pass(lengths)
            return starts, lengths
        if kind == _STRUCT and depth < _DEEPEST:
            return self.struct(wanted, depth + 1)
        if kind == _LIST and depth < _DEEPEST:
            count, inner = self._list_head()
            return [self._value(inner, wanted, depth + 1) for _ in range(count)]
        raise self._each_alone()

    def _skip(self, kind: int, depth: int) -> None:
        if kind in _NUMBERS:
            self._skip_numbers()
        elif kind == _BYTES:
            self._pass(self._numbers())
        elif kind == _STRUCT and depth < _DEEPEST:
            self.struct(_NOTHING, depth + 1)
        elif kind == _LIST and depth < _DEEPEST:
            count, inner = self._list_head()
            for _ in range(count):
                self._skip(inner, depth + 1)
        elif kind not in {_TRUE, _FALSE}:
            raise self._each_alone()

    def _list_head(self) -> tuple[int, int]:
        head = self._same_byte()
        count, inner = head >> 4, head & 15
        if count == _LONG_LIST:
            counts = self._numbers()
            _require_same(counts)
            count = int(counts[0])
        if inner in {_TRUE, _FALSE} or count > self._data.size:
            raise self._each_alone()
        return count, inner

    def _same_byte(self) -> int:
        found = self._data[self._at]
        octets = found.tobytes()
        if octets.count(octets[:1]) != len(octets):
            raise _PartingError(found)
        self._at += 1
        head: int = octets[0]
        return head

    def _numbers(self) -> _Each:
        """Numbers of up to 63 bits; what is longer than that is no count."""
        byte = self._data[self._at]
        self._at += 1
        number: _Each = byte.astype(np.int64)
        if byte.max() <= _LAST_BYTE:
            return number
        number &= _LAST_BYTE
        shift = 7
        while (goes_on := byte > _LAST_BYTE).any():
            if shift > _LONGEST_SHIFT:
                raise _PartingError(goes_on)
            byte = self._data[self._at] * goes_on
            self._at += goes_on
            number |= (byte & _LAST_BYTE).astype(np.int64) << shift
            shift += 7
        return number

    def _skip_numbers(self) -> None:
        byte = self._data[self._at]
        self._at += 1
        while byte.max() > _LAST_BYTE:
            goes_on = byte > _LAST_BYTE
            byte = self._data[self._at] * goes_on
            self._at += goes_on

    def _pass(self, lengths: _Each) -> None:
        is_beyond = lengths > self._ends - self._at
        if is_beyond.any():
            raise _PartingError(is_beyond)
        self._at += lengths

    def _each_alone(self) -> _PartingError:
        return _PartingError(np.arange(len(self._heads)))
