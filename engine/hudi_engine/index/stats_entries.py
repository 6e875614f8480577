"""Entries of `column_stats` and `partition_stats` as their writers store them (sections 3.3, 3.4, 3.6)."""

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import Final

import pyarrow as pa
from pyarrow import types

from hudi_engine.errors import Contradiction
from hudi_engine.format.avro_encode import Write, compile_encoder
from hudi_engine.format.avro_types import parse
from hudi_engine.index.column_range import Bound, ColumnRange
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.keys import column_stats_key, partition_stats_key
from hudi_engine.index.payloads.bounds import ValueType
from hudi_engine.table.conform import META_COLUMNS

_COLUMN_STATS, _PARTITION_STATS = 3, 6
_NAMESPACE: Final = "org.apache.hudi.avro.model"
_WRAPPED_DIGITS, _WRAPPED_SCALE = 30, 15
_UNTYPED: Final = {ValueType.DATE: "DateWrapper", ValueType.DECIMAL: "DecimalWrapper"}
_WRAPPERS: Final = {
    ValueType.BOOLEAN: "BooleanWrapper",
    ValueType.INT: "IntWrapper",
    ValueType.LONG: "LongWrapper",
    ValueType.FLOAT: "FloatWrapper",
    ValueType.DOUBLE: "DoubleWrapper",
    ValueType.STRING: "StringWrapper",
    ValueType.BYTES: "BytesWrapper",
    ValueType.FIXED: "BytesWrapper",
    ValueType.DECIMAL: "BytesWrapper",
    ValueType.DATE: "IntWrapper",
    ValueType.TIME_MILLIS: "IntWrapper",
}
_TIMESTAMPS: Final = {
    ("ms", True): ValueType.TIMESTAMP_MILLIS,
    ("us", True): ValueType.TIMESTAMP_MICROS,
    ("ns", True): ValueType.TIMESTAMP_NANOS,
    ("ms", False): ValueType.LOCAL_TIMESTAMP_MILLIS,
    ("us", False): ValueType.LOCAL_TIMESTAMP_MICROS,
    ("ns", False): ValueType.LOCAL_TIMESTAMP_NANOS,
}
_PLAIN: Final = (
    (types.is_boolean, ValueType.BOOLEAN),
    (types.is_int32, ValueType.INT),
    (types.is_int64, ValueType.LONG),
    (types.is_float32, ValueType.FLOAT),
    (types.is_float64, ValueType.DOUBLE),
    (types.is_string, ValueType.STRING),
    (types.is_binary, ValueType.BYTES),
    (types.is_decimal128, ValueType.DECIMAL),
    (types.is_fixed_size_binary, ValueType.FIXED),
    (types.is_date32, ValueType.DATE),
    (types.is_null, ValueType.NULL),
)


def stats_entries(ranges: Iterable[ColumnRange], table_version: int, version: IndexVersion) -> pa.Table:
    """Keys and values, keys ascending, of the statistics of files and partitions.

    Version 2 of the index says what bounds stand for. It came with table version 9, where an index from before the
    upgrade may still be of version 1: its definition tells.
    """
    if version is IndexVersion.V2 and table_version < 9:
        raise Contradiction(
            f"statistics of version {version} in a table of version {table_version}: V1 is the only one"
        )
    write = _encoder(table_version)
    values = ((_key(about).encode(), _value(write, about, table_version, version)) for about in ranges)
    entries = sorted(values)
    columns = ([key for key, _ in entries], [value for _, value in entries])
    return pa.table([pa.array(column, pa.large_binary()) for column in columns], names=["key", "value"])


def value_type_of(kind: pa.DataType) -> ValueType | None:
    """What the bounds of a column stand for; None for a type of which Hudi keeps no statistics."""
    if types.is_timestamp(kind):
        return _TIMESTAMPS.get((kind.unit, kind.tz is not None))
    if types.is_time(kind):
        return {"ms": ValueType.TIME_MILLIS, "us": ValueType.TIME_MICROS}.get(kind.unit)
    return next((value_type for is_kind, value_type in _PLAIN if is_kind(kind)), None)


