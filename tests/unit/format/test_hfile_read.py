"""Files that HBase's writer and Hudi's native one made: see data/README.md."""

import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hudi_engine.errors import Unsupported
from hudi_engine.format.hfile.block import Codec
from hudi_engine.format.hfile.index import BlockIndex, locate, parse_child_index, parse_load_on_open
from hudi_engine.format.hfile.read import HFile, entries_of, lookup, read_hfile
from hudi_engine.format.hfile.trailer import Trailer, parse_trailer

DATA = Path(__file__).parent / "data" / "hfiles.zip"
# Of each file: entries, index levels, and the letters before the number in a key.
FILES = {
    "hbase_0.15.0_gz": (300, 1, 1),
    "hbase_0.15.0_gz_multilevel": (300, 3, 1),
    "hbase_0.15.0_none_multilevel": (120, 2, 1),
    "hbase_1.0.2_empty": (0, 1, 1),
    "native_1.1.1_gz": (300, 1, 1),
    "native_1.1.1_long_keys": (12, 1, 150),
    "native_1.1.1_none": (60, 1, 1),
    "native_1.2.0_empty": (0, 1, 1),
    "native_1.2.0_gz": (300, 1, 1),
    "native_1.2.0_long_keys": (12, 1, 150),
}


def written_by(name: str) -> bytes:
    with zipfile.ZipFile(DATA) as files:
        return files.read(name)


def binary(values: list[bytes]) -> pa.LargeBinaryArray:
    return pa.array(values, pa.large_binary())


def keys_of(file: HFile) -> list[bytes]:
    keys: list[bytes] = file.entries["key"].to_pylist()
    return keys


def test_no_file_went_missing() -> None:
    with zipfile.ZipFile(DATA) as files:
        assert set(files.namelist()) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_entry_of_a_real_file_is_read(name: str) -> None:
    count, _, letters = FILES[name]

    file = read_hfile(written_by(name))

    assert keys_of(file) == [b"k" * letters + b"%06d" % number for number in range(count)]
    assert file.entries["value"].to_pylist() == [b"value %d" % number for number in range(count)]


@pytest.mark.parametrize("name", FILES)
def test_file_info_and_the_bloom_block_of_a_real_file_are_read(name: str) -> None:
    file = read_hfile(written_by(name))

    assert file.info["schema"] == b'{"type":"string"}'
    assert file.meta == {"bloomFilter": b"Qmxvb20="}


@pytest.mark.parametrize("name", FILES)
def test_every_key_of_a_real_file_is_found_and_no_other(name: str) -> None:
    keys = keys_of(read_hfile(written_by(name)))
    between = [key + b"!" for key in keys]

    found = lookup(written_by(name), binary([b"", *between, *keys, b"zzz"]))

    assert found["key"].to_pylist() == keys


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_how_many_levels_its_index_has(name: str) -> None:
    data = written_by(name)

    assert parse_trailer(data[-4096:], len(data)).index_levels == FILES[name][1]


@pytest.mark.parametrize("name", [name for name, (_, levels, _) in FILES.items() if levels > 1])
def test_parts_fetched_one_by_one_give_what_the_whole_file_gives(name: str) -> None:
    data = written_by(name)
    trailer = parse_trailer(data[-5000:], len(data))
    tail_at = trailer.load_on_open_offset

    index = parse_load_on_open(data[tail_at:], trailer, tail_at).root
    for level in range(trailer.index_levels - 1, 0, -1):
        index = parse_child_index(blocks_at(data, index), index, trailer, level)
    entries = entries_of(list(zip(index.offsets.tolist(), blocks_at(data, index), strict=True)), trailer.codec)

    assert entries.equals(read_hfile(data).entries)


def blocks_at(data: bytes, index: BlockIndex) -> list[bytes]:
    return [data[at : at + size] for at, size in zip(index.offsets.tolist(), index.sizes.tolist(), strict=True)]


def index_of(keys: list[bytes]) -> BlockIndex:
    places = np.arange(len(keys))
    return BlockIndex(binary(keys), places, places)


def test_a_key_is_looked_for_in_the_block_whose_first_key_is_the_last_not_above_it() -> None:
    index = index_of([b"b", b"d", b"d\xff"])

    numbers = locate(index, binary([b"a", b"b", b"c", b"d", b"d\x7f", b"d\xff\x00", b""]))

    assert numbers.tolist() == [-1, 0, 0, 1, 1, 2, -1]


def test_keys_may_be_looked_for_in_any_order_and_twice() -> None:
    assert locate(index_of([b"b", b"d"]), binary([b"z", b"b", b"z", b"a"])).tolist() == [1, 0, 1, -1]


def test_an_index_out_of_byte_order_is_not_searched() -> None:
    with pytest.raises(Unsupported, match="byte order"):
        locate(index_of([b"d", b"b"]), binary([b"b"]))


def test_one_thread_reads_what_two_read() -> None:
    data = written_by("native_1.2.0_gz")

    assert read_hfile(data, threads=1).entries.equals(read_hfile(data, threads=2).entries)


def test_the_lookup_takes_a_view_of_bytes() -> None:
    assert len(lookup(memoryview(written_by("hbase_0.15.0_gz")), binary([b"k000007"]))) == 1


@pytest.mark.parametrize("name", ["hbase_0.15.0_gz", "native_1.2.0_gz"])
def test_codec_and_places_of_a_real_trailer_agree_with_its_blocks(name: str) -> None:
    data = written_by(name)
    trailer: Trailer = parse_trailer(data[-4096:], len(data))

    index = parse_load_on_open(data, trailer, 0).root

    assert trailer.codec is Codec.GZ
    assert (trailer.first_data_offset, trailer.last_data_offset) == (index.offsets[0], index.offsets[-1])
    assert all(before < after for before, after in pairwise(index.keys.to_pylist()))
