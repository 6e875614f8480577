"""Avro's binary form into Python values, exactly: whatever Java's decoder refuses is refused here too.

Dates, times and timestamps stay the integers they are in the file, a decimal becomes a `Decimal`, enumerations and
UUIDs are text. A union of null and one type gives the bare value; any wider union gives `(branch name, value)`.
"""

import struct
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Final, cast

from hudi_engine.errors import CorruptFile, Unsupported
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

Read = Callable[[bytes, int], tuple[object, int]]
"""Takes the bytes and a position, gives the value and the position after it."""

EXACT: Final = Context(prec=60)
_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_HEAVIEST: Final = 2048
"""Bytes of Python objects that one byte of data may cost: a schema made to swell is refused by it."""


def compile_decoder(written: AvroType, wanted: AvroType | None = None) -> Read:
    """A decoder of `written` that gives values of `wanted`: fields it lacks are skipped, new ones take defaults.

    May read past the end of the value's block into what follows, never past the bytes: compare the position given.
    Raises `IndexError` where the bytes end early; `decode` and the readers of files turn that into `CorruptFile`.
    """
    if _weight(written, {}) > _HEAVIEST:
        raise Unsupported("an Avro schema of records so nested that a small file would fill the memory")
    return _Compiler().reader(written, written if wanted is None else wanted)


def decode(read: Read, data: bytes, start: int, end: int) -> object:
    """The one value that fills `data[start:end]`, exactly."""
    try:
        value, reached = read(data, start)
    except IndexError:
        raise CorruptFile("the data ends inside of an Avro value", len(data)) from None
    if reached != end:
        raise CorruptFile(f"an Avro value ends at {reached}, where {end} was promised", start)
    return value


def read_long(data: bytes, at: int) -> tuple[int, int]:
    """Avro's variable-length integer of 64 bits."""
    byte = data[at]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    value, shift, start = byte & 0x7F, 7, at
    while True:
        at += 1
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise CorruptFile("an integer of more than ten bytes", start)
    if value >> 64:
        raise CorruptFile("an integer of more than 64 bits", start)
    return (value >> 1) ^ -(value & 1), at + 1


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    length, start = read_long(data, at)
    end = start + length
    if length < 0 or end > len(data):
        raise CorruptFile(f"a length of {length} with {len(data) - start} bytes left", at)
    return data[start:end], end


def read_string(data: bytes, at: int) -> tuple[str, int]:
    length, start = read_long(data, at)
    end = start + length
    if length < 0 or end > len(data):
        raise CorruptFile(f"a length of {length} with {len(data) - start} bytes left", at)
    try:
        return data[start:end].decode(), end
    except UnicodeDecodeError as wrong:
        raise CorruptFile("a text that is not UTF-8", at) from wrong


def read_count(data: bytes, at: int) -> tuple[int, int]:
    """How many items the next block of an array or map has; zero ends it."""
    count, after = read_long(data, at)
    if count < 0:
        _, after = read_long(data, after)
        count = -count
    # Every item needs a byte at least, so a larger count is a lie that must not be believed even for one round.
    if count > len(data) - after:
        raise CorruptFile(f"a count of {count} items with {len(data) - after} bytes left", at)
    return count, after


def _read_null(data: bytes, at: int) -> tuple[None, int]:
    return None, at


def _read_boolean(data: bytes, at: int) -> tuple[bool, int]:
    if data[at] > 1:
        raise CorruptFile(f"a boolean of {data[at]}", at)
    return data[at] == 1, at + 1


def _read_int(data: bytes, at: int) -> tuple[int, int]:
    value, after = read_long(data, at)
    if not -0x8000_0000 <= value <= 0x7FFF_FFFF:
        raise CorruptFile(f"the integer {value} where 32 bits are promised", at)
    return value, after


def _read_float(data: bytes, at: int) -> tuple[float, int]:
    if at + 4 > len(data):
        raise IndexError
    return _FLOAT.unpack_from(data, at)[0], at + 4


