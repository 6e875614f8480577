"""Rows of files become rows of the table: by name, widened, nested, whatever part of an array they are."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import NotFound, Unsupported
from hudi_engine.table.conform import META_COLUMNS, conform, python_rows, select_columns, with_meta_columns

LARGEST_FLOAT = 3.4028234663852886e38


def _conformed(values: list[Any], found: pa.DataType, wanted: pa.DataType) -> list[Any]:
    rows = pa.table({"c": pa.array(values, found)})
    made = conform(rows, pa.schema([("c", wanted)]), "p/f.parquet")
    made.validate(full=True)
    assert made.schema.field("c").type == wanted
    result: list[Any] = made.column("c").to_pylist()
    return result


def test_columns_are_matched_by_name_and_come_in_the_table_s_order() -> None:
    rows = pa.table({"b": [1], "gone": [2], "a": ["x"]})

    made = conform(rows, pa.schema([("a", pa.string()), ("b", pa.int64())]), "f")

    assert made.to_pylist() == [{"a": "x", "b": 1}]


def test_a_column_that_came_later_is_null() -> None:
    rows = pa.table({"a": ["x", "y"]})

    made = conform(rows, pa.schema([("new", pa.list_(pa.int32())), ("a", pa.string())]), "f")

    assert made.to_pylist() == [{"new": None, "a": "x"}, {"new": None, "a": "y"}]


def test_rows_of_which_no_column_is_stored_keep_their_number() -> None:
    rows = pa.table({"a": ["x", "y"]}).select([])

    assert conform(rows, pa.schema([("new", pa.int32())]), "f").num_rows == 2


@pytest.mark.parametrize(
    ("values", "found", "wanted", "expected"),
    [
        ([1, None, -(2**31)], pa.int32(), pa.int64(), [1, None, -(2**31)]),
        ([1, 2**24 + 1], pa.int32(), pa.float32(), [1.0, 2.0**24]),
        ([2**53 + 1, None], pa.int64(), pa.float64(), [2.0**53, None]),
        ([0.1, None, -2.5, 1e-45], pa.float32(), pa.float64(), [0.1, None, -2.5, 1e-45]),
        ([LARGEST_FLOAT, float("inf")], pa.float32(), pa.float64(), [3.4028235e38, float("inf")]),
        ([12, None], pa.int64(), pa.string(), ["12", None]),
        (["é", None], pa.string(), pa.binary(), ["é".encode(), None]),
        ([b"\xc3\xa9"], pa.binary(), pa.string(), ["é"]),
        (["x"], pa.large_string(), pa.string(), ["x"]),
        (["x", "y", "x"], pa.dictionary(pa.int8(), pa.string()), pa.string(), ["x", "y", "x"]),
        ([Decimal("1.50")], pa.decimal128(5, 2), pa.decimal128(10, 2), [Decimal("1.50")]),
        ([Decimal("1.50")], pa.decimal128(5, 2), pa.decimal128(10, 4), [Decimal("1.5000")]),
        (
            [1_700_000_000_123_456_789],
            pa.timestamp("ns"),
            pa.timestamp("us", "UTC"),
            [datetime(2023, 11, 14, 22, 13, 20, 123456, UTC)],
        ),
        ([1000], pa.timestamp("ms"), pa.timestamp("us"), [datetime(1970, 1, 1, 0, 0, 1)]),
    ],
)
def test_types_widen_as_hudi_widens_them(
    values: list[Any], found: pa.DataType, wanted: pa.DataType, expected: list[Any]
) -> None:
    assert _conformed(values, found, wanted) == expected


@pytest.mark.parametrize(
    ("values", "found", "wanted"),
    [
        ([2**40], pa.int64(), pa.int32()),
        ([1.5], pa.float64(), pa.int64()),
        (["12"], pa.string(), pa.int32()),
        (["2026-01-01"], pa.string(), pa.timestamp("us")),
        (["1.5"], pa.large_string(), pa.float64()),
        ([1e10], pa.float64(), pa.string()),
        ([b"\xff"], pa.binary(), pa.string()),
        ([[1]], pa.list_(pa.int32()), pa.string()),
        ([{"a": 1}], pa.struct([("a", pa.int32())]), pa.list_(pa.int32())),
        ([Decimal("1.55")], pa.decimal128(5, 2), pa.decimal128(5, 1)),
    ],
)
def test_a_type_that_does_not_widen_is_refused_with_file_and_column(
    values: list[Any], found: pa.DataType, wanted: pa.DataType
) -> None:
    with pytest.raises(Unsupported, match=r"p/f\.parquet: column c is "):
        _conformed(values, found, wanted)


ITEM = pa.struct([("a", pa.int32()), ("b", pa.string())])
WIDER_ITEM = pa.struct([("b", pa.string()), ("new", pa.float64()), ("a", pa.int64())])
DEEP = pa.struct([("items", pa.list_(ITEM)), ("by_name", pa.map_(pa.string(), ITEM)), ("one", ITEM)])
WIDER_DEEP = pa.struct(
    [("one", WIDER_ITEM), ("items", pa.list_(WIDER_ITEM)), ("by_name", pa.map_(pa.string(), WIDER_ITEM))]
)
ITEMS = st.none() | st.fixed_dictionaries({"a": st.none() | st.integers(-5, 5), "b": st.none() | st.text(max_size=2)})
DEEPS = st.none() | st.fixed_dictionaries(
    {
        "items": st.none() | st.lists(ITEMS, max_size=3),
        "by_name": st.none() | st.dictionaries(st.text(max_size=2), ITEMS, max_size=3).map(lambda d: list(d.items())),
        "one": ITEMS,
    }
)


def _wider_item(item: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if item is None else {"b": item["b"], "new": None, "a": item["a"]}


def _wider(value: dict[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    items, by_name = value["items"], value["by_name"]
    return {
        "one": _wider_item(value["one"]),
        "items": None if items is None else [_wider_item(item) for item in items],
        "by_name": None if by_name is None else [(key, _wider_item(item)) for key, item in by_name],
    }


@given(st.lists(DEEPS, max_size=8), st.integers(0, 4), st.integers(0, 4))
def test_a_field_added_deep_inside_is_null_in_any_part_of_any_array(
    values: list[dict[str, Any] | None], start: int, rest: int
) -> None:
    rows = pa.table({"c": pa.array(values, DEEP)})
    length = max(0, len(values) - start - rest)
    part = pa.concat_tables([rows.slice(start, length), rows.slice(0, start)])

    made = conform(part, pa.schema([("c", WIDER_DEEP)]), "f")

    made.validate(full=True)
    chosen = values[start : start + length] + values[:start]
    assert made.column("c").to_pylist() == [_wider(value) for value in chosen]


def test_items_hidden_under_a_null_list_are_not_taken_for_others() -> None:
    """Arrow allows a null list to span items; those must not move into its neighbours."""
    lists = pa.ListArray.from_arrays(
        pa.array([0, 2, 4, 5], pa.int32()), pa.array([1, 2, 3, 4, 5], pa.int32()), mask=pa.array([False, True, False])
    )
    rows = pa.table({"c": lists})

    made = conform(rows, pa.schema([("c", pa.list_(pa.int64()))]), "f")

    assert made.column("c").to_pylist() == [[1, 2], None, [5]]


def test_values_hidden_under_a_null_struct_stay_hidden() -> None:
    hidden = pa.StructArray.from_arrays([pa.array([1, 2], pa.int32())], names=["a"], mask=pa.array([True, False]))

    made = conform(pa.table({"c": hidden}), pa.schema([("c", pa.struct([("a", pa.int64())]))]), "f")

    assert made.column("c").to_pylist() == [None, {"a": 2}]


def test_a_field_that_may_not_be_null_is_null_where_the_file_lacks_it() -> None:
    wanted = pa.struct([pa.field("a", pa.int32()), pa.field("new", pa.int32(), nullable=False)])
    rows = pa.table({"c": pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())]))})

    made = conform(rows, pa.schema([("c", wanted)]), "f")

    assert made.column("c").to_pylist() == [{"a": 1, "new": None}, None]


def test_the_meta_columns_come_first_and_once() -> None:
    schema = pa.schema([("a", pa.string()), ("_hoodie_record_key", pa.string())])

    assert with_meta_columns(schema).names == [*META_COLUMNS, "a"]


def test_columns_are_selected_in_the_order_asked_for_and_once() -> None:
    schema = pa.schema([("a", pa.string()), ("b", pa.int64())])

    assert select_columns(schema, ["b", "a", "b"]).names == ["b", "a"]
    assert select_columns(schema, None) == schema


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(NotFound, match="no column c, d; the table has a"):
        select_columns(pa.schema([("a", pa.string())]), ["c", "a", "d"])


def test_a_time_beyond_pythons_calendar_is_refused_naming_the_way_round() -> None:
    rows = pa.table({"day": pa.array([10_000_000], pa.date32())})

    with pytest.raises(Unsupported, match="read --out"):
        python_rows(rows)
