"""Ranges brought to the type that their column has now, and made into one."""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa
from pyarrow import types

from hudi_engine.index.column_range import Bound, ColumnRange, greater, lesser, widest_bounds


def together(ranges: Iterable[ColumnRange], kind: pa.DataType | None, whole: ColumnRange) -> ColumnRange:
    """The range of all, in the type; the name and the rest are the whole's."""
    return reduce(_added, (promoted(each, kind) for each in ranges), replace(whole, kind=kind))


def promoted(about: ColumnRange, kind: pa.DataType | None) -> ColumnRange:
    """The same range in another type of its column. Where values change their order with the type, bounds get wide."""
    if kind is None or about.kind == kind:
        return about
    if about.kind is None or about.least is None or about.greatest is None:
        return replace(about, kind=kind, least=None, greatest=None)
    least, greatest = (_promoted(bound, about.kind, kind) for bound in (about.least, about.greatest))
    if least is None or greatest is None:
        least, greatest = widest_bounds(kind)
    return replace(about, kind=kind, least=least, greatest=greatest)


def _promoted(bound: Bound, before: pa.DataType, after: pa.DataType) -> Bound | None:
    """None where the type is not one that readers widen the other into, or not in its order."""
    found: Bound | None = None
    if isinstance(bound, int) and types.is_integer(before) and types.is_floating(after):
        found = float(np.float32(bound)) if types.is_float32(after) else float(bound)
    elif (types.is_int32(before) and types.is_int64(after)) or _are_decimals(before, after):
        found = bound
    elif isinstance(bound, float) and types.is_float32(before) and types.is_float64(after):
        found = float(str(np.float32(bound)))  # by its digits, as Hudi's readers do: 0.1 stays 0.1
    elif isinstance(bound, str) and types.is_binary(after):
        found = bound.encode()
    return found


def _are_decimals(before: pa.DataType, after: pa.DataType) -> bool:
    return bool(types.is_decimal(before) and types.is_decimal(after) and before.scale <= after.scale)


def _added(whole: ColumnRange, part: ColumnRange) -> ColumnRange:
    return replace(
        whole,
        least=lesser(whole.least, part.least),
        greatest=greater(whole.greatest, part.greatest),
        value_count=whole.value_count + part.value_count,
        null_count=whole.null_count + part.null_count,
        total_bytes=whole.total_bytes + part.total_bytes,
        total_raw_bytes=whole.total_raw_bytes + part.total_raw_bytes,
    )
