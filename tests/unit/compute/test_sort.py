"""Keys come out in the order of their unsigned bytes, whatever they have in common."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.compute.sort import sort_order

few = st.sampled_from([b"\0", b"\x01", b"a", b"\x7f", b"\x80", b"\xff"])
# Of few bytes, so that many words are equal and some keys are the beginning of others.
alike = st.lists(few, min_size=1, max_size=40).map(b"".join)
common = st.builds(lambda count, end: b"x" * count + end, st.sampled_from([0, 7, 8, 9, 63, 64, 65, 100]), alike)


def ordered(keys: list[bytes], kept: slice = slice(None)) -> list[bytes]:
    array = pa.array(keys, pa.large_binary())[kept]
    return [array[place].as_py() for place in sort_order(array).tolist()]


@given(st.lists(st.one_of(st.binary(min_size=1, max_size=20), alike, common), max_size=60))
def test_keys_ascend_in_their_bytes(keys: list[bytes]) -> None:
    assert ordered(keys) == sorted(keys)


@given(st.lists(alike, max_size=30), st.integers(0, 5), st.integers(0, 30))
def test_a_part_of_an_array_is_sorted_for_itself(keys: list[bytes], first: int, last: int) -> None:
    assert ordered(keys, slice(first, last)) == sorted(keys[first:last])


@pytest.mark.parametrize("length", [1, 8, 9, 72, 73, 32767])
def test_keys_that_differ_in_their_last_byte_only_are_told_apart(length: int) -> None:
    keys = [b"k" * (length - 1) + bytes([end]) for end in (255, 0, 128, 1, 127)]

    assert ordered(keys) == sorted(keys)


@pytest.mark.parametrize("length", [1, 8, 64, 80])
def test_a_key_comes_before_one_that_goes_on_with_nul(length: int) -> None:
    keys = [b"k" * length + bytes(count) for count in (3, 0, 9, 1, 64)]

    assert ordered(keys) == sorted(keys)


@pytest.mark.parametrize("count", [2, 5])
def test_equal_keys_stay_together(count: int) -> None:
    assert ordered([b"same-key-of-all", b"a"] * count) == [b"a"] * count + [b"same-key-of-all"] * count


def test_nothing_and_one_key_are_in_order() -> None:
    assert ordered([]) == []
    assert ordered([b"alone"]) == [b"alone"]
