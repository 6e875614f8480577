"""Look-ups in a stored HFile against a plain reading of the whole file."""

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.format.hfile.block import Codec
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.ranges import Effort
from hudi_engine.index.stored_hfile import Region, StoredHFile
from hudi_engine.storage.local import LocalStorage
from tests.unit.index.hfiles import PATH, Pair, cells_of_pairs, hfile_of, keys_of, opened, pairs_of, spread, stored

pytestmark = pytest.mark.thorough

GOLDEN = Path(__file__).parents[1] / "format" / "data" / "hfiles.zip"
with zipfile.ZipFile(GOLDEN) as files:
    WRITTEN_BY_HUDI = {name: files.read(name) for name in files.namelist()}

# Keys that are prefixes of one another, empty, or hold the bytes that cells are framed by.
PIECES = st.sampled_from([b"", b"a", b"ab", b"b", b"\0", b"\xff", b"\x7f", b"\0\0\0\x10", b"longer than a word"])
KEYS = st.one_of(st.binary(max_size=12), st.lists(PIECES, max_size=5).map(b"".join))
EQUAL_KEYS = st.binary(min_size=9, max_size=9)
FILES = st.one_of(
    st.dictionaries(KEYS, st.binary(max_size=40), max_size=80),
    st.dictionaries(EQUAL_KEYS, st.binary(max_size=40), max_size=80),
)
LIMITS = st.sampled_from([0, 700, 2_000, 1 << 20])
CODECS = st.sampled_from(Codec)
# Java's order and that of bytes differ for these.
TEXTS = st.text("a\u00e9\ud7ff\ue000\uffff\U00010000\U0001f600\U0010ffff", max_size=4)


def expected(entries: dict[bytes, bytes], keys: Any) -> list[Pair]:
    return sorted((key, entries[key]) for key in keys.to_pylist() if key in entries)


def beginning_with(entries: dict[bytes, bytes], prefixes: Any) -> list[Pair]:
    wanted = tuple(prefixes.to_pylist())
    return sorted(pair for pair in entries.items() if pair[0].startswith(wanted))


