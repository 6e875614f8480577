"""Both ways of finding cells, against each other and against entries that look like their own borders."""

import struct
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.format.hfile.block import DATA, Codec, encode_block
from hudi_engine.format.hfile.read import entries_of, read_hfile
from hudi_engine.format.hfile.write import Recipe, write_hfile

TAIL = b"\0\x7f" + b"\xff" * 7 + b"\x04"
Entries = dict[bytes, bytes]

# Values that contain what a cell contains are the hard ones.
VALUES = st.one_of(
    st.binary(max_size=30),
    st.lists(st.sampled_from([TAIL, b"\xff\xff\xff\xff", b"\x7f", b"\0\0\0\x10", b"\0"]), max_size=6).map(b"".join),
)


def block(entries: Entries) -> bytes:
    raw = b"".join(
        struct.pack(">iih", len(row) + 12, len(value), len(row)) + row + TAIL + value + b"\0"
        for row, value in entries.items()
    )
    return b"".join(encode_block(DATA, len(raw), raw))


def decoded(blocks: list[Entries]) -> list[tuple[bytes, bytes]]:
    table = entries_of([(number, block(entries)) for number, entries in enumerate(blocks)], Codec.NONE)
    return list(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))


def spread(entries: Entries, blocks: int) -> list[Entries]:
    """The entries, in order, over some blocks of about the same size."""
    rows = sorted(entries)
    size = -(-len(rows) // blocks) or 1
    return [{row: entries[row] for row in rows[start : start + size]} for start in range(0, len(rows), size)]


@given(st.dictionaries(st.binary(min_size=8, max_size=8), VALUES, min_size=1, max_size=60), st.integers(1, 50))
def test_cells_with_keys_of_one_length_are_read_as_written(entries: Entries, blocks: int) -> None:
    assert decoded(spread(entries, blocks)) == sorted(entries.items())


@given(st.dictionaries(st.binary(min_size=1, max_size=20), VALUES, min_size=1, max_size=60), st.integers(1, 50))
def test_cells_with_keys_of_any_length_are_read_as_written(entries: Entries, blocks: int) -> None:
    assert decoded(spread(entries, blocks)) == sorted(entries.items())


@pytest.mark.parametrize("key", ["%09d", "%d"])
def test_blocks_with_very_different_numbers_of_cells_are_read_together(key: str) -> None:
    rows = sorted((key % number).encode() for number in range(2_000))
    cuts = [0, *range(1, 60), 1_500, 1_501, 2_000]
    blocks = [{row: b"v" + row for row in rows[start:end]} for start, end in pairwise(cuts)]

    assert decoded(blocks) == [(row, b"v" + row) for row in rows]


def test_an_empty_block_among_others_holds_nothing() -> None:
    assert decoded([{b"a": b"1"}, {}, {b"bb": b"2"}]) == [(b"a", b"1"), (b"bb", b"2")]


def test_no_blocks_hold_no_cells() -> None:
    assert decoded([]) == []


@pytest.mark.parametrize("key", ["%09d", "%d"])
def test_more_than_one_run_of_blocks_is_read_in_order(key: str) -> None:
    rows = sorted((key % number).encode() for number in range(300))
    entries = pa.table(
        {"key": pa.array(rows, pa.large_binary()), "value": pa.array([row * 9_000 for row in rows], pa.large_binary())}
    )

    file = write_hfile(entries, Recipe("{}", 1))

    assert read_hfile(file, threads=3).entries.equals(entries)


def test_values_that_are_cells_themselves_are_not_taken_for_cells() -> None:
    inside = {b"inner-%d" % number: b"value" * (number % 3) for number in range(9)}
    nested = block(inside)[33:]
    rows = sorted(b"row-%d" % number for number in range(2_000))
    entries = {row: nested[: len(nested) * (number % 4) // 3] for number, row in enumerate(rows)}

    assert decoded(spread(entries, 3)) == sorted(entries.items())