def _read_double(data: bytes, at: int) -> tuple[float, int]:
    if at + 8 > len(data):
        raise IndexError
    return _DOUBLE.unpack_from(data, at)[0], at + 8


_PRIMITIVE: Final[dict[str, Read]] = {
    "null": _read_null,
    "boolean": _read_boolean,
    "int": _read_int,
    "long": read_long,
    "float": _read_float,
    "double": _read_double,
    "bytes": read_bytes,
    "string": read_string,
}


class _Compiler:
    def __init__(self) -> None:
        self._records: dict[tuple[int, int], Read] = {}

    def reader(self, written: AvroType, wanted: AvroType) -> Read:  # noqa: PLR0911 one for each kind of type
        match written, wanted:
            case Primitive(name, logical), Primitive(same) if name == same:
                return _decimal_reader(_PRIMITIVE[name], logical)
            case Primitive("int"), Primitive("long"):
                return _read_int
            case Fixed(name, size, logical), Fixed(same, same_size) if (name, size) == (same, same_size):
                return _decimal_reader(_fixed_reader(size), logical)
            case Enumeration(name, symbols), Enumeration(same) if name == same:
                return _enumeration_reader(symbols)
            case Array(items), Array(wanted_items):
                return _array_reader(self.reader(items, wanted_items))
            case MapOf(values), MapOf(wanted_values):
                return _map_reader(self.reader(values, wanted_values))
            case Record(name), Record(same) if name == same:
                return self._record(written, wanted)
            case Union(branches), _:
                return self._union(branches, wanted)
            case _, Union(branches):
                return self._branch(written, branches)
            case _:
                raise Unsupported(
                    f"an Avro value written as {branch_name(written)} where {branch_name(wanted)} is known"
                )

    def _record(self, written: Record, wanted: Record) -> Read:
        key = (id(written), id(wanted))
        if key not in self._records:
            known = {field.name: field.type for field in wanted.fields}
            steps = tuple(
                (field.name, field.name in known, self.reader(field.type, known.get(field.name, field.type)))
                for field in written.fields
            )
            absent = {field.name for field in written.fields}
            missing = {field.name: _default(field) for field in wanted.fields if field.name not in absent}
            self._records[key] = _record_reader(steps, missing)
        return self._records[key]

    def _union(self, branches: tuple[AvroType, ...], wanted: AvroType) -> Read:
        targets = wanted.branches if isinstance(wanted, Union) else (wanted,)
        readers = tuple(self._branch(branch, targets) for branch in branches)
        if len(branches) == 2 and NULL in branches and len(targets) <= 2:
            return _nullable_reader(readers[1 - branches.index(NULL)], 2 * branches.index(NULL))
        return _union_reader(readers)

    def _branch(self, written: AvroType, targets: tuple[AvroType, ...]) -> Read:
        for target in targets:
            if branch_name(target) == branch_name(written):
                read = self.reader(written, target)
                is_plain = written == NULL or len([each for each in targets if each != NULL]) < 2
                return read if is_plain else _named_reader(branch_name(target), read)
        if len(targets) == 1 or (len(targets) == 2 and NULL in targets):
            return self.reader(written, next((each for each in targets if each != NULL), NULL))
        raise Unsupported(f"an Avro union with the unknown branch {branch_name(written)}")


def _default(field: Field) -> object:
    """Only the defaults that Hudi's records have: null, numbers, texts, empty arrays."""
    if field.default is NO_DEFAULT:
        raise Unsupported(f"an Avro record written without the field {field.name}, which has no default")
    return field.default


