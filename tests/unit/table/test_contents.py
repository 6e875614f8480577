"""What timeline files say, and names in them that lead elsewhere."""

import json

import pytest

from hudi_engine.errors import CorruptFile, UnsafePath, Unsupported
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.format.service_records import RecordName
from hudi_engine.table.contents import (
    CommitMetadata,
    is_clustering,
    parse_cleaned,
    parse_commit,
    parse_compaction_plan,
    parse_earliest_kept,
    parse_undone,
    refuse_renamed_columns,
)

HOSTILE = ["../x", "../../x", "a/../../x", "/etc", "a//b", "a/./b", "x\0y", "a/"]


def _commit(layout: int, action: Action = Action.DELTA_COMMIT, **fields: object) -> CommitMetadata:
    name = RecordName.REPLACE_COMMIT if action is Action.REPLACE_COMMIT else RecordName.COMMIT
    if layout == 1:
        return parse_commit(json.dumps(fields).encode(), action, layout=layout)
    return parse_commit(service_records.encode(name, fields, 8), action, layout=layout)


@pytest.mark.parametrize("layout", [1, 2])
def test_a_commit_says_what_it_wrote(layout: int) -> None:
    stat = {"fileId": "f", "path": "p/f_1_2.parquet", "numWrites": 3, "numInserts": 2, "totalWriteBytes": 99}

    commit = _commit(
        layout,
        operationType="UPSERT",
        partitionToWriteStats={"p": [stat]},
        extraMetadata={"schema": "{}"},
    )

    (found,) = commit.stats
    assert (found.partition, found.file_id, found.path) == ("p", "f", "p/f_1_2.parquet")
    assert (found.rows, found.inserts, found.updates, found.deletes, found.bytes_written) == (3, 2, 0, 0, 99)
    assert (commit.operation, commit.schema, commit.replaced) == ("UPSERT", "{}", {})


@pytest.mark.parametrize("layout", [1, 2])
def test_a_replacement_names_the_groups_that_it_replaced(layout: int) -> None:
    commit = _commit(layout, Action.REPLACE_COMMIT, partitionToReplaceFileIds={"p": ["f", "g"], "": []})

    assert commit.replaced == {"p": ("f", "g"), "": ()}


def test_json_that_an_upgrade_left_in_layout_2_is_read() -> None:
    commit = parse_commit(b'\n{"operationType" : "INSERT"}', Action.COMMIT, layout=2)

    assert commit.operation == "INSERT"


@pytest.mark.parametrize("layout", [1, 2])
def test_an_empty_commit_says_nothing_and_an_empty_replacement_is_corrupt(layout: int) -> None:
    """Rows that were replaced would come back."""
    assert parse_commit(b"", Action.COMMIT, layout=layout) == CommitMetadata()
    with pytest.raises(CorruptFile, match="should name the file groups that it replaced"):
        parse_commit(b"", Action.REPLACE_COMMIT, layout=layout)


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_commit_that_names_a_path_outside_is_refused(layout: int, name: str) -> None:
    with pytest.raises(UnsafePath):
        _commit(layout, partitionToWriteStats={"p": [{"fileId": "f", "path": name}]})
    with pytest.raises(UnsafePath):
        _commit(layout, partitionToWriteStats={name: []})
    with pytest.raises(UnsafePath):
        _commit(layout, Action.REPLACE_COMMIT, partitionToReplaceFileIds={name: ["f"]})
    with pytest.raises(UnsafePath):
        _commit(layout, Action.REPLACE_COMMIT, partitionToReplaceFileIds={"p": [name]})


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "7",
        '{"partitionToWriteStats": 5}',
        '{"partitionToWriteStats": {"p": {}}}',
        '{"partitionToWriteStats": {"p": [5]}}',
        '{"partitionToWriteStats": {"p": [{"numWrites": "many"}]}}',
        '{"partitionToWriteStats": {"p": [{"path": 7}]}}',
        '{"extraMetadata": {"schema": {}}}',
        '{"operationType": 5}',
        "{",
        "\x00",
        "[" * 100_000,
    ],
)
def test_json_of_another_shape_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptFile):
        parse_commit(text.encode(), Action.COMMIT, layout=1)


def test_json_that_names_half_a_character_is_refused() -> None:
    with pytest.raises(CorruptFile, match="half of a character"):
        parse_commit(b'{"partitionToWriteStats": {"\\ud800": []}}', Action.COMMIT, layout=1)


def test_a_commit_under_schema_on_read_is_refused_by_name() -> None:
    commit = CommitMetadata(extra={"latest_schema": "{}"})

    with pytest.raises(Unsupported, match=r"the commit 20260101 .* hoodie\.schema\.on\.read\.enable"):
        refuse_renamed_columns(commit, Instant(InstantTime("20260101"), Action.COMMIT, State.COMPLETED))


