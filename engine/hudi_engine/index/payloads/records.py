"""Entries of HFiles into records: keys, and the one field of the record that its kind of index is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.arrow_bytes import bytes_of
from hudi_engine.format.avro_columns import decode_columns
from hudi_engine.format.avro_types import AvroType, parse

KEY: Final = pa.field("key", pa.large_string(), nullable=False)
IS_DELETED: Final = pa.field("is_deleted", pa.bool_(), nullable=False)

LIVES: Final = pa.scalar(False)  # as scalars of Arrow: making one of Python's takes longer than reading a record
_DELETED: Final = pa.scalar(True)
_SCHEMAS: Final = 16
_TYPE: Final = "type"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The field with what a record says, and the numbers by which a record says that it is one of these."""

    field: str
    types: tuple[int, ...]
    may_be_null: bool = False


def records(entries: pa.Table, written: str, wanted: Wanted) -> Iterator[tuple[Any, Any]]:
    """In pieces, the keys and the wanted field of the records that the Avro schema `written` wrote.

    The key is that of the entry: inside of its value Hudi leaves it empty.
    """
    schema = _schema(written)
    for batch in entries.to_batches():
        if len(batch):
            yield from _records(batch, schema, wanted)


def child(values: Any, name: str) -> Any:
    """A field of records, null where the record is; `CorruptFile` if their writer did not know it."""
    if not pa.types.is_struct(values.type) or values.type.get_field_index(name) < 0:
        raise CorruptFile(f"records of the metadata table without the field {name}", 0)
    return pc.struct_field(values, [values.type.get_field_index(name)])


def child_or(values: Any, name: str, default: Any) -> Any:
    """A field that was added later: where a release did not write it yet, the default."""
    if pa.types.is_struct(values.type) and values.type.get_field_index(name) < 0:
        return pa.repeat(default, len(values))
    return child(values, name)


def require_values(values: Any, what: str) -> Any:
    if values.null_count:
        raise CorruptFile(f"a record of the metadata table without {what}", 0)
    return values


def as_type(values: Any, kind: pa.DataType) -> Any:
    """The values in the type that the format has for them; whoever wrote another one did not write this format."""
    try:
        return values if values.type == kind else pc.cast(values, kind)
    except pa.ArrowException as wrong:
        raise CorruptFile(f"values of type {values.type} where the metadata table has {kind}", 0) from wrong


def rows_of(schema: pa.Schema, batches: Iterator[list[Any]]) -> pa.Table:
    made = [
        pa.RecordBatch.from_arrays(
            [as_type(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )
        for columns in batches
    ]
    return pa.Table.from_batches(made, schema)


def deletions(schema: pa.Schema, keys: Any) -> pa.Table:
    """Rows that say of these keys nothing but that they are deleted."""
    columns = [pa.nulls(len(keys), field.type) for field in schema]
    columns[0] = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    columns[-1] = pa.repeat(_DELETED, len(keys))
    return rows_of(schema, iter([columns]))


def _records(batch: pa.RecordBatch, schema: AvroType, wanted: Wanted) -> Iterator[tuple[Any, Any]]:
    keys, values = as_type(batch.column("key"), KEY.type), batch.column("value")
    data, borders = bytes_of(values)
    table = decode_columns(schema, data, borders[:-1], borders[1:], (_TYPE, wanted.field))
    if table.column_names != [_TYPE, wanted.field]:
        raise CorruptFile(f"records of the metadata table without {_TYPE} and {wanted.field}", 0)
    at = 0
    for part in table.combine_chunks().to_batches():
        _require_types(part.column(_TYPE), wanted)
        found = part.column(wanted.field)
        yield keys.slice(at, len(part)), found if wanted.may_be_null else require_values(found, wanted.field)
        at += len(part)


def _require_types(found: Any, wanted: Wanted) -> None:
    numbers = as_type(found, pa.int32()).to_numpy()
    strange = numbers[~np.isin(numbers, wanted.types)]
    if strange.size:
        raise CorruptFile(f"a record of type {strange[0]} where {wanted.field} needs one of {wanted.types}", 0)


@lru_cache(_SCHEMAS)
def _schema(written: str) -> AvroType:
    return parse(written, 0)
