"""Ranges of data files have room for every value that is in them, whatever footers say or leave out."""

import io
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_engine.clock import SystemClock
from hudi_engine.compute.column_promotion import promoted
from hudi_engine.compute.column_stats import StatsReader, partition_ranges
from hudi_engine.compute.footer_ranges import FooterRanges, Ranges
from hudi_engine.compute.indexed_columns import columns_to_index, require_own_columns
from hudi_engine.compute.log_ranges import ranges_of_blocks
from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.parquet_footer import ColumnChunk, Footer
from hudi_engine.format.parquet_types import BYTE_ARRAY, FLOAT, INT32, Leaf
from hudi_engine.index.column_range import ColumnRange, greater, lesser
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.validate.entries import is_nan

NAME = "a.parquet"


def written(rows: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(rows, out, **options)
    return out.getvalue()


def ranges(file: bytes, columns: Sequence[str], version: IndexVersion = IndexVersion.V2) -> Ranges | None:
    storage = MemoryStorage(SystemClock())
    storage.create(NAME, file)
    stat = next(stat for stat in storage.list("") if stat.name == NAME)
    reader = StatsReader(storage, tuple(columns), version, lambda _: True)
    (found,) = reader.ranges_of([reader.look("p", stat)])
    return found


def range_of(values: pa.Array, **options: Any) -> ColumnRange:
    found = ranges(written(pa.table({"x": values}), **options), ["x"])
    assert found is not None
    assert len(found) == 1
    return found[0]


def stored(value: Any) -> Any:
    """A value as bounds have it."""
    return value.value if isinstance(value, pa.TimestampScalar | pa.Date32Scalar | pa.Time64Scalar) else value.as_py()


def has_room(about: ColumnRange, values: pa.Array) -> bool:
    """For all values, infinity standing for NaN."""
    bounds = about.least, about.greatest
    return all(
        lesser(bounds[0], value) == bounds[0] and repr(greater(bounds[1], value)) == repr(bounds[1])
        for value in (math.inf if is_nan(each) else each for each in map(stored, values.drop_null()))
        if value != 0 or not isinstance(value, float)
    )


VALUES = {
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"])) | st.just("z" * 5000),
    pa.binary(): st.binary(),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.date32(): st.integers(-(2**31), 2**31 - 1),
    pa.timestamp("us", "UTC"): st.integers(-(2**62), 2**62),
    pa.timestamp("ms"): st.integers(-(2**62), 2**62),
    pa.time64("us"): st.integers(0, 86_399_999_999),
    pa.decimal128(12, 3): st.integers(-(10**12) + 1, 10**12 - 1).map(lambda number: Decimal(f"{number}e-3")),
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_bounds_leave_out_no_value_that_is_in_the_file(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], max_size=12))
    plain = pa.array(values, pa.int32() if kind == pa.date32() else pa.int64()).view(kind) if _is_time(kind) else None
    column = pa.array(values, kind) if plain is None else plain
    has_statistics = data.draw(st.booleans())

    about = range_of(column, row_group_size=data.draw(st.integers(1, 6)), write_statistics=has_statistics)

    assert about.kind == kind
    assert about.value_count == len(values)
    assert has_room(about, column)
    assert about.null_count == column.null_count or not has_statistics


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind))


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_without_statistics_a_file_is_found_for_nulls_and_for_values(kind: pa.DataType) -> None:
    about = range_of(pa.nulls(3, kind), write_statistics=False)

    assert 0 < about.null_count < about.value_count
    assert about.least is not None
    assert about.greatest is not None


def test_a_required_column_without_statistics_has_no_nulls() -> None:
    rows = pa.table([pa.array(["a", "b"])], pa.schema([pa.field("x", pa.string(), nullable=False)]))

    found = ranges(written(rows, write_statistics=False), ["x"])

    assert found is not None
    assert found[0].null_count == 0


def footer(stored_as: int, kind: pa.DataType, writer: str, *chunks: ColumnChunk) -> Footer:
    return Footer(sum(chunk.values for chunk in chunks), writer, {"x": Leaf(stored_as, kind, False, False)}, chunks)


def chunk(bounds: tuple[bytes, bytes] | None, nulls: int | None = 0, *, is_old: bool = False) -> ColumnChunk:
    return ColumnChunk("x", 4, 40, 44, nulls, bounds is not None and not is_old, bounds, is_old)


