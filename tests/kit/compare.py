"""Two Arrow tables of one Hudi table, row by row."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

Row = dict[str, Any]

KEY = ("_hoodie_partition_path", "_hoodie_record_key")


def first_difference(ours: pa.Table, theirs: pa.Table, key: Sequence[str] = KEY) -> str:
    """Where the two differ first, for a person to read; empty if every row of every column is equal.

    Columns are matched by name and rows by key, in any order. What only says how a value is held does not count:
    dictionaries, large and view types, the unit of a timestamp, the name of UTC, maps as pairs.
    """
    if found := _column_difference(ours, theirs):
        return found
    names = ours.column_names
    left, right = _sorted_rows(ours, key), _sorted_rows(theirs.select(names), key)
    if found := _row_difference(left, right, key):
        return found
    for mine, other in zip(left, right, strict=True):
        for name in names:
            if not _same(mine[name], other[name]):
                return f"row {_of(mine, key)}, column {name}: ours {mine[name]!r}, theirs {other[name]!r}"
    return ""


def require_equal(ours: pa.Table, theirs: pa.Table, key: Sequence[str] = KEY) -> None:
    found = first_difference(ours, theirs, key)
    assert not found, found


def _column_difference(ours: pa.Table, theirs: pa.Table) -> str:
    mine, others = set(ours.column_names), set(theirs.column_names)
    if mine != others:
        return f"columns only in ours: {sorted(mine - others)}, only in theirs: {sorted(others - mine)}"
    for name in ours.column_names:
        left, right = _kind(ours.schema.field(name).type), _kind(theirs.schema.field(name).type)
        if left != right:
            return f"column {name}: ours is {left}, theirs {right}"
    return ""


def _row_difference(left: list[Row], right: list[Row], key: Sequence[str]) -> str:
    mine, others = (Counter(tuple(_of(row, key).values()) for row in rows) for rows in (left, right))
    if mine == others:
        return ""
    extra = [
        f"{len(more)} only in {whose}, such as {min(more)}"
        for whose, more in (("ours", mine - others), ("theirs", others - mine))
        if more
    ]
    return f"ours has {len(left)} rows, theirs {len(right)}: {'; '.join(extra)}"


def _of(row: Row, key: Sequence[str]) -> Row:
    return {name: row[name] for name in key}


def _kind(held: pa.DataType) -> str:
    """The type as a reader of the rows knows it."""
    types = pa.types
    held = held.value_type if types.is_dictionary(held) else held
    if types.is_timestamp(held):
        return "timestamp with zone" if held.tz else "timestamp"
    if types.is_decimal(held):
        return f"decimal({held.precision},{held.scale})"
    # The names of list elements and map entries are the writer's fancy; those of struct fields are the table's.
    if types.is_struct(held):
        return f"struct{[(field.name, _kind(field.type)) for field in held.fields]}"
    if types.is_map(held):
        return f"map{[_kind(held.key_type), _kind(held.item_type)]}"
    if types.is_nested(held):
        return f"list[{_kind(held.value_type)}]"
    return str(held).removeprefix("large_").removesuffix("_view")


def _sorted_rows(table: pa.Table, key: Sequence[str]) -> list[Row]:
    rows: list[Row] = table.to_pylist()
    return sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in key])


def _same(mine: Any, other: Any) -> bool:
    if isinstance(mine, float) and isinstance(other, float):
        return mine == other or (mine != mine and other != other)  # noqa: PLR0124  NaN is the same value here
    if isinstance(mine, datetime) and isinstance(other, datetime):
        return _moment(mine) == _moment(other)
    if isinstance(mine, Decimal) and isinstance(other, Decimal):
        return mine == other
    if isinstance(mine, dict) and isinstance(other, dict):
        return mine.keys() == other.keys() and all(_same(mine[name], other[name]) for name in mine)
    if isinstance(mine, list | tuple) and isinstance(other, list | tuple):
        return len(mine) == len(other) and all(map(_same, mine, other))
    return type(mine) is type(other) and bool(mine == other)


def _moment(value: datetime) -> datetime:
    return value if value.tzinfo is None else value.astimezone(UTC)
