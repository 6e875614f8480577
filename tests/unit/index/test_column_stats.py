"""Statistics never leave out a file that may hold the value (issue 4, part 3)."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Unsupported
from hudi_engine.index.column_stats import between, equal_to, may_hold
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of
from hudi_engine.index.typed_bounds import bounds_as

SCHEMA = family_of(IndexKind.COLUMN_STATS).schema
MICROS, MILLIS = pa.timestamp("us", "UTC"), pa.timestamp("ms", "UTC")


def rows(*bounds: tuple[dict[str, Any] | None, dict[str, Any] | None], **changes: Any) -> pa.Table:
    given_rows = [
        {"key": "k", "min": low, "max": high, "value_count": 3, "null_count": 0, "is_deleted": False, **changes}
        for low, high in bounds
    ]
    return pa.Table.from_pylist(given_rows, SCHEMA)


def answers(table: pa.Table, kind: pa.DataType, low: Any, high: Any) -> bool:
    (found,) = may_hold(table, between(pa.field("c", kind), low, high)).to_pylist()
    return bool(found)


@pytest.mark.parametrize(
    ("stored", "value_type", "kind", "expected"),
    [
        ({"int": 3}, None, pa.int64(), 3),
        ({"long": 3}, 4, pa.float64(), 3.0),
        ({"float": 0.1}, 5, pa.float64(), 0.1),
        ({"boolean": True}, 2, pa.bool_(), True),
        ({"string": "é"}, 7, pa.string(), "é"),
        ({"bytes": b"\xff"}, 8, pa.binary(), b"\xff"),
        ({"bytes": b"ab"}, 9, pa.binary(2), b"ab"),
        ({"date": dt.date(2026, 1, 2)}, None, pa.date32(), dt.date(2026, 1, 2)),
        ({"local_date": dt.date(2026, 1, 2)}, None, pa.date32(), dt.date(2026, 1, 2)),
        ({"int": 1}, 12, pa.date32(), dt.date(1970, 1, 2)),
        ({"int": 1}, None, pa.date32(), dt.date(1970, 1, 2)),
        ({"int": 1000}, 13, pa.time32("ms"), dt.time(0, 0, 1)),
        ({"long": 1000000}, 14, pa.time64("us"), dt.time(0, 0, 1)),
        ({"time_micros": dt.time(0, 0, 1)}, None, pa.time64("us"), dt.time(0, 0, 1)),
        ({"long": 5}, 15, MICROS, dt.datetime(1970, 1, 1, 0, 0, 0, 5000, tzinfo=dt.UTC)),
        ({"long": 5}, 16, MICROS, dt.datetime(1970, 1, 1, 0, 0, 0, 5, tzinfo=dt.UTC)),
        ({"long": 5}, None, MICROS, dt.datetime(1970, 1, 1, 0, 0, 0, 5, tzinfo=dt.UTC)),
        ({"long": 5}, None, MILLIS, dt.datetime(1970, 1, 1, 0, 0, 0, 5000, tzinfo=dt.UTC)),
        ({"long": 5}, 19, pa.timestamp("us"), dt.datetime(1970, 1, 1, 0, 0, 0, 5)),
        ({"decimal": Decimal("1.50")}, None, pa.decimal128(10, 2), Decimal("1.50")),
        # What says nothing in the order of the column's type.
        ({"int": 3}, 3, pa.string(), None),
        ({"string": "3"}, 7, pa.int64(), None),
        ({"double": 3.0}, 6, pa.float32(), None),
        ({"bytes": b"ab"}, 8, pa.string(), None),
        ({"string": "00000000-0000-0000-0000-000000000001"}, 11, pa.string(), None),
        ({"long": 1 << 40}, 4, pa.int32(), None),
    ],
)
def test_bounds_become_values_of_the_column(
    stored: dict[str, Any], value_type: int | None, kind: Any, expected: Any
) -> None:
    least, greatest = bounds_as(rows((stored, stored), value_type=value_type), kind)

    assert least.type == greatest.type == kind
    assert least.to_pylist() == greatest.to_pylist() == [expected]


@given(st.lists(st.integers(-(10**25) + 1, 10**25 - 1), max_size=8))
def test_decimals_of_version_two_are_their_unscaled_bytes(numbers: list[int]) -> None:
    wrapped = [{"bytes": each.to_bytes(each.bit_length() // 8 + 1, "big", signed=True)} for each in numbers]
    table = rows(*((each, each) for each in wrapped), value_type=10, value_type_info="25,4")

    assert bounds_as(table, pa.decimal128(25, 4))[0].to_pylist() == [Decimal(each).scaleb(-4) for each in numbers]


@pytest.mark.parametrize("info", [None, "", "5", "5,6", "0,0", "39,1", "05,1", "x,y", "5,1,1", "٥,١"])
def test_a_decimal_whose_shape_is_not_told_is_no_bound(info: str | None) -> None:
    table = rows(({"bytes": b"\x01"}, {"bytes": b"\x01"}), value_type=10, value_type_info=info)

    assert bounds_as(table, pa.decimal128(5, 1))[0].to_pylist() == [None]


@pytest.mark.parametrize(("value", "holds"), [(4, False), (5, True), (7, True), (9, True), (10, False)])
def test_a_value_outside_of_the_bounds_is_not_held(value: int, holds: bool) -> None:
    assert answers(rows(({"int": 5}, {"int": 9})), pa.int32(), value, value) is holds


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [(None, 4, False), (None, 5, True), (9, None, True), (10, None, False), (None, None, True)],
)
def test_ranges_may_be_open_at_either_side(low: int | None, high: int | None, holds: bool) -> None:
    assert answers(rows(({"int": 5}, {"int": 9})), pa.int32(), low, high) is holds


@pytest.mark.parametrize(("bounds", "value"), [((None, None), 2), (({"int": 5}, None), 7), ((None, {"int": 1}), 0)])
def test_a_bound_that_is_missing_leaves_nothing_out(bounds: tuple[Any, Any], value: int) -> None:
    assert answers(rows(bounds), pa.int32(), value, value)


@pytest.mark.parametrize("null_count", [3, 4, None])
def test_noughts_that_stand_for_no_statistics_are_no_evidence(null_count: int | None) -> None:
    # Hudi counts all values as nulls where a footer has no statistics, and Parquet's reader gives noughts as bounds.
    assert answers(rows(({"int": 0}, {"int": 0}), null_count=null_count), pa.int32(), 7, 7)


@pytest.mark.parametrize(
    ("low", "high", "value", "holds"),
    [
        (1.5, 2.5, 3.0, False),
        (-2.5, -1.5, 0.0, False),
        # The footer of a file with something that is no number has no bounds, and reads as these.
        (0.0, 0.0, 3.0, True),
        (-0.0, 2.5, 3.0, True),
        (1.5, math.nan, 0.5, True),
        (math.nan, math.nan, 0.5, True),
        (1.5, 2.5, math.nan, True),
    ],
)
def test_bounds_of_floating_numbers_count_only_where_no_nought_can_hide_in_them(
    low: float, high: float, value: float, holds: bool
) -> None:
    assert answers(rows(({"double": low}, {"double": high})), pa.float64(), value, value) is holds


@pytest.mark.parametrize(
    ("raw", "null_count", "holds"), [(4095, 1, False), (9000, 0, False), (9000, 1, True), (None, 1, True)]
)
def test_bounds_of_texts_count_only_where_no_long_one_can_be_missing_in_them(
    raw: int | None, null_count: int, holds: bool
) -> None:
    # The 1.2.0 release says of two texts of 5000 characters: no bounds, two values, two nulls.
    table = rows(({"string": "a"}, {"string": "b"}), total_raw_bytes=raw, null_count=null_count)

    assert answers(table, pa.string(), "c", "c") is holds


def test_both_noughts_are_one_value() -> None:
    assert answers(rows(({"double": -3.0}, {"double": -0.0})), pa.float64(), 0.0, 0.0)


@pytest.mark.parametrize("value", ["\U0001f600", "\ue000x", "\uffff"])
def test_texts_that_java_and_parquet_order_differently_leave_nothing_out(value: str) -> None:
    assert answers(rows(({"string": "a"}, {"string": "b"})), pa.string(), value, value)


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=3), min_size=1),
    st.text(max_size=3),
    st.booleans(),
)
def test_no_text_is_left_out_whichever_order_the_bounds_were_taken_by(
    texts: list[str], other: str, is_java: bool
) -> None:
    encoding = "utf-16-be" if is_java else "utf-8"
    low, high = (best(texts, key=lambda text: text.encode(encoding)) for best in (min, max))
    table = rows(({"string": low}, {"string": high}))

    assert all(answers(table, pa.string(), text, text) for text in texts)


@pytest.mark.parametrize("kind", [pa.binary(), pa.binary(1), pa.list_(pa.int32())])
def test_columns_without_one_order_leave_nothing_out(kind: pa.DataType) -> None:
    value = [1] if pa.types.is_list(kind) else b"z"

    assert answers(rows(({"bytes": b"a"}, {"bytes": b"b"})), kind, value, value)


def test_a_value_that_is_none_of_the_columns_type_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="cannot be a value of column c"):
        equal_to(pa.field("c", pa.int32()), "text")


def test_a_decimal_from_a_log_of_version_one_is_compared_as_a_number() -> None:
    low, high = ({"decimal": Decimal(each)} for each in ("9.50", "10.25"))

    assert answers(rows((low, high)), pa.decimal128(10, 2), Decimal("10.00"), Decimal("10.00"))
    assert not answers(rows((low, high)), pa.decimal128(10, 2), Decimal("10.26"), None)
