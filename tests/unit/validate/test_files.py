from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.writer import avro_block
from hudi_engine.format.service_records import RecordName, encode
from hudi_engine.validate.files import check_files
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.subject import Sample
from tests.golden.unpack import unpack
from tests.kit import damaged
from tests.kit.damaged import Entry
from tests.kit.subjects import subject_at

pytestmark = pytest.mark.thorough

INDEX = "files"
GOLDEN = ("v6_mor_orders", "v8_mor_indexed", "v9_mor_indexed")
each_table = pytest.mark.parametrize("folder", GOLDEN, indirect=True)
SCHEMA = '{"type": "record", "name": "row", "fields": [{"name": "a", "type": "int"}]}'


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(getattr(request, "param", "v9_mor_indexed"), tmp_path)


def check(folder: Path) -> list[Discrepancy]:
    return list(check_files(subject_at(folder)))


def in_short(found: list[Discrepancy]) -> list[tuple[Fault, str, str]]:
    return sorted((each.fault, each.key, each.place) for each in found)


def a_file(folder: Path) -> Path:
    """A base file of the table."""
    return next(iter(sorted(path for path in folder.rglob("*.parquet") if ".hoodie" not in path.parts)))


def a_log(folder: Path) -> Path:
    logs = [path for path in folder.rglob(".*.log.*") if ".hoodie" not in path.parts and path.suffix != ".crc"]
    return min(logs)


def partition_of(folder: Path, file: Path) -> str:
    return file.parent.relative_to(folder).as_posix()


def edit_files(folder: Path, partition: str, edit: Callable[[dict[str, Entry]], object]) -> None:
    """Edit the map of files of a partition in every record that has one."""

    def edited(stored: list[Entry]) -> list[Entry]:
        for entry in stored:
            if entry["key"] == partition:
                edit(entry["filesystemMetadata"])
        return stored

    damaged.rewrite_index(folder, INDEX, edited)


@each_table
def test_a_file_that_the_index_lost_is_missing(folder: Path) -> None:
    file = a_file(folder)
    partition = partition_of(folder, file)
    edit_files(folder, partition, lambda files: files.pop(file.name, None))

    found = check(folder)

    assert in_short(found) == [(Fault.MISSING, partition, f"{partition}/{file.name}")]
    assert found[0].expected == f"{file.stat().st_size} bytes"


@each_table
def test_a_log_that_the_index_lost_is_missing(folder: Path) -> None:
    file = a_log(folder)
    partition = partition_of(folder, file)
    edit_files(folder, partition, lambda files: files.pop(file.name, None))

    assert in_short(check(folder)) == [(Fault.MISSING, partition, f"{partition}/{file.name}")]


@each_table
@pytest.mark.parametrize("choose", [a_file, a_log])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_size_that_differs_is_wrong_and_both_are_named(folder: Path, choose: Callable[[Path], Path], by: int) -> None:
    file = choose(folder)
    partition, size = partition_of(folder, file), file.stat().st_size

    def resize(files: dict[str, Entry]) -> None:
        if file.name in files:
            files[file.name]["size"] += by

    edit_files(folder, partition, resize)

    found = check(folder)

    assert in_short(found) == [(Fault.WRONG, partition, f"{partition}/{file.name}")]
    assert (found[0].found, found[0].expected) == (f"{size + by} bytes", f"{size} bytes")


@each_table
@pytest.mark.parametrize("choose", [a_file, a_log])
def test_a_file_that_vanished_is_a_ghost(folder: Path, choose: Callable[[Path], Path]) -> None:
    file = choose(folder)
    partition = partition_of(folder, file)
    file.unlink()

    assert in_short(check(folder)) == [(Fault.GHOST, partition, f"{partition}/{file.name}")]


@each_table
def test_a_name_that_never_was_a_file_is_a_ghost(folder: Path) -> None:
    partition = partition_of(folder, a_file(folder))
    edit_files(folder, partition, lambda files: files.update(nonsense={"size": 1, "isDeleted": False}))

    assert in_short(check(folder)) == [(Fault.GHOST, partition, f"{partition}/nonsense")]


@each_table
def test_a_partition_that_the_list_lost_is_missing(folder: Path) -> None:
    partition = partition_of(folder, a_file(folder))
    edit_files(folder, "__all_partitions__", lambda listed: listed.pop(partition, None))

    assert in_short(check(folder)) == [(Fault.MISSING, "__all_partitions__", partition)]


@each_table
def test_a_partition_that_the_storage_does_not_have_is_a_ghost(folder: Path) -> None:
    edit_files(folder, "__all_partitions__", lambda listed: listed.update(gone={"size": 0, "isDeleted": False}))

    assert in_short(check(folder)) == [(Fault.GHOST, "__all_partitions__", "gone")]