def only(about: Footer) -> ColumnRange:
    found = FooterRanges(["x"]).of(about, "p", NAME)
    assert found is not None
    assert len(found) == 1
    return found[0]


ONE, NAN, MINUS_NOUGHT, NOUGHT = b"\0\0\x80?", b"\0\0\xc0\x7f", b"\0\0\0\x80", b"\0\0\0\0"


@pytest.mark.parametrize(
    ("bounds", "writer", "expected"),
    [
        ((ONE, NAN), "parquet-mr version 1.13.1", (1.0, math.inf)),
        ((NAN, NAN), "parquet-mr version 1.13.1", (-math.inf, math.inf)),
        (None, "parquet-mr version 1.13.1", (-math.inf, math.inf)),
        ((NOUGHT, MINUS_NOUGHT), "parquet-mr version 1.13.1", (-0.0, 0.0)),
        ((ONE, ONE), "parquet-mr version 1.13.1", (1.0, 1.0)),
        ((ONE, ONE), "parquet-cpp-arrow version 22", (1.0, math.inf)),
    ],
)
def test_floats_have_room_for_either_nought_and_no_bound_is_nan(
    bounds: tuple[bytes, bytes] | None, writer: str, expected: tuple[float, float]
) -> None:
    about = only(footer(FLOAT, pa.float32(), writer, chunk(bounds)))

    assert repr((about.least, about.greatest)) == repr(expected)


@pytest.mark.parametrize(
    "bounds",
    [
        chunk(None, nulls=None),
        chunk((b"a", b"b"), is_old=True),  # compared with a sign
        chunk((b"b", b"a")),
        chunk((b"a", b"\xf0\x9f")),  # cut inside of a character
    ],
)
def test_texts_whose_bounds_are_none_have_the_widest(bounds: ColumnChunk) -> None:
    about = only(footer(BYTE_ARRAY, pa.string(), "", bounds))

    assert isinstance(about.greatest, str)
    assert about.greatest > "\U0010ffff" * 63
    assert about.least in {"", "a"}
    assert about.null_count < about.value_count


def test_a_column_of_nulls_has_a_nought_for_a_number_as_in_java_and_else_no_bounds() -> None:
    number = only(footer(INT32, pa.decimal128(5, 2), "", chunk(None, nulls=4)))
    text = only(footer(BYTE_ARRAY, pa.string(), "", chunk(None, nulls=4)))

    assert (number.least, number.greatest) == (Decimal("0.00"), Decimal("0.00"))
    assert (text.least, text.greatest, text.null_count) == (None, None, 4)


@pytest.mark.parametrize(
    "broken", [chunk((b"\0", b"\0")), chunk(None, nulls=5)], ids=["a number of one byte", "more nulls than values"]
)
def test_statistics_that_cannot_be_are_corrupt(broken: ColumnChunk) -> None:
    with pytest.raises(CorruptFile):
        only(footer(INT32, pa.int32(), "", broken))


@pytest.mark.parametrize("rows", [0, 3, 5])
def test_a_footer_with_more_or_fewer_values_than_rows_is_corrupt(rows: int) -> None:
    """Statistics of fewer would have queries skip the others."""
    whole = footer(INT32, pa.int32(), "", chunk((b"\0" * 4, b"\0" * 4)))
    assert only(whole).value_count == 4

    with pytest.raises(CorruptFile, match=f"4 values of x in a Parquet footer of {rows} rows"):
        only(replace(whole, rows=rows))


@pytest.mark.parametrize("file", [b"", b"PAR1" * 3, b"x" * 40 + b"\xff\xff\0\0PAR1"])
def test_what_is_no_parquet_file_is_corrupt(file: bytes) -> None:
    with pytest.raises(CorruptFile, match=NAME):
        ranges(file, ["x"])


def test_a_footer_longer_than_the_first_look_is_read_whole() -> None:
    rows = pa.table({f"column {number}": pa.array([number], pa.int64()) for number in range(1500)})

    found = ranges(written(rows), ["column 0", "column 1499"])

    assert found is not None
    assert [each.least for each in found] == [0, 1499]


