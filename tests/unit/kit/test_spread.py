"""The cases that the gate leaves out are left out by this, so it has to keep its word."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.spread import spread

pairs = st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abcd")), unique=True, max_size=28)


@given(pairs, st.integers(1, 3))
def test_every_left_side_stands_as_often_as_asked_for_or_as_it_can(all_pairs: list[tuple[int, str]], each: int) -> None:
    there, chosen = Counter(left for left, _ in all_pairs), Counter(left for left, _ in spread(all_pairs, each))

    assert all(chosen[left] >= min(each, count) for left, count in there.items())


@given(pairs, st.integers(1, 3))
def test_every_right_side_stands_in_a_pair(all_pairs: list[tuple[int, str]], each: int) -> None:
    chosen = spread(all_pairs, each)

    assert {right for _, right in chosen} == {right for _, right in all_pairs}
    assert set(chosen) <= set(all_pairs)


def test_right_sides_take_turns() -> None:
    chosen = spread([(left, right) for left in range(8) for right in "abcd"], 1)

    assert Counter(right for _, right in chosen) == {"a": 2, "b": 2, "c": 2, "d": 2}
