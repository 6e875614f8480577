"""A few keys of a block are found as all cells would show them, or the search says that it cannot tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.probe import MOVED, probe
from tests.unit.index.hfiles import cells_of_pairs

TAIL = b"\0\x7f" + b"\xff" * 7 + b"\x04"


@given(
    st.dictionaries(st.binary(max_size=40), st.binary(max_size=300), min_size=1, max_size=200),
    st.lists(st.binary(max_size=40), max_size=20),
)
def test_what_is_found_is_what_is_there(entries: dict[bytes, bytes], others: list[bytes]) -> None:
    pairs = sorted(entries.items())
    wanted = sorted({*list(entries)[::3], *others})

    found = probe(cells_of_pairs(pairs), wanted, pairs[0][0], 0)

    if found is None:
        assert any(not MOVED.isdisjoint(key) for key in wanted)
    else:
        assert found == [(key, entries[key]) for key in wanted if key in entries]


def test_values_that_look_like_the_end_of_a_key_mislead_nobody() -> None:
    pairs = [(b"%04d" % number, TAIL * (number % 7)) for number in range(500)]

    for key, value in pairs[::17]:
        assert probe(cells_of_pairs(pairs), [key, key + b"0"], b"0000", 0) == [(key, value)]


def test_rows_of_many_lengths_and_long_values_are_found() -> None:
    pairs = sorted((b"k" * (number % 50) + b"%d" % number, bytes(number % 9 * 700)) for number in range(600))

    for key, value in pairs[::13]:
        assert probe(cells_of_pairs(pairs), [key], pairs[0][0], 0) == [(key, value)]


def test_keys_that_java_may_sort_otherwise_are_left_to_a_full_look() -> None:
    assert probe(cells_of_pairs([(b"a", b"1")]), ["\uffff".encode()], b"a", 0) is None


def test_a_block_that_begins_before_its_key_in_the_index_is_corrupt() -> None:
    with pytest.raises(CorruptFile, match="b'b' comes after b'a'"):
        probe(cells_of_pairs([(b"a", b"1")]), [b"b"], b"b", 77)


def test_lengths_that_cannot_be_true_are_corrupt() -> None:
    first, whole = cells_of_pairs([(b"a", b"1")]), cells_of_pairs([(b"a", b"1"), (b"b", b"2")])

    for cut in set(range(1, len(whole))) - {len(first)}:
        with pytest.raises(CorruptFile):
            probe(whole[:cut], [b"b"], b"a", 0)
