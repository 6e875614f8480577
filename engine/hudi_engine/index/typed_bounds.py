"""Bounds of statistics in the Arrow type of the column that they are of, so that they compare with its values."""

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from hudi_engine.index.payloads.bounds import BOUND, ValueType

_STORED: Final = {
    ValueType.DATE: ("int", pa.date32()),
    ValueType.TIME_MILLIS: ("int", pa.time32("ms")),
    ValueType.TIME_MICROS: ("long", pa.time64("us")),
    ValueType.TIMESTAMP_MILLIS: ("long", pa.timestamp("ms", "UTC")),
    ValueType.TIMESTAMP_MICROS: ("long", pa.timestamp("us", "UTC")),
    ValueType.TIMESTAMP_NANOS: ("long", pa.timestamp("ns", "UTC")),
    ValueType.LOCAL_TIMESTAMP_MILLIS: ("long", pa.timestamp("ms")),
    ValueType.LOCAL_TIMESTAMP_MICROS: ("long", pa.timestamp("us")),
    ValueType.LOCAL_TIMESTAMP_NANOS: ("long", pa.timestamp("ns")),
}
_NUMBER: Final = re.compile("0|[1-9][0-9]?", re.ASCII)
_MOST_DIGITS: Final = 38
_LONGEST_DECIMAL: Final = 16


def bounds_as(rows: pa.Table, kind: pa.DataType) -> tuple[Any, Any]:
    """The least and the greatest value of each row of statistics as values of a column's type.

    Null where there is none, or where it is of a type whose order says nothing of the column's: a column that was a
    number once and is text now, for example, or the UUIDs that Java orders by halves.
    """
    return _as(rows, "min", kind), _as(rows, "max", kind)


def _as(rows: pa.Table, name: str, kind: pa.DataType) -> Any:
    found, bounds = pa.nulls(len(rows), kind), rows[name].combine_chunks()
    for number, field in enumerate(BOUND):
        values = pc.struct_field(bounds, [number])
        if values.null_count == len(values):
            continue
        for is_one, stored in _stored(rows, field, kind):
            some = _read(pc.if_else(is_one, values, pa.scalar(None, values.type)), stored)
            found = pc.coalesce(found, _widened(some, kind))
    return found


def _stored(rows: pa.Table, field: pa.Field, kind: pa.DataType) -> Iterator[tuple[Any, pa.DataType]]:
    """What bounds in a wrapper stand for, and in which rows; rows that stand for something else in it are left out."""
    value_types, infos = rows["value_type"].combine_chunks(), rows["value_type_info"].combine_chunks()
    for value_type in pc.unique(value_types).to_pylist():
        is_one = pc.is_null(value_types) if value_type is None else pc.equal(value_types, value_type).fill_null(False)
        match field.name, value_type:
            case "bytes", ValueType.DECIMAL:
                for info, decimal in _decimals(pc.unique(infos.filter(is_one)).to_pylist()):
                    yield pc.and_(is_one, pc.equal(infos, info).fill_null(False)), decimal
            # 0.15 forgets what it wraps when it compacts; decimals of the first version have this one scale.
            case "bytes", None if types.is_decimal(kind):
                yield is_one, pa.decimal128(30, 15)
            case "string", ValueType.UUID:
                continue
            # Before the second version a number could stand for a time, in the unit of the column.
            case (("int" | "long"), None) if types.is_temporal(kind) and kind.bit_width == field.type.bit_width:
                yield is_one, kind
            case wrapper, _ if value_type in _STORED and wrapper == _STORED[ValueType(value_type)][0]:
                yield is_one, _STORED[ValueType(value_type)][1]
            case _:
                yield is_one, field.type


def _decimals(infos: list[str | None]) -> Iterator[tuple[str, pa.DataType]]:
    for info in infos:
        precision, _, scale = (info or "").partition(",")
        if (
            _NUMBER.fullmatch(precision)
            and _NUMBER.fullmatch(scale)
            and int(scale) <= int(precision) <= _MOST_DIGITS
            and precision != "0"
        ):
            yield str(info), pa.decimal128(int(precision), int(scale))


def _read(values: Any, stored: pa.DataType) -> Any:
    if types.is_decimal(stored) and types.is_binary(values.type):
        return _unscaled(values, stored)
    return values if values.type == stored else values.view(stored)


def _unscaled(values: Any, kind: pa.DataType) -> Any:
    """Big-endian two's complement of any length as decimals; null for what does not fit."""
    lengths = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    fits = (lengths >= 1) & (lengths <= _LONGEST_DECIMAL)
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset + 1 :][: len(values)]
    octets = np.frombuffer(data if data is not None and data.size else b"\0", np.uint8)
    made = np.empty((len(values), _LONGEST_DECIMAL), np.uint8)
    sign = np.where(octets[np.where(fits, ends - lengths, 0)] >= 0x80, 0xFF, 0).astype(np.uint8)
    for place in range(_LONGEST_DECIMAL):
        has_it = fits & (lengths > place)
        made[:, place] = np.where(has_it, octets[np.where(has_it, ends - 1 - place, 0)], sign)
    wide = pa.Array.from_buffers(pa.decimal128(_MOST_DIGITS, kind.scale), len(values), [None, pa.py_buffer(made)])
    return pc.if_else(pa.array(fits), wide, pa.scalar(None, wide.type))


def _widened(values: Any, kind: pa.DataType) -> Any:
    """The values in the column's type, as reading widens them; nulls if that is no widening."""
    try:
        if values.type == kind:
            return values
        if _is_kept_in_order(values.type, kind):
            if types.is_float32(values.type) and types.is_float64(kind):
                return values.cast(pa.string()).cast(kind)  # by its digits: 0.1 stays 0.1
            return values.cast(kind, safe=not (types.is_integer(values.type) and types.is_floating(kind)))
    except pa.ArrowInvalid:
        pass
    return pa.nulls(len(values), kind)


def _is_kept_in_order(before: pa.DataType, after: pa.DataType) -> bool:
    if types.is_integer(before):
        return bool(types.is_integer(after) or types.is_floating(after))
    same = (_is_text, _is_bytes, types.is_floating, types.is_decimal, types.is_date, types.is_time, types.is_timestamp)
    return any(is_one(before) and is_one(after) for is_one in same) and not types.is_float64(before)


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))