def can_keep(about: ColumnRange, version: IndexVersion) -> bool:
    """Whether an entry can hold the bounds: in version 1 decimals have 15 digits on each side of the point."""
    if version is IndexVersion.V2 or about.kind is None or not types.is_decimal(about.kind):
        return True
    return all(_fits(bound) for bound in (about.least, about.greatest) if isinstance(bound, Decimal))


def _fits(bound: Decimal) -> bool:
    _, digits, exponent = bound.as_tuple()
    assert isinstance(exponent, int)
    return exponent >= -_WRAPPED_SCALE and len(digits) + exponent + _WRAPPED_SCALE <= _WRAPPED_DIGITS


def _key(about: ColumnRange) -> str:
    if about.file_name is None:
        return partition_stats_key(about.column, about.partition)
    return column_stats_key(about.column, about.partition, about.file_name)


def _value(write: Write, about: ColumnRange, table_version: int, version: IndexVersion) -> bytes:
    value_type = ValueType.NULL if about.kind is None else value_type_of(about.kind)
    if value_type is None:
        raise Contradiction(f"statistics of {about.column}, which is of type {about.kind}: Hudi keeps none of those")
    is_typed = version is IndexVersion.V2
    statistics: dict[str, object] = {
        "fileName": about.partition if about.file_name is None else about.file_name,
        "columnName": about.column,
        "minValue": _wrapped(about.least, value_type, about.kind, is_typed),
        "maxValue": _wrapped(about.greatest, value_type, about.kind, is_typed),
        "valueCount": about.value_count,
        "nullCount": about.null_count,
        "totalSize": about.total_bytes,
        "totalUncompressedSize": about.total_raw_bytes,
        "isDeleted": False,
    }
    if table_version >= 8:
        statistics["isTightBound"] = about.is_tight
    if is_typed:
        statistics["valueType"] = {"typeOrdinal": int(value_type), "additionalInfo": _info(about.kind)}
    record = {
        **dict.fromkeys((*META_COLUMNS, "filesystemMetadata", "BloomFilterMetadata", "recordIndexMetadata")),
        "key": "",
        "type": _PARTITION_STATS if about.file_name is None else _COLUMN_STATS,
        "ColumnStatsMetadata": statistics,
    }
    out = bytearray()
    write(out, record)
    return bytes(out)


def _wrapped(bound: Bound | None, value_type: ValueType, kind: pa.DataType | None, is_typed: bool) -> object:
    if bound is None:
        return None
    wrapper = _WRAPPERS.get(value_type, "LongWrapper")
    stored = bound
    if not is_typed:
        wrapper = _UNTYPED.get(value_type, wrapper)
        if isinstance(bound, Decimal):  # of zeros behind the point the encoder wants as many as the wrapper has
            stored = Decimal(f"{_unscaled(bound, _WRAPPED_SCALE)}e-{_WRAPPED_SCALE}")
    elif isinstance(bound, Decimal):
        assert kind is not None
        stored = _shortest(_unscaled(bound, kind.scale))
    return f"{_NAMESPACE}.{wrapper}", {"value": stored}


def _unscaled(bound: Decimal, scale: int) -> int:
    """The decimal's digits as a number; made without arithmetic, which would round to 28 digits."""
    sign, digits, exponent = bound.as_tuple()
    assert isinstance(exponent, int)
    number = int("".join(map(str, digits)))
    shift = scale + exponent
    number = number * int(10**shift) if shift >= 0 else number // int(10**-shift)
    return -number if sign else number


def _shortest(number: int) -> bytes:
    """Two's complement in as few bytes as Java's `BigInteger` needs."""
    length = ((number if number >= 0 else ~number).bit_length() // 8) + 1
    return number.to_bytes(length, "big", signed=True)


def _info(kind: pa.DataType | None) -> str | None:
    return f"{kind.precision},{kind.scale}" if kind is not None and types.is_decimal(kind) else None


@cache
def _encoder(table_version: int) -> Write:
    if table_version not in WRITTEN_SCHEMA:
        raise Contradiction(f"statistics for table version {table_version}; known are {tuple(WRITTEN_SCHEMA)}")
    return compile_encoder(parse(WRITTEN_SCHEMA[table_version], 0))
