"""What we write: read back by ourselves here, and by every Hudi release in tests/interop."""

import struct
from collections.abc import Iterator
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.format.bloom import Sizing, build_bloom_filter
from hudi_engine.format.hfile.block import HEADER, Codec
from hudi_engine.format.hfile.index import parse_load_on_open
from hudi_engine.format.hfile.read import lookup, read_hfile
from hudi_engine.format.hfile.trailer import Trailer, encode_trailer, parse_trailer
from hudi_engine.format.hfile.write import Recipe, hfile_chunks, write_hfile

RECIPE = Recipe(schema='{"type": "string"}', created_ms=1_700_000_000_000)


def table(entries: dict[bytes, bytes]) -> pa.Table:
    columns = {"key": list(entries), "value": list(entries.values())}
    return pa.table(columns, pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())]))


def numbered(count: int) -> pa.Table:
    return table({b"key-%07d" % number: b"v" * (number % 90) for number in range(count)})


def recipe(codec: Codec) -> Recipe:
    return Recipe(RECIPE.schema, RECIPE.created_ms, codec)


def headers(file: bytes) -> Iterator[tuple[int, ...]]:
    index = parse_load_on_open(file, parse_trailer(file[-4096:], len(file)), 0).root
    for at in index.offsets.tolist():
        yield HEADER.unpack_from(file, at)


@pytest.mark.parametrize("codec", Codec)
def test_what_is_written_is_read_again(codec: Codec) -> None:
    entries = numbered(20_000)

    file = read_hfile(write_hfile(entries, recipe(codec)))

    assert file.entries.equals(entries)


@pytest.mark.parametrize("codec", Codec)
def test_every_key_is_found_again(codec: Codec) -> None:
    entries = numbered(5_000)

    found = lookup(write_hfile(entries, recipe(codec)), entries["key"].combine_chunks())

    assert found.equals(entries)


def test_an_empty_file_is_a_file() -> None:
    data = write_hfile(numbered(0), RECIPE)

    trailer = parse_trailer(data[-4096:], len(data))

    assert len(read_hfile(data).entries) == 0
    assert (trailer.entry_count, trailer.data_index_count) == (0, 0)
    assert trailer.first_data_offset == trailer.last_data_offset == 0xFFFF_FFFF_FFFF_FFFF


def test_blocks_are_as_full_as_64_kib_allow() -> None:
    raw_bytes = [header[2] for header in headers(write_hfile(numbered(20_000), RECIPE))]

    assert max(raw_bytes) <= 65536
    assert min(raw_bytes[:-1]) > 65536 - 150


def test_a_cell_larger_than_a_block_has_one_to_itself() -> None:
    entries = table({b"a": b"small", b"b": b"x" * 100_000, b"c": b"small"})

    file = write_hfile(entries, RECIPE)

    assert [header[2] for header in headers(file)] == [27, 100_022, 27]
    assert read_hfile(file).entries.equals(entries)


def test_each_block_names_the_one_before() -> None:
    file = write_hfile(numbered(5_000), RECIPE)

    index = parse_load_on_open(file, parse_trailer(file[-4096:], len(file)), 0).root

    assert [header[3] for header in headers(file)] == [-1, *index.offsets.tolist()[:-1]]


@pytest.mark.thorough
@given(st.lists(st.integers(0, 4000), max_size=5))
def test_the_file_is_the_same_however_its_entries_arrive(cuts: list[int]) -> None:
    entries = numbered(4_000)
    borders = [0, *sorted(cuts), 4_000]

    batches = [entries.slice(start, end - start) for start, end in pairwise(borders)]

    assert b"".join(hfile_chunks(batches, RECIPE)) == write_hfile(entries, RECIPE)


def test_columns_of_other_binary_types_will_do() -> None:
    entries = pa.table({"key": pa.array(["a", "é"], pa.string()), "value": pa.array([b"1", b"2"], pa.binary())})

    file = read_hfile(write_hfile(entries, RECIPE))

    assert file.entries["key"].to_pylist() == [b"a", "é".encode()]


def test_file_info_says_what_hudi_looks_for() -> None:
    info = read_hfile(write_hfile(table({b"a": b"12", b"bcd": b"3456"}), RECIPE)).info

    assert info == {
        "schema": b'{"type": "string"}',
        "minRecordKey": b"a",
        "maxRecordKey": b"bcd",
        "KEY_VALUE_VERSION": struct.pack(">i", 1),
        "MAX_MEMSTORE_TS_KEY": struct.pack(">q", 0),
        "hfile.AVG_KEY_LEN": struct.pack(">i", 2),
        "hfile.AVG_VALUE_LEN": struct.pack(">i", 3),
        "hfile.CREATE_TIME_TS": struct.pack(">q", 1_700_000_000_000),
        "hfile.LASTKEY": b"\0\x03bcd\0\x7f" + b"\xff" * 7 + b"\x04",
    }


def test_a_bloom_filter_goes_into_a_meta_block() -> None:
    entries = numbered(10)
    bloom = build_bloom_filter(entries["key"].combine_chunks(), Sizing(100, 1e-6, 200))

    file = read_hfile(write_hfile(entries, Recipe(RECIPE.schema, 1, bloom=bloom)))

    assert file.meta == {"bloomFilter": bloom.to_text().encode()}
    assert file.info["bloomFilterTypeCode"] == b"DYNAMIC_V0"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([b"b", b"a"], "b'a' comes after b'b'"),
        ([b"a", b"b", b"b"], "b'b' is there twice"),
        (["\ue000".encode(), "\U0001f600".encode(), "\uffff".encode()], "comes after"),
    ],
)
def test_keys_out_of_byte_order_are_refused_by_name(keys: list[bytes], message: str) -> None:
    entries = pa.table({"key": pa.array(keys), "value": pa.array(keys)})

    with pytest.raises(Contradiction, match=message):
        write_hfile(entries, RECIPE)


def test_order_is_required_across_blocks_and_batches_too() -> None:
    batches = [numbered(2_000), numbered(2_000)]

    with pytest.raises(Contradiction, match="key-0000000"):
        b"".join(hfile_chunks(batches, RECIPE))


def test_order_is_required_across_runs_of_blocks() -> None:
    big = {b"%03d" % number: bytes(60_000) for number in range(200)}
    keys = [b"000" if key == b"150" else key for key in big]
    entries = pa.table({"key": pa.array(keys), "value": pa.array(list(big.values()))})

    with pytest.raises(Contradiction, match="b'000' comes after b'149'"):
        write_hfile(entries, RECIPE)


@pytest.mark.parametrize("length", [0, 32768])
def test_a_key_whose_length_does_not_fit_is_refused(length: int) -> None:
    with pytest.raises(Unsupported, match=f"a key of {length} bytes"):
        write_hfile(table({b"k" * length: b""}), RECIPE)


def test_the_longest_key_is_read_again() -> None:
    entries = table({b"k" * 32767: b"v"})

    assert read_hfile(write_hfile(entries, RECIPE)).entries.equals(entries)


def test_nulls_are_refused() -> None:
    entries = pa.table({"key": pa.array([b"a"]), "value": pa.array([None], pa.binary())})

    with pytest.raises(Contradiction, match="a null value"):
        write_hfile(entries, RECIPE)


def test_places_beyond_four_gibibytes_survive_the_trailer() -> None:
    far = 5 << 30
    trailer = Trailer(far + 9, far, 1, 2, 3, 4, 1 << 40, 1, 0, far - 1, Codec.NONE)

    assert parse_trailer(encode_trailer(trailer), far + 8192) == trailer
