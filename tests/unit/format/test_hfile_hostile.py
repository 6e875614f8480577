"""Files that are torn, damaged or forged: the right answer, or an error that says where."""

import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from isal import igzip_lib

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.hfile.block import (
    DATA,
    FILE_INFO,
    HEADER,
    LEAF_INDEX,
    ROOT_INDEX,
    Codec,
    encode_block,
    pack,
    parse_block,
)
from hudi_engine.format.hfile.index import (
    encode_file_info,
    encode_meta_index,
    encode_root_index,
    parse_child_index,
    parse_load_on_open,
)
from hudi_engine.format.hfile.read import entries_of, read_hfile
from hudi_engine.format.hfile.trailer import Trailer, encode_trailer, parse_trailer
from hudi_engine.format.hfile.wire import encode_varint, encode_vint, varint, vint
from hudi_engine.format.hfile.write import Recipe, write_hfile

pytestmark = pytest.mark.thorough

DATA_FILES = Path(__file__).parent / "data" / "hfiles.zip"
TAIL = b"\0\x7f" + b"\xff" * 7 + b"\x04"


def small_file(codec: Codec = Codec.GZ) -> bytes:
    entries = pa.table({"key": pa.array([b"a%d" % n for n in range(9)]), "value": pa.array([b"value"] * 9)})
    return write_hfile(entries, Recipe("{}", 1, codec))


def cell(row: bytes, value: bytes) -> bytes:
    return struct.pack(">iih", len(row) + 12, len(value), len(row)) + row + TAIL + value + b"\0"


def block(raw: bytes, kind: bytes = DATA, codec: Codec = Codec.NONE) -> bytes:
    return b"".join(encode_block(kind, len(raw), pack(raw, codec)))


def cells_in(*raws: bytes) -> list[tuple[bytes, bytes]]:
    """The entries of uncompressed blocks that hold these bytes, the first at offset 1000 of the file."""
    table = entries_of([(1000 + 500 * number, block(raw)) for number, raw in enumerate(raws)], Codec.NONE)
    return list(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))


@pytest.mark.parametrize("codec", Codec)
def test_a_file_cut_anywhere_is_corrupt(codec: Codec) -> None:
    whole = small_file(codec)

    for length in range(len(whole)):
        with pytest.raises(CorruptFile):
            read_hfile(whole[:length])


@pytest.mark.parametrize("name", ["native_1.1.1_gz", "hbase_0.15.0_gz_multilevel"])
def test_a_flipped_bit_changes_no_entry_of_a_compressed_file(name: str) -> None:
    with zipfile.ZipFile(DATA_FILES) as files:
        whole = files.read(name)
    entries = read_hfile(whole).entries
    padding = whole.rindex(b'TRABLK"$') + 200

    for at in [*range(0, padding, 3), *range(len(whole) - 8, len(whole))]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        try:
            assert read_hfile(bytes(damaged)).entries.equals(entries), f"another answer after a flip at {at}"
        except (CorruptFile, Unsupported):
            continue


def test_every_flipped_bit_of_an_uncompressed_file_is_survived() -> None:
    whole = small_file(Codec.NONE)
    start = whole.rindex(b'TRABLK"$')

    for at in range(start + 200):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        try:
            assert len(read_hfile(bytes(damaged)).entries) == 9
        except (CorruptFile, Unsupported):
            continue


def test_a_damaged_payload_is_named_with_the_offset_of_its_block() -> None:
    whole = bytearray(small_file())
    whole[HEADER.size + 20] ^= 0xFF

    with pytest.raises(CorruptFile) as caught:
        read_hfile(bytes(whole))

    assert caught.value.offset == 0


@pytest.mark.parametrize(
    ("field", "value"), [(8, 2**31 - 1), (8, -1), (12, 2**31 - 1), (12, -(2**31)), (29, 2**31 - 1), (29, 0)]
)
@pytest.mark.parametrize("codec", Codec)
def test_a_size_that_cannot_be_is_refused_before_memory_is_spent(codec: Codec, field: int, value: int) -> None:
    whole = bytearray(small_file(codec))
    struct.pack_into(">i", whole, field, value)

    with pytest.raises(CorruptFile) as caught:
        read_hfile(bytes(whole))

    assert caught.value.offset == 0


def test_a_payload_that_unpacks_to_more_than_promised_is_not_unpacked() -> None:
    bomb = igzip_lib.compress(bytes(100_000_000), 1, igzip_lib.COMP_GZIP)
    forged = b"".join(encode_block(DATA, 65536, bomb))

    with pytest.raises(CorruptFile, match="one gzip member of 65536 bytes"):
        parse_block(forged, 0, (DATA, Codec.GZ)).unpack(Codec.GZ)


