"""Tables that are damaged or mean harm: one typed error that names the file, and nothing written (field failure 29)."""

import json
import struct
from collections.abc import Callable

import pytest

from hudi_engine.errors import Contradiction, CorruptFile, EngineError, NotFound, UnsafePath, Unsupported
from hudi_engine.format import service_records
from hudi_engine.format.service_records import RecordName
from tests.kit.made_table import FILE_ID, MadeTable, at

each_version = pytest.mark.parametrize("version", [6, 8, 9])
Rows = list[dict[str, object]]


def _busy(version: int) -> tuple[MadeTable, dict[str, str]]:
    """A table with every kind of timeline file that reading depends on, and where each lies."""
    made = MadeTable(version)
    made.partition()
    made.base(at(1), [("a", 5, "base")])
    kinds = {"deltacommit": made.complete(at(1))}
    made.base(at(2), [("b", 5, "base")], file_id="f2")
    kinds["replacecommit"] = made.complete(at(2), "replacecommit", {"": ["f3"]})
    made.base(at(1), [("c", 5, "replaced")], file_id="f3")
    kinds["compaction.requested"] = made.schedule_compaction(at(3))
    name = at(3) if version == 6 else at(4)
    made.log(name, [("a", 6, "logged")], block_instant=at(4))
    kinds["last deltacommit"] = made.complete(at(4))
    clean = {
        "startCleanTime": at(5),
        "timeTakenInMillis": 0,
        "totalFilesDeleted": 1,
        "earliestCommitToRetain": at(2),
        "partitionMetadata": {},
    }
    completed = "" if version == 6 else f"_{at(6)}"
    data = service_records.encode(RecordName.CLEAN, clean, version)
    kinds["clean"] = made.instant(f"{at(5)}{completed}.clean", data)
    for state in ("requested", "inflight"):
        kinds[f"rollback.{state}"] = made.instant(f"{at(7)}.rollback.{state}", b"")
    return made, kinds


def _now(made: MadeTable) -> Rows:
    return made.rows()


def _then(made: MadeTable) -> Rows:
    return made.rows(at(4))


def _outcome(read: Callable[[MadeTable], Rows], made: MadeTable) -> Rows | EngineError:
    writes = made.storage.writes
    try:
        return read(made)
    except EngineError as error:
        return error
    finally:
        assert made.storage.writes == writes


KINDS = ["deltacommit", "replacecommit", "compaction.requested", "last deltacommit", "clean", "rollback.requested"]


