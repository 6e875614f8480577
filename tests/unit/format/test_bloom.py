"""Bloom filters, held against texts that Hudi 1.2.0's `BloomFilterFactory` made of `KEYS`."""

import base64
import struct
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format import bloom
from hudi_engine.format.bloom import (
    Growth,
    Shape,
    Sizing,
    build_bloom_filter,
    parse_bloom_filter,
    require_bloom_filter,
)

# Of each length modulo four, with bytes above 127 in each place of the rest: those are signed in Java.
KEYS = ["a", "ab", "abc", "abcd", "é", "€", "😀x", "rider-A$é", "straße-€", "0123456789012345678901234567890123456é"]
SIMPLE = "/////wAAAAoBAAAAkKsZhdZi+B/4m0Q6SE9inDcDDw=="
DYNAMIC = "/////wAAAAcBAAAAHQAAAAMAAAAEAAAAA/////8AAAAHAQAAAB2L78kZ/////wAAAAcBAAAAHR/6OAj/////AAAABwEAAAAdw5RuGg=="
SIZINGS = {SIMPLE: Sizing(10, 0.001, None), DYNAMIC: Sizing(3, 0.01, 7)}


def strings(values: list[str]) -> pa.StringArray:
    return pa.array(values, pa.string())


@pytest.mark.parametrize("text", SIZINGS)
def test_a_filter_is_bit_by_bit_the_one_that_hudi_builds(text: str) -> None:
    assert build_bloom_filter(strings(KEYS), SIZINGS[text]).to_text() == text


@pytest.mark.parametrize(("text", "kind"), [(SIMPLE, "SIMPLE"), (DYNAMIC, "DYNAMIC_V0"), (DYNAMIC, "dynamic_v0")])
def test_a_filter_of_hudi_contains_what_was_added(text: str, kind: str) -> None:
    found = parse_bloom_filter(text, kind)

    assert found.might_contain(strings(KEYS)).all()
    assert found.to_text() == text


def test_a_filter_is_parsed_with_its_shape_and_growth() -> None:
    found = parse_bloom_filter(DYNAMIC.encode(), "DYNAMIC_V0")

    assert (found.shape, found.growth, len(found.rows)) == (Shape(29, 7), Growth(3, 4), 3)


def test_the_default_size_is_hudis() -> None:
    assert Sizing().shape == Shape(2_587_966, 30)


def test_few_other_keys_are_said_to_be_contained() -> None:
    found = build_bloom_filter(strings([f"key-{number}" for number in range(10_000)]), Sizing(10_000, 0.01, None))

    others = found.might_contain(strings([f"other-{number}" for number in range(10_000)]))

    assert 0.002 < np.mean(others) < 0.02


@pytest.mark.parametrize(
    ("keys", "rows", "counted"), [(0, 1, 0), (1, 1, 1), (3, 1, 3), (4, 2, 1), (9, 3, 3), (10, 3, 4), (30, 3, 24)]
)
def test_a_dynamic_filter_grows_by_rows_until_it_has_enough(keys: int, rows: int, counted: int) -> None:
    found = build_bloom_filter(strings([str(number) for number in range(keys)]), Sizing(3, 0.01, 7))

    assert (len(found.rows), found.growth) == (rows, Growth(3, counted))


@given(st.lists(st.text(min_size=1), max_size=40))
def test_what_was_added_is_never_said_to_be_absent(keys: list[str]) -> None:
    keys = [key for key in keys if key.isprintable()]

    found = build_bloom_filter(strings(keys), Sizing(5, 0.1, 12))

    assert found.might_contain(strings(keys)).all()


def test_a_slice_of_an_array_is_hashed_as_the_slice() -> None:
    sliced = strings(["x", *KEYS, "y"]).slice(1, len(KEYS))

    assert build_bloom_filter(sliced, SIZINGS[SIMPLE]).to_text() == SIMPLE


@pytest.mark.parametrize("keys", [[""], ["a", None], ["a", ""]])
def test_an_empty_key_is_refused(keys: list[str]) -> None:
    with pytest.raises(Contradiction, match="empty key"):
        build_bloom_filter(strings(keys), Sizing())