def test_a_payload_promised_to_unpack_to_more_than_memory_holds_is_refused() -> None:
    bomb = igzip_lib.compress(bytes(200_000_000), 1, igzip_lib.COMP_GZIP)

    with pytest.raises(CorruptFile, match="claim to unpack to 200000000"):
        parse_block(b"".join(encode_block(DATA, 200_000_000, bomb)), 0, (DATA, Codec.GZ))


def test_zeros_that_unpack_to_all_that_is_allowed_are_refused_at_the_first_cell() -> None:
    bomb = igzip_lib.compress(bytes(64 << 20), 1, igzip_lib.COMP_GZIP)
    forged = b"".join(encode_block(DATA, 64 << 20, bomb))

    with pytest.raises(CorruptFile, match="0 bytes into the payload"):
        entries_of([(0, forged)], Codec.GZ)


@pytest.mark.parametrize("extra", [b"\0", igzip_lib.compress(b"", 1, igzip_lib.COMP_GZIP)])
def test_anything_after_the_gzip_member_is_corrupt(extra: bytes) -> None:
    stored = igzip_lib.compress(b"payload", 1, igzip_lib.COMP_GZIP) + extra
    whole = b"".join(encode_block(DATA, 7, stored))

    with pytest.raises(CorruptFile, match="one gzip member"):
        parse_block(whole, 0, (DATA, Codec.GZ)).unpack(Codec.GZ)


@pytest.mark.parametrize("rows", [(b"row1", b"row2"), (b"row1", b"another")])
@pytest.mark.parametrize(("at", "value"), [(0, 2**31), (0, 11), (4, 2**31), (4, 2**32 - 1), (4, 0), (0, 2**32 - 1)])
def test_a_cell_whose_lengths_do_not_add_up_is_corrupt(rows: tuple[bytes, bytes], at: int, value: int) -> None:
    first, second = (cell(row, b"value") for row in sorted(rows))
    forged = bytearray(first + second)
    struct.pack_into(">I", forged, len(first) + at, value)

    with pytest.raises(CorruptFile, match="bytes into the payload") as caught:
        cells_in(cell(b"a", b""), bytes(forged))

    assert caught.value.offset == 1500


def test_a_cell_may_not_reach_into_the_next_block() -> None:
    both = cell(b"row1", b"value") + cell(b"row2", b"value")

    with pytest.raises(CorruptFile) as caught:
        cells_in(both[:20], both[20:])

    assert caught.value.offset == 1000


def test_a_key_with_a_column_family_is_corrupt() -> None:
    forged = cell(b"row1", b"value").replace(b"\0\x04row1", b"\0\x02row1")

    with pytest.raises(CorruptFile):
        cells_in(cell(b"a", b""), forged)


def test_keys_that_descend_are_corrupt() -> None:
    with pytest.raises(CorruptFile, match="b'a' comes after b'b'"):
        cells_in(cell(b"b", b""), cell(b"a", b""))


def test_keys_in_the_order_of_javas_strings_are_read() -> None:
    rows = ["\U0001f600".encode(), "\ue000".encode()]

    assert [key for key, _ in cells_in(cell(rows[0], b"") + cell(rows[1], b""))] == rows


def test_the_same_key_twice_is_read_twice() -> None:
    assert cells_in(cell(b"a", b"1"), cell(b"a", b"2")) == [(b"a", b"1"), (b"a", b"2")]


def file_of(raw_index: bytes, count: int, meta_count: int = 0, entries: int = 0) -> bytes:
    """A file of one data block, with this as the payload of its root index."""
    data = block(cell(b"a", b""))
    indexes = block(raw_index, ROOT_INDEX) + block(b"", ROOT_INDEX)
    info = block(encode_file_info({}, None), FILE_INFO)
    at = len(data)
    trailer = Trailer(at + len(indexes), at, 0, 0, count, meta_count, entries, 1, 0, 0, Codec.NONE)
    return data + indexes + info + encode_trailer(trailer)


def test_the_forged_file_of_these_tests_is_otherwise_whole() -> None:
    assert len(read_hfile(file_of(encode_root_index([(b"a", 0, len(block(cell(b"a", b""))))]), 1, 0, 1)).entries) == 1


