"""Rows as their files hold them, made rows of the table: columns that came later are null, types are widened."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from hudi_engine.errors import NotFound, Unsupported

META_COLUMNS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
COMMIT_TIME = "_hoodie_commit_time"
RECORD_KEY = "_hoodie_record_key"


def with_meta_columns(schema: pa.Schema) -> pa.Schema:
    """The schema of stored rows: Hudi's five columns come first."""
    meta = [pa.field(name, pa.string()) for name in META_COLUMNS]
    return pa.schema([*meta, *(field for field in schema if field.name not in META_COLUMNS)])


def select_columns(schema: pa.Schema, wanted: Sequence[str] | None) -> pa.Schema:
    """The wanted columns in the order asked for; all of them for None."""
    if wanted is None:
        return schema
    unknown = [name for name in wanted if name not in schema.names]
    if unknown:
        raise NotFound(f"no column {', '.join(unknown)}; the table has {', '.join(schema.names)}")
    return pa.schema([schema.field(name) for name in dict.fromkeys(wanted)])


def python_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """The rows as Python values, whose calendar ends with the year 9999; Arrow's, and Hudi's, does not."""
    try:
        return cast(list[dict[str, Any]], rows.to_pylist())
    except (OverflowError, ValueError) as beyond:
        raise Unsupported(
            f"a date or time outside of the years 1 to 9999 ({beyond}). "
            "Write the rows to a file (`read --out`), which keeps them, or leave that column out."
        ) from beyond


def conform(rows: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """These rows with the columns of `schema`, in its order; `path` is for the message if a type cannot become ours."""
    columns = [_column(rows, field, path) for field in schema]
    return pa.table(columns, schema=schema) if columns else rows.select([])


def _column(rows: pa.Table, field: pa.Field, path: str) -> pa.ChunkedArray:
    if field.name not in rows.schema.names:
        return pa.nulls(rows.num_rows, field.type)
    column = rows.column(field.name)
    if column.type == field.type:
        return column
    try:
        return pa.chunked_array([_array(chunk, field.type) for chunk in column.chunks], type=field.type)
    except pa.ArrowException as broken:
        raise Unsupported(
            f"{path}: column {field.name} is {column.type} in this file and {field.type} in the table, "
            f"which does not convert ({broken}). Read this table with Spark, or rewrite the file by clustering."
        ) from broken


def _array(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Nested types by name, so that a field added inside of a struct is null as Spark shows it."""
    if values.type == wanted:
        return values
    if pa.types.is_struct(wanted) and pa.types.is_struct(values.type):
        children = [_child(values, field) for field in wanted]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=values.is_null())
    if pa.types.is_list(wanted) and pa.types.is_list(values.type):
        items = _array(values.flatten(), wanted.value_type)
        return pa.ListArray.from_arrays(_offsets(values), items, type=wanted, mask=values.is_null())
    if pa.types.is_map(wanted) and pa.types.is_map(values.type):
        entries = values.cast(pa.list_(pa.struct([values.type.key_field, values.type.item_field])))
        flat = entries.flatten()
        keys = _array(flat.field(0), wanted.key_type)
        items = _array(flat.field(1), wanted.item_type)
        return pa.MapArray.from_arrays(_offsets(entries), keys, items, type=wanted, mask=values.is_null())
    return _plain(values, wanted)


def _plain(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """A scalar column widened as Hudi widens it, where that is not what a cast does."""
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    becomes_text = pa.types.is_string(wanted)
    if pa.types.is_floating(values.type) and becomes_text:
        raise pa.ArrowNotImplementedError("Java spells such numbers in its own way")
    if is_text and not (becomes_text or pa.types.is_binary(wanted)):
        raise pa.ArrowNotImplementedError("text is not parsed")
    if pa.types.is_float32(values.type) and pa.types.is_float64(wanted):
        return values.cast(pa.string()).cast(wanted)  # by its digits: 0.1 stays 0.1
    # INT96 has nanoseconds, which Spark drops as well; a long becomes the nearest float.
    is_lossy = pa.types.is_timestamp(wanted) or (pa.types.is_integer(values.type) and pa.types.is_floating(wanted))
    return values.cast(wanted, safe=not is_lossy)


def _child(values: pa.Array, field: pa.Field) -> pa.Array:
    index = values.type.get_field_index(field.name)
    if index < 0:
        return pa.nulls(len(values), field.type)
    return _array(values.flatten()[index], field.type)


def _offsets(values: pa.ListArray) -> pa.Array:
    """Offsets that start at nought and count only what `flatten` gives: a null has no items."""
    lengths = values.value_lengths().fill_null(0).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate([[0], lengths.cumsum()]), pa.int32())
