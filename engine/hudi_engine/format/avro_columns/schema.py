"""From an Avro type to the column that reads it."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from hudi_engine.errors import Unsupported
from hudi_engine.format.avro_columns.collections import Lists, Maps, Walk
from hudi_engine.format.avro_columns.composites import Choice, Nullable, Only, Structs
from hudi_engine.format.avro_columns.cursor import Cursor
from hudi_engine.format.avro_columns.scalars import (
    Booleans,
    Column,
    Decimals,
    FixedBytes,
    Floats,
    Integers,
    Nulls,
    Symbols,
    Texts,
)
from hudi_engine.format.avro_decode import Read, compile_decoder, read_string
from hudi_engine.format.avro_schema import LOGICAL, MOST_COLUMNS
from hudi_engine.format.avro_types import (
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

_WIDEST_FIXED: Final = (1 << 31) - 1
_BITS: Final = {"int": 32, "long": 64}

_PRIMITIVE: Final[dict[str, Column]] = {
    "null": Nulls(pa.null()),
    "boolean": Booleans(pa.bool_()),
    "int": Integers(pa.int32(), 32),
    "long": Integers(pa.int64(), 64),
    "float": Floats(pa.float32(), 4),
    "double": Floats(pa.float64(), 8),
    "bytes": Texts(pa.binary()),
    "string": Texts(pa.string()),
}


def compile_column(kind: AvroType) -> Column:
    return _Compiler().column(kind)


def arrow_field(name: str, kind: AvroType, column: Column) -> pa.Field:
    return pa.field(name, column.type, nullable=kind == NULL or (isinstance(kind, Union) and NULL in kind.branches))


@dataclass(slots=True)
class _Compiler:
    made: int = 0

    def column(self, kind: AvroType) -> Column:
        self.made += 1
        if self.made > MOST_COLUMNS:
            raise Unsupported(f"an Avro schema of more than {MOST_COLUMNS} nested columns")
        match kind:
            case Array(items):
                return self._list(items)
            case MapOf(values):
                return self._map(values)
            case Union():
                return self._union(kind)
            case Record(_, fields):
                return self._struct(fields)
            case _:
                return _leaf(kind)

    def _list(self, items: AvroType) -> Column:
        column = self.column(items)
        kind = pa.list_(arrow_field("element", items, column))
        return Lists(kind, column, Walk(column.skip, compile_decoder(items)))

    def _map(self, values: AvroType) -> Column:
        column = self.column(values)
        keys = Texts(pa.string())
        kind = pa.map_(pa.field("key", pa.string(), nullable=False), arrow_field("value", values, column))
        return Maps(kind, keys, column, _entry_walk(keys, column, compile_decoder(values)))

    def _union(self, union: Union) -> Column:
        if len(union.branches) == 1:
            return Only(self.column(union.branches[0]))
        if union.is_nullable_type:
            other = 1 - union.branches.index(NULL)
            return Nullable(self.column(union.branches[other]), other)
        branches = tuple(None if branch == NULL else self.column(branch) for branch in union.branches)
        fields = [
            pa.field(branch_name(branch), column.type)
            for branch, column in zip(union.branches, branches, strict=True)
            if column is not None
        ]
        return Choice(pa.struct(fields), branches)

    def _struct(self, fields: tuple[Field, ...]) -> Column:
        columns = tuple(self.column(field.type) for field in fields)
        named = [arrow_field(field.name, field.type, column) for field, column in zip(fields, columns, strict=True)]
        return Structs(pa.struct(named), columns)


def _leaf(kind: Primitive | Fixed | Enumeration) -> Column:
    match kind:
        case Fixed(_, size, Logical("decimal", precision, scale)):
            return Decimals(pa.decimal128(precision, scale), size)
        case Fixed(name, size) if size > _WIDEST_FIXED:
            raise Unsupported(f"an Avro schema whose fixed type {name} has the size {size}")
        case Fixed(_, size):
            return FixedBytes(pa.binary(size), size)
        case Enumeration(_, symbols):
            return Symbols(pa.string(), pa.array(symbols, pa.string()))
        case Primitive("bytes", Logical("decimal", precision, scale)):
            return Decimals(pa.decimal128(precision, scale), None)
        case Primitive(name, Logical(logical)) if (name, logical) in LOGICAL:
            return Integers(LOGICAL[name, logical], _BITS[name])
        case Primitive(name):
            return _PRIMITIVE[name]


def _entry_walk(keys: Column, values: Column, read_value: Read) -> Walk:
    def skip(cursor: Cursor) -> None:
        keys.skip(cursor)
        values.skip(cursor)

    def read(data: bytes, at: int) -> tuple[object, int]:
        _, after = read_string(data, at)
        return read_value(data, after)

    return Walk(skip, read)
