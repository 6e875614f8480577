"""Statistics made into entries read as what they were made of, in the wrappers and types of each version."""

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.errors import Contradiction
from hudi_engine.index.column_range import ColumnRange, greater, lesser, widest_bounds
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.keys import column_stats_key, partition_stats_key
from hudi_engine.index.payloads.bounds import ValueType
from hudi_engine.index.payloads.column_stats import COLUMN_STATS
from hudi_engine.index.stats_entries import can_keep, stats_entries

V1, V2 = IndexVersion.V1, IndexVersion.V2


def about(kind: pa.DataType | None, least: Any, greatest: Any, file: str | None = "f.parquet") -> ColumnRange:
    return ColumnRange("p", file, "x", kind, least, greatest, 5, 1, 10, 20, file is None)


def read(one: ColumnRange, table_version: int, version: IndexVersion) -> dict[str, Any]:
    entries = stats_entries([one], table_version, version)
    rows = COLUMN_STATS.decode(entries, WRITTEN_SCHEMA[table_version]).to_pylist()
    assert len(rows) == 1
    return dict(rows[0])


CASES = [
    (pa.bool_(), True, ("boolean", True), ("boolean", True), ValueType.BOOLEAN),
    (pa.int32(), -5, ("int", -5), ("int", -5), ValueType.INT),
    (pa.int64(), 2**63 - 1, ("long", 2**63 - 1), ("long", 2**63 - 1), ValueType.LONG),
    (pa.float32(), 0.5, ("float", 0.5), ("float", 0.5), ValueType.FLOAT),
    (pa.float64(), math.inf, ("double", math.inf), ("double", math.inf), ValueType.DOUBLE),
    (pa.string(), "\U0001f600", ("string", "\U0001f600"), ("string", "\U0001f600"), ValueType.STRING),
    (pa.binary(), b"\xff\0", ("bytes", b"\xff\0"), ("bytes", b"\xff\0"), ValueType.BYTES),
    (pa.binary(2), b"\xff\0", ("bytes", b"\xff\0"), ("bytes", b"\xff\0"), ValueType.FIXED),
    (pa.date32(), 20000, ("date", 20000), ("int", 20000), ValueType.DATE),
    (pa.time32("ms"), 1, ("int", 1), ("int", 1), ValueType.TIME_MILLIS),
    (pa.time64("us"), 1, ("long", 1), ("long", 1), ValueType.TIME_MICROS),
    (pa.timestamp("ms", "UTC"), 7, ("long", 7), ("long", 7), ValueType.TIMESTAMP_MILLIS),
    (pa.timestamp("us", "UTC"), 7, ("long", 7), ("long", 7), ValueType.TIMESTAMP_MICROS),
    (pa.timestamp("ns", "UTC"), 7, ("long", 7), ("long", 7), ValueType.TIMESTAMP_NANOS),
    (pa.timestamp("ms"), 7, ("long", 7), ("long", 7), ValueType.LOCAL_TIMESTAMP_MILLIS),
    (pa.timestamp("us"), 7, ("long", 7), ("long", 7), ValueType.LOCAL_TIMESTAMP_MICROS),
    (pa.timestamp("ns"), 7, ("long", 7), ("long", 7), ValueType.LOCAL_TIMESTAMP_NANOS),
    (pa.decimal128(9, 2), Decimal("-1.28"), ("decimal", Decimal("-1.28")), ("bytes", b"\x80"), ValueType.DECIMAL),
    (pa.decimal128(9, 2), Decimal("1.28"), ("decimal", Decimal("1.28")), ("bytes", b"\0\x80"), ValueType.DECIMAL),
]


