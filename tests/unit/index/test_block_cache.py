"""What the cache keeps, and what it does not."""

from concurrent.futures import ThreadPoolExecutor

from hudi_engine.index.block_cache import BlockCache, Place


def place(offset: int, modified_ms: int = 1) -> Place:
    return Place("a/file", modified_ms, offset)


def kept(cache: BlockCache, offsets: range) -> list[int]:
    return [offset for offset in offsets if cache.get(place(offset)) is not None]


def test_the_value_least_recently_asked_for_is_dropped_first() -> None:
    cache = BlockCache(30)
    for offset in range(3):
        cache.put(place(offset), "block", 10)
    cache.get(place(0))

    cache.put(place(3), "block", 10)

    assert kept(cache, range(4)) == [0, 2, 3]


def test_all_values_together_never_have_more_bytes_than_the_limit() -> None:
    cache = BlockCache(100)

    used = []
    for offset in range(50):
        cache.put(place(offset), "block", 7 * offset % 60 + 1)
        used.append(cache.used_bytes)

    assert max(used) <= 100


def test_a_value_larger_than_the_limit_is_not_kept_and_drives_nothing_out() -> None:
    cache = BlockCache(10)
    cache.put(place(0), "small", 5)

    cache.put(place(1), "large", 11)

    assert kept(cache, range(2)) == [0]


def test_a_file_that_was_replaced_is_another_one() -> None:
    cache = BlockCache(10)
    cache.put(place(0, modified_ms=1), "old", 1)

    assert cache.get(place(0, modified_ms=2)) is None


def test_a_value_put_twice_counts_once() -> None:
    cache = BlockCache(10)

    for size in (4, 6):
        cache.put(place(0), "block", size)

    assert cache.used_bytes == 6


def test_nothing_is_kept_within_no_bytes_at_all() -> None:
    cache = BlockCache(0)

    cache.put(place(0), "block", 1)

    assert cache.get(place(0)) is None


def test_threads_leave_the_count_of_bytes_right() -> None:
    cache = BlockCache(1000)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda offset: cache.put(place(offset % 300), "block", 10), range(4000)))

    assert cache.used_bytes == 10 * len(kept(cache, range(300))) == 1000
