"""Avro schemas to Arrow schemas and back, for the columns of data tables.

Names inside are those that Spark gives: a nested record is named after its field, within the name of its parent.
An enumeration and a UUID become text and stay text; a decimal in bytes comes back as one in a fixed type.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_types
from hudi_engine.format.avro_types import (
    NULL,
    Array,
    AvroType,
    Enumeration,
    Fixed,
    Logical,
    MapOf,
    Primitive,
    Record,
    Union,
)

_PLAIN: Final[Mapping[str, pa.DataType]] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
LOGICAL: Final[Mapping[tuple[str, str], pa.DataType]] = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
}
MOST_COLUMNS: Final = 20_000
"""A record used twice within a record used twice, and so on, makes a small schema one of billions of columns."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FROM_PLAIN: Final = {arrow: avro for avro, arrow in _PLAIN.items()}
_FROM_LOGICAL: Final = {arrow: {"type": avro, "logicalType": logical} for (avro, logical), arrow in LOGICAL.items()}


def to_arrow(text: str) -> pa.Schema:
    """The Arrow schema of an Avro record, its fields in the same order; a union of null and a type is nullable."""
    kind = avro_types.parse(text, 0)
    if not isinstance(kind, Record):
        raise CorruptFile("an Avro schema that is not one of a record", 0)
    if (columns := _columns(kind, {})) > MOST_COLUMNS:
        raise Unsupported(f"an Avro schema of {columns} nested columns; {MOST_COLUMNS} is the most")
    return pa.schema([_arrow_field(field.name, field.type) for field in kind.fields])


def from_arrow(schema: pa.Schema, name: str, namespace: str) -> str:
    """The Avro schema by which Spark would write these columns: nullable is a union with null first."""
    return json.dumps(_record(list(schema), name, namespace), separators=(",", ":"))


def _columns(kind: AvroType, seen: dict[int, int]) -> int:
    """How many there are with those within others. Each record is looked at once, however often it is used."""
    match kind:
        case Array(inner) | MapOf(inner):
            return 1 + _columns(inner, seen)
        case Union(branches):
            return sum(_columns(branch, seen) for branch in branches)
        case Record(_, fields):
            if id(kind) not in seen:
                seen[id(kind)] = 1 + sum(_columns(field.type, seen) for field in fields)
            return seen[id(kind)]
        case _:
            return 1


def _arrow_field(name: str, kind: AvroType) -> pa.Field:
    if isinstance(kind, Union):
        if not kind.is_nullable_type:
            raise Unsupported(f"the column {name} is a union of more than null and one type")
        inner = next(branch for branch in kind.branches if branch != NULL)
        return pa.field(name, _arrow_type(name, inner), nullable=True)
    return pa.field(name, _arrow_type(name, kind), nullable=False)


def _arrow_type(name: str, kind: AvroType) -> pa.DataType:
    match kind:
        case Primitive("bytes", Logical("decimal", precision, scale)):
            return pa.decimal128(precision, scale)
        case Fixed(_, _, Logical("decimal", precision, scale)):
            return pa.decimal128(precision, scale)
        case Primitive(plain, logical) if plain in _PLAIN:
            # A logical type that does not fit its type is to be passed over, as Avro says.
            return LOGICAL.get((plain, logical.name if logical else ""), _PLAIN[plain])
        case _:
            return _arrow_compound(name, kind)


def _arrow_compound(name: str, kind: AvroType) -> pa.DataType:
    match kind:
        case Fixed(_, size):
            return pa.binary(size)
        case Enumeration():
            return pa.string()
        case Array(items):
            return pa.list_(_arrow_field("element", items))
        case MapOf(values):
            return pa.map_(pa.string(), _arrow_field("value", values))
        case Record(_, fields):
            return pa.struct([_arrow_field(field.name, field.type) for field in fields])
        case _:
            raise Unsupported(f"the column {name} is of the Avro type {avro_types.branch_name(kind)}")


def _record(fields: list[pa.Field], name: str, namespace: str) -> dict[str, object]:
    inner = f"{namespace}.{name}" if namespace else name
    made: dict[str, object] = {"type": "record", "name": name}
    if namespace:
        made["namespace"] = namespace
    made["fields"] = [_field(field, inner) for field in fields]
    return made


def _field(field: pa.Field, namespace: str) -> dict[str, object]:
    if not _NAME.fullmatch(field.name):
        raise Unsupported(f"the column {field.name!r}, whose name Avro does not allow")
    kind = _avro_type(field.type, field.name, namespace)
    if field.nullable:
        return {"name": field.name, "type": ["null", kind], "default": None}
    return {"name": field.name, "type": kind}


def _nested(field: pa.Field, name: str, namespace: str) -> object:
    kind = _avro_type(field.type, name, namespace)
    return ["null", kind] if field.nullable else kind


def _avro_type(kind: pa.DataType, name: str, namespace: str) -> object:
    if kind in _FROM_PLAIN:
        return _FROM_PLAIN[kind]
    if kind in _FROM_LOGICAL:
        return _FROM_LOGICAL[kind]
    if pa.types.is_decimal128(kind) and kind.scale >= 0:
        return {
            "type": "fixed",
            "name": "fixed",
            "namespace": f"{namespace}.{name}",
            "size": _bytes_of_digits(kind.precision),
            "logicalType": "decimal",
            "precision": kind.precision,
            "scale": kind.scale,
        }
    return _avro_compound(kind, name, namespace)


def _avro_compound(kind: pa.DataType, name: str, namespace: str) -> object:
    if pa.types.is_fixed_size_binary(kind):
        return {"type": "fixed", "name": "fixed", "namespace": f"{namespace}.{name}", "size": kind.byte_width}
    if pa.types.is_list(kind):
        return {"type": "array", "items": _nested(kind.value_field, name, namespace)}
    if pa.types.is_map(kind) and kind.key_type == pa.string():
        return {"type": "map", "values": _nested(kind.item_field, name, namespace)}
    if pa.types.is_struct(kind):
        return _record([kind.field(at) for at in range(kind.num_fields)], name, namespace)
    raise Unsupported(f"the column {name} is of the Arrow type {kind}, which has no Avro type here")


def _bytes_of_digits(precision: int) -> int:
    """The fewest bytes that hold every signed number of so many digits."""
    largest: int = 10**precision - 1
    return largest.bit_length() // 8 + 1
