"""Records with the statistics of a column in a file or in a partition, also those of an expression over columns."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hudi_engine.index.payloads.bounds import BOUND, bound_of, require_value_types
from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.newest import key_numbers
from hudi_engine.index.payloads.records import (
    IS_DELETED,
    KEY,
    LIVES,
    Wanted,
    as_type,
    child,
    child_or,
    records,
)
from hudi_engine.index.payloads.widening import widened

_WANTED: Final = Wanted("ColumnStatsMetadata", (3, 6))
_SCHEMA: Final = pa.schema(
    [
        KEY,
        ("file_name", pa.string()),
        ("column_name", pa.string()),
        ("min", BOUND),
        ("max", BOUND),
        ("value_count", pa.int64()),
        ("null_count", pa.int64()),
        ("total_bytes", pa.int64()),
        ("total_raw_bytes", pa.int64()),
        ("is_tight_bound", pa.bool_()),
        ("value_type", pa.int32()),
        ("value_type_info", pa.string()),
        IS_DELETED,
    ]
)
_NO_VALUE_TYPE: Final = pa.scalar(None, pa.struct([("typeOrdinal", pa.int32()), ("additionalInfo", pa.string())]))
_Array = npt.NDArray[Any]
_COUNTS: Final = ("valueCount", "nullCount", "totalSize", "totalUncompressedSize")


def _merged(layers: Sequence[pa.Table]) -> pa.Table:
    """Of each key the newest row, if it is tight or older ones are deleted; else all that came since, together."""
    base, *logs = layers
    return _folded([base, _folded(logs)]) if logs else base


def _folded(layers: Sequence[pa.Table]) -> pa.Table:
    rows = pa.concat_tables(layers)
    keys = key_numbers(rows["key"])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_last = np.append(keys[1:] != keys[:-1], True)[: keys.size]
    if is_last.all():
        return rows
    is_kept = _needed(keys, is_last, [_flags(rows, name)[order] for name in ("is_deleted", "is_tight_bound")])
    keys, is_last, order = keys[is_kept], is_last[is_kept], order[is_kept]
    is_first = np.append(True, keys[1:] != keys[:-1])
    alone, together = rows.take(pa.array(order[is_first & is_last])), rows.take(pa.array(order[~(is_first & is_last)]))
    starts = np.flatnonzero(is_first[~(is_first & is_last)])
    return pa.concat_tables([alone, widened(together, starts)]) if starts.size else alone


def _needed(keys: _Array, is_last: _Array, flags: Sequence[_Array]) -> _Array:
    """Which rows, by key and then age, count: none before the last tight or deleted one, nor this if it is deleted."""
    is_deleted, is_tight = flags
    resets = np.flatnonzero(is_deleted | is_tight)
    first = np.zeros(int(keys[-1]) + 1, dtype=np.int64)
    first[keys[resets]] = resets + (is_deleted & ~is_last)[resets]
    needed: _Array = np.arange(keys.size) >= first[keys]
    return needed


def _flags(rows: pa.Table, name: str) -> _Array:
    return np.asarray(rows[name].fill_null(False).to_numpy(), dtype=np.bool_)


def _columns(entries: pa.Table, written: str) -> Iterator[list[Any]]:
    for keys, found in records(entries, written, _WANTED):
        value_type = child_or(found, "valueType", _NO_VALUE_TYPE)
        yield [
            keys,
            child(found, "fileName"),
            child(found, "columnName"),
            bound_of(child(found, "minValue")),
            bound_of(child(found, "maxValue")),
            *(child(found, name) for name in _COUNTS),
            child_or(found, "isTightBound", LIVES),
            require_value_types(as_type(child(value_type, "typeOrdinal"), pa.int32())),
            child(value_type, "additionalInfo"),
            child(found, "isDeleted"),
        ]


COLUMN_STATS: Final = Family(_SCHEMA, _columns, _merged)
"""`file_name` is the partition's path where the statistics are those of a partition.

`value_type` and `value_type_info` are null in version 1 of the index, where the kind of bound tells the type.
"""
