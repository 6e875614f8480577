"""A shard with logs that nobody has compacted yet: what they say together, and what need not be unpacked for it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.clock import HandClock
from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey
from hudi_engine.format.log.writer import delete_block, hfile_block
from hudi_engine.format.names import LogFileName
from hudi_engine.index.block_cache import BlockCache, Place
from hudi_engine.index.entries import WRITTEN_SCHEMA, entry_encoder, value_of
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.layers import Layers
from hudi_engine.index.logged_keys import LoggedKeys, Sought
from hudi_engine.index.payloads import family_of
from hudi_engine.index.ranges import ALONE
from hudi_engine.index.shard import Shard
from hudi_engine.index.stored_hfile import Region, StoredHFile
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.conform import META_COLUMNS
from hudi_engine.table.file_view import FileSlice, LogFile
from tests.unit.index.hfiles import PATH, hfile_of, keys_of, spread, stored

VERSION = 9
SCHEMA = WRITTEN_SCHEMA[VERSION]
OTHERS = [b"other-%03d" % number for number in range(100)]
NAMES = st.sampled_from([f"key-{letter}" for letter in "abcdef"])


@dataclass(frozen=True, slots=True)
class Log:
    """Keys that a log puts, each with a value, and keys that it deletes."""

    puts: dict[str, bytes]
    deletes: frozenset[str] = frozenset()


def at(partition: str) -> bytes:
    return value_of(partition, "5fef950f-d85c-4083-8a08-7df520c80eb9-0", 0, VERSION)


def block(log: Log, instant: str) -> bytes:
    header, keys = {HeaderKey.INSTANT_TIME: instant}, sorted(log.puts)
    data = b""
    if keys:
        columns = [[key.encode() for key in keys], [log.puts[key] for key in keys]]
        puts = pa.table([pa.array(column, pa.large_binary()) for column in columns], ["key", "value"])
        data = hfile_block(write_hfile(puts, Recipe(SCHEMA, 0)), SCHEMA, header, VERSION)
    deletes = [DeletedKey(key, "record_index", COMMIT_TIME) for key in sorted(log.deletes)]
    return data + (delete_block(deletes, header, VERSION) if deletes else b"")


def files_of(**is_deleted: bool) -> bytes:
    """An entry of the `files` index that adds files or says that they are deleted."""
    files = {name: {"size": 0 if deleted else 7, "isDeleted": deleted} for name, deleted in is_deleted.items()}
    others = ("BloomFilterMetadata", "ColumnStatsMetadata", "recordIndexMetadata")
    out = bytearray()
    blank = dict.fromkeys((*META_COLUMNS, *others))
    entry_encoder(VERSION)(out, {**blank, "key": "", "type": 2, "filesystemMetadata": files})
    return bytes(out)


def shard_of(files: Sequence[bytes], kind: IndexKind = IndexKind.RECORD_INDEX) -> Shard:
    storage, logs = MemoryStorage(HandClock()), []
    for number, data in enumerate(files):
        name = LogFileName("shard-0", str(number), 1, "0-0-0")
        storage.create(f"record_index/{name}", data)
        logs.append(LogFile(name, FileStat(f"record_index/{name}", len(data), 1)))
    layers = Layers(storage, BlockCache(1 << 20), lambda instant: True, ALONE)
    return Shard(FileSlice("", "shard-0", "0", None, tuple(logs)), family_of(kind), layers)


def shard_with(logs: Sequence[Log], kind: IndexKind = IndexKind.RECORD_INDEX) -> Shard:
    return shard_of([block(log, str(number)) for number, log in enumerate(logs)], kind)


def found_in(shard: Shard, keys: Sequence[str]) -> dict[str, str]:
    """The partition of each key that is there, of these and of others that are not."""
    rows = shard.find(keys_of([*OTHERS, *(key.encode() for key in keys)]))
    assert len(rows) == len(set(rows["key"].to_pylist()))
    return dict(zip(rows["key"].to_pylist(), rows["partition"].to_pylist(), strict=True))


@pytest.mark.thorough
@given(
    st.lists(st.tuples(st.sets(NAMES, max_size=4), st.sets(NAMES, max_size=2)), min_size=1, max_size=6),
    st.lists(st.sets(NAMES), min_size=1, max_size=5),
)
def test_logs_that_are_searched_again_and_again_say_the_same_as_their_keys_in_turn(
    changes: list[tuple[set[str], set[str]]], searches: list[set[str]]
) -> None:
    said: dict[str, str] = {}
    logs = []
    for number, (puts, deletes) in enumerate(changes):
        logs.append(Log(dict.fromkeys(puts, at(str(number))), frozenset(deletes)))
        said = {key: each for key, each in {**said, **dict.fromkeys(puts, str(number))}.items() if key not in deletes}
    shard = shard_with(logs)

    for keys in searches:
        assert found_in(shard, sorted(keys)) == {key: each for key, each in said.items() if key in keys}
    rows = pa.concat_tables([shard.family.schema.empty_table(), *shard.scan()])
    assert dict(zip(rows["key"].to_pylist(), rows["partition"].to_pylist(), strict=True)) == said


def test_where_older_entries_of_a_key_count_too_they_are_sought_and_merged_in_their_order() -> None:
    said = [files_of(a=False, b=False), files_of(a=True, c=False), files_of(c=True, d=False)]
    shard = shard_with([Log({"p": each}) for each in said], IndexKind.FILES)

    rows = shard.find(keys_of([b"p"]))

    assert sorted(rows["name"].to_pylist()) == ["b", "d"]


def test_a_log_is_read_a_second_time_for_its_keys_and_then_only_for_what_it_may_have() -> None:
    data = hfile_of(spread(sorted((b"key-%d" % number, b"v") for number in range(3_000)), 100))
    storage, cache = stored(data), BlockCache(1 << 20)
    file = StoredHFile(storage, Region(PATH, 0, len(data), 1), cache)
    logged = LoggedKeys(file, cache, Place(PATH, 1, -3))
    wanted = Sought(keys_of([*OTHERS, b"key-7"]))

    possible = [logged.possible(wanted).to_pylist() for _ in range(2)]
    storage.ranges.clear()
    possible.append(logged.possible(wanted).to_pylist())

    assert possible == [wanted.left().to_pylist(), [b"key-7"], [b"key-7"]]
    assert storage.ranges == []
    assert cache.used_bytes >= 3_000 * 4


def test_of_a_log_with_more_keys_than_its_part_of_the_cache_holds_nothing_is_kept() -> None:
    data = hfile_of(spread(sorted((b"key-%d" % number, b"v") for number in range(3_000)), 100))
    cache = BlockCache(64 * 3_000 * 4 - 64)
    file = StoredHFile(stored(data), Region(PATH, 0, len(data), 1), cache)
    logged, wanted = LoggedKeys(file, cache, Place(PATH, 1, -3)), Sought(keys_of(OTHERS))
    file.info()
    head_only = cache.used_bytes

    possible = [logged.possible(wanted).to_pylist() for _ in range(3)]

    assert possible == [OTHERS] * 3
    assert cache.used_bytes == head_only


def test_what_newer_logs_say_of_a_key_is_not_sought_in_older_ones() -> None:
    damaged = bytearray(block(Log({"key-a": at("old"), "key-b": at("old")}), "0"))
    place = damaged.index(b"DATABLK*") + 40
    damaged[place : place + 20] = bytes(20)
    shard = shard_of([bytes(damaged), block(Log({"key-a": at("new")}, frozenset({"key-c"})), "1")])

    rows = shard.find(keys_of([b"key-a", b"key-c"]))

    assert rows["partition"].to_pylist() == ["new"]
    with pytest.raises(CorruptFile):
        shard.find(keys_of([b"key-b"]))


def test_the_log_with_a_damaged_entry_is_named_though_several_are_decoded_together() -> None:
    shard = shard_with([Log({"key-a": at("p")}), Log({"key-b": b"\xff"}), Log({"key-c": at("p")})])

    with pytest.raises(CorruptFile) as damaged:
        found_in(shard, ["key-a", "key-b", "key-c"])

    assert damaged.value.path == shard.file_slice.log_files[1].stat.path
