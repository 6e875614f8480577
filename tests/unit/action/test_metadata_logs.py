"""Logs of shards: whose slice they belong to, what they say, that writing them again changes nothing."""

import pyarrow as pa
import pytest

from hudi_engine.action.metadata_commit import UPDATE, MetadataCommit, begin_metadata_commit, run_metadata_commit
from hudi_engine.action.metadata_logs import LogOrder, ShardChange, shard_slices, write_init_logs, write_logs
from hudi_engine.errors import Contradiction
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.format.log.block import BlockType
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.record_index import RecordIndex
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import COMPLETED_AT, FILE_ID, INDEX, INDEXED, VERSIONS, opened, puts_of

each_version = pytest.mark.parametrize("version", VERSIONS)
FOLDER = ".hoodie/metadata"
SHARDS = ("record-index-0000-0", "record-index-0001-0")


@each_version
def test_an_empty_log_is_the_eighty_bytes_that_java_writes(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    by_java = next(
        file
        for file in storage.list(f"{FOLDER}/{INDEX}")
        if file.name.startswith(".record-index-0000-0_0000000000000") and file.name.endswith(".log.1_0-0-0")
    )
    instant = by_java.name.split("_")[1].split(".")[0]

    (written,) = write_init_logs(opened(storage), "new_index", ["record-index-0000-0"], instant)

    assert storage.read(f"{FOLDER}/{written.path}") == storage.read(by_java.path)
    assert (written.size_bytes, written.name, written.entries) == (80, by_java.name, 0)


@each_version
def test_empty_logs_whose_writer_died_are_completed_by_writing_them_again(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    dying = storage.restarted(Fault(1, Way.AFTER, Crash()))
    with pytest.raises(Crash):
        write_init_logs(opened(dying), "new_index", SHARDS, "00000000000000500")

    files = write_init_logs(opened(storage), "new_index", SHARDS, "00000000000000500")

    assert [file.path for file in files] == [
        file.path.removeprefix(f"{FOLDER}/") for file in storage.list(f"{FOLDER}/new_index")
    ]


@each_version
def test_what_a_log_puts_and_deletes_is_what_the_index_says_once_its_commit_is_completed(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    known = keys_of(storage)
    before = located(storage, [*known, "new-1", "new-2"])

    commit(storage, {"new-1", "new-2", known[0]}, {known[1]})

    after = located(storage, [*known, "new-1", "new-2"])
    assert after == before | {known[0]: FILE_ID, "new-1": FILE_ID, "new-2": FILE_ID, known[1]: None}


@each_version
def test_what_a_log_says_is_not_seen_before_its_commit_is_completed(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    known = keys_of(storage)
    before = located(storage, [*known, "new-1"])
    order = order_of(storage)

    begin_metadata_commit(opened(storage), MetadataCommit(order.instant, UPDATE))
    write_logs(opened(storage), order, changes({"new-1"}, {known[0]}, version))

    assert located(storage, [*known, "new-1"]) == before


def test_in_layout_2_a_log_is_the_first_of_its_own_instant() -> None:
    storage = golden_in_memory(INDEXED[9])
    order = order_of(storage)

    files = write_logs(opened(storage), order, changes({"a", "b", "c"}, set(), 9))

    assert [(file.name, file.log_files, file.base_file) for file in files] == [
        (f".{shard}_{order.instant}.log.1_0-3-{number}", (file.name,), "")
        for number, (shard, file) in enumerate(zip(SHARDS, files, strict=True))
    ]


def test_in_layout_1_a_log_is_the_next_of_its_slice() -> None:
    storage = golden_in_memory(INDEXED[6])
    slices = shard_slices(opened(storage), INDEX)
    first, second = (
        write_logs(opened(storage), order_of(storage, attempt), changes({f"k{attempt}"}, {"x", "y"}, 6))
        for attempt in (3, 4)
    )

    for at, shard in enumerate(SHARDS):
        base = slices[shard].base_file
        assert base is not None
        assert not slices[shard].log_files
        assert first[at].name == f".{shard}_{slices[shard].base_instant}.log.1_0-3-{at}"
        assert second[at].name == f".{shard}_{slices[shard].base_instant}.log.2_0-4-{at}"
        assert (second[at].base_file, second[at].log_files) == (base.stat.name, (first[at].name, second[at].name))


@each_version
def test_the_blocks_of_a_log_carry_the_instant_of_its_commit_puts_first(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    order = order_of(storage)

    (file, *_) = write_logs(opened(storage), order, changes({"a", "b", "c"}, {"d", "e", "f"}, version))

    blocks = list(read_blocks(storage.read(f"{FOLDER}/{file.path}"), is_store_atomic=True))
    assert [(block.type, block.instant) for block in blocks] == [
        (BlockType.HFILE_DATA, order.instant),
        (BlockType.DELETE, order.instant),
    ]


@each_version
def test_logs_whose_writer_died_are_completed_by_writing_them_again(version: int) -> None:
    for way, at_write in ((Way.BEFORE, 2), (Way.AFTER, 1), (Way.AFTER, 2)):
        storage = golden_in_memory(INDEXED[version])
        order, wanted = order_of(storage), changes({"a", "b", "c"}, {"d", "e"}, version)
        before = len(storage.list(f"{FOLDER}/{INDEX}"))
        dying = storage.restarted(Fault(at_write, way, Crash()))
        with pytest.raises(Crash):
            write_logs(opened(dying), order, wanted)

        files = write_logs(opened(storage), order, wanted)

        assert len(storage.list(f"{FOLDER}/{INDEX}")) == before + 2
        assert write_logs(opened(storage), order, wanted) == files


def test_a_name_given_away_for_another_content_is_not_written_over() -> None:
    storage = golden_in_memory(INDEXED[9])
    order = order_of(storage)
    (first, *_) = write_logs(opened(storage), order, changes({"a", "b", "c"}, set(), 9))
    before = storage.read(f"{FOLDER}/{first.path}")

    with pytest.raises(Contradiction, match="another content"):
        write_logs(opened(storage), order, changes({"a", "b", "c", "d", "e"}, set(), 9))

    assert storage.read(f"{FOLDER}/{first.path}") == before


@each_version
def test_a_shard_with_nothing_to_change_gets_no_log(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    nothing = ShardChange(puts_of([], version))

    files = write_logs(opened(storage), order_of(storage), dict.fromkeys(SHARDS, nothing))

    assert files == ()


def test_a_shard_that_the_index_does_not_have_is_refused_before_anything_is_written() -> None:
    storage = golden_in_memory(INDEXED[9])
    wanted = changes({"a", "b", "c"}, set(), 9)
    wanted["record-index-0002-0"] = wanted[SHARDS[0]]
    before = storage.list(f"{FOLDER}/{INDEX}")

    with pytest.raises(Contradiction, match=r"no shard record-index-0002-0.*there are 2"):
        write_logs(opened(storage), order_of(storage), wanted)

    assert storage.list(f"{FOLDER}/{INDEX}") == before


def order_of(storage: MemoryStorage, attempt: int = 3) -> LogOrder:
    newest = opened(storage).data_timeline.writes()[-1].requested_at
    ending = "004" if opened(storage).table.config.version == 6 else ""
    return LogOrder(INDEX, f"{int(newest) - attempt:017d}{ending}", attempt, 1_900_000_000_000)


def commit(storage: MemoryStorage, puts: set[str], deletes: set[str]) -> None:
    order, version = order_of(storage), opened(storage).table.config.version
    begin_metadata_commit(opened(storage), MetadataCommit(order.instant, UPDATE))
    files = write_logs(opened(storage), order, changes(puts, deletes, version))
    run_metadata_commit(opened(storage), MetadataCommit(order.instant, UPDATE, files), InstantTime(COMPLETED_AT))


def changes(puts: set[str], deletes: set[str], version: int) -> dict[str, ShardChange]:
    """Each key in the shard that it belongs to."""
    return {
        shard: ShardChange(puts_of(_of(puts, number), version), _of(deletes, number))
        for number, shard in enumerate(SHARDS)
    }


def _of(keys: set[str], number: int) -> list[str]:
    ordered = sorted(keys)
    return [key for key, place in zip(ordered, _places(ordered), strict=True) if place == number]


def _places(keys: list[str]) -> list[int]:
    return [int(place) for place in shard_numbers(pa.array(keys, pa.large_string()), len(SHARDS))]


def keys_of(storage: MemoryStorage) -> list[str]:
    index = opened(storage).index(INDEX)
    return sorted(key for rows in index.scan() for key in rows["key"].to_pylist())


def located(storage: MemoryStorage, keys: list[str]) -> dict[str, str | None]:
    metadata = opened(storage)
    found = RecordIndex(metadata.index(INDEX), metadata.data.zone).locate(keys)
    return dict(zip(keys, found["file_id"].to_pylist(), strict=True))