def _plan(**operation: object) -> bytes:
    filled = {"baseInstantTime": "1", "fileId": "f", "partitionPath": "p", **operation}
    return service_records.encode(RecordName.COMPACTION_PLAN, {"operations": [filled]}, 8)


def test_a_compaction_plan_says_what_to_compact() -> None:
    (operation,) = parse_compaction_plan(_plan(dataFilePath="f_1_1.parquet", deltaFilePaths=[".f_1.log.1_0-1-1"]))

    assert (operation.partition, operation.file_id, operation.base_instant) == ("p", "f", "1")
    assert (operation.base_file, operation.log_files) == ("f_1_1.parquet", (".f_1.log.1_0-1-1",))


def test_a_compaction_plan_may_be_empty_and_a_group_without_a_base_file() -> None:
    empty = service_records.encode(RecordName.COMPACTION_PLAN, {"operations": None}, 8)

    assert parse_compaction_plan(empty) == ()
    assert parse_compaction_plan(_plan())[0].base_file == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_compaction_plan_that_names_a_path_outside_is_refused(name: str) -> None:
    with pytest.raises(UnsafePath):
        parse_compaction_plan(_plan(partitionPath=name))
    with pytest.raises(UnsafePath):
        parse_compaction_plan(_plan(dataFilePath=name))
    with pytest.raises(UnsafePath):
        parse_compaction_plan(_plan(deltaFilePaths=["ok", name]))


def test_a_plan_that_names_files_with_their_folders_is_refused() -> None:
    with pytest.raises(UnsafePath, match="expected a file name without a folder"):
        parse_compaction_plan(_plan(dataFilePath="p/f_1_1.parquet"))


def test_a_plan_without_a_file_id_is_corrupt() -> None:
    with pytest.raises(CorruptFile, match="without a file id"):
        parse_compaction_plan(_plan(fileId=None))


def _clean(earliest: str) -> bytes:
    fields = {
        "startCleanTime": "1",
        "timeTakenInMillis": 0,
        "totalFilesDeleted": 0,
        "earliestCommitToRetain": earliest,
        "partitionMetadata": {},
    }
    return service_records.encode(RecordName.CLEAN, fields, 8)


def test_a_clean_says_from_when_on_files_are_whole() -> None:
    assert parse_earliest_kept(_clean("20260101")) == "20260101"
    assert parse_earliest_kept(_clean("")) == ""


def test_an_empty_clean_is_corrupt_and_not_a_clean_that_removed_nothing() -> None:
    with pytest.raises(CorruptFile):
        parse_earliest_kept(b"")


@pytest.mark.parametrize(("operation", "expected"), [("CLUSTER", True), ("INSERT_OVERWRITE", False), (None, False)])
def test_a_requested_replacement_is_a_clustering_or_not(operation: str | None, expected: bool) -> None:
    data = service_records.encode(RecordName.REQUESTED_REPLACE, {"operationType": operation}, 6)

    assert is_clustering(data) is expected
    assert not is_clustering(b"")


def test_a_clean_names_the_files_that_it_deleted_or_tried_to() -> None:
    partition = {
        "partitionPath": "p1",
        "policy": "KEEP_LATEST_COMMITS",
        "deletePathPatterns": ["a.parquet", "b.parquet"],
        "successDeleteFiles": ["a.parquet"],
        "failedDeleteFiles": ["/elsewhere/b.parquet"],
    }
    record = {
        "startCleanTime": "1",
        "timeTakenInMillis": 1,
        "totalFilesDeleted": 1,
        "earliestCommitToRetain": "1",
        "partitionMetadata": {"p1": partition},
    }

    assert parse_cleaned(service_records.encode(RecordName.CLEAN, record, 9)) == {"p1": ("a.parquet", "b.parquet")}


def test_a_rollback_and_a_restore_name_what_they_undid() -> None:
    rollback = {"startRollbackTime": "9", "timeTakenInMillis": 1, "totalFilesDeleted": 1, "partitionMetadata": {}}
    restore = {"startRestoreTime": "9", "timeTakenInMillis": 1, "hoodieRestoreMetadata": {}}
    rolled_back = service_records.encode(RecordName.ROLLBACK, {**rollback, "commitsRollback": ["7"]}, 9)
    restored = service_records.encode(RecordName.RESTORE, {**restore, "instantsToRollback": ["8", "7"]}, 9)

    assert parse_undone(rolled_back, Action.ROLLBACK) == {"7"}
    assert parse_undone(restored, Action.RESTORE) == {"7", "8"}
