"""Keys hash as Java's strings do, and so find their shards (section 3.5)."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile
from hudi_engine.index.hashing import java_hash, octet_hash, shard_numbers

LEAST = "polygenelubricants"  # its hash has no positive counterpart in 32 bits
texts = st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=30)


def reference(text: str) -> int:
    units = text.encode("utf-16-le")
    total = 0
    for place in range(0, len(units), 2):
        total = (total * 31 + int.from_bytes(units[place : place + 2], "little")) % (1 << 32)
    return total - (1 << 32) if total >= 1 << 31 else total


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", 97), ("record", -934908847), ("\u00e9", 233), ("\U0001f600", 1772899), ("rider-A$", -1524846538), ("", 0)],
)
def test_known_texts_have_the_hashes_that_java_gives_them(text: str, expected: int) -> None:
    assert java_hash(pa.array([text])).tolist() == [expected]


@given(texts)
def test_hashes_of_any_texts_are_those_of_their_utf16_units(keys: list[str]) -> None:
    assert java_hash(pa.array(keys, pa.large_string())).tolist() == [reference(key) for key in keys]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_slices_and_chunks_of_every_kind_of_text_hash_alike(kind: pa.DataType) -> None:
    array = pa.array(["left out", "ab", "", "ü", "zzz"]).cast(kind)
    keys = pa.chunked_array([array[1:3], array[3:], array[:0]])

    assert java_hash(keys).tolist() == [reference(key) for key in ("ab", "", "ü", "zzz")]


def test_long_keys_among_many_short_ones_hash_right() -> None:
    keys = ["k" * 65536, *(f"key-{number}" for number in range(20_000)), "é" * 40_000 + "z", "x" * 2049]

    assert java_hash(pa.array(keys)).tolist() == [reference(key) for key in keys]


@pytest.mark.parametrize("octets", [[b"\xff"], [b"ok", b"caf\xc3"], [b"\xe2\x82", b"\xac"], [b"\xed\xa0\x80"]])
def test_a_key_that_is_not_utf8_is_refused(octets: list[bytes]) -> None:
    with pytest.raises(CorruptFile, match=r"not UTF-8|within a character"):
        java_hash(pa.array(octets))


def test_one_shard_has_all_keys() -> None:
    assert shard_numbers(pa.array(["a", LEAST]), 1).tolist() == [0, 0]


def test_the_most_negative_hash_finds_its_shard() -> None:
    assert java_hash(pa.array([LEAST])).tolist() == [-(2**31)]
    assert shard_numbers(pa.array([LEAST]), 10).tolist() == [8]
    assert shard_numbers(pa.array([LEAST]), 10_000).tolist() == [3648]


@given(texts, st.integers(2, 10_000))
def test_a_shard_is_the_remainder_of_the_hash_without_its_sign(keys: list[str], count: int) -> None:
    found: Any = shard_numbers(pa.array(keys, pa.string()), count)

    assert found.tolist() == [abs(reference(key)) % count for key in keys]
    assert found.dtype == np.int64


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_have_a_hash_and_ascii_has_that_of_java(keys: list[bytes]) -> None:
    found = octet_hash(pa.array(keys, pa.large_binary()))

    assert found.view(np.int32).tolist() == [reference(key.decode("latin-1")) for key in keys]
