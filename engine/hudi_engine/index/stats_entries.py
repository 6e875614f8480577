"""Entries of `column_stats` and `partition_stats` as their writers store them (sections 3.3, 3.4, 3.6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import Final, NamedTuple

import pyarrow as pa
from pyarrow import types

from hudi_engine.errors import Contradiction
from hudi_engine.format.avro_encode import Write
from hudi_engine.index.column_range import Bound, ColumnRange
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.entries import entry_of
from hudi_engine.index.keys import column_stats_key, partition_stats_key
from hudi_engine.index.payloads.bounds import ValueType

_COLUMN_STATS, _PARTITION_STATS = 3, 6
_FIELD: Final = "ColumnStatsMetadata"
_NAMES: Final = (
    *("fileName", "columnName", "minValue", "maxValue", "valueCount", "nullCount", "totalSize"),
    "totalUncompressedSize",
)
"""The fields that differ from file to file."""

_MOST_SORTS: Final = 4096
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
    entries = sorted((_key(about).encode(), _value(about, table_version, version)) for about in ranges)
    columns = ([key for key, _ in entries], [value for _, value in entries])
    return pa.table([pa.array(column, pa.large_binary()) for column in columns], names=["key", "value"])


@cache
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


def _value(about: ColumnRange, table_version: int, version: IndexVersion) -> bytes:
    frame = _frame(_Sort(table_version, version, about.file_name is None, about.column, about.kind, about.is_tight))
    value_type, kind, is_typed = frame.value_type, about.kind, version is IndexVersion.V2
    out = bytearray(frame.before)
    frame.write_name(out, about.partition if about.file_name is None else about.file_name)
    out += frame.column
    frame.write_bound(out, _wrapped(about.least, value_type, kind, is_typed))
    frame.write_bound(out, _wrapped(about.greatest, value_type, kind, is_typed))
    for count in (about.value_count, about.null_count, about.total_bytes, about.total_raw_bytes):
        frame.write_count(out, count)
    out += frame.behind
    return bytes(out)


class _Sort(NamedTuple):
    """What entries have in common of which there is one for each file."""

    table_version: int
    version: IndexVersion
    is_of_partition: bool
    column: str
    kind: pa.DataType | None
    is_tight: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """What such entries are made of, in the order of their fields."""

    value_type: ValueType
    before: bytes
    write_name: Write
    column: bytes
    write_bound: Write
    write_count: Write
    behind: bytes


@lru_cache(_MOST_SORTS)
def _frame(sort: _Sort) -> _Frame:
    value_type = ValueType.NULL if sort.kind is None else value_type_of(sort.kind)
    if value_type is None:
        raise Contradiction(f"statistics of {sort.column}, which is of type {sort.kind}: Hudi keeps none of those")
    is_typed = sort.version is IndexVersion.V2
    behind: dict[str, object] = {
        "isDeleted": False,
        "isTightBound": sort.is_tight,
        "valueType": {"typeOrdinal": int(value_type), "additionalInfo": _info(sort.kind)} if is_typed else None,
    }
    entry = entry_of(sort.table_version, _PARTITION_STATS if sort.is_of_partition else _COLUMN_STATS, _FIELD)
    names = tuple(entry.fields)
    # Table version 6 lacks the last two, 8 the last.
    assert names == (*_NAMES, *behind)[: len(names)], names
    column, rest = bytearray(), bytearray()
    entry.fields["columnName"](column, sort.column)
    for name in names[len(_NAMES) :]:
        entry.fields[name](rest, behind[name])
    return _Frame(
        value_type=value_type,
        before=entry.before,
        write_name=entry.fields["fileName"],
        column=bytes(column),
        write_bound=entry.fields["minValue"],
        write_count=entry.fields["valueCount"],
        behind=bytes(rest) + entry.behind,
    )


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