def in_java_order(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


@given(FILES, st.integers(1, 30), CODECS, LIMITS, st.data())
def test_those_entries_are_found_that_have_a_key_looked_for(
    entries: dict[bytes, bytes], size: int, codec: Codec, limit: int, data: st.DataObject
) -> None:
    file = opened(hfile_of(spread(sorted(entries.items()), size), codec), limit)
    present = st.sampled_from(sorted(entries)) if entries else KEYS

    for _ in range(3):
        keys = keys_of(data.draw(st.lists(st.one_of(present, KEYS, EQUAL_KEYS))))

        assert pairs_of(file.find(keys)) == expected(entries, keys)


@given(FILES, st.integers(1, 30), CODECS, LIMITS, st.data())
def test_those_entries_are_found_that_begin_with_a_prefix(
    entries: dict[bytes, bytes], size: int, codec: Codec, limit: int, data: st.DataObject
) -> None:
    file = opened(hfile_of(spread(sorted(entries.items()), size), codec), limit)
    starts = [key[:length] for key in entries for length in range(len(key) + 1)]
    present = st.sampled_from(sorted(starts)) if starts else KEYS

    for _ in range(3):
        prefixes = keys_of(data.draw(st.lists(st.one_of(present, KEYS), max_size=8)))

        assert pairs_of(file.find_prefixes(prefixes)) == beginning_with(entries, prefixes)


@given(st.sets(TEXTS), st.integers(1, 5), st.booleans(), LIMITS, st.lists(TEXTS))
def test_no_key_is_lost_in_a_file_in_the_order_of_javas_strings(
    texts: set[str], size: int, is_javas: bool, limit: int, others: list[str]
) -> None:
    rows = [text.encode() for text in sorted(texts, key=in_java_order if is_javas else str.encode)]
    entries = {row: row[::-1] for row in rows}
    file = opened(hfile_of(spread(list(entries.items()), size)), limit)

    for wanted in (keys_of(rows), keys_of([*rows[::3], *map(str.encode, others)])):
        assert pairs_of(file.find(wanted)) == expected(entries, wanted)
        assert pairs_of(file.find_prefixes(wanted)) == beginning_with(entries, wanted)
    assert [key for piece in file.scan() for key in piece["key"].to_pylist()] == rows


@pytest.mark.parametrize("name", WRITTEN_BY_HUDI)
def test_what_hudi_wrote_is_found_in_every_way(name: str) -> None:
    data = WRITTEN_BY_HUDI[name]
    entries = dict(pairs_of(read_hfile(data).entries))
    file = opened(data)

    assert [pair for piece in file.scan() for pair in pairs_of(piece)] == sorted(entries.items())
    assert pairs_of(file.find(keys_of(entries))) == sorted(entries.items())
    assert file.info() == read_hfile(data).info
    for key, value in entries.items():
        assert pairs_of(opened(data).find(keys_of([key]))) == [(key, value)]
        for absent in (key + b"\0", key[:-1], key + key):
            wanted = keys_of([absent])
            assert pairs_of(file.find(wanted)) == expected(entries, wanted)
            assert pairs_of(file.find_prefixes(wanted)) == beginning_with(entries, wanted)


def uuid_like(count: int) -> dict[bytes, bytes]:
    return {b"%08x-key-of-equal-length" % (number * 2654435761 % 2**32): b"v" * 50 for number in range(count)}


def user_like(count: int) -> dict[bytes, bytes]:
    return {b"user-%d" % number: b"value of %d" % number for number in range(count)}


@pytest.mark.parametrize("entries", [uuid_like(60_000), user_like(60_000)], ids=["equal keys", "other keys"])
@pytest.mark.parametrize("size", [50, 2_000])
@pytest.mark.parametrize("share", [1, 7, 400, 20_000])
def test_many_and_few_keys_are_found_cold_and_warm(entries: dict[bytes, bytes], size: int, share: int) -> None:
    file = opened(hfile_of(spread(sorted(entries.items()), size), Codec.GZ))
    rows = sorted(entries)
    few = keys_of(rows[10_000:20_000:900])
    keys = keys_of([*rows[::share], *(row + b"x" for row in rows[:: share * 3])])

    # The blocks of the few are in the cache, others not, when the many are looked for.
    assert pairs_of(file.find(few)) == expected(entries, few)
    for _ in range(2):
        assert pairs_of(file.find(keys)) == expected(entries, keys)


def test_many_prefixes_are_found_cold_and_warm() -> None:
    entries = user_like(40_000)
    file = opened(hfile_of(spread(sorted(entries.items()), 300), Codec.GZ))
    prefixes = keys_of(b"user-%d" % number for number in range(100, 999, 3))

    for _ in range(2):
        assert pairs_of(file.find_prefixes(prefixes)) == beginning_with(entries, prefixes)


def test_a_prefix_that_begins_with_another_finds_nothing_twice() -> None:
    entries = user_like(100)

    found = opened(hfile_of(spread(sorted(entries.items()), 7))).find_prefixes(keys_of([b"user-1", b"user-12", b"u"]))

    assert pairs_of(found) == sorted(entries.items())


def test_a_large_file_is_scanned_in_pieces_that_are_the_whole() -> None:
    entries = {b"%09d" % number: b"x" * 200 + b"%d" % number for number in range(120_000)}
    data = hfile_of(spread(sorted(entries.items()), 3_000))

    pieces = list(opened(data).scan())

    assert len(pieces) > 3
    assert max(piece.nbytes for piece in pieces) < 8 << 20
    assert pa.concat_tables(pieces).equals(read_hfile(data).entries)


def test_files_on_this_machine_are_read_as_those_in_memory(tmp_path: Path) -> None:
    entries = uuid_like(5_000)
    data = hfile_of(spread(sorted(entries.items()), 90), Codec.GZ)
    (tmp_path / "file").write_bytes(data)
    file = StoredHFile(LocalStorage(str(tmp_path)), Region("file", 0, len(data), 1), BlockCache(1 << 20))
    keys = keys_of(sorted(entries)[::13])

    assert pairs_of(file.find(keys)) == expected(entries, keys)
    assert sum(map(len, file.scan())) == 5_000


def test_a_file_inside_of_another_is_read_from_where_it_begins() -> None:
    entries = user_like(3_000)
    data = hfile_of(spread(sorted(entries.items()), 90))
    storage = stored(b"what a log has before" + data + b"and after")
    file = StoredHFile(storage, Region(PATH, 21, len(data), 1), BlockCache(1 << 20))

    assert pairs_of(file.find(keys_of([b"user-77"]))) == [(b"user-77", b"value of 77")]
    assert sum(map(len, file.scan())) == 3_000


def test_threads_that_share_a_file_all_find_what_they_look_for() -> None:
    entries = uuid_like(20_000)
    file = opened(hfile_of(spread(sorted(entries.items()), 90), Codec.GZ), limit_bytes=100_000)
    wanted = [keys_of(sorted(entries)[first::97]) for first in range(12)]

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda keys: pairs_of(file.find(keys)), wanted))

    assert found == [expected(entries, keys) for keys in wanted]


def test_a_file_that_was_replaced_is_read_anew() -> None:
    cache = BlockCache(1 << 20)
    old, new = (hfile_of([[(b"key", value)]]) for value in (b"old", b"new"))

    found = [
        StoredHFile(stored(data), Region(PATH, 0, len(data), modified_ms), cache).find(keys_of([b"key"]))
        for modified_ms, data in enumerate([old, new])
    ]

    assert [pairs_of(table) for table in found] == [[(b"key", b"old")], [(b"key", b"new")]]


def test_a_search_for_many_keys_leaves_nothing_in_the_cache_and_one_for_few_does() -> None:
    pairs = [(b"%06d" % number, b"v" * 50) for number in range(20_000)]
    data = hfile_of(spread(pairs, 5_000), Codec.GZ)
    cache = BlockCache(1 << 30)
    file = StoredHFile(stored(data), Region(PATH, 0, len(data), 1), cache)
    file.info()
    head_only = cache.used_bytes

    file.find(keys_of(key for key, _ in pairs))
    after_many = cache.used_bytes
    file.find(keys_of([pairs[7_000][0]]))

    assert after_many == head_only
    assert cache.used_bytes > 5_000 * 50


def test_values_made_to_look_like_cells_mislead_nobody_who_may_not_probe() -> None:
    fake = cells_of_pairs([(b"key-zzz", b"fake")] * 300)
    pairs = [(b"key-%03d" % number, fake if number == 5 else b"true") for number in range(10)]
    data = hfile_of([pairs])
    region = Region(PATH, 0, len(data), 1)
    file = StoredHFile(stored(data), region, BlockCache(0), Effort(1, 1, may_probe=False))

    assert pairs_of(file.find(keys_of([b"key-007"]))) == [(b"key-007", b"true")]
    assert pairs_of(file.find(keys_of([b"key-zzz"]))) == []