def test_every_file_of_a_partition_whose_record_was_lost_is_missing(folder: Path) -> None:
    damaged.remove_entry(folder, INDEX, "hall")

    found = check(folder)

    assert {(each.fault, each.key) for each in found} == {(Fault.MISSING, "hall")}
    assert {each.place for each in found} == {
        f"hall/{file.name}"
        for file in (folder / "hall").iterdir()
        if not file.name.startswith(".hoodie") and file.suffix != ".crc"
    }


def test_files_of_a_partition_that_is_not_there_are_ghosts(folder: Path) -> None:
    entry = next(entry for entry in damaged.entries(folder, INDEX) if entry["key"] == "hall")
    damaged.add_entry(
        folder, INDEX, {**entry, "key": "cellar", "filesystemMetadata": {"a": {"size": 1, "isDeleted": False}}}
    )

    assert in_short(check(folder)) == [(Fault.GHOST, "cellar", "cellar/a")]


def test_what_a_lost_log_of_the_index_said_is_missing(folder: Path) -> None:
    log = damaged.shard_files(folder, INDEX)[-1]
    log.unlink()

    assert in_short(check(folder)) == [
        (Fault.MISSING, "hall", f"hall/{file.name}")
        for file in (folder / "hall").glob(".*_20261118123255139.log.*")
        if file.suffix != ".crc"
    ]


def test_what_a_commit_in_flight_wrote_need_not_be_in_the_index(folder: Path) -> None:
    (folder / "hall/505d2d9a-4d14-4120-9baf-b747b3b60b7c-0_0-1-2_29991231235959999.parquet").write_bytes(b"unfinished")

    assert not check(folder)


def test_a_partition_that_only_a_commit_in_flight_wrote_to_need_not_be_in_the_index(folder: Path) -> None:
    (folder / "cellar").mkdir()
    (folder / "cellar/.hoodie_partition_metadata").write_text("")
    (folder / "cellar/505d2d9a-4d14-4120-9baf-b747b3b60b7c-0_0-1-2_29991231235959999.parquet").write_bytes(b"")

    assert not check(folder)


def test_a_file_that_a_clean_in_flight_removed_is_no_ghost(folder: Path) -> None:
    file = a_file(folder)
    partition = partition_of(folder, file)
    plan = {
        "policy": "KEEP_LATEST_COMMITS",
        "filePathsToBeDeletedPerPartition": {partition: [{"filePath": str(file), "isBootstrapBaseFile": False}]},
    }
    requested = folder / ".hoodie/timeline/29991231235959999.clean.requested"
    requested.write_bytes(encode(RecordName.CLEANER_PLAN, plan, 9))
    file.unlink()

    assert not check(folder)


def test_a_file_that_a_rollback_in_flight_removed_is_no_ghost(folder: Path) -> None:
    file = a_file(folder)
    request = {
        "partitionPath": partition_of(folder, file),
        "fileId": "",
        "latestBaseInstant": "",
        "filesToBeDeleted": [str(file)],
        "logBlocksToBeDeleted": {},
    }
    requested = folder / ".hoodie/timeline/29991231235959999.rollback.requested"
    requested.write_bytes(encode(RecordName.ROLLBACK_PLAN, {"RollbackRequests": [request]}, 9))
    file.unlink()

    assert not check(folder)


@pytest.mark.parametrize("folder", ["v6_mor_orders"], indirect=True)
@pytest.mark.parametrize(("instant", "faults"), [("29991231235959999", []), ("20000101000000000", [Fault.WRONG])])
def test_a_log_that_a_commit_in_flight_appended_to_is_right(folder: Path, instant: str, faults: list[Fault]) -> None:
    """In layout 1 a writer appends to the log of another; a block of a commit that completed must be counted."""
    file = a_log(folder)
    with file.open("ab") as log:
        log.write(avro_block(SCHEMA, [{"a": 1}], {HeaderKey.INSTANT_TIME: instant}, 6))

    assert [each.fault for each in check(folder)] == faults


def test_a_sample_looks_at_the_files_of_its_file_groups_alone(folder: Path) -> None:
    for partition in {each.partition for each in subject_at(folder).slices}:
        edit_files(folder, partition, lambda files: files.clear())
    subject = subject_at(folder, Sample(1, seed=1))

    found = list(check_files(subject))

    assert found
    assert all(each.fault is Fault.MISSING and subject.slices[0].file_id in each.place for each in found)
    assert len(found) < len(check(folder))
