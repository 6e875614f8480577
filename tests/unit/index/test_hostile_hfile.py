"""Look-ups in files that are torn, damaged or forged: the right answer, or an error that says where."""

from contextlib import suppress

import pytest
from isal import igzip_lib

from hudi_engine.errors import CorruptFile, EngineError, Unsupported
from hudi_engine.format.hfile.block import DATA, Codec, encode_block
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.stored_hfile import Region, StoredHFile
from tests.fuzz.crafted import hfiles
from tests.unit.index.hfiles import PATH, hfile_of, keys_of, opened, pairs_of, spread, stored

pytestmark = pytest.mark.thorough

PAIRS = [(b"key-%d" % number, b"value of %d" % number) for number in range(100, 160)]
KEYS = keys_of(key for key, _ in PAIRS[::7])


@pytest.mark.parametrize("codec", Codec)
def test_a_file_cut_anywhere_is_corrupt(codec: Codec) -> None:
    whole = hfile_of(spread(PAIRS, 10), codec)

    for length in range(0, len(whole), 13):
        with pytest.raises(CorruptFile, match=PATH):
            opened(whole[:length]).find(KEYS)


def test_a_file_shorter_than_it_was_listed_is_corrupt() -> None:
    whole = hfile_of(spread(PAIRS, 10))
    file = StoredHFile(stored(whole), Region(PATH, 0, len(whole) + 5, 1), BlockCache(0))

    with pytest.raises(CorruptFile, match=PATH):
        file.find(KEYS)


def test_a_flipped_bit_changes_nothing_that_is_found_in_a_compressed_file() -> None:
    whole = hfile_of(spread(PAIRS, 10), Codec.GZ)
    expected = pairs_of(opened(whole).find(KEYS))

    for at in [*range(len(whole) - 3_900), len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        try:
            found = pairs_of(opened(bytes(damaged)).find(KEYS))
        except (CorruptFile, Unsupported):
            continue
        assert found == expected, f"another answer after a flip at {at}"


def test_every_flipped_bit_of_an_uncompressed_file_is_survived() -> None:
    whole = hfile_of(spread(PAIRS, 10))

    for at in range(len(whole) - 3_900):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        file = opened(bytes(damaged))
        try:
            # The flip may make one key equal to another.
            assert len(file.find(KEYS)) <= len(KEYS) + 1
            assert sum(map(len, file.scan())) == len(PAIRS)
        except (CorruptFile, Unsupported):
            continue


def test_forged_files_are_refused() -> None:
    for case in hfiles():
        with pytest.raises(EngineError, match=PATH):
            list(opened(case.data).scan())


def test_a_search_of_a_forged_file_finds_nothing_or_is_refused() -> None:
    for case in hfiles():
        for search in (StoredHFile.find, StoredHFile.find_prefixes):
            with suppress(EngineError):
                assert len(search(opened(case.data), KEYS)) == 0


def test_a_block_whose_keys_the_index_denies_is_corrupt() -> None:
    blocks = spread(PAIRS, 10)
    first_keys = [pairs[0][0] for pairs in blocks]

    # The index may begin a block too late, and so end the one before too late.
    for number, denial, keys in [(2, b"key-125", [b"key-126"]), (3, b"key-125", [b"key-121", b"key-122"])]:
        forged = hfile_of(blocks, first_keys=[*first_keys[:number], denial, *first_keys[number + 1 :]])
        with pytest.raises(CorruptFile, match="comes after") as caught:
            opened(forged).find(keys_of(keys))
        assert caught.value.path == PATH


def test_an_index_in_no_order_is_corrupt() -> None:
    forged = hfile_of(list(reversed(spread(PAIRS, 10))))

    with pytest.raises(CorruptFile, match="neither ascend in bytes nor"):
        opened(forged).find(KEYS)


def test_keys_of_a_block_in_no_order_are_corrupt() -> None:
    forged = hfile_of([[*PAIRS[5:9], *PAIRS[2:4], *PAIRS[20:30]]])

    with pytest.raises(CorruptFile, match="b'key-102' comes after b'key-108'"):
        opened(forged).find(keys_of([b"key-106", b"key-107"]))


def test_a_key_that_a_block_holds_twice_is_found_twice_by_a_search_for_many() -> None:
    file = opened(hfile_of([[(b"a", b"1"), (b"b", b"2"), (b"b", b"3"), (b"c", b"4")]]))

    assert pairs_of(file.find(keys_of([b"b", b"d"]))) == [(b"b", b"2"), (b"b", b"3")]


def test_a_place_is_told_as_the_offset_in_the_whole_file() -> None:
    whole = bytearray(hfile_of(spread(PAIRS, 10), Codec.GZ))
    whole[60] ^= 0xFF
    file = StoredHFile(stored(b"before" + bytes(whole)), Region(PATH, 6, len(whole), 1), BlockCache(0))

    with pytest.raises(CorruptFile) as caught:
        file.find(KEYS)

    assert (caught.value.offset, caught.value.path) == (6, PATH)


def test_an_index_that_is_said_to_be_most_of_a_large_file_is_not_read() -> None:
    whole = hfile_of([[(b"%09d" % number, bytes(1_000_000)) for number in range(140)], [(b"a", b"")]])
    forged = whole.replace(whole[-4096:-3900], hfile_of([])[-4096:-3900])
    storage = stored(forged)

    with pytest.raises(CorruptFile, match="bytes of index and trailer"):
        StoredHFile(storage, Region(PATH, 0, len(forged), 1), BlockCache(0)).find(KEYS)

    assert storage.bytes_read < 1 << 20


def test_a_scan_of_bombs_is_refused_in_little_memory() -> None:
    bomb = b"".join(encode_block(DATA, 60 << 20, igzip_lib.compress(bytes(60 << 20), 1, igzip_lib.COMP_GZIP)))
    whole = hfile_of([PAIRS], Codec.GZ)
    assert len(bomb) < 1 << 20

    with pytest.raises(CorruptFile):
        list(opened(bomb * 10 + whole).scan())