@pytest.mark.parametrize(("kind", "bound", "untyped", "typed", "value_type"), CASES, ids=lambda each: str(each)[:30])
def test_each_type_has_its_wrapper(
    kind: pa.DataType, bound: Any, untyped: tuple[str, Any], typed: tuple[str, Any], value_type: ValueType
) -> None:
    for table_version, version, expected in ((6, V1, untyped), (8, V1, untyped), (9, V1, untyped), (9, V2, typed)):
        row = read(about(kind, bound, bound), table_version, version)
        wrapper, value = expected

        found = {name: each for name, each in row["max"].items() if each is not None}
        if wrapper == "date":
            found = {"date": (found["date"] - row["max"]["date"].fromordinal(719163)).days}
        assert found == {wrapper: value}
        assert row["value_type"] == (value_type if version is V2 else None)
        info = f"{kind.precision},{kind.scale}" if pa.types.is_decimal(kind) and version is V2 else None
        assert row["value_type_info"] == info


def test_an_entry_says_of_what_file_or_partition_it_is_and_its_counts() -> None:
    of_file = read(about(pa.int32(), 1, 2), 9, V2)
    of_partition = read(about(pa.int32(), 1, 2, None), 9, V2)

    assert of_file["key"] == column_stats_key("x", "p", "f.parquet")
    assert of_partition["key"] == partition_stats_key("x", "p")
    names = ("file_name", "column_name", "value_count", "null_count", "total_bytes", "total_raw_bytes")
    assert [of_file[name] for name in names] == ["f.parquet", "x", 5, 1, 10, 20]
    assert (of_partition["file_name"], of_file["is_tight_bound"], of_partition["is_tight_bound"]) == ("p", False, True)


def test_without_a_value_there_are_no_bounds_and_the_type_of_nothing() -> None:
    row = read(about(None, None, None), 9, V2)

    assert (row["min"], row["max"], row["value_type"]) == (None, None, ValueType.NULL)


def test_entries_come_in_the_order_of_their_keys() -> None:
    ranges = [ColumnRange("p", f"{number}", "x", None, None, None, 0, 0, 0, 0) for number in range(50)]

    keys = stats_entries(ranges, 9, V2)["key"].to_pylist()

    assert keys == sorted(keys)
    assert len(keys) == 50


def test_version_2_is_refused_where_the_table_has_no_room_for_types() -> None:
    with pytest.raises(Contradiction, match="V1 is the only one"):
        stats_entries([], 8, V2)


def test_a_type_without_statistics_is_refused() -> None:
    with pytest.raises(Contradiction, match="Hudi keeps none"):
        stats_entries([about(pa.uint32(), 1, 2)], 9, V2)


@pytest.mark.parametrize(
    ("text", "fits"),
    [("999999999999999.999999999999999", True), ("1000000000000000", False), ("1e-15", True), ("1e-16", False)],
)
def test_version_1_keeps_decimals_of_15_digits_on_each_side(text: str, fits: bool) -> None:
    one = about(pa.decimal128(38, 16), Decimal(0), Decimal(text))

    assert (can_keep(one, V1), can_keep(one, V2)) == (fits, True)
    if fits:
        assert read(one, 6, V1)["max"]["decimal"] == Decimal(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [(-0.0, 0.0), (math.inf, math.nan), (-math.inf, math.nan), ("\uffff", "\U0001f600"), (b"\x7f", b"\x80")],
)
def test_bounds_are_in_the_order_of_queries(one: Any, other: Any) -> None:
    assert repr((lesser(one, other), greater(one, other))) == repr((one, other))
    assert repr((lesser(other, one), greater(other, one))) == repr((one, other))
    assert (lesser(None, one), greater(one, None), lesser(None, None)) == (one, one, None)


@pytest.mark.parametrize("kind", [kind for kind, *_ in CASES], ids=str)
def test_the_widest_bounds_of_each_type_can_be_written(kind: pa.DataType) -> None:
    least, greatest = widest_bounds(kind)

    row = read(about(kind, least, greatest), 9, V2)

    assert row["min"] is not None
    assert row["max"] is not None
    assert lesser(least, greatest) == least
