import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.validate.fingerprints import combined, fingerprints, fingerprints_of_numbers, texts_of

TEXTS = st.lists(st.text(max_size=40), max_size=30)
KINDS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def one(text: str) -> int:
    return int(fingerprints(pa.array([text], pa.string()))[0])


@given(TEXTS, st.sampled_from(KINDS))
def test_a_text_has_one_fingerprint_whatever_is_beside_it(texts: list[str], kind: pa.DataType) -> None:
    column = pa.array([text.encode() for text in texts], pa.binary()).cast(kind)

    assert fingerprints(column).tolist() == [one(text) for text in texts]


@given(TEXTS, st.integers(0, 30))
def test_a_slice_of_a_column_has_the_fingerprints_of_its_own_texts(texts: list[str], start: int) -> None:
    column = pa.array(texts, pa.large_string())

    assert fingerprints(column.slice(start)).tolist() == [one(text) for text in texts[start:]]


@given(st.sets(st.text(max_size=40), max_size=60))
def test_different_texts_have_different_fingerprints(texts: set[str]) -> None:
    assert len(set(fingerprints(pa.array(sorted(texts), pa.string())).tolist())) == len(texts)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 36, 1000])
def test_texts_of_one_length_have_the_fingerprints_that_they_have_among_others(size: int) -> None:
    even = [chr(97 + number) * (size - 1) + chr(65 + number) for number in range(26)]

    together = fingerprints(pa.array(even, pa.string()))

    assert together.tolist() == fingerprints(pa.array([*even, "", "x" * 50], pa.string()))[:26].tolist()
    assert len(set(together.tolist())) == len(even)


def test_zeros_at_the_end_count() -> None:
    assert len({one("\0" * length) for length in range(20)}) == 20


def test_a_null_counts_as_empty() -> None:
    assert fingerprints(pa.array([None, "a"]))[0] == one("")
    assert texts_of(pa.array(["aé", None, ""])).sizes.tolist() == [3, 0, 0]


def test_a_hundred_thousand_neighbours_fill_all_bits_and_buckets() -> None:
    numbers = fingerprints(pa.array([f"key-{number:06}" for number in range(100_000)]))

    ones = [int((numbers >> np.uint64(bit) & np.uint64(1)).sum()) for bit in range(64)]
    in_bucket = np.bincount((numbers >> np.uint64(56)).astype(np.int64), minlength=256)

    assert 49_000 < min(ones) <= max(ones) < 51_000
    assert 280 < in_bucket.min() <= in_bucket.max() < 520


def test_the_order_of_a_pair_matters() -> None:
    first, second = fingerprints(pa.array(["a", "b"]))[:1], fingerprints(pa.array(["b", "a"]))[:1]

    assert combined(first, second)[0] != combined(second, first)[0]
    assert combined(first, second)[0] == combined(np.array([one("a")], np.uint64), second)[0]


def test_fractions_differ_unless_they_are_the_same_number() -> None:
    numbers = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 5e-324, 1 + 2**-52])

    assert len(set(fingerprints_of_numbers(numbers).tolist())) == len(numbers)
    assert fingerprints_of_numbers(np.array([-np.nan]))[0] == fingerprints_of_numbers(numbers)[5]
