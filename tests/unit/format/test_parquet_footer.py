import io
import math
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.parquet_footer import (
    MOST_BYTES,
    ColumnChunk,
    Footer,
    FooterParser,
    parse_column_chunks,
    parse_footer,
)

ROWS = pa.table(
    {
        "number": pa.array([1, None, 3, 4], pa.int64()),
        "text": ["a", "é", None, "😀"],
        "nothing": pa.nulls(4, pa.int32()),
        "odd": [0.5, math.nan, -0.0, None],
        "flag": [True, False, None, True],
        "place": [{"city": "a", "zip": 1}, None, {"city": None, "zip": 2}, {"city": "b", "zip": None}],
        "tags": [["a"], [], None, ["b", None]],
        "amounts": pa.array([[("x", 1)], None, [], [("y", 2)]], pa.map_(pa.string(), pa.int32())),
        "at": pa.array([0, 1, None, 2], pa.timestamp("us", "UTC")),
    }
)


def written(rows: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(rows, out, **options)
    return out.getvalue()


def footer_of(file: bytes) -> bytes:
    length = int.from_bytes(file[-8:-4], "little")
    return file[-8 - length : -8]


def by_arrow(file: bytes) -> list[ColumnChunk]:
    about = pq.read_metadata(io.BytesIO(file))
    return [
        ColumnChunk(
            path=chunk.path_in_schema,
            values=chunk.num_values,
            stored_bytes=chunk.total_compressed_size,
            raw_bytes=chunk.total_uncompressed_size,
            nulls=chunk.statistics.null_count if chunk.is_stats_set else None,
            has_bounds=bool(chunk.is_stats_set and chunk.statistics.has_min_max),
        )
        for group in map(about.row_group, range(about.num_row_groups))
        for chunk in map(group.column, range(about.num_columns))
    ]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_group_size": 1},
        {"compression": "gzip", "version": "1.0"},
        {"write_statistics": False},
        {"write_statistics": ["text"]},
        {"use_deprecated_int96_timestamps": True},
        {"store_schema": False, "use_compliant_nested_type": False},
        {"write_page_index": True, "write_page_checksum": True},
    ],
)
def test_chunks_are_those_that_arrow_sees(options: dict[str, object]) -> None:
    file = written(ROWS, **options)

    assert parse_column_chunks(footer_of(file)) == by_arrow(file)


def test_a_file_without_rows_has_no_chunks() -> None:
    assert parse_column_chunks(footer_of(written(ROWS.slice(0, 0)))) == by_arrow(written(ROWS.slice(0, 0)))


def test_a_footer_cut_anywhere_is_corrupt() -> None:
    footer = footer_of(written(ROWS))

    for end in range(1, len(footer)):
        with pytest.raises(CorruptFile):
            parse_column_chunks(footer[: end - 1])


@pytest.mark.parametrize(
    "footer",
    [
        b"",
        b"\xff" * 100,
        b"\x49" + b"\x19" * 2000,  # a list of lists of lists and so on
        b"\x4c" + b"\x1c" * 2000,  # a struct in a struct
        b"\x49\xf8\xff\xff\xff\xff\x0f",  # four thousand million texts
        b"\x48\xff\xff\xff\xff\x0f",  # a text as long
        b"\x4b\xff\xff\xff\xff\x0f\x11",  # a map of as many
        b"\x45" + b"\xff" * 20,  # a number without end
        b"\x49\x1c\x19\x1c\x3c\x00\x00\x00\x00",  # a chunk that says nothing
    ],
)
def test_what_is_no_footer_is_corrupt(footer: bytes) -> None:
    with pytest.raises(CorruptFile):
        parse_column_chunks(footer)


def test_a_footer_too_long_to_look_into_is_refused() -> None:
    with pytest.raises(Unsupported):
        parse_column_chunks(bytes(MOST_BYTES + 1))


@given(st.data())
def test_a_damaged_footer_gives_chunks_or_is_corrupt(data: st.DataObject) -> None:
    footer = bytearray(footer_of(written(ROWS)))
    for _ in range(data.draw(st.integers(1, 4))):
        footer[data.draw(st.integers(0, len(footer) - 1))] = data.draw(st.integers(0, 255))

    try:
        chunks = parse_column_chunks(bytes(footer))
    except CorruptFile:
        return

    assert all(isinstance(chunk.path, str) for chunk in chunks)


def test_footers_read_one_after_another_are_as_each_alone_whether_the_schema_is_the_same_or_not() -> None:
    other = pa.table({"number": ["now", "texts"], "more": [1, 2]})
    files = [ROWS, ROWS.slice(1), other, ROWS.slice(0, 0), other, ROWS]
    footers = [footer_of(written(rows, row_group_size=2)) for rows in files]
    parser = FooterParser()

    found = [parser.parse(footer) for footer in footers]

    assert found == [parse_footer(footer) for footer in footers]
    assert [chunk.path for chunk in found[2].chunks] == ["number", "more"]
    assert found[0].leaves is found[1].leaves
    assert found[2].leaves is not found[1].leaves


def test_a_footer_is_found_within_a_file_and_must_end_where_the_file_says() -> None:
    file = written(ROWS)
    start, end = len(file) - 8 - len(footer_of(file)), len(file) - 8

    assert FooterParser().parse(file, start, end) == parse_footer(footer_of(file))
    with pytest.raises(CorruptFile):
        FooterParser().parse(file, start, start + 200)


def test_a_footer_that_tells_of_its_chunks_before_it_tells_of_their_types_is_refused() -> None:
    """Else it would be one of a file without chunks, and queries would pass over what it holds."""
    rows_first, schema = b"\x36\x02", b"\x09\x04\x1c\x48\x01r\x15\x00\x00"

    with pytest.raises(CorruptFile, match="does not come first"):
        parse_footer(rows_first + schema + b"\x00")


@given(st.data())
def test_a_damaged_footer_behind_a_whole_one_is_read_as_it_is_alone(data: st.DataObject) -> None:
    parser, whole = FooterParser(), footer_of(written(ROWS))
    parser.parse(whole)
    footer = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        footer[data.draw(st.integers(0, len(footer) - 1))] = data.draw(st.integers(0, 255))

    assert _outcome(parser.parse, bytes(footer)) == _outcome(parse_footer, bytes(footer))


def _outcome(parse: Callable[[bytes], Footer], footer: bytes) -> Footer | type[Exception]:
    try:
        return parse(footer)
    except (CorruptFile, Unsupported) as refused:
        return type(refused)
