"""What statistics say of one column in one file or partition, and which bounds a column's type allows."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pyarrow as pa
from pyarrow import types

Bound = bool | int | float | str | bytes | Decimal
"""A value as it is stored: dates, times and timestamps as the whole numbers that the file has for them."""

RANGE_BYTES: Final = 1 << 10
"""What a range and the entry made of it take in memory, about."""

_GREATEST_TEXT: Final = "\U0010ffff" * 64
_GREATEST_BYTES: Final = b"\xff" * 256
# Java multiplies seconds back into microseconds, which goes beyond 64 bits in the very first second.
_LEAST_TIME: Final = 10**6 - 2**63
_DAY_SECONDS: Final = 24 * 60 * 60
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """One column of one file, or of one partition if `file_name` is None.

    `kind` None: nothing is known of the type, where there is no value. Without bounds all values are null.
    """

    partition: str
    file_name: str | None
    column: str
    kind: pa.DataType | None
    least: Bound | None
    greatest: Bound | None
    value_count: int
    null_count: int
    total_bytes: int
    total_raw_bytes: int
    is_tight: bool = False


def lesser(one: Bound | None, other: Bound | None) -> Bound | None:
    """Of two bounds of one type the one that comes first; of none and one, the one."""
    return min((each for each in (one, other) if each is not None), key=_order, default=None)


def greater(one: Bound | None, other: Bound | None) -> Bound | None:
    return max((each for each in (one, other) if each is not None), key=_order, default=None)


def widest_bounds(kind: pa.DataType) -> tuple[Bound, Bound]:
    """Bounds that leave out no value of the type, where nobody knows better.

    A column without bounds is one that no query finds: Java's queries drop a file whose bounds are null for every
    comparison, be its null count what it may (#18755). A text that begins with 64 of the last character of all, or
    bytes with 256 times 0xff, are all that would lie beyond, and NaN: not even NaN as a bound would lead to that.
    """
    bounds: tuple[Bound, Bound]
    if types.is_boolean(kind):
        bounds = False, True
    elif types.is_floating(kind):
        bounds = -math.inf, math.inf
    elif types.is_decimal(kind):
        digits = "9" * kind.precision
        bounds = Decimal(f"-{digits}e-{kind.scale}"), Decimal(f"{digits}e-{kind.scale}")
    elif types.is_string(kind):
        bounds = "", _GREATEST_TEXT
    elif types.is_fixed_size_binary(kind):
        bounds = bytes(kind.byte_width), b"\xff" * kind.byte_width
    elif types.is_binary(kind):
        bounds = b"", _GREATEST_BYTES
    elif types.is_time(kind):
        bounds = 0, _DAY_SECONDS * _PER_SECOND[kind.unit] - 1
    else:
        last = 2 ** (kind.bit_width - 1)
        bounds = _LEAST_TIME if types.is_timestamp(kind) else -last, last - 1
    return bounds


def _order(value: Bound) -> tuple[bool, float, Bound]:
    """Java's and Spark's order: of floats NaN is the last, and -0.0 comes before 0.0. Texts go by their UTF-8."""
    if isinstance(value, float):
        return math.isnan(value), 0.0 if math.isnan(value) else value, math.copysign(1.0, value)
    return False, 0.0, value