def forged(*numbers: int, rest: bytes = b"") -> bytes:
    return base64.b64encode(struct.pack(">iibi", *numbers) + rest)


@pytest.mark.parametrize("data", [forged(5, 3, 0, 16), forged(-1, 5, 0, 8, rest=b"\0")])
def test_the_old_jenkins_hash_is_refused(data: bytes) -> None:
    with pytest.raises(Unsupported, match="Jenkins"):
        parse_bloom_filter(data, "SIMPLE")


@pytest.mark.parametrize("data", [forged(-2, 5, 1, 8, rest=b"\0"), forged(-1, 5, 2, 8, rest=b"\0")])
def test_an_unknown_version_or_hash_is_refused(data: bytes) -> None:
    with pytest.raises(Unsupported):
        parse_bloom_filter(data, "SIMPLE")


def test_an_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="CUCKOO"):
        parse_bloom_filter(SIMPLE, "CUCKOO")


@pytest.mark.parametrize(
    "data",
    [
        forged(-1, 5, 1, 2**31 - 1, rest=b"\0"),
        forged(-1, 5, 1, -1, rest=b"\0"),
        forged(-1, 0, 1, 8, rest=b"\0"),
        forged(-1, 2**31 - 1, 1, 8, rest=b"\0"),
        forged(-1, 5, 1, 8, rest=b"\0\0"),
        b"no base64!",
        "é",
        b"",
    ],
)
def test_a_simple_filter_that_cannot_be_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptFile):
        parse_bloom_filter(data, "SIMPLE")


@pytest.mark.parametrize("rows", [0, -1, 2, 2**31 - 1])
def test_a_dynamic_filter_with_a_wrong_number_of_rows_is_corrupt(rows: int) -> None:
    row = struct.pack(">iibi", -1, 5, 1, 8) + b"\0"

    with pytest.raises(CorruptFile):
        parse_bloom_filter(forged(-1, 5, 1, 8, rest=struct.pack(">iii", 3, 1, rows) + row), "DYNAMIC_V0")


@pytest.mark.parametrize("kind", ["SIMPLE", "DYNAMIC_V0"])
def test_a_filter_cut_anywhere_is_corrupt(kind: str) -> None:
    whole = base64.b64decode(SIMPLE if kind == "SIMPLE" else DYNAMIC)

    for length in range(len(whole)):
        with pytest.raises(CorruptFile):
            parse_bloom_filter(base64.b64encode(whole[:length]), kind)


@pytest.mark.parametrize("sizing", [Sizing(10, 0.001, None), Sizing(3, 0.01, 7), Sizing(), Sizing(most_keys=None)])
def test_a_filter_that_is_whole_is_known_without_unpacking_it(sizing: Sizing, monkeypatch: pytest.MonkeyPatch) -> None:
    made = build_bloom_filter(strings(KEYS), sizing)
    monkeypatch.setattr(bloom, "parse_bloom_filter", None)

    require_bloom_filter(made.to_text().encode(), made.type_code)


@given(
    st.sampled_from([(text, kind) for text in SIZINGS for kind in ("SIMPLE", "DYNAMIC_V0", "dynamic_v0", "new")]),
    st.data(),
)
def test_what_is_required_of_a_filter_is_that_it_can_be_parsed(made: tuple[str, str], data: st.DataObject) -> None:
    text, kind = bytearray(made[0].encode()), made[1]
    for _ in range(data.draw(st.integers(0, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b"AB/+=9\n-\xff"))
    cut = bytes(text[: len(text) - data.draw(st.sampled_from([0, 0, 0, 1, 4, 20]))])

    assert _refusal(require_bloom_filter, cut, kind) == _refusal(parse_bloom_filter, cut, kind)


def _refusal(look: Callable[[bytes, str], object], text: bytes, kind: str) -> type[Exception] | None:
    try:
        look(text, kind)
    except (CorruptFile, Unsupported) as refused:
        return type(refused)
    return None
