"""Statistics of one key from several commits, none of which knows them all: bounds widen, counts add up."""

import math
import struct
import uuid
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.index.payloads.bounds import ValueType

_SUMS: Final = ("value_count", "null_count", "total_bytes", "total_raw_bytes")
_TIMES: Final = frozenset({"date", "local_date", "time_micros", "timestamp_micros"})
_BITS: Final = 64
_HALF: Final = 1 << _BITS - 1

Bound = tuple[str, Any]
"""The kind of a bound, and a value that compares to others of this kind as Java compares the bound."""


def widened(rows: pa.Table, starts: npt.NDArray[np.int64]) -> pa.Table:
    """A row for each run of rows, of which `starts` has the first: the newest, with the bounds and counts of all."""
    runs = list(pairwise([*starts.tolist(), len(rows)]))
    newest = rows.take(pa.array([last - 1 for _, last in runs], pa.int64()))
    choose: tuple[tuple[str, Callable[..., int]], ...] = (("min", min), ("max", max))
    for name, best in choose:
        bounds = _comparable_bounds(rows, name)
        places = [_best(bounds, run, best) for run in runs]
        newest = _replaced(newest, name, rows[name].combine_chunks().take(pa.array(places, pa.int64())))
    for name in _SUMS:
        counts = rows[name].to_pylist()
        newest = _replaced(newest, name, pa.array([_sum(counts[first:last]) for first, last in runs], pa.int64()))
    return newest


def _comparable_bounds(rows: pa.Table, name: str) -> list[Bound | None]:
    found: list[Bound | None] = [None] * len(rows)
    types, infos = rows["value_type"].to_pylist(), rows["value_type_info"].to_pylist()
    bounds = rows[name].combine_chunks()
    for number, field in enumerate(bounds.type):
        values = pc.struct_field(bounds, [number])
        for row in np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False)).tolist():
            found[row] = _comparable(field.name, values[row], (types[row], infos[row]))
    return found


def _comparable(kind: str, value: Any, value_type: tuple[int | None, str | None]) -> Bound:
    if kind in _TIMES:
        return kind, value.value  # Python's calendar is shorter than Arrow's
    found = value.as_py()
    match kind, value_type:
        case "string", (ValueType.UUID, _):
            kind, found = "UUID", _uuid_order(found)
        case "bytes", (ValueType.DECIMAL, info):
            kind, found = f"decimal({info})", int.from_bytes(found, "big", signed=True)
        case "string", _:
            found = found.encode("utf-16-be")
        case "bytes", _:
            found = bytes(octet ^ 0x80 for octet in found)
        case (("float" | "double"), _):
            found = _float_order(found)
    return kind, found


def _float_order(value: float) -> int:
    """Java's order: nought with a minus is less than without, and what is no number is greater than all."""
    (bits,) = struct.unpack(">q", struct.pack(">d", math.nan if math.isnan(value) else value))
    return int(bits if bits >= 0 else bits ^ (_HALF - 1))


def _uuid_order(text: str) -> tuple[int, int]:
    """Java's order: both halves are numbers with a sign."""
    try:
        number = uuid.UUID(text).int
    except ValueError as wrong:
        raise CorruptFile(f"a bound {text[:50]!r} where statistics promise a UUID", 0) from wrong
    return _signed(number >> _BITS), _signed(number)


def _signed(number: int) -> int:
    return (number + _HALF) % (2 * _HALF) - _HALF


def _best(bounds: Sequence[Bound | None], run: tuple[int, int], best: Callable[..., int]) -> int | None:
    """The place of the best bound of a run, the older one of equals; None if none of its rows has a bound."""
    there = {place: bound for place in range(*run) if (bound := bounds[place]) is not None}
    kinds = {kind for kind, _ in there.values()}
    if len(kinds) > 1:
        raise Unsupported(
            f"statistics of one key with bounds of {' and '.join(sorted(kinds))}, which Hudi cannot compare either. "
            "Drop this index and let a Hudi writer build it anew."
        )
    return best(there, key=lambda place: there[place][1]) if there else None


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum in 64 bits, as Java's; None if one is not known."""
    known = [count for count in counts if count is not None]
    return _signed(sum(known)) if len(known) == len(counts) else None


def _replaced(rows: pa.Table, name: str, values: Any) -> pa.Table:
    number = rows.schema.get_field_index(name)
    return rows.set_column(number, rows.schema.field(number), values)