ROWS = pa.table(
    {
        "place": pa.array([{"zip": 7, "city": "a"}, None, {"zip": 3, "city": None}]),
        "tags": pa.array([["b", "a"], [], None]),
    }
)


def test_parts_of_structs_and_lists_have_ranges_and_what_holds_them_has_none() -> None:
    found = ranges(written(ROWS), ["place.zip", "tags.list.element", "place", "tags", "later"])

    assert found is not None
    said = [(each.column, each.least, each.greatest, each.value_count, each.null_count) for each in found]
    assert said == [("place.zip", 3, 7, 3, 1), ("tags.list.element", "a", "b", 4, 2), ("later", None, None, 3, 3)]


@pytest.mark.parametrize("kind", [pa.uint32(), pa.uint64(), pa.timestamp("ns")], ids=str)
def test_nothing_is_said_of_a_file_with_values_that_statistics_have_no_order_of(kind: pa.DataType) -> None:
    rows = pa.table({"x": pa.array([1], kind), "y": pa.array([1], pa.int64())})
    is_kept = pa.types.is_timestamp(kind)

    found = ranges(written(rows, use_deprecated_int96_timestamps=is_kept), ["y", "x"])

    assert found is None


def test_nothing_is_said_of_a_file_with_decimals_that_version_1_cannot_hold() -> None:
    file = written(pa.table({"x": pa.array([Decimal("1e16")], pa.decimal128(20, 0))}))

    assert ranges(file, ["x"], IndexVersion.V1) is None
    assert ranges(file, ["x"], IndexVersion.V2) is not None


def log_block(rows: pa.Table, *, is_partial: bool = False) -> LogBlock:
    header = {HeaderKey.INSTANT_TIME: "1", HeaderKey.IS_PARTIAL: str(is_partial)}
    return LogBlock(BlockType.PARQUET_DATA, header, memoryview(written(rows)), 0)


DELETES = LogBlock(BlockType.DELETE, {HeaderKey.INSTANT_TIME: "1"}, memoryview(b""), 0)


def of_log(blocks: Sequence[LogBlock], *columns: str) -> list[tuple[Any, ...]] | None:
    found = ranges_of_blocks(blocks, "p", ".log", columns)
    if found is None:
        return None
    return [(each.kind, each.least, each.greatest, each.value_count, each.null_count) for each in found]


def test_logs_are_of_the_rows_in_all_blocks_and_of_none_where_there_are_deletions_alone() -> None:
    first = log_block(pa.table({"x": pa.array([3, None], pa.int32())}))
    second = log_block(pa.table({"x": pa.array([2**40], pa.int64()), "y": ["a"]}))

    assert of_log([first, DELETES, second], "x", "y") == [
        (pa.int64(), 3, 2**40, 3, 1),
        (pa.string(), "a", "a", 3, 2),
    ]
    assert of_log([DELETES], "x") == [(None, None, None, 0, 0)]
    assert of_log([first], "z") == [(None, None, None, 2, 2)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0, math.nan], (0.0, math.inf)),
        ([math.nan], (-math.inf, math.inf)),
        ([0.0, -0.0], (-0.0, 0.0)),
        ([-1.0, -0.0], (-1.0, -0.0)),
    ],
)
def test_floats_in_logs_are_in_the_order_of_java_and_no_bound_is_nan(
    values: list[float], expected: tuple[float, float]
) -> None:
    found = of_log([log_block(pa.table({"x": values}))], "x")

    assert found is not None
    assert repr(found[0][1:3]) == repr(expected)


def test_logs_say_nothing_of_lists_and_what_is_in_them_and_something_of_structs() -> None:
    assert of_log([log_block(ROWS)], "tags", "tags.list.element", "place", "place.zip") == [(pa.int64(), 3, 7, 3, 1)]


def test_nothing_is_said_of_a_log_of_partial_updates() -> None:
    assert of_log([log_block(pa.table({"x": [1]}), is_partial=True)], "x") is None


def made(column: str, kind: pa.DataType | None, least: Any, greatest: Any) -> ColumnRange:
    return ColumnRange("p", NAME, column, kind, least, greatest, 4, 1, 10, 20)


