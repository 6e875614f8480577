"""Python values into Avro's binary form: the mirror of `avro_decode`, and as strict about what it is given."""

import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from hudi_engine.errors import Contradiction
from hudi_engine.format.avro_decode import EXACT
from hudi_engine.format.avro_types import (
    NO_DEFAULT,
    NULL,
    Array,
    AvroType,
    Enumeration,
    Field,
    Fixed,
    Logical,
    MapOf,
    Primitive,
    Record,
    Union,
    branch_name,
)

Write = Callable[[bytearray, object], None]
"""Appends the value to the bytes."""

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_ABSENT: Final = object()
_INT_RANGE: Final = (-(2**31), 2**31 - 1)
_LONG_RANGE: Final = (-(2**63), 2**63 - 1)


class _MisfitError(Exception):
    """A value that its type does not allow; grows the path to it on the way out."""

    def __init__(self, what: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.path = path

    def under(self, name: str) -> "_MisfitError":
        return _MisfitError(self.what, (name, *self.path))


def compile_encoder(kind: AvroType) -> Write:
    """A writer of values of this type; one that does not fit raises `Contradiction` with the path to it.

    A field left out takes its default; one that the record does not have is refused.
    """
    write = _Compiler().writer(kind)

    def write_whole(out: bytearray, value: object) -> None:
        try:
            write(out, value)
        except _MisfitError as wrong:
            place = ".".join((branch_name(kind), *wrong.path))
            raise Contradiction(f"the Avro value {place} {wrong.what}") from wrong

    return write_whole


def encode_long(value: int) -> bytes:
    out = bytearray()
    append_long(out, value)
    return bytes(out)


def append_long(out: bytearray, value: int) -> None:
    """Avro's variable-length integer; the value must be one of 64 bits."""
    rest = (value << 1) ^ (value >> 63)
    if rest < 0x80:
        out.append(rest)
    elif rest < 0x4000:
        out += bytes(((rest & 0x7F) | 0x80, rest >> 7))
    else:
        while rest > 0x7F:
            out.append((rest & 0x7F) | 0x80)
            rest >>= 7
        out.append(rest)


class _Compiler:
    def __init__(self) -> None:
        self._records: dict[int, Write] = {}

    def writer(self, kind: AvroType) -> Write:  # noqa: PLR0911 one for each kind of type
        match kind:
            case Primitive(name, Logical("decimal", precision, scale)) if name == "bytes":
                return _decimal_writer(precision, scale, None)
            case Primitive(name):
                return _PRIMITIVE[name]
            case Fixed(_, size, Logical("decimal", precision, scale)):
                return _decimal_writer(precision, scale, size)
            case Fixed(_, size):
                return _fixed_writer(size)
            case Enumeration(_, symbols):
                return _enumeration_writer(symbols)
            case Array(items):
                return _array_writer(self.writer(items))
            case MapOf(values):
                return _map_writer(self.writer(values))
            case Union(branches):
                return self._union(branches)
            case Record():
                if id(kind) not in self._records:
                    self._records[id(kind)] = self._record(kind)
                return self._records[id(kind)]

    def _record(self, kind: Record) -> Write:
        steps = tuple((field.name, self.writer(field.type), self._default(field)) for field in kind.fields)
        names = frozenset(field.name for field in kind.fields)

        def write_record(out: bytearray, value: object) -> None:
            if type(value) is not dict and not isinstance(value, Mapping):
                raise _misfit(value, "a record")
            given = len(value)
            for name, write, default in steps:
                item = value.get(name, _ABSENT)
                if item is not _ABSENT:
                    given -= 1
                    try:
                        write(out, item)
                    except _MisfitError as wrong:
                        raise wrong.under(name) from None
                elif default is None:
                    raise _MisfitError(f"lacks the field {name}")
                else:
                    out += default
            if given:
                raise _MisfitError(f"has fields that its type lacks: {sorted(map(str, value.keys() - names))}")

        return write_record

    def _default(self, field: Field) -> bytes | None:
        if field.default is NO_DEFAULT:
            return None
        out = bytearray()
        kind, default = field.type, field.default
        if isinstance(kind, Union):  # a default is of the first branch
            out += encode_long(0)
            kind = kind.branches[0]
        if isinstance(kind, Primitive | Fixed) and isinstance(default, str) and kind.name != "string":
            default = default.encode("latin-1", "replace")
        try:
            self.writer(kind)(out, default)
        except _MisfitError:
            return None  # a default that is none: the field must be given
        return bytes(out)

    def _union(self, branches: tuple[AvroType, ...]) -> Write:
        writers = {branch_name(b): (encode_long(i), self.writer(b)) for i, b in enumerate(branches)}
        others = [name for name in writers if name != "null"]
        if NULL in branches and len(others) == 1:
            return _nullable_writer(writers["null"][0], *writers[others[0]])

        def write_union(out: bytearray, value: object) -> None:
            match value:
                case None if "null" in writers:
                    out += writers["null"][0]
                case (str(name), inner) if name in writers:
                    out += writers[name][0]
                    writers[name][1](out, inner)
                case _ if len(others) == 1:
                    out += writers[others[0]][0]
                    writers[others[0]][1](out, value)
                case _:
                    raise _misfit(value, f"a pair of one of {others} and its value")

        return write_union


def _misfit(value: object, wanted: str) -> _MisfitError:
    return _MisfitError(f"is a {type(value).__name__} where {wanted} is wanted")


def _nullable_writer(null: bytes, other: bytes, write: Write) -> Write:
    def write_nullable(out: bytearray, value: object) -> None:
        if value is None:
            out += null
        else:
            out += other
            write(out, value)

    return write_nullable


def _array_writer(write: Write) -> Write:
    def write_array(out: bytearray, value: object) -> None:
        if not isinstance(value, list | tuple):
            raise _misfit(value, "a list")
        if value:
            append_long(out, len(value))
            for item in value:
                write(out, item)
        out.append(0)

    return write_array


def _map_writer(write: Write) -> Write:
    def write_map(out: bytearray, value: object) -> None:
        if not isinstance(value, Mapping):
            raise _misfit(value, "a mapping")
        if value:
            append_long(out, len(value))
            for key, item in value.items():
                _write_string(out, key)
                try:
                    write(out, item)
                except _MisfitError as wrong:
                    raise wrong.under(repr(key)) from None
        out.append(0)

    return write_map


def _write_null(out: bytearray, value: object) -> None:
    if value is not None:
        raise _misfit(value, "null")


def _write_boolean(out: bytearray, value: object) -> None:
    if not isinstance(value, bool):
        raise _misfit(value, "a boolean")
    out.append(value)


def _write_int(out: bytearray, value: object) -> None:
    if type(value) is not int or not _INT_RANGE[0] <= value <= _INT_RANGE[1]:
        raise _misfit(value, "an integer of 32 bits")
    append_long(out, value)


def _write_long(out: bytearray, value: object) -> None:
    if type(value) is not int or not _LONG_RANGE[0] <= value <= _LONG_RANGE[1]:
        raise _misfit(value, "an integer of 64 bits")
    append_long(out, value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _misfit(value, "a number")
    return value


def _write_float(out: bytearray, value: object) -> None:
    try:
        out += _FLOAT.pack(_number(value))
    except OverflowError:
        raise _misfit(value, "a number of 32 bits") from None


def _write_double(out: bytearray, value: object) -> None:
    try:
        out += _DOUBLE.pack(_number(value))
    except OverflowError:
        raise _misfit(value, "a number of 64 bits") from None


def _write_bytes(out: bytearray, value: object) -> None:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _misfit(value, "bytes")
    append_long(out, len(value))
    out += value


def _write_string(out: bytearray, value: object) -> None:
    if not isinstance(value, str):
        raise _misfit(value, "a text")
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise _misfit(value, "a text that UTF-8 can hold") from None
    append_long(out, len(encoded))
    out += encoded


_PRIMITIVE: Final[dict[str, Write]] = {
    "null": _write_null,
    "boolean": _write_boolean,
    "int": _write_int,
    "long": _write_long,
    "float": _write_float,
    "double": _write_double,
    "bytes": _write_bytes,
    "string": _write_string,
}


def _fixed_writer(size: int) -> Write:
    def write_fixed(out: bytearray, value: object) -> None:
        if not isinstance(value, bytes) or len(value) != size:
            raise _misfit(value, f"{size} bytes")
        out += value

    return write_fixed


def _enumeration_writer(symbols: tuple[str, ...]) -> Write:
    def write_symbol(out: bytearray, value: object) -> None:
        if not isinstance(value, str) or value not in symbols:
            raise _misfit(value, f"one of {list(symbols)}")
        append_long(out, symbols.index(value))

    return write_symbol


def _decimal_writer(precision: int, scale: int, size: int | None) -> Write:
    limit = 10**precision

    def write_decimal(out: bytearray, value: object) -> None:
        if not isinstance(value, Decimal) or not value.is_finite():
            raise _misfit(value, "a decimal")
        # The exponent first: to make an integer of 1E+999999 would take a while.
        unscaled = int(value.scaleb(scale, EXACT)) if value.adjusted() < precision else limit
        if abs(unscaled) >= limit or Decimal(unscaled).scaleb(-scale, EXACT) != value:
            raise _MisfitError(f"is {value}, more than {precision} digits with {scale} after the point")
        # As short as Java's BigInteger makes it, or as long as the fixed type is.
        length = size or (unscaled + (unscaled < 0)).bit_length() // 8 + 1
        try:
            encoded = unscaled.to_bytes(length, "big", signed=True)
        except OverflowError:
            raise _MisfitError(f"is {value}, more than {length} bytes hold") from None
        if size is None:
            append_long(out, length)
        out += encoded

    return write_decimal
