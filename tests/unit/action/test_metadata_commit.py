"""Commits of the metadata table: what they say, that they can be repeated, and what they refuse."""

from dataclasses import replace

import pytest

from hudi_engine.action.metadata_commit import (
    INITIAL,
    UPDATE,
    MetadataCommit,
    WrittenFile,
    begin_metadata_commit,
    ensure_partition_metafile,
    run_metadata_commit,
)
from hudi_engine.errors import Contradiction
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, InstantTime, State
from hudi_engine.format.service_records import RecordName, schema_text
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import COMPLETED_AT, INDEX, INDEXED, VERSIONS, opened

INSTANT = InstantTime("00000000000000500")
COMPLETED = InstantTime(COMPLETED_AT)
FOLDER = ".hoodie/metadata"
each_version = pytest.mark.parametrize("version", VERSIONS)


@each_version
def test_a_commit_is_requested_in_flight_and_completed_and_says_what_was_written(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    commit = initial_commit(storage)

    run_metadata_commit(opened(storage), commit, COMPLETED)

    metadata = opened(storage)
    (found,) = (each for each in metadata.timeline.instants if each.requested_at == INSTANT)
    assert (found.action, found.state) == (Action.DELTA_COMMIT, State.COMPLETED)
    assert found.completed_at == (None if version == 6 else COMPLETED)
    assert {f"{INSTANT}.deltacommit.requested", f"{INSTANT}.deltacommit.inflight"} <= metadata.timeline.files.keys()
    said = metadata.table.commit(found)
    assert said.operation == INITIAL
    assert said.extra == {"schema": schema_text(RecordName.METADATA_RECORD, version), "hudi.engine.plan": "7"}
    assert [(stat.partition, stat.path, stat.file_id, stat.rows, stat.inserts) for stat in said.stats] == [
        (INDEX, f"{INDEX}/record-index-0000-0_0-1-0_{INSTANT}.hfile", "record-index-0000-0", 12, 12)
    ]


@each_version
@pytest.mark.parametrize("name", ["base", "log"])
def test_a_file_is_told_of_in_the_fields_in_which_java_tells_of_such(version: int, name: str) -> None:
    storage = golden_in_memory(INDEXED[version])
    metadata = opened(storage)
    index, operation = ("files", "BULK_INSERT") if name == "base" else (INDEX, UPDATE)
    by_java = next(stat for stat in stats_of(storage, version, operation) if stat["partitionPath"] == index)
    path = str(by_java["path"])
    written = WrittenFile(
        index,
        str(by_java["fileId"]),
        path,
        len(metadata.table.storage.read(path)),
        int(str(by_java["numWrites"])),
        int(str(by_java["numDeletes"])),
        str(by_java["baseFile"] or ""),
        tuple(by_java["logFiles"] or ()),  # type: ignore[arg-type]  # as the record has it
    )

    run_metadata_commit(metadata, MetadataCommit(INSTANT, INITIAL if name == "base" else UPDATE, (written,)), COMPLETED)

    (ours,) = (stat for stat in stats_of(storage, version, None) if stat["path"] == path)
    measured = {"runtimeStats", "totalLogReadTimeMs", "numUpdates"}
    assert without(ours, measured) == without(by_java, measured)


@each_version
@pytest.mark.parametrize("way", [Way.BEFORE, Way.AFTER])
def test_a_commit_whose_writer_died_anywhere_is_finished_by_running_it_again(version: int, way: Way) -> None:
    for at_write in (1, 2, 3):
        storage = golden_in_memory(INDEXED[version])
        commit = initial_commit(storage)
        dying = storage.restarted(Fault(at_write, way, Crash()))
        with pytest.raises(Crash):
            run_metadata_commit(opened(dying), commit, COMPLETED)

        run_metadata_commit(opened(storage), commit, InstantTime("20990101000000001"))

        names = [each for each in opened(storage).timeline.files if each.startswith(INSTANT)]
        assert len(names) == 3, names


@each_version
def test_a_commit_that_is_completed_and_says_otherwise_is_left_alone(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    commit = initial_commit(storage)
    run_metadata_commit(opened(storage), commit, COMPLETED)
    before = opened(storage).timeline

    with pytest.raises(Contradiction, match="completed and says otherwise"):
        run_metadata_commit(opened(storage), replace(commit, extra={"hudi.engine.plan": "8"}), COMPLETED)

    assert opened(storage).timeline == before


@each_version
@pytest.mark.parametrize("damage", ["gone", "of another size"])
def test_files_that_are_not_as_they_were_written_are_not_committed(version: int, damage: str) -> None:
    storage = golden_in_memory(INDEXED[version])
    commit = initial_commit(storage)
    path = f"{FOLDER}/{commit.files[-1].path}"
    if damage == "gone":
        storage.delete(path)
    else:
        storage.replace(path, b"shorter")

    with pytest.raises(Contradiction, match=r"removed or replaced the file since.*run the same again"):
        run_metadata_commit(opened(storage), commit, COMPLETED)

    assert not [each for each in opened(storage).timeline.files if each.startswith(INSTANT)]


@each_version
def test_a_time_at_which_another_action_stands_is_not_committed_at(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    other = next(each for each in opened(storage).timeline.instants if each.action is Action.COMMIT)

    with pytest.raises(Contradiction, match="already, where a deltacommit"):
        begin_metadata_commit(opened(storage), MetadataCommit(other.requested_at, UPDATE))


@each_version
def test_a_commit_that_has_begun_is_seen_pending(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])

    begin_metadata_commit(opened(storage), MetadataCommit(INSTANT, UPDATE))

    (found,) = (each for each in opened(storage).timeline.pending() if each.requested_at == INSTANT)
    assert (found.action, found.state) == (Action.DELTA_COMMIT, State.INFLIGHT)


def test_a_partition_metafile_that_is_there_keeps_what_it_says() -> None:
    storage = golden_in_memory(INDEXED[9])
    path = f"{FOLDER}/{INDEX}/.hoodie_partition_metadata"
    before = storage.read(path)

    ensure_partition_metafile(opened(storage), INDEX, INSTANT)
    ensure_partition_metafile(opened(storage), "new_index", INSTANT)

    assert storage.read(path) == before
    made = storage.read(f"{FOLDER}/new_index/.hoodie_partition_metadata").decode()
    assert made.splitlines()[1:] == [f"commitTime={INSTANT}", "partitionDepth=1"]


def initial_commit(storage: MemoryStorage) -> MetadataCommit:
    """One base file and one empty log, both on disk."""
    base = f"{INDEX}/record-index-0000-0_0-1-0_{INSTANT}.hfile"
    log = f"{INDEX}/.record-index-0000-0_{INSTANT}.log.1_0-0-0"
    storage.create(f"{FOLDER}/{base}", b"HFILE")
    storage.create(f"{FOLDER}/{log}", b"EMPTY!")
    files = (
        WrittenFile(INDEX, "record-index-0000-0", log, 6, 0),
        WrittenFile(INDEX, "record-index-0000-0", base, 5, 12),
    )
    return MetadataCommit(INSTANT, INITIAL, files, {"hudi.engine.plan": "7"})


def stats_of(storage: MemoryStorage, version: int, operation: str | None) -> list[dict[str, object]]:
    """Of the commits of that operation, or of ours, all that they say of files."""
    metadata = opened(storage).table
    found: list[dict[str, object]] = []
    for each in metadata.timeline().of(Action.DELTA_COMMIT):
        if not each.is_completed or (operation is None and each.requested_at != INSTANT):
            continue
        name = (
            f"{each.requested_at}.deltacommit"
            if version == 6
            else f"{each.requested_at}_{each.completed_at}.deltacommit"
        )
        data = metadata.storage.read(f"{metadata.config.timeline_folder}/{name}")
        decode = service_records.decode_commit_json if version == 6 else service_records.decode
        record: dict[str, object] = decode(RecordName.COMMIT, data)
        if operation is None or str(record["operationType"]).startswith(operation):
            for stats in (record["partitionToWriteStats"] or {}).values():  # type: ignore[attr-defined]  # a map
                found += stats
    return found


def without(stat: dict[str, object], names: set[str]) -> dict[str, object]:
    return {key: value for key, value in stat.items() if key not in names}
