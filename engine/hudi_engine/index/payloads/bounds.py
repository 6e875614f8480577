"""The least and the greatest value of a column as statistics keep them: in wrappers named after Java types."""

from enum import IntEnum
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.index.payloads.records import as_type


class ValueType(IntEnum):
    """What a wrapped value stands for, since version 2 of the index; before, the wrapper alone tells."""

    NULL = 1
    BOOLEAN = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    BYTES = 8
    FIXED = 9
    DECIMAL = 10
    UUID = 11
    DATE = 12
    TIME_MILLIS = 13
    TIME_MICROS = 14
    TIMESTAMP_MILLIS = 15
    TIMESTAMP_MICROS = 16
    TIMESTAMP_NANOS = 17
    LOCAL_TIMESTAMP_MILLIS = 18
    LOCAL_TIMESTAMP_MICROS = 19
    LOCAL_TIMESTAMP_NANOS = 20


_WRAPPERS: Final = {
    "BooleanWrapper": pa.field("boolean", pa.bool_()),
    "IntWrapper": pa.field("int", pa.int32()),
    "LongWrapper": pa.field("long", pa.int64()),
    "FloatWrapper": pa.field("float", pa.float32()),
    "DoubleWrapper": pa.field("double", pa.float64()),
    "BytesWrapper": pa.field("bytes", pa.binary()),
    "StringWrapper": pa.field("string", pa.string()),
    "DateWrapper": pa.field("date", pa.date32()),
    "DecimalWrapper": pa.field("decimal", pa.decimal128(30, 15)),
    "TimeMicrosWrapper": pa.field("time_micros", pa.time64("us")),
    "TimestampMicrosWrapper": pa.field("timestamp_micros", pa.timestamp("us", "UTC")),
    "LocalDateWrapper": pa.field("local_date", pa.date32()),
}
_ARRAY: Final = "ArrayWrapper"

BOUND: Final = pa.struct(list(_WRAPPERS.values()))
"""A bound in the same type for all releases: null, or with one field that is not."""


def bound_of(values: Any) -> Any:
    """The bounds in a column of wrappers, which is a union, as values of BOUND."""
    if not pa.types.is_struct(values.type):
        raise CorruptFile(f"bounds of type {values.type} in the statistics of columns", 0)
    found = {field.name.rpartition(".")[2]: number for number, field in enumerate(values.type)}
    if found.keys() - _WRAPPERS.keys() - {_ARRAY}:
        raise Unsupported(
            f"statistics of columns with bounds in {', '.join(found.keys() - _WRAPPERS.keys())}. Use a newer engine."
        )
    if _ARRAY in found and pc.struct_field(values, [found[_ARRAY]]).null_count < len(values):
        raise Unsupported("statistics of columns with an array as bound, which has no order that is known")
    children = [
        _unwrapped(values, found[wrapper], field.type) if wrapper in found else pa.nulls(len(values), field.type)
        for wrapper, field in _WRAPPERS.items()
    ]
    return pa.StructArray.from_arrays(children, fields=list(BOUND), mask=values.is_null())


def require_value_types(ordinals: Any) -> Any:
    """The numbers of value types; `Unsupported` for one that is not known, or that is never written."""
    is_known = pc.is_in(ordinals.drop_null(), pa.array([int(each) for each in ValueType], ordinals.type))
    if not pc.all(is_known, min_count=0).as_py():
        number = ordinals.drop_null().filter(pc.invert(is_known))[0].as_py()
        raise Unsupported(
            f"statistics of columns with values of type {number}, expected {min(ValueType)} to {max(ValueType)}. "
            "Use a newer engine; nothing was changed."
        )
    return ordinals


def _unwrapped(values: Any, number: int, kind: pa.DataType) -> Any:
    wrapped = values.type.field(number).type
    if not pa.types.is_struct(wrapped) or wrapped.num_fields != 1:
        raise CorruptFile(f"a bound of type {wrapped} in the statistics of columns", 0)
    return as_type(pc.struct_field(values, [number, 0]), kind)
