"""An entry of statistics beside the facts: everything in it that the rows do not bear out."""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa

from hudi_engine.index.payloads.bounds import ValueType
from hudi_engine.validate.entries import Entry, is_nan, shown, unscaled
from hudi_engine.validate.tally import ColumnFacts

_WRAPPER_SCALE = 15  # of a decimal in version 1 of the index, whatever that of its column
Objection = tuple[str, str]
"""What an entry says, and what it should say."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_UNITS = {
    ValueType.TIMESTAMP_MILLIS: "ms",
    ValueType.TIMESTAMP_MICROS: "us",
    ValueType.TIMESTAMP_NANOS: "ns",
    ValueType.LOCAL_TIMESTAMP_MILLIS: "ms",
    ValueType.LOCAL_TIMESTAMP_MICROS: "us",
    ValueType.LOCAL_TIMESTAMP_NANOS: "ns",
}
_types = pa.types
# How Hudi keeps a bound of a column: the wrapper of version 1 of the index, and the value types of version 2.
_KEPT_AS: tuple[tuple[Callable[[pa.DataType], bool], frozenset[str], frozenset[ValueType]], ...] = (
    (_types.is_boolean, frozenset({"boolean"}), frozenset({ValueType.BOOLEAN})),
    (_types.is_int32, frozenset({"int"}), frozenset({ValueType.INT})),
    (_types.is_int64, frozenset({"long"}), frozenset({ValueType.LONG})),
    (_types.is_float32, frozenset({"float"}), frozenset({ValueType.FLOAT})),
    (_types.is_float64, frozenset({"double"}), frozenset({ValueType.DOUBLE})),
    (_types.is_string, frozenset({"string"}), frozenset({ValueType.STRING, ValueType.UUID})),
    (_types.is_binary, frozenset({"bytes"}), frozenset({ValueType.BYTES})),
    (_types.is_fixed_size_binary, frozenset({"bytes"}), frozenset({ValueType.FIXED, ValueType.UUID})),
    # With each compaction of the metadata table 0.15 takes bounds out of their wrappers, and by the plain values that
    # are left it puts decimals into bytes and dates into numbers.
    (_types.is_decimal, frozenset({"decimal", "bytes"}), frozenset({ValueType.DECIMAL})),
    (_types.is_date32, frozenset({"date", "local_date", "int"}), frozenset({ValueType.DATE})),
    (_types.is_time32, frozenset({"int"}), frozenset({ValueType.TIME_MILLIS})),
    (_types.is_time64, frozenset({"long", "time_micros"}), frozenset({ValueType.TIME_MICROS})),
    (_types.is_timestamp, frozenset({"long", "timestamp_micros"}), frozenset(_UNITS)),
)


_WRAPPER_OF = {
    ValueType.BOOLEAN: "boolean",
    ValueType.INT: "int",
    ValueType.LONG: "long",
    ValueType.FLOAT: "float",
    ValueType.DOUBLE: "double",
    ValueType.STRING: "string",
    ValueType.UUID: "string",
    ValueType.BYTES: "bytes",
    ValueType.FIXED: "bytes",
    ValueType.DECIMAL: "bytes",
    ValueType.DATE: "int",
    ValueType.TIME_MILLIS: "int",
    ValueType.TIME_MICROS: "long",
} | dict.fromkeys(_UNITS, "long")
# What a column may have become since a file was written.
_WIDENED = frozenset(
    {
        ValueType.INT,
        ValueType.LONG,
        ValueType.FLOAT,
        ValueType.DOUBLE,
        ValueType.STRING,
        ValueType.BYTES,
        ValueType.DECIMAL,
    }
)


def objections_to_file(entry: Entry, facts: ColumnFacts) -> list[Objection]:
    """Everything in which the entry of a file differs from what it may say; nothing if it is right."""
    found = [*_type_objections(entry, facts, frozenset()), *_value_objections(entry, facts)]
    if entry.is_tight:
        found.append(("bounds called tight", "bounds that are not, as those of every file"))
    return found


def objections_to_partition(entry: Entry, facts: ColumnFacts) -> list[Objection]:
    """The same of the entry of a partition, which has the type of the column in the table and not in a file."""
    return [*_type_objections(entry, facts, _WIDENED), *_value_objections(entry, facts)]


def _value_objections(entry: Entry, facts: ColumnFacts) -> list[Objection]:
    found = [*_bound_objections(entry, facts), *_count_objections(entry, facts)]
    if entry.stored_bytes != facts.stored_bytes:
        found.append((f"{entry.stored_bytes} bytes", f"{facts.stored_bytes} bytes"))
    if entry.raw_bytes != facts.raw_bytes:
        found.append((f"{entry.raw_bytes} bytes unpacked", f"{facts.raw_bytes} bytes unpacked"))
    return found


def objections_to_wide_partition(entry: Entry, facts: ColumnFacts) -> list[Objection]:
    """That the entry has no room for a row of the partition."""
    least, greatest = map(_unit_factor(entry, facts.kind), (facts.certain.least, facts.certain.greatest))
    found = []
    if least is not None and not _is_between(entry.least, (entry.least, least), facts):
        found.append((f"min {shown(entry.least)}", f"min {shown(least)} or less"))
    if greatest is not None and not _is_between(entry.greatest, (greatest, entry.greatest), facts):
        found.append((f"max {shown(entry.greatest)}", f"max {shown(greatest)} or more"))
    if entry.values < facts.certain.values:
        found.append((f"{entry.values} values", f"{facts.certain.values} values or more"))
    if entry.nulls < facts.certain.nulls:
        found.append((f"{entry.nulls} nulls", f"{facts.certain.nulls} nulls or more"))
    return found


def _bound_objections(entry: Entry, facts: ColumnFacts) -> Iterator[Objection]:
    """What is wrong with the least and the greatest value."""
    certain, possible = facts.certain, facts.possible
    unit = _unit_factor(entry, facts.kind)
    low, lowest = unit(certain.least), unit(possible.least)
    high, highest = unit(certain.greatest), unit(possible.greatest)
    if (facts.may_lack_bounds or certain.has_nan) and _has_room(entry, low, high, has_nan=certain.has_nan):
        return  # wider than need be, since a footer cannot tell
    hides_numbers = _is_beyond_numbers(entry.least) and low is not None and low != math.inf
    if hides_numbers or not _is_between(entry.least, (lowest, highest if low is None else low), facts):
        yield f"min {shown(entry.least)}", f"min {shown(lowest if low is None else low)}{_why(facts)}"
    if not _is_between(entry.greatest, (lowest if high is None else high, highest), facts):
        yield f"max {shown(entry.greatest)}", f"max {shown(highest if high is None else high)}{_why(facts)}"


def _has_room(entry: Entry, low: Any, high: Any, *, has_nan: bool) -> bool:
    if low is None:
        return has_nan and _is_beyond_numbers(entry.greatest)
    try:
        return bool(entry.least <= low and (is_nan(entry.greatest) or high <= entry.greatest))
    except TypeError:  # no bounds, or those of another type
        return False


def _is_beyond_numbers(bound: object) -> bool:
    """Whether it is what stands for NaN: Java's writers of logs have NaN for it, and we have infinity."""
    return is_nan(bound) or bound == math.inf


