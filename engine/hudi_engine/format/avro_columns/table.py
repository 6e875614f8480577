"""A table of the records asked for, made batch by batch."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.avro_columns.blanks import require_room
from hudi_engine.format.avro_columns.cursor import MARGIN, Content, Cursor, Longs
from hudi_engine.format.avro_columns.scalars import Column
from hudi_engine.format.avro_columns.schema import arrow_field, compile_column
from hudi_engine.format.avro_types import AvroType, Record, parse

# Vectors of this many positions and the bytes that they point into stay in the processor's caches.
_RECORDS_AT_ONCE: Final = 1 << 14
_BYTES_AT_ONCE: Final = 8 << 20
_PLANS: Final = 64
_LONGEST_RECORD: Final = (1 << 31) - 4 * MARGIN


@dataclass(frozen=True, slots=True)
class Step:
    """A field of the record, in its turn."""

    column: Column
    is_wanted: bool


def decode_columns(
    schema: str | AvroType,
    buffer: bytes | memoryview,
    starts: Longs,
    ends: Longs,
    columns: Collection[str] | None = None,
) -> pa.Table:
    """The records `buffer[start:end]`, which `schema` wrote, as a table of these columns in the schema's order.

    The records are given in ascending order and do not overlap. Columns that the schema lacks are left out: its
    writer did not know them. Each record must fill its place exactly, else `CorruptFile` with the offset in `buffer`.
    A union of more than null and one type becomes a struct with a field per branch, named as `branch_name` says.
    """
    written = parse(schema, 0) if isinstance(schema, str) else schema
    if not isinstance(written, Record):
        raise Unsupported("Avro values that are no records cannot be columns")
    _require_ascending(len(buffer), starts, ends)
    steps, kept = _plan(written, None if columns is None else frozenset(columns))
    require_room(kept.types, starts.size, len(buffer))
    view = memoryview(buffer)
    batches = [
        pa.RecordBatch.from_arrays(_decode_batch(steps, view, starts[part], ends[part]), schema=kept)
        for part in _parts(starts, ends)
    ]
    return pa.Table.from_batches(batches, schema=kept)


@lru_cache(_PLANS)
def _plan(written: Record, columns: frozenset[str] | None) -> tuple[tuple[Step, ...], pa.Schema]:
    """What is to be done with each field, and the schema of those that are kept."""
    steps, kept = [], []
    for field in written.fields:
        column, is_wanted = compile_column(field.type), columns is None or field.name in columns
        steps.append(Step(column, is_wanted))
        if is_wanted:
            kept.append(arrow_field(field.name, field.type, column))
    return tuple(steps), pa.schema(kept)


def _require_ascending(size: int, starts: Longs, ends: Longs) -> None:
    borders = np.empty(2 * starts.size + 2, dtype=np.int64)
    borders[0], borders[1:-1:2], borders[2:-1:2], borders[-1] = 0, starts, ends, size
    wrong = np.flatnonzero(np.diff(borders) < 0)
    if wrong.size:
        raise CorruptFile("a record that overlaps another or leaves the bytes", int(borders[wrong[0]]))


def _parts(starts: Longs, ends: Longs) -> Iterator[slice]:
    first = 0
    while first < starts.size:
        fitting = int(np.searchsorted(ends, starts[first] + _BYTES_AT_ONCE, side="right"))
        last = max(first + 1, min(first + _RECORDS_AT_ONCE, fitting))
        yield slice(first, last)
        first = last


def _decode_batch(steps: tuple[Step, ...], view: memoryview, starts: Longs, ends: Longs) -> list[pa.Array]:
    base = int(starts[0])
    shift = base - MARGIN
    if ends[-1] - base > _LONGEST_RECORD:
        raise CorruptFile("a record of more than two gigabytes", base)
    cursor = Cursor(Content.around(view[base : int(ends[-1])]), starts - shift, ends - shift)
    try:
        made = []
        for step in steps:
            if step.is_wanted:
                made.append(step.column.decode(cursor))
            else:
                step.column.skip(cursor)
        cursor.require(cursor.position == cursor.end, "a record ends before its place does")
    except CorruptFile as wrong:
        raise CorruptFile(wrong.what, wrong.offset + shift) from wrong
    return made
