"""Folders listed once, and after that only where something happened."""

import pytest

from hudi_engine.action.listed_files import committed_files, list_again, list_files
from hudi_engine.format import service_records
from hudi_engine.format.service_records import RecordName
from tests.kit.made_table import MadeTable, at
from tests.worlds.stage import StagedStorage

OTHER = "f1e1d000-0000-4000-8000-000000000002-0"


def three_partitions(version: int = 9) -> MadeTable:
    made = MadeTable(version=version, kind="COPY_ON_WRITE")
    for partition in ("p1", "p2", "p3"):
        made.partition(partition)
        made.base(at(1), [("a", 1, "")], partition)
    made.complete(at(1), "commit")
    return made


def test_only_folders_that_a_commit_wrote_to_are_listed_again() -> None:
    made = three_partitions()
    staged = StagedStorage(made.storage)
    table = made.open()
    listed = list_files(table)
    made.base(at(2), [("b", 1, "")], "p2", OTHER)
    made.complete(at(2), "commit", partitionToWriteStats={"p2": [{"partitionPath": "p2", "path": "p2/f"}]})

    found = list_again(type(table)(staged, table.config, table.clock, table.zone), listed)

    assert [path for operation, path in staged.journal if operation == "list" and path.startswith("p")] == ["p2"]
    assert {name: len(files) for name, files in committed_files(table, found).items()} == {"p1": 1, "p2": 2, "p3": 1}


@pytest.mark.parametrize("version", [6, 9])
def test_folders_that_were_cleaned_or_rolled_back_are_listed_again(version: int) -> None:
    made = three_partitions(version)
    made.base(at(2), [("b", 1, "")], "p1")
    made.complete(at(2), "commit", partitionToWriteStats={"p1": [{"partitionPath": "p1", "path": "p1/f"}]})
    gone = made.base(at(3), [("c", 1, "")], "p2", OTHER)
    table = made.open()
    listed = list_files(table)

    made.storage.delete("p1/f1e1d000-0000-4000-8000-000000000001-0_0-1-1_" + at(1) + ".parquet")
    finish(made, at(4), "clean", RecordName.CLEAN, clean_of("p1"))
    made.storage.delete(gone)
    finish(made, at(5), "rollback", RecordName.ROLLBACK, rollback_of("p2"))
    found = list_again(table, listed)

    assert {name: len(files) for name, files in found.partitions.items()} == {"p1": 2, "p2": 2, "p3": 2}
    assert {name: len(files) for name, files in committed_files(table, found).items()} == {"p1": 1, "p2": 1, "p3": 1}


def test_after_a_restore_everything_is_listed_again() -> None:
    made = three_partitions()
    table = made.open()
    listed = list_files(table)
    made.storage.delete("p3/f1e1d000-0000-4000-8000-000000000001-0_0-1-1_" + at(1) + ".parquet")
    restored = {
        "startRestoreTime": at(2),
        "timeTakenInMillis": 1,
        "instantsToRollback": [],
        "hoodieRestoreMetadata": {},
    }
    finish(made, at(2), "restore", RecordName.RESTORE, restored)

    found = list_again(table, listed)

    assert {name: len(files) for name, files in committed_files(table, found).items()} == {"p1": 1, "p2": 1, "p3": 0}


def test_a_partition_that_was_deleted_is_listed_no_more() -> None:
    made = three_partitions()
    table = made.open()
    listed = list_files(table)
    for file in made.storage.list("p3"):
        made.storage.delete(file.path)
    finish(made, at(2), "clean", RecordName.CLEAN, clean_of("p3"))

    assert list(list_again(table, listed).partitions) == ["p1", "p2"]


def test_in_layout_1_logs_of_a_slice_that_a_pending_compaction_began_are_committed() -> None:
    made = MadeTable(version=6)
    made.partition()
    made.base(at(1), [("a", 1, "")])
    made.complete(at(1), "commit")
    made.schedule_compaction(at(2))
    made.log(at(2), [("a", 2, "")], block_instant=at(3))
    made.complete(at(3))
    made.log(at(4), [("a", 3, "")], token="0-9-9")
    table = made.open()

    names = committed_files(table, list_files(table))[""]

    assert [at(2) in name or f"{at(1)}.parquet" in name for name in names] == [True, True]


def finish(made: MadeTable, instant: str, action: str, record: RecordName, value: dict[str, object]) -> None:
    ending = "" if made.version == 6 else f"_{int(instant) + 30_000:017d}"
    made.instant(f"{instant}{ending}.{action}", service_records.encode(record, value, made.version))


def clean_of(partition: str) -> dict[str, object]:
    files: dict[str, list[str]] = {"deletePathPatterns": [], "successDeleteFiles": [], "failedDeleteFiles": []}
    return {
        "startCleanTime": at(4),
        "timeTakenInMillis": 1,
        "totalFilesDeleted": 1,
        "earliestCommitToRetain": at(2),
        "partitionMetadata": {partition: {"partitionPath": partition, "policy": "KEEP_LATEST_COMMITS", **files}},
    }


def rollback_of(partition: str) -> dict[str, object]:
    files = {"partitionPath": partition, "successDeleteFiles": [], "failedDeleteFiles": []}
    return {
        "startRollbackTime": at(5),
        "timeTakenInMillis": 1,
        "totalFilesDeleted": 1,
        "commitsRollback": [at(3)],
        "partitionMetadata": {partition: files},
    }