def _record_reader(steps: tuple[tuple[str, bool, Read], ...], missing: dict[str, object]) -> Read:
    if all(is_kept for _, is_kept, _ in steps) and not missing:
        pairs = tuple((name, read) for name, _, read in steps)

        def read_record(data: bytes, at: int) -> tuple[object, int]:
            made = {}
            for name, read in pairs:
                made[name], at = read(data, at)
            return made, at

        return read_record

    def read_and_resolve(data: bytes, at: int) -> tuple[object, int]:
        made = {name: list(value) if isinstance(value, list) else value for name, value in missing.items()}
        for name, is_kept, read in steps:
            value, at = read(data, at)
            if is_kept:
                made[name] = value
        return made, at

    return read_and_resolve


def _nullable_reader(read: Read, null: int) -> Read:
    other = 2 - null

    def read_nullable(data: bytes, at: int) -> tuple[object, int]:
        branch = data[at]
        if branch == null:
            return None, at + 1
        if branch == other:
            return read(data, at + 1)
        raise CorruptFile(f"a branch number of {branch} in a union of two types", at)

    return read_nullable


def _union_reader(readers: tuple[Read, ...]) -> Read:
    def read_union(data: bytes, at: int) -> tuple[object, int]:
        branch, after = read_long(data, at)
        if not 0 <= branch < len(readers):
            raise CorruptFile(f"the branch {branch} in a union of {len(readers)} types", at)
        return readers[branch](data, after)

    return read_union


def _named_reader(name: str, read: Read) -> Read:
    def read_named(data: bytes, at: int) -> tuple[object, int]:
        value, after = read(data, at)
        return (name, value), after

    return read_named


def _array_reader(read: Read) -> Read:
    def read_array(data: bytes, at: int) -> tuple[object, int]:
        made = []
        count, at = read_count(data, at)
        while count:
            for _ in range(count):
                value, at = read(data, at)
                made.append(value)
            count, at = read_count(data, at)
        return made, at

    return read_array


def _map_reader(read: Read) -> Read:
    def read_map(data: bytes, at: int) -> tuple[object, int]:
        made = {}
        count, at = read_count(data, at)
        while count:
            for _ in range(count):
                key, at = read_string(data, at)
                made[key], at = read(data, at)
            count, at = read_count(data, at)
        return made, at

    return read_map


def _fixed_reader(size: int) -> Read:
    def read_fixed(data: bytes, at: int) -> tuple[object, int]:
        end = at + size
        if end > len(data):
            raise IndexError
        return data[at:end], end

    return read_fixed


def _enumeration_reader(symbols: tuple[str, ...]) -> Read:
    def read_symbol(data: bytes, at: int) -> tuple[object, int]:
        number, after = read_long(data, at)
        if not 0 <= number < len(symbols):
            raise CorruptFile(f"the symbol {number} of an enum of {len(symbols)}", at)
        return symbols[number], after

    return read_symbol


def _decimal_reader(read: Read, logical: Logical | None) -> Read:
    if logical is None or logical.name != "decimal":
        return read
    limit, scale = 10**logical.precision, logical.scale

    def read_decimal(data: bytes, at: int) -> tuple[object, int]:
        raw, after = read(data, at)
        # `parse` gives the logical type decimal to bytes and fixed alone.
        unscaled = int.from_bytes(cast(bytes, raw), "big", signed=True)
        if not -limit < unscaled < limit:
            raise CorruptFile(f"a decimal of more than {logical.precision} digits", at)
        return Decimal(unscaled).scaleb(-scale, EXACT), after

    return read_decimal


def _weight(kind: AvroType, seen: dict[int, int]) -> int:
    """The most bytes of objects per byte of data, roughly: each level of nesting adds its own containers."""
    match kind:
        case Array(inner):
            return 80 + _weight(inner, seen)
        case MapOf(inner):
            return 120 + _weight(inner, seen)
        case Union(branches):
            return max(_weight(branch, seen) for branch in branches)
        case Record(_, fields):
            if id(kind) not in seen:
                own = 200 // len(fields) + 30
                seen[id(kind)] = own + max(_weight(field.type, seen) for field in fields)
            return seen[id(kind)]
        case _:
            return 60
