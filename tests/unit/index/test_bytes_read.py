"""Only what is touched is read: lesson 43 of the field failures."""

from hudi_engine.format.hfile.block import Codec
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.hfile_head import TAIL_BYTES
from hudi_engine.index.ranges import GAP_BYTES, REQUEST_BYTES
from hudi_engine.index.stored_hfile import Region, StoredHFile
from tests.unit.index.hfiles import PATH, CountingStorage, hfile_of, keys_of, spread, stored

# 300 blocks of some 100 KB, more apart from one another than the gap.
PAIRS = [(b"%09d" % number, b"%010d" % number * 2_500) for number in range(1_200)]
DATA = hfile_of(spread(PAIRS, 4))
BLOCK_BYTES = 4 * 25_030 + 64


def file_on(storage: CountingStorage, data: bytes = DATA, limit_bytes: int = 1 << 30) -> StoredHFile:
    return StoredHFile(storage, Region(PATH, 0, len(data), 1), BlockCache(limit_bytes))


def test_nothing_is_read_before_something_is_asked_for() -> None:
    storage = stored(DATA)

    file_on(storage)

    assert storage.ranges == []


def test_a_key_costs_the_end_of_the_file_and_one_block() -> None:
    storage = stored(DATA)

    file_on(storage).find(keys_of([PAIRS[611][0]]))

    assert len(storage.ranges) == 2
    assert storage.bytes_read <= BLOCK_BYTES + max(TAIL_BYTES, len(DATA) // 256)


def test_a_key_before_the_first_costs_no_block() -> None:
    storage = stored(DATA)

    assert len(file_on(storage).find(keys_of([b"!"]))) == 0

    assert len(storage.ranges) == 1


def test_keys_cost_as_many_bytes_as_the_blocks_that_they_touch() -> None:
    storage = stored(DATA)
    keys = keys_of(key for key, _ in PAIRS[::40])

    file_on(storage).find(keys)

    assert storage.bytes_read <= len(keys) * BLOCK_BYTES + max(TAIL_BYTES, len(DATA) // 256)


def test_a_prefix_costs_the_blocks_of_its_keys() -> None:
    storage = stored(DATA)

    assert len(file_on(storage).find_prefixes(keys_of([b"0000004"]))) == 100

    assert storage.bytes_read <= 27 * BLOCK_BYTES + max(TAIL_BYTES, len(DATA) // 256)


def test_what_was_read_is_not_read_again() -> None:
    storage = stored(DATA)
    file, keys = file_on(storage), keys_of(key for key, _ in PAIRS[::40])
    file.find(keys)
    before = list(storage.ranges)

    file.find(keys)
    file.find(keys_of(keys.to_pylist()[:1]))
    file.info()

    assert storage.ranges == before


def test_only_blocks_that_are_not_cached_are_read() -> None:
    storage = stored(DATA)
    file = file_on(storage)
    file.find(keys_of(key for key, _ in PAIRS[::40]))
    storage.ranges.clear()

    file.find(keys_of(key for key, _ in PAIRS[::20]))

    assert BLOCK_BYTES * 29 < storage.bytes_read <= BLOCK_BYTES * 30


def test_neighbours_come_by_one_request_which_has_its_limit() -> None:
    storage = stored(DATA)

    file_on(storage).find(keys_of(key for key, _ in PAIRS))

    blocks = storage.ranges[1:]
    assert len(blocks) == 300 / (REQUEST_BYTES // BLOCK_BYTES)
    assert max(length for _, length in blocks) <= REQUEST_BYTES


def test_a_small_gap_is_read_over_and_a_large_one_is_not() -> None:
    data = hfile_of(spread([(b"%05d" % number, b"x" * 20_000) for number in range(40)], 1))
    storage = stored(data)

    file_on(storage, data).find(keys_of(b"%05d" % number for number in (0, 3, 6, 11)))

    gaps = GAP_BYTES // 20_000
    assert gaps == 3
    assert len(storage.ranges) == 3


def test_a_find_of_more_than_the_cache_holds_leaves_it_alone() -> None:
    storage = stored(DATA)
    file = file_on(storage, limit_bytes=2_000_000)
    one = keys_of([PAIRS[0][0]])
    file.find(one)
    file.find(keys_of(key for key, _ in PAIRS))
    storage.ranges.clear()

    file.find(one)

    assert storage.ranges == []


def test_an_index_larger_than_was_guessed_costs_one_more_read() -> None:
    pairs = [(b"%05d" % number + b"k" * 300, b"") for number in range(1_000)]
    data = hfile_of(spread(pairs, 1), Codec.NONE)
    storage = stored(data)

    assert len(file_on(storage, data).find(keys_of([pairs[5][0]]))) == 1

    assert len(storage.ranges) == 3
