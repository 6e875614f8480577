"""Columns of single values: each reads one step of a cursor into one Arrow array."""

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_engine.errors import CorruptFile
from hudi_engine.format.avro_columns.cursor import Cursor, Longs, Words

_LONGEST_DECIMAL: Final = 64
"""Leading bytes that only repeat the sign are looked at one by one, so there must be few."""


class Column(Protocol):
    """How the values of one Avro type are read. The cursor has at least one record."""

    @property
    def type(self) -> pa.DataType: ...

    def decode(self, cursor: Cursor) -> pa.Array: ...

    def skip(self, cursor: Cursor) -> None: ...


@dataclass(frozen=True, slots=True)
class Nulls:
    type: pa.DataType

    def decode(self, cursor: Cursor) -> pa.Array:
        return pa.nulls(cursor.size, self.type)

    def skip(self, cursor: Cursor) -> None: ...


@dataclass(frozen=True, slots=True)
class Booleans:
    type: pa.DataType

    def decode(self, cursor: Cursor) -> pa.Array:
        start = cursor.position
        octets = cursor.octet()
        require_at(start, octets <= 1, "a boolean that is neither 0 nor 1")
        return pa.array(octets.view(np.bool_))

    def skip(self, cursor: Cursor) -> None:
        cursor.fixed(1)


@dataclass(frozen=True, slots=True)
class Integers:
    """Int and long, and all that Avro stores in them; `bits` is 32 or 64."""

    type: pa.DataType
    bits: int

    def decode(self, cursor: Cursor) -> pa.Array:
        start = cursor.position
        values = cursor.varints()
        if self.bits == 64:
            return from_numpy(self.type, values)
        narrow = values.astype(np.int32)
        require_at(start, narrow == values, "an integer of more than 32 bits where an int is promised")
        return from_numpy(self.type, narrow)

    def skip(self, cursor: Cursor) -> None:
        cursor.varints()


@dataclass(frozen=True, slots=True)
class Floats:
    type: pa.DataType
    width: int

    def decode(self, cursor: Cursor) -> pa.Array:
        words = cursor.content.words[cursor.fixed(self.width)]
        return from_numpy(self.type, words if self.width == 8 else words.astype(np.uint32))

    def skip(self, cursor: Cursor) -> None:
        cursor.fixed(self.width)


@dataclass(frozen=True, slots=True)
class Symbols:
    """An enum, as the text of its symbols."""

    type: pa.DataType
    symbols: pa.Array

    def decode(self, cursor: Cursor) -> pa.Array:
        start = cursor.position
        numbers = cursor.varints()
        is_known = numbers.view(np.uint64) < len(self.symbols)
        require_at(start, is_known, f"a symbol that an enum of {len(self.symbols)} does not have")
        return self.symbols.take(pa.array(numbers))

    def skip(self, cursor: Cursor) -> None:
        cursor.varints()


@dataclass(frozen=True, slots=True)
class Texts:
    """Strings and bytes."""

    type: pa.DataType

    def decode(self, cursor: Cursor) -> pa.Array:
        starts, lengths = cursor.pieces()
        values = _gather(cursor, starts, lengths)
        return values if self.type == pa.binary() else _as_text(values, starts)

    def skip(self, cursor: Cursor) -> None:
        cursor.pieces()


@dataclass(frozen=True, slots=True)
class FixedBytes:
    type: pa.DataType
    size: int

    def decode(self, cursor: Cursor) -> pa.Array:
        starts = cursor.fixed(self.size)
        data = cursor.content.data
        pieces = np.ndarray((len(data) - self.size + 1, self.size), np.uint8, data, strides=(1, 1))
        return from_numpy(self.type, pieces[starts])

    def skip(self, cursor: Cursor) -> None:
        cursor.fixed(self.size)