def _why(facts: ColumnFacts) -> str:
    """What is known to have led to a wrong bound. Queries that skip files by it lose rows, Hudi's own among them."""
    return " (Hudi keeps 0 for both bounds where a file holds NaN)" if facts.certain.has_nan else ""


def _is_between(says: Any, bounds: tuple[Any, Any], facts: ColumnFacts) -> bool:
    if isinstance(says, bytes) and isinstance(facts.possible.least, Decimal):
        says = unscaled(says, _WRAPPER_SCALE)
    if says is None:
        return facts.certain.least is None or facts.may_lack_bounds
    if is_nan(says) or (_is_beyond_numbers(says) and facts.possible.has_nan):
        return facts.possible.has_nan
    try:
        return facts.possible.least is not None and bool(bounds[0] <= says <= bounds[1])
    except TypeError:  # a text where the column holds numbers, or the like
        return False


def _unit_factor(entry: Entry, kind: pa.DataType | None) -> Callable[[Any], Any]:
    """From points in time as the file counts them to those that the entry counts."""
    unit = "us" if entry.wrapper == "timestamp_micros" else _UNITS.get(entry.value_type) if entry.value_type else None
    if unit is None or kind is None or not _types.is_timestamp(kind) or kind.unit == unit:
        return lambda value: value
    more, less = _PER_SECOND[unit], _PER_SECOND[kind.unit]
    return lambda value: None if value is None else value * more // less


def _count_objections(entry: Entry, facts: ColumnFacts) -> Iterator[Objection]:
    certain, possible = facts.certain, facts.possible
    if not certain.values <= entry.values <= possible.values:
        yield f"{entry.values} values", f"{_range(certain.values, possible.values)} values"
    is_right = certain.nulls <= entry.nulls <= possible.nulls
    # Where a footer does not count nulls, since its bounds are too long to keep, Hudi takes every value for one, and
    # we all but one.
    if not is_right and not certain.nulls <= entry.nulls <= possible.nulls + facts.uncounted_nulls:
        yield f"{entry.nulls} nulls", f"{_range(certain.nulls, possible.nulls)} nulls"


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _type_objections(entry: Entry, facts: ColumnFacts, widened: frozenset[ValueType]) -> Iterator[Objection]:
    """What is wrong with the type of the bounds; `widened` has those that may stand for each other."""
    kind, value_type = facts.kind, entry.value_type
    if entry.wrapper is None or value_type is ValueType.NULL:
        return
    if value_type is not None and entry.wrapper != _WRAPPER_OF[value_type]:
        yield f"{_name(value_type)} values kept as {entry.wrapper}", f"kept as {_WRAPPER_OF[value_type]}"
        return
    for is_kind, wrappers, value_types in _KEPT_AS:
        if kind is not None and is_kind(kind):
            may_differ = bool(widened & value_types)
            if value_type is None and entry.wrapper not in wrappers and not may_differ:
                yield f"bounds of type {entry.wrapper}", f"of type {' or '.join(sorted(wrappers))}"
            elif value_type not in {None, *value_types} and not (may_differ and value_type in widened):
                expected = " or ".join(map(_name, sorted(value_types)))
                yield f"values of type {_name(value_type)}", f"of type {expected}"
            return


def _name(value_type: ValueType | None) -> str:
    return "none" if value_type is None else value_type.name.lower()
