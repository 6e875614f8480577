"""The ranges of a log file's columns from the rows that it holds, as Hudi's writers collect them while they log."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from hudi_engine.compute.column_promotion import together
from hudi_engine.compute.footer_ranges import Ranges
from hudi_engine.errors import Unsupported
from hudi_engine.format.log.block import DATA_TYPES, BlockType, LogBlock
from hudi_engine.index.column_range import Bound, ColumnRange
from hudi_engine.index.stats_entries import value_type_of
from hudi_engine.table.log_changes import stored_rows


def ranges_of_blocks(blocks: Sequence[LogBlock], partition: str, name: str, columns: Sequence[str]) -> Ranges | None:
    """Of each column the range of all rows in the blocks, rows that are deletions among them.

    Sizes are 0. Blocks of nothing but deletions have ranges of no values. As with base files, None if there are
    values whose order Hudi's statistics do not know; of lists, maps, structs, and what is in lists and maps, nothing.

    None also for partial updates. Java has entries of the columns in them alone, by which its queries drop a row that
    has one of the values asked for from the log, and the other from its base file.
    """
    if any(block.is_partial for block in blocks):
        return None
    pieces = [_rows(block) for block in blocks if block.type in DATA_TYPES]
    found: list[ColumnRange] = []
    for column in columns:
        blank = ColumnRange(partition, name, column, None, None, None, 0, 0, 0, 0)
        columns_of_pieces = [_values(rows, column) for rows in pieces]
        if any(values is not None and types.is_nested(values.type) for values in columns_of_pieces):
            continue
        ranges = [_range(values, blank) for values in columns_of_pieces]
        kind = next((each.kind for each in reversed(ranges) if each.kind is not None), None)
        if kind is not None and value_type_of(kind) is None:
            return None
        found.append(together(ranges, kind, blank))
    return tuple(found)


def _rows(block: LogBlock) -> pa.Table:
    if block.type is BlockType.HFILE_DATA:
        raise Unsupported(f"an HFile at offset {block.offset} in a data table's log")
    return stored_rows(block)


def _values(rows: pa.Table, path: str) -> Any:
    """The column, or the part of a struct, at a path; nulls where it came later, a list or map if that is met."""
    name, *steps = path.split(".")
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows)
    values = pa.concat_arrays(rows.column(name).chunks) if rows.num_rows else pa.array([], rows.schema.field(name).type)
    for step in steps:
        if not types.is_struct(values.type) or values.type.get_field_index(step) < 0:
            return values if types.is_nested(values.type) else pa.nulls(rows.num_rows)
        values = pc.struct_field(values, step)
    return values


def _range(values: Any, blank: ColumnRange) -> ColumnRange:
    kind = None if types.is_null(values.type) else values.type
    least, greatest = (None, None) if values.null_count == len(values) else _bounds(values)
    return replace(
        blank, kind=kind, least=least, greatest=greatest, value_count=len(values), null_count=values.null_count
    )


def _bounds(values: Any) -> tuple[Bound, Bound]:
    kind = values.type
    if types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if types.is_floating(kind):
        return _of_floats(values.drop_null().to_numpy())
    found = pc.min_max(values).as_py()
    return found["min"], found["max"]


def _of_floats(values: Any) -> tuple[float, float]:
    """As Java orders them, -0.0 before 0.0; but infinity where Java has NaN for the greatest (`footer_ranges`)."""
    numbers = values[~np.isnan(values)]
    if not numbers.size:
        return -math.inf, math.inf
    least, greatest = float(numbers.min()), float(numbers.max())
    signs = np.signbit(numbers[numbers == 0])
    if least == 0:
        least = -0.0 if signs.any() else 0.0
    if greatest == 0:
        greatest = -0.0 if signs.all() else 0.0
    return least, math.inf if numbers.size < values.size else greatest