@pytest.mark.parametrize(
    "entries",
    [[(b"a", -1, 59)], [(b"a", 1 << 40, 59)], [(b"a", 0, 0)], [(b"a", 0, 2**31 - 1)], [(b"a", 0, 59), (b"b", 0, 59)]],
)
def test_an_index_that_points_astray_or_twice_at_one_place_is_corrupt(entries: list[tuple[bytes, int, int]]) -> None:
    with pytest.raises(CorruptFile, match="index entry"):
        read_hfile(file_of(encode_root_index(entries), len(entries)))


@pytest.mark.parametrize("count", [2, 2**31, 2**63])
def test_a_count_of_blocks_that_cannot_be_is_corrupt(count: int) -> None:
    with pytest.raises(CorruptFile):
        read_hfile(file_of(encode_root_index([(b"a", 0, 59)]), count))


def test_a_count_of_meta_blocks_that_cannot_be_is_corrupt() -> None:
    with pytest.raises(CorruptFile):
        read_hfile(file_of(encode_root_index([(b"a", 0, 59)]), 1, meta_count=3))


def test_two_names_for_one_meta_block_are_corrupt() -> None:
    whole = file_of(encode_root_index([(b"a", 0, 59)]), 1)
    trailer = parse_trailer(whole[-4096:], len(whole))
    root = block(encode_root_index([(b"a", 0, 59)]), ROOT_INDEX)
    meta = block(encode_meta_index([(b"one", 0, 59), (b"two", 0, 59)]), ROOT_INDEX)
    forged = root + meta + block(encode_file_info({}, None), FILE_INFO)

    with pytest.raises(CorruptFile, match="a meta block of 59 bytes at 0"):
        parse_load_on_open(forged, replace(trailer, meta_index_count=2), trailer.load_on_open_offset)


def test_a_count_of_entries_that_is_not_true_is_corrupt() -> None:
    index = encode_root_index([(b"a", 0, len(block(cell(b"a", b""))))])

    with pytest.raises(CorruptFile, match="1 entries where the trailer counts 7"):
        read_hfile(file_of(index, 1, entries=7))


@pytest.mark.parametrize(
    "leaf", [b"", struct.pack(">i", 2**31 - 1), struct.pack(">iii", 1, 0, 400), struct.pack(">iii", 1, 5, 5)]
)
def test_a_leaf_index_of_hostile_numbers_is_corrupt(leaf: bytes) -> None:
    data = file_of(encode_root_index([(b"a", 0, 59)]), 1)
    trailer = parse_trailer(data[-4096:], len(data))
    parent = parse_load_on_open(data, trailer, 0).root

    with pytest.raises(CorruptFile) as caught:
        parse_child_index([block(leaf, LEAF_INDEX)], parent, trailer, 1)

    assert caught.value.offset == 0


@pytest.mark.parametrize(
    ("codec", "name"), [(0, "LZO"), (3, "SNAPPY"), (4, "LZ4"), (5, "BZIP2"), (6, "ZSTD"), (9, "9")]
)
def test_another_codec_is_refused_by_name(codec: int, name: str) -> None:
    tail = bytearray(small_file()[-4096:])
    place = tail.index(b"\x60\x01")
    tail[place + 1] = codec

    with pytest.raises(Unsupported, match=name):
        parse_trailer(bytes(tail), 9000)


@pytest.mark.parametrize("version", [2, 4])
def test_another_version_is_refused(version: int) -> None:
    tail = small_file()[-4096:-1] + bytes([version])

    with pytest.raises(Unsupported, match=f"version {version}"):
        parse_trailer(tail, 9000)


def test_an_encoded_data_block_is_refused() -> None:
    whole = small_file().replace(DATA, b"DATABLKE")

    with pytest.raises(Unsupported, match="encoding"):
        read_hfile(whole)


def test_an_error_in_the_trailer_is_named_with_its_offset_in_the_file() -> None:
    whole = bytearray(small_file())
    whole[-4096] = 0

    with pytest.raises(CorruptFile) as caught:
        read_hfile(bytes(whole))

    assert caught.value.offset == len(whole) - 4096


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 300, 32_779, 2**31])
def test_lengths_survive_both_encodings(value: int) -> None:
    assert varint(encode_varint(value), 0) == (value, len(encode_varint(value)))
    assert vint(encode_vint(value), 0) == (value, len(encode_vint(value)))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 11])
def test_a_varint_without_end_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptFile):
        varint(data, 0)


@pytest.mark.parametrize("data", [b"", b"\x8f", b"\x88\0\0\0", b"\x80", b"\xff"])
def test_what_is_no_length_in_hadoops_encoding_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptFile):
        vint(data, 0)
