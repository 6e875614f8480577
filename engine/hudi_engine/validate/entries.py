"""Entries of `column_stats` and `partition_stats` one by one, their bounds as values that compare."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from hudi_engine.errors import CorruptFile
from hudi_engine.index.payloads.bounds import ValueType

_LONGEST = 60
_STORED_AS = {pa.date32(): pa.int32(), pa.time64("us"): pa.int64(), pa.timestamp("us", "UTC"): pa.int64()}


@dataclass(frozen=True, slots=True)
class Entry:
    """Statistics as stored. Dates and times are the whole numbers that are stored, decimals are `Decimal`.

    `wrapper` is the kind of the bounds, None without any; `value_type` is None in version 1 of the index.
    """

    key: str
    file_name: str
    column_name: str
    least: Any
    greatest: Any
    wrapper: str | None
    value_type: ValueType | None
    values: int
    nulls: int
    stored_bytes: int
    raw_bytes: int
    is_tight: bool


def entries_of(rows: pa.Table) -> Iterator[Entry]:
    """The rows as entries; counts that are missing are -1."""
    names = ("key", "file_name", "column_name", "value_type", "value_type_info", "is_tight_bound")
    counts = ("value_count", "null_count", "total_bytes", "total_raw_bytes")
    texts = zip(*(rows[name].to_pylist() for name in names), strict=True)
    numbers = zip(*(rows[name].fill_null(-1).to_pylist() for name in counts), strict=True)
    bounds = zip(_plain(rows["min"]), _plain(rows["max"]), strict=True)
    for (key, file_name, column, ordinal, info, is_tight), figures, (least, greatest) in zip(
        texts, numbers, bounds, strict=True
    ):
        value_type = None if ordinal is None else ValueType(ordinal)
        low, high = (_value(value, value_type, info or "", key) for _, value in (least, greatest))
        if least[0] and greatest[0] and least[0] != greatest[0]:
            raise CorruptFile(f"bounds of two kinds, {least[0]} and {greatest[0]}, under the key {key!r}", 0)
        wrapper = least[0] or greatest[0]
        values, nulls, stored_bytes, raw_bytes = figures
        yield Entry(
            key=key,
            file_name=file_name or "",
            column_name=column or "",
            least=low,
            greatest=high,
            wrapper=wrapper,
            value_type=value_type,
            values=values,
            nulls=nulls,
            stored_bytes=stored_bytes,
            raw_bytes=raw_bytes,
            is_tight=bool(is_tight),
        )


def shown(value: Any) -> str:
    """A bound for people: a kilobyte of it would tell them no more."""
    if value is None:
        return "none"
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def unscaled(value: bytes, scale: int) -> Decimal:
    """The decimal whose digits are this number in two's complement."""
    # Made of a text: arithmetic would round to 28 digits.
    return Decimal(f"{int.from_bytes(value, 'big', signed=True)}e-{scale}")


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _plain(bounds: pa.ChunkedArray) -> list[tuple[str | None, Any]]:
    """Of each bound the kind of its wrapper and its value; dates and times as numbers, whose calendar has no end."""
    found: list[tuple[str | None, Any]] = [(None, None)] * len(bounds)
    values = bounds.combine_chunks()
    for number, field in enumerate(values.type):
        child = values.field(number)
        child = child.cast(_STORED_AS.get(field.type, field.type))
        for place, value in enumerate(child.to_pylist() if child.null_count < len(child) else ()):
            if value is not None:
                found[place] = (field.name, value)
    return found


def _value(value: Any, value_type: ValueType | None, info: str, key: str) -> Any:
    if value is None or value_type is not ValueType.DECIMAL:
        return value
    precision, _, scale = info.partition(",")
    if not isinstance(value, bytes) or not (precision.strip().isdigit() and scale.strip().isdigit()):
        raise CorruptFile(f"a decimal of {info or 'no'} digits as {value!r:.60} under the key {key!r}", 0)
    return unscaled(value, int(scale))
