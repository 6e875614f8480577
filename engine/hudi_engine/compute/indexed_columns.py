"""Which columns `column_stats` and `partition_stats` are of, by the rule of Hudi's releases."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa
from pyarrow import types

from hudi_engine.errors import NotFound, Unsupported
from hudi_engine.index.definitions import FIRST_WITH_DEFINITIONS, IndexVersion
from hudi_engine.index.stats_entries import value_type_of
from hudi_engine.table.conform import META_COLUMNS
from hudi_engine.table.log_changes import OPERATION

COLUMN_LIST: Final = "hoodie.metadata.index.column.stats.column.list"
_MOST: Final = "hoodie.metadata.index.column.stats.max.columns.to.index"
_MOST_BY_DEFAULT: Final = "32"
_ALWAYS: Final = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")
_WRAPPED_DIGITS, _WRAPPED_SCALE = 30, 15


def columns_to_index(
    schema: pa.Schema, properties: Mapping[str, str], table_version: int, version: IndexVersion
) -> tuple[str, ...]:
    """The columns, those of Hudi's own first, then the listed ones or the first so many of the table.

    `schema` is that of the table's rows with Hudi's own columns, if the files have them. What is listed and is not
    there, or of a type without statistics, is left out, as in 1.x. In version 6, of which 0.15 indexes all columns,
    there is no limit. Lists, maps and structs have no statistics themselves; a path into one may be listed.
    """
    is_narrow = _is_narrow(table_version, version)
    listed = _listed(properties)
    always = [name for name in _ALWAYS if name in schema.names]
    if listed:
        found = [name for name in listed if name not in _ALWAYS and _has_statistics(schema, name, is_narrow=is_narrow)]
    elif table_version < 8:
        found = [
            name for name in schema.names if name not in always and _has_statistics(schema, name, is_narrow=is_narrow)
        ]
    else:
        own = {*META_COLUMNS, OPERATION}
        names = [
            name for name in schema.names if name not in own and _has_statistics(schema, name, is_narrow=is_narrow)
        ]
        found = names[: most_columns(properties)]
    return tuple(dict.fromkeys((*always, *found)))


def require_own_columns(properties: Mapping[str, str], schema: pa.Schema, table_version: int) -> None:
    """Raise for a list of an old table without Hudi's own columns, if the rows have them.

    Writers of 0.15 take what is listed and no more, those of 1.x these beside. Of a column of which some files have
    statistics and others have none queries leave out the others, and so do look-ups by bloom filters, which ask for
    the range of keys: they would write keys again that are there.
    """
    listed = _listed(properties)
    missing = [name for name in _ALWAYS if name in schema.names and name not in listed]
    if table_version < FIRST_WITH_DEFINITIONS and listed and missing:
        raise Unsupported(
            f"{COLUMN_LIST} lacks {', '.join(missing)}: of these some of Hudi's writers keep statistics and others do "
            f"not in a table of version {table_version}, and without statistics a file's keys are not found. Add them "
            "to the list of every writer and reader, and here."
        )


def require_statistics(columns: Sequence[str], schema: pa.Schema, table_version: int, version: IndexVersion) -> None:
    """Raise for a column that a person asked for and of which there would be no statistics.

    Of writers' properties it is left out: they are set for many tables, and a column may be yet to come.
    """
    for name in columns:
        kind = type_at(schema, name)
        if kind is None:
            there = ", ".join(schema.names)
            raise NotFound(f"column_stats: no column {name!r}; the rows have {there}. Name one of those.")
        if not _has_statistics(schema, name, is_narrow=_is_narrow(table_version, version)):
            raise Unsupported(
                f"column_stats: the column {name} is {kind}, of which there are no statistics in a table of version "
                f"{table_version}. Leave it out, or name a part of it, as PARENT.CHILD."
            )


def most_columns(properties: Mapping[str, str]) -> int:
    """How many columns are taken where none are listed."""
    text = properties.get(_MOST, _MOST_BY_DEFAULT).strip()
    if not text.isascii() or not text.isdigit():
        raise Unsupported(f"{_MOST}={text!r}, expected a number of columns; set it right or leave it out")
    return int(text)


def type_at(schema: pa.Schema, path: str) -> pa.DataType | None:
    """The type at a dotted path into structs, lists and maps, as Parquet names their parts; None if it has none."""
    name, *steps = path.split(".")
    kind = schema.field(name).type if name in schema.names else None
    while steps and kind is not None:
        if types.is_struct(kind) and kind.get_field_index(steps[0]) >= 0:
            kind, steps = kind.field(steps[0]).type, steps[1:]
        elif types.is_list(kind) and steps[:2] == ["list", "element"]:
            kind, steps = kind.value_type, steps[2:]
        elif types.is_map(kind) and steps[:2] == ["key_value", "key"]:
            kind, steps = kind.key_type, steps[2:]
        elif types.is_map(kind) and steps[:2] == ["key_value", "value"]:
            kind, steps = kind.item_type, steps[2:]
        else:
            kind = None
    return kind


def _listed(properties: Mapping[str, str]) -> list[str]:
    return [name.strip() for name in properties.get(COLUMN_LIST, "").split(",") if name.strip()]


def _is_narrow(table_version: int, version: IndexVersion) -> bool:
    """Whether decimals are in a wrapper that holds not all of them."""
    return table_version >= 8 and version is IndexVersion.V1


def _has_statistics(schema: pa.Schema, path: str, *, is_narrow: bool) -> bool:
    kind = type_at(schema, path)
    if kind is None or value_type_of(kind) is None:
        return False
    if is_narrow and types.is_decimal(kind):
        return bool(kind.scale <= _WRAPPED_SCALE and kind.precision + _WRAPPED_SCALE - kind.scale <= _WRAPPED_DIGITS)
    return True