@each_version
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("read", [_now, _then])
def test_a_timeline_file_cut_short_gives_the_right_rows_or_an_error_that_names_it(
    version: int, kind: str, read: Callable[[MadeTable], Rows]
) -> None:
    made, kinds = _busy(version)
    path = kinds[kind]
    whole, right = made.storage.read(path), read(made)
    assert [row["note"] for row in right] == ["logged", "base"]

    for length in {0, 1, len(whole) // 2, max(0, len(whole) - 1)}:
        made.storage.replace(path, whole[:length])
        outcome = _outcome(read, made)

        assert outcome == right or (isinstance(outcome, CorruptFile) and outcome.path == path), length


@each_version
@pytest.mark.parametrize("kind", ["replacecommit", "compaction.requested"])
def test_an_empty_file_without_which_rows_would_be_wrong_is_refused(version: int, kind: str) -> None:
    made, kinds = _busy(version)
    made.storage.replace(kinds[kind], b"")

    outcome = _outcome(_now, made)

    assert isinstance(outcome, CorruptFile)
    assert (outcome.path, outcome.offset) == (kinds[kind], 0)


@each_version
def test_an_empty_clean_is_refused_only_where_it_matters(version: int) -> None:
    made, kinds = _busy(version)
    made.storage.replace(kinds["clean"], b"")

    assert [row["note"] for row in made.rows()] == ["logged", "base"]
    with pytest.raises(CorruptFile, match=r"\.clean: corrupt at offset 0"):
        made.rows(at(4))


@each_version
@pytest.mark.parametrize("kind", [kind for kind in KINDS[:4] if kind != "deltacommit"])
def test_a_timeline_file_of_random_bytes_is_named(version: int, kind: str) -> None:
    made, kinds = _busy(version)
    made.storage.replace(kinds[kind], bytes(range(256)))

    outcome = _outcome(_now, made)

    assert isinstance(outcome, CorruptFile)
    assert outcome.path == kinds[kind]


@each_version
def test_random_bytes_in_an_older_commit_do_not_stop_a_reading_that_does_not_need_it(version: int) -> None:
    made, kinds = _busy(version)
    expected = _outcome(_now, made)
    made.storage.replace(kinds["deltacommit"], bytes(range(256)))

    assert _outcome(_now, made) == expected


@each_version
@pytest.mark.parametrize("name", ["../x", "../../etc/passwd", "/etc", "a/../../x"])
def test_a_commit_that_replaces_groups_outside_of_the_table_is_refused(version: int, name: str) -> None:
    made, _ = _busy(version)
    made.complete(at(8), "replacecommit", {name: ["f"]})

    assert isinstance(_outcome(_now, made), UnsafePath)


@each_version
@pytest.mark.parametrize(
    "operation",
    [
        {"partitionPath": "../x"},
        {"dataFilePath": "../x"},
        {"dataFilePath": "/etc/passwd"},
        {"deltaFilePaths": ["../../x"]},
        {"dataFilePath": ".."},
    ],
)
def test_a_plan_that_names_a_path_outside_of_the_table_is_refused(version: int, operation: dict[str, object]) -> None:
    made, _ = _busy(version)
    filled = {"baseInstantTime": at(1), "fileId": FILE_ID, "partitionPath": "", **operation}
    data = service_records.encode(RecordName.COMPACTION_PLAN, {"operations": [filled]}, version)
    made.instant(f"{at(8)}.compaction.requested", data)

    assert isinstance(_outcome(_now, made), UnsafePath)


def test_a_manifest_that_names_a_path_outside_of_the_table_is_refused() -> None:
    made, _ = _busy(8)
    document = json.dumps({"files": [{"fileName": "../../../x"}]})
    made.storage.create(".hoodie/timeline/history/manifest_1", document.encode())
    made.log(at(0), [("a", 1, "archived")])  # whose time only the history has

    with pytest.raises(UnsafePath):
        made.open().history()
    assert isinstance(_outcome(_now, made), UnsafePath)


@pytest.mark.parametrize(
    ("version", "key"),
    [(8, "hoodie.timeline.path"), (8, "hoodie.timeline.history.path"), (6, "hoodie.archivelog.folder")],
)
@pytest.mark.parametrize("folder", ["../../elsewhere", "/etc", "a/../../../b"])
def test_a_timeline_folder_outside_of_the_table_is_refused(version: int, key: str, folder: str) -> None:
    made = MadeTable(version, properties={key: folder})

    with pytest.raises(UnsafePath):
        (made.open().timeline(), made.open().history())


@each_version
def test_a_compaction_that_lost_its_plan_is_an_error_that_names_it(version: int) -> None:
    made, kinds = _busy(version)
    made.storage.delete(kinds["compaction.requested"])
    made.instant(f"{at(3)}.compaction.inflight")

    outcome = _outcome(_now, made)

    assert isinstance(outcome, NotFound)
    assert kinds["compaction.requested"] in str(outcome)


@each_version
def test_a_schema_that_is_none_is_corrupt_and_its_commit_named(version: int) -> None:
    made, _ = _busy(version)
    path = made.complete(at(8), extraMetadata={"schema": '{"type": "record"'})

    outcome = _outcome(_now, made)

    assert isinstance(outcome, CorruptFile)
    assert outcome.path == path


@each_version
@pytest.mark.parametrize(
    "schema", ['"string"', '{"type":"record","name":"r","fields":[{"name":"a","type":["int","long"]}]}']
)
def test_a_schema_that_makes_no_table_is_refused(version: int, schema: str) -> None:
    made, _ = _busy(version)
    made.complete(at(8), extraMetadata={"schema": schema})

    assert isinstance(_outcome(_now, made), CorruptFile | Unsupported)


@each_version
def test_a_base_file_cut_short_is_corrupt_and_named(version: int) -> None:
    made, _ = _busy(version)
    (path,) = (file.path for file in made.storage.list("") if file.name.startswith("f2_"))
    whole = made.storage.read(path)

    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        made.storage.replace(path, whole[:length])
        outcome = _outcome(_now, made)

        assert isinstance(outcome, CorruptFile), length
        assert outcome.path == path


@pytest.mark.parametrize(("part", "version", "step"), [("f2_", 8, 199), (".log.", 6, 151), (".log.", 9, 157)])
def test_a_data_file_with_a_flipped_bit_never_leaks_a_library_s_error(part: str, version: int, step: int) -> None:
    made, _ = _busy(version)
    (path,) = (file.path for file in made.storage.list("") if part in file.name)
    whole = made.storage.read(path)

    for bit in range(0, len(whole) * 8, step):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        made.storage.replace(path, bytes(damaged))

        outcome = _outcome(_now, made)

        assert isinstance(outcome, list | CorruptFile | Unsupported | Contradiction), (bit, outcome)


@each_version
def test_a_log_block_that_claims_to_be_huge_is_passed_over_as_torn(version: int) -> None:
    made, _ = _busy(version)
    (path,) = (file.path for file in made.storage.list("") if ".log." in file.name)
    huge = b"#HUDI#" + struct.pack(">qii", 1 << 62, 1, 3)
    made.storage.replace(path, made.storage.read(path) + huge)

    assert [row["note"] for row in made.rows()] == ["logged", "base"]


@each_version
def test_an_unknown_action_is_refused_before_any_row_is_read(version: int) -> None:
    made, _ = _busy(version)
    made.instant(f"{at(9)}.vacuum.requested")

    outcome = _outcome(_now, made)

    assert isinstance(outcome, Unsupported)
    assert f"{at(9)}.vacuum.requested" in str(outcome)


@each_version
def test_a_file_of_version_10_is_refused_and_not_passed_over(version: int) -> None:
    made, _ = _busy(version)
    made.storage.create(f"f1-0_0-1-1_{at(4)}_1.log.parquet", b"")

    assert isinstance(_outcome(_now, made), Unsupported)
