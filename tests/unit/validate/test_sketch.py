from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.validate.fingerprints import fingerprints
from hudi_engine.validate.sketch import BUCKETS, Prints, Sketch, sketch_of

ROWS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), max_size=20)


def prints(rows: list[tuple[str, str]]) -> Prints:
    keys = fingerprints(pa.array([key for key, _ in rows], pa.string()))
    whole = fingerprints(pa.array([key + place for key, place in rows], pa.string()))
    return Prints(keys, whole, np.ones(len(rows), np.int64))


@given(ROWS, ROWS)
def test_sketches_are_equal_exactly_if_the_rows_are(some: list[tuple[str, str]], others: list[tuple[str, str]]) -> None:
    differing = sketch_of(prints(some)).differs(sketch_of(prints(others)))

    assert differing.any() == (Counter(some) != Counter(others))


@given(ROWS, st.randoms(), st.integers(0, 20))
def test_neither_the_order_nor_the_pieces_matter(rows: list[tuple[str, str]], chance: object, cut: int) -> None:
    shuffled = sorted(rows, key=lambda _: chance.random())  # type: ignore[attr-defined]  # a Random of hypothesis

    pieces = sketch_of(prints(shuffled[:cut])) + sketch_of(prints(shuffled[cut:]))

    assert not sketch_of(prints(rows)).differs(pieces).any()


@given(ROWS, ROWS)
def test_both_rows_of_a_key_are_in_one_bucket(some: list[tuple[str, str]], others: list[tuple[str, str]]) -> None:
    differing = np.flatnonzero(sketch_of(prints(some)).differs(sketch_of(prints(others))))
    unlike = (Counter(some) - Counter(others)) + (Counter(others) - Counter(some))

    assert set(differing.tolist()) == set(prints(list(unlike)).buckets.tolist())


def test_sums_are_exact_beyond_the_rows_that_doubles_can_add() -> None:
    rows = 3_000_000
    most = np.full(rows, 2**64 - 1, np.uint64)

    sketch = sketch_of(Prints(np.zeros(rows, np.uint64), most, np.full(rows, 5, np.int64)))

    assert int(sketch.sums[0]) == -rows % 2**64
    assert int(sketch.sizes[0]) == 5 * rows


def test_a_row_with_no_print_is_there_for_its_size_alone() -> None:
    keys = np.array([1, 2**63], np.uint64)

    sketch = sketch_of(Prints(keys, np.zeros(2, np.uint64), np.array([7, 9])))

    assert not sketch.differs(Sketch()).any()
    assert sketch.sizes[[0, BUCKETS // 2]].tolist() == [7, 9]
