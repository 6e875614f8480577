"""Runs that are merged hold every key that they held, with its slice, in order."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.compute.runs import RUN, SliceKeys, merged, run_of, sorted_run

keys = st.lists(st.binary(min_size=1, max_size=6), max_size=40)


def rows_of(run: Iterator[Any]) -> list[tuple[bytes, int]]:
    pieces = list(run)
    assert all(len(piece) for piece in pieces)
    return [(row["key"], row["slice"]) for piece in pieces for row in piece.to_pylist()]


def run_in_small_pieces(some: list[bytes], number: int, piece_bytes: int) -> Iterator[Any]:
    numbers = pa.array([number] * len(some), pa.int32())
    return sorted_run(pa.record_batch([pa.array(some, pa.large_binary()), numbers], schema=RUN), piece_bytes)


@given(st.lists(keys, max_size=5), st.integers(1, 60))
def test_merged_runs_are_one_run_of_all_rows(runs: list[list[bytes]], piece_bytes: int) -> None:
    merging = merged([run_in_small_pieces(some, number, piece_bytes) for number, some in enumerate(runs)])

    rows = rows_of(merging)

    assert [key for key, _ in rows] == sorted(key for some in runs for key in some)
    assert sorted(rows) == sorted((key, number) for number, some in enumerate(runs) for key in some)


def test_keys_of_several_slices_keep_their_slices() -> None:
    gathered = [
        SliceKeys(pa.array([b"b", b"d"], pa.large_binary()), 7),
        SliceKeys(pa.array([b"c"], pa.large_binary()), 3),
    ]

    assert rows_of(run_of(gathered)) == [(b"b", 7), (b"c", 3), (b"d", 7)]


@pytest.mark.parametrize(("piece_bytes", "sizes"), [(1, [1, 1, 1]), (5, [2, 1]), (6, [3]), (100, [3])])
def test_a_piece_has_no_more_bytes_than_wanted_but_one_key_at_least(piece_bytes: int, sizes: list[int]) -> None:
    pieces = list(run_in_small_pieces([b"aa", b"bb", b"cc"], 0, piece_bytes))

    assert [len(piece) for piece in pieces] == sizes


def test_of_each_run_no_more_than_the_piece_in_work_and_the_next_is_read() -> None:
    taken: list[int] = []

    def watched(number: int) -> Iterator[Any]:
        for piece in run_in_small_pieces([f"{place:04d}-{number}".encode() for place in range(100)], number, 60):
            taken.append(number)
            yield piece

    merging = merged([watched(0), watched(1)])
    next(merging)

    assert max(taken.count(0), taken.count(1)) == 2