@dataclass(frozen=True, slots=True)
class Decimals:
    """Decimals in bytes, or in a fixed of `size` bytes."""

    type: pa.DataType
    size: int | None

    def decode(self, cursor: Cursor) -> pa.Array:
        starts, lengths = self._pieces(cursor)
        require_at(starts, (lengths > 0) & (lengths <= _LONGEST_DECIMAL), "a decimal of no bytes, or of far too many")
        values = from_numpy(self.type, _little_endian(cursor, starts, lengths))
        try:
            values.validate(full=True)
        except pa.ArrowInvalid as wrong:
            what = f"a decimal of more than {self.type.precision} digits at or after this place"
            raise CorruptFile(what, int(starts[0])) from wrong
        return values

    def skip(self, cursor: Cursor) -> None:
        self._pieces(cursor)

    def _pieces(self, cursor: Cursor) -> tuple[Longs, Longs]:
        if self.size is None:
            return cursor.pieces()
        starts = cursor.fixed(self.size)
        return starts, np.full(cursor.size, self.size, dtype=np.int64)


def from_numpy(kind: pa.DataType, values: npt.NDArray[Any]) -> pa.Array:
    """The memory of `values`, a row per first index, seen as an Arrow array."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def require_at(positions: Longs, holds: npt.NDArray[np.bool_], what: str) -> None:
    if not holds.all():
        raise CorruptFile(what, int(positions[np.argmin(holds)]))


def _gather(cursor: Cursor, starts: Longs, lengths: Longs) -> pa.Array:
    # Arrow sees wanted pieces and the gaps between them as one array; taking every other copies them tightly.
    offsets = np.empty(2 * cursor.size, dtype=np.int32)
    offsets[0::2] = starts
    offsets[1::2] = starts + lengths
    buffers = [None, pa.py_buffer(offsets), cursor.content.buffer]
    mixed = pa.Array.from_buffers(pa.binary(), offsets.size - 1, buffers)
    return mixed.take(pa.array(np.arange(0, offsets.size, 2, dtype=np.int32)))


def _as_text(values: pa.Array, starts: Longs) -> pa.Array:
    _, offsets, data = values.buffers()
    used = int(np.frombuffer(offsets, np.int32)[len(values)])
    if used == 0 or np.frombuffer(data, np.uint8, used).max() < 0x80:
        # Most texts are plain ASCII, and one look at all of them together is far cheaper than one at each.
        return pa.Array.from_buffers(pa.string(), len(values), [None, offsets, data])
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid as wrong:
        raise CorruptFile("a text that is not UTF-8", int(starts[_first_not_utf8(values)])) from wrong


def _first_not_utf8(values: pa.Array) -> int:
    for row, value in enumerate(values.to_pylist()):
        try:
            value.decode()
        except UnicodeDecodeError:
            return row
    return 0


def _little_endian(cursor: Cursor, starts: Longs, lengths: Longs) -> Words:
    """Big-endian two's complement of any length as rows of 128 bits."""
    octets, ends = cursor.content.octets, starts + lengths
    sign = (octets[starts].view(np.int8) >> 7).astype(np.int64)
    for step in range(max(0, int(lengths.max()) - 16)):
        is_excess = lengths - 16 > step
        repeats = octets[starts + step * is_excess] == sign.astype(np.uint8)
        require_at(starts, repeats | ~is_excess, "a decimal of more than 128 bits")
    low = _word_before(cursor, ends, lengths, sign)
    high = _word_before(cursor, ends - 8, lengths - 8, sign)
    if (lengths > 16).any():
        require_at(starts, (lengths <= 16) | ((high < 0) == (sign < 0)), "a decimal of more than 128 bits")
    return np.stack((low, high), axis=1).view(np.uint64)


def _word_before(cursor: Cursor, ends: Longs, lengths: Longs, sign: Longs) -> Longs:
    """The 64 bits that end at `ends`, of which only `lengths` bytes belong to the number."""
    count = np.clip(lengths, 0, 8)
    words = cursor.content.words[ends - 8].byteswap().view(np.int64)
    shift = (8 - count) * 8
    # A shift by a whole word is undefined, hence the two branches.
    kept = words << np.minimum(shift, 56) >> np.minimum(shift, 56)
    return np.where(count > 0, kept, sign)