def test_a_partition_has_the_ranges_of_all_its_files_in_the_type_of_now() -> None:
    files = [
        (made("x", pa.int32(), -1, 5), made("y", pa.string(), "a", "\U0001f600")),
        (made("x", pa.int64(), 3, 2**40), made("y", None, None, None)),
        (),
    ]

    found = partition_ranges("p", files, {"x": pa.int64(), "y": pa.string()}, IndexVersion.V2)

    x = ColumnRange("p", None, "x", pa.int64(), -1, 2**40, 8, 2, 20, 40, True)
    assert found == (x, ColumnRange("p", None, "y", pa.string(), "a", "\U0001f600", 8, 2, 20, 40, True))


def test_a_partition_has_no_ranges_where_a_file_has_none_or_a_column_is_missing() -> None:
    x, y = made("x", pa.int32(), 1, 2), made("y", pa.int32(), 1, 2)

    whole = partition_ranges("p", [(x, y), (x,)], {}, IndexVersion.V2)

    assert whole is not None
    assert [each.column for each in whole] == ["x"]
    assert partition_ranges("p", [(x,), None], {}, IndexVersion.V2) is None


@pytest.mark.parametrize(
    ("before", "bounds", "after", "expected"),
    [
        (pa.int32(), (1, 2), pa.float64(), (1.0, 2.0)),
        (pa.float32(), (0.10000000149011612, 2.0), pa.float64(), (0.1, 2.0)),
        (pa.decimal128(4, 1), (Decimal("1.5"), Decimal(2)), pa.decimal128(9, 2), (Decimal("1.5"), Decimal(2))),
        (pa.string(), ("a", "b"), pa.binary(), (b"a", b"b")),
        (pa.int32(), (9, 10), pa.string(), ("", "\U0010ffff" * 64)),  # as texts, 10 comes before 9
    ],
)
def test_bounds_follow_their_column_into_another_type(
    before: pa.DataType, bounds: tuple[Any, Any], after: pa.DataType, expected: tuple[Any, Any]
) -> None:
    found = promoted(made("x", before, *bounds), after)

    assert (found.kind, found.least, found.greatest) == (after, *expected)


OWN = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path")
SCHEMA = pa.schema(
    [(name, pa.string()) for name in OWN]
    + [
        ("wide", pa.decimal128(30, 10)),
        ("tags", pa.list_(pa.field("element", pa.string()))),
        ("place", pa.struct([("zip", pa.int32())])),
        ("a", pa.int32()),
        ("b", pa.string()),
    ]
)
ALWAYS = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")
LIST, MOST = (f"hoodie.metadata.index.column.stats.{name}" for name in ("column.list", "max.columns.to.index"))


@pytest.mark.parametrize(
    ("properties", "table_version", "version", "expected"),
    [
        ({}, 9, IndexVersion.V2, (*ALWAYS, "wide", "a", "b")),
        ({}, 8, IndexVersion.V1, (*ALWAYS, "a", "b")),
        ({}, 6, IndexVersion.V1, (*ALWAYS, "_hoodie_commit_seqno", "wide", "a", "b")),
        ({MOST: "1"}, 9, IndexVersion.V2, (*ALWAYS, "wide")),
        (
            {LIST: "b, place.zip,tags.list.element,tags,none"},
            9,
            IndexVersion.V2,
            (*ALWAYS, "b", "place.zip", "tags.list.element"),
        ),
    ],
)
def test_the_columns_are_those_of_hudi_and_the_listed_or_first_ones_with_statistics(
    properties: dict[str, str], table_version: int, version: IndexVersion, expected: tuple[str, ...]
) -> None:
    assert columns_to_index(SCHEMA, properties, table_version, version) == expected


def test_a_list_of_an_old_table_without_hudis_own_columns_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"lacks _hoodie_commit_time, _hoodie_record_key: .* Add them"):
        require_own_columns({LIST: "b,_hoodie_partition_path"}, SCHEMA, 6)


@pytest.mark.parametrize(
    ("listed", "schema", "table_version"),
    [
        (",".join((*ALWAYS, "b")), SCHEMA, 6),
        ("", SCHEMA, 6),
        ("b", pa.schema([("b", pa.string())]), 6),
        ("b", SCHEMA, 8),
    ],
)
def test_no_other_list_is_refused(listed: str, schema: pa.Schema, table_version: int) -> None:
    require_own_columns({LIST: listed}, schema, table_version)
