"""Which files and partitions can hold a value, by the statistics of columns.

An answer never leaves out what may hold the value: whatever has no statistics stays in, and so does what has some that
are no evidence. Hudi takes bounds from Parquet footers. Those have none for floating numbers among which one is none,
which reads as bounds of nought, and none for long texts, whose values Hudi then counts as nulls; several row groups,
or files of a partition, are taken together as if nothing were missing.
"""

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from hudi_engine.errors import Unsupported
from hudi_engine.index.index import Index
from hudi_engine.index.keys import column_stats_prefix, partition_ids_of, partition_stats_key
from hudi_engine.index.name_ids import partition_id
from hudi_engine.index.typed_bounds import bounds_as

_FIRST_AFTER_SURROGATES: Final = 0xEE
"""The first byte in UTF-8 of characters behind those that UTF-16 makes the larger ones of."""
_LONGEST_BOUND: Final = 4096
"""Bytes that two bounds may have together in a Parquet footer; it leaves out longer ones."""

_NOTHING: Final = pa.scalar("", pa.large_string())


@dataclass(frozen=True, slots=True)
class Range:
    """Values of a column from `low` to `high`, both included; null at a side where there is no limit."""

    column: str
    low: pa.Scalar
    high: pa.Scalar

    @property
    def type(self) -> pa.DataType:
        return self.low.type


def equal_to(field: pa.Field, value: object) -> Range:
    """The one value, given as Python has it, of a column of the table's schema."""
    return between(field, value, value)


def between(field: pa.Field, low: object | None, high: object | None) -> Range:
    """The values of a column of the table's schema from one to another; None for no limit at that side."""
    try:
        return Range(field.name, pa.scalar(low, field.type), pa.scalar(high, field.type))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as wrong:
        raise Unsupported(
            f"{low!r} or {high!r} cannot be a value of column {field.name}, which is {field.type} ({wrong}). "
            "Ask for values of the column's own type."
        ) from wrong


def files_that_may_hold(index: Index, files: pa.Table, wanted: Range) -> pa.Table:
    """Those of `files`, rows with `partition` and `name`, that may hold one of the wanted values.

    Files, and not file groups: a row of a base file may have another value in a log file, and the other way round.
    """
    if not len(files):
        return files
    places = files["partition"].combine_chunks().dictionary_encode()
    partitions = places.dictionary.to_pylist()
    rows = index.find_prefixes(pa.array([column_stats_prefix(wanted.column, each) for each in partitions]))
    ids = pa.array([partition_id(each) for each in partitions], pa.string()).take(places.indices)
    excluded = rows.filter(pc.invert(may_hold(rows, wanted)))
    without = _file_keys(partition_ids_of(excluded["key"]), excluded["file_name"])
    return files.filter(pc.invert(pc.is_in(_file_keys(ids, files["name"]), without)))


def partitions_that_may_hold(index: Index, partitions: list[str], wanted: Range) -> list[str]:
    """Those of the partitions, in the order given, that may hold one of the wanted values."""
    keys = {partition_stats_key(wanted.column, each): each for each in partitions}
    rows = index.find(pa.array(list(keys), pa.string()))
    excluded = {keys[key] for key in rows["key"].filter(pc.invert(may_hold(rows, wanted))).to_pylist()}
    return [each for each in partitions if each not in excluded]


def may_hold(rows: pa.Table, wanted: Range) -> Any:
    """For each row of statistics whether what it is about may hold one of the wanted values."""
    if not _is_ordered(wanted.type):
        return pa.repeat(True, len(rows))
    least, greatest = bounds_as(rows, wanted.type)
    is_outside = pc.or_(_certainly_less(greatest, wanted.low), _certainly_less(wanted.high, least))
    return pc.invert(pc.and_(is_outside, _is_evidence(rows, least, greatest)))


def _certainly_less(low: Any, high: Any) -> Any:
    """Whether each is less than the other in every order that Hudi may have taken bounds by; not so without a bound."""
    limit = low if isinstance(low, pa.Scalar) else high
    if limit.is_valid and _is_text(limit.type) and max(limit.as_py().encode(), default=0) >= _FIRST_AFTER_SURROGATES:
        # Java puts such characters before or behind each other by UTF-16, and Parquet by UTF-8.
        return pa.repeat(False, len(low if limit is high else high))
    return pc.less(low, high).fill_null(False)


def _is_evidence(rows: pa.Table, least: Any, greatest: Any) -> Any:
    """Whether the bounds of each row are those of values, as far as the row can tell."""
    has_values = pc.less(rows["null_count"], rows["value_count"]).fill_null(False).combine_chunks()
    if _is_text(least.type):
        # Among others the texts that a footer has no bounds for leave one trace: they are counted as nulls.
        is_short = pc.less(rows["total_raw_bytes"], _LONGEST_BOUND).fill_null(False)
        return pc.and_(has_values, pc.or_(is_short, pc.equal(rows["null_count"], 0).fill_null(False)).combine_chunks())
    if not types.is_floating(least.type):
        return has_values
    # A footer whose values are not all numbers has no bounds either, but counts them: its noughts widen all others.
    nought = pa.scalar(0.0, least.type)
    is_beyond = pc.or_kleene(pc.greater(least, nought), pc.less(greatest, nought)).fill_null(False)
    is_number = pc.invert(pc.or_(pc.is_nan(least), pc.is_nan(greatest))).fill_null(False)
    return pc.and_(pc.and_(has_values, is_number), is_beyond)


def _file_keys(partition_ids: Any, names: Any) -> Any:
    """Texts that are the same only for the same file of the same partition: all ids have one length."""
    return pc.binary_join_element_wise(*(pc.cast(each, pa.large_string()) for each in (partition_ids, names)), _NOTHING)


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_ordered(kind: pa.DataType) -> bool:
    """Whether values of the type have one order. Bytes have two, Java's with a sign and Parquet's without."""
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(is_number or types.is_temporal(kind) or types.is_boolean(kind) or _is_text(kind))
