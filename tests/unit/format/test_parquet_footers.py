"""Footers read together are those that are read one by one."""

import io
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import parquet_footers
from hudi_engine.format.parquet_footer import MOST_BYTES, Footer, FooterParser
from hudi_engine.format.parquet_footers import Part, parse_footers

FILES = 30


def part(rows: pa.Table, **options: object) -> Part:
    out = io.BytesIO()
    pq.write_table(rows, out, **options)
    file = out.getvalue()
    end = len(file) - 8
    return Part("a file", file, end - int.from_bytes(file[-8:-4], "little"), end)


def rows(number: int) -> pa.Table:
    """Numbers of one byte and of many, negative ones, texts of any length."""
    values = [number, -(3**number), None]
    texts = ["é" * number, "", "z"]
    return pa.table(
        {"number": pa.array(values, pa.int64()), "text": texts, "part": pa.array([{"x": 0.5 * number}] * 3)}
    )


def one_by_one(parts: Sequence[Part]) -> list[Footer]:
    parser = FooterParser()
    return [parser.parse(each.data, each.start, each.end) for each in parts]


def test_footers_of_one_make_are_as_each_alone() -> None:
    parts = [part(rows(number)) for number in range(FILES)]

    assert parse_footers(parts, FooterParser()) == one_by_one(parts)


def test_footers_of_one_make_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [part(rows(number)) for number in range(FILES)]
    expected = one_by_one(parts)
    monkeypatch.setattr(parquet_footers, "_parse", None)

    assert parse_footers(parts, FooterParser()) == expected


@pytest.mark.parametrize(
    "other",
    [
        lambda number: part(rows(number), row_group_size=1),
        lambda number: part(rows(number), write_statistics=False),
        lambda number: part(rows(number).set_column(0, "number", pa.nulls(3, pa.int64()))),
        lambda number: part(rows(number).append_column("more", pa.array([1, 2, number]))),
        lambda number: part(rows(number).slice(0, 0)),
        lambda number: part(rows(number), compression="gzip", write_page_index=True),
        lambda number: part(rows(number).replace_schema_metadata({"filter": "x" * 300_000})),
    ],
    ids=[
        "more row groups",
        "no statistics",
        "a column of nulls",
        "another column",
        "no rows",
        "pages",
        "a large filter",
    ],
)
@pytest.mark.parametrize("every", [1, 2, 7])
def test_footers_of_several_makes_are_as_each_alone(other: Callable[[int], Part], every: int) -> None:
    parts = [other(number) if number % every == 0 else part(rows(number)) for number in range(FILES)]

    assert parse_footers(parts, FooterParser()) == one_by_one(parts)


def test_of_many_footers_the_one_that_is_damaged_is_named() -> None:
    parts = [part(rows(number)) for number in range(FILES)]
    whole = parts[17]
    data = whole.data[: whole.start + 40] + b"\xff" * (len(whole.data) - whole.start - 40)
    parts[17] = Part("p/damaged", data, whole.start, whole.end)

    with pytest.raises(CorruptFile, match="p/damaged"):
        parse_footers(parts, FooterParser())


def test_one_footer_too_long_to_look_into_is_refused() -> None:
    parts = [part(rows(number)) for number in range(FILES)]
    parts[3] = Part("p/long", parts[3].data + bytes(MOST_BYTES), parts[3].start, parts[3].end + MOST_BYTES)

    with pytest.raises(Unsupported):
        parse_footers(parts, FooterParser())


@given(st.data())
def test_a_damaged_footer_among_others_is_read_as_it_is_alone(data: st.DataObject) -> None:
    parts = [part(rows(3))] * FILES
    for place in data.draw(st.sets(st.integers(0, FILES - 1), min_size=1, max_size=FILES)):
        whole, octets = parts[place], bytearray(parts[place].data)
        for _ in range(data.draw(st.integers(1, 2))):
            octets[data.draw(st.integers(whole.start, whole.end - 1))] = data.draw(st.integers(0, 255))
        parts[place] = Part(whole.path, bytes(octets), whole.start, whole.end)

    assert _outcome(lambda: parse_footers(parts, FooterParser())) == _outcome(lambda: one_by_one(parts))


def _outcome(parse: Callable[[], list[Footer]]) -> list[Footer] | type[Exception]:
    try:
        return parse()
    except (CorruptFile, Unsupported) as refused:
        return type(refused)
