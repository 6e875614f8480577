"""Tables made by hand: what a snapshot reads of them, now and at earlier times."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_engine.clock import HandClock, SystemClock
from hudi_engine.errors import Contradiction, NotATable, NotFound, UnsafePath, Unsupported
from hudi_engine.format import service_records
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey, OrderingKind, OrderingValue
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.table import open_table
from tests.kit.made_table import COLUMNS, FILE_ID, MadeTable, at

each_version = pytest.mark.parametrize("version", [6, 8, 9])


def _notes(made: MadeTable, as_of: str | None = None) -> dict[str, str]:
    return {str(row["id"]): str(row["note"]) for row in made.rows(as_of)}


def _delete(key: str, seen: int | None) -> DeletedKey:
    ordering = COMMIT_TIME if seen is None else OrderingValue(OrderingKind.LONG, seen)
    return DeletedKey(key, "", ordering)


def _clean(made: MadeTable, instant: str, earliest: str) -> None:
    fields = {
        "startCleanTime": instant,
        "timeTakenInMillis": 0,
        "totalFilesDeleted": 1,
        "earliestCommitToRetain": earliest,
        "partitionMetadata": {},
    }
    completed = "" if made.version == 6 else f"_{int(instant) + 1:017d}"
    made.instant(f"{instant}{completed}.clean", service_records.encode(RecordName.CLEAN, fields, made.version))


def _started(version: int, rows: Iterable[Sequence[object]] = (("a", 5, "base"),)) -> MadeTable:
    """A table with one completed commit of one base file."""
    made = MadeTable(version)
    made.partition()
    made.base(at(1), rows)
    made.complete(at(1))
    return made


def _on_disk(made: MadeTable, table: Path) -> Path:
    for folder in ("", ".hoodie", ".hoodie/timeline"):
        (table / folder).mkdir(parents=True, exist_ok=True)
        for file in made.storage.list(folder):
            if not file.is_folder:
                (table / file.path).write_bytes(made.storage.read(file.path))
    return table


def _log_name(made: MadeTable, instant: str) -> str:
    """What the logs written by `instant` on the first base file are named after."""
    return at(1) if made.version == 6 else instant


@each_version
def test_rows_of_base_and_logs_are_merged(version: int) -> None:
    made = _started(version, [("a", 5, "base"), ("b", 5, "base"), ("c", 5, "base"), ("d", 5, "base")])
    rows = [("a", 6, "newer"), ("b", 4, "late"), ("e", 1, "added")]
    made.log(_log_name(made, at(2)), rows, block_instant=at(2), deletes=[_delete("c", None), _delete("d", 4)])
    made.complete(at(2))

    late_deletion_loses = {} if version == 6 else {"d": "base"}
    assert _notes(made) == {"a": "newer", "b": "base", "e": "added"} | late_deletion_loses


@each_version
def test_changes_of_a_commit_that_is_not_completed_are_not_read(version: int) -> None:
    made = _started(version)
    made.log(_log_name(made, at(2)), [("a", 9, "pending")], block_instant=at(2))
    made.instant(f"{at(2)}.deltacommit.requested")
    made.instant(f"{at(2)}.deltacommit.inflight")
    made.base(at(3), [("z", 1, "pending")], file_id="f2")
    made.instant(f"{at(3)}.deltacommit.requested")

    assert _notes(made) == {"a": "base"}


@each_version
def test_a_table_is_read_as_it_was(version: int) -> None:
    made = _started(version)
    made.log(_log_name(made, at(2)), [("a", 6, "second")], block_instant=at(2))
    made.complete(at(2))
    made.log(_log_name(made, at(3)), [("a", 7, "third")], block_instant=at(3), version=2)
    made.complete(at(3))

    assert _notes(made, at(1)) == {"a": "base"}
    assert _notes(made, at(2)) == {"a": "second"}
    assert _notes(made, "2026-02-01 00:02:59") == {"a": "second"}
    assert _notes(made, at(3)) == _notes(made) == {"a": "third"}


@each_version
def test_a_time_at_or_after_a_pending_commit_may_yet_change_and_is_refused(version: int) -> None:
    made = _started(version)
    made.instant(f"{at(2)}.deltacommit.requested")
    made.complete(at(3))

    assert _notes(made, at(1)) == {"a": "base"}
    for instant in (at(2), at(3)):
        with pytest.raises(Contradiction, match=f"the commit {at(2)} is still pending"):
            made.rows(instant)


def test_a_pending_clustering_changes_no_rows_and_refuses_no_time() -> None:
    """In layout 1 it is named as an overwrite is, which does change them: its plan tells."""
    made = _started(6)
    clustering = service_records.encode(RecordName.REQUESTED_REPLACE, {"operationType": "CLUSTER"}, 6)
    made.instant(f"{at(2)}.replacecommit.requested", clustering)
    made.instant(f"{at(2)}.replacecommit.inflight")

    assert _notes(made, at(3)) == {"a": "base"}

    overwrite = service_records.encode(RecordName.REQUESTED_REPLACE, {"operationType": "INSERT_OVERWRITE"}, 6)
    made.instant(f"{at(4)}.replacecommit.requested", overwrite)
    with pytest.raises(Contradiction, match=f"the commit {at(4)} is still pending"):
        made.rows(at(4))


@each_version
def test_a_time_whose_files_were_cleaned_is_refused(version: int) -> None:
    made = _started(version)
    made.complete(at(3))
    _clean(made, at(4), at(3))

    assert _notes(made, at(3)) == {"a": "base"}
    with pytest.raises(NotFound, match=f"files from before {at(3)} were cleaned"):
        made.rows(at(2))


@each_version
def test_a_clean_by_file_versions_leaves_no_trust_in_times_before_the_active_timeline(version: int) -> None:
    made = _started(version)
    _clean(made, at(4), "")

    assert _notes(made, at(1)) == {"a": "base"}
    with pytest.raises(NotFound, match="were cleaned"):
        made.rows(at(0))


@each_version
def test_replaced_rows_are_gone_from_the_replacement_on(version: int) -> None:
    made = _started(version)
    made.base(at(2), [("b", 1, "overwritten")], file_id="f2")
    made.complete(at(2), "replacecommit", {"": [FILE_ID]})

    assert _notes(made) == {"b": "overwritten"}
    assert _notes(made, at(1)) == {"a": "base"}


@each_version
def test_a_pending_compaction_hides_nothing(version: int) -> None:
    made = _started(version)
    made.schedule_compaction(at(2))
    made.log(at(2) if version == 6 else at(3), [("a", 6, "after")], block_instant=at(3))
    made.complete(at(3))

    assert _notes(made) == {"a": "after"}
    (found,) = made.open().snapshot().slices
    assert (found.base_instant, len(found.log_files)) == (at(1), 1)


@each_version
def test_a_column_that_came_later_is_null_in_older_files(version: int) -> None:
    made = _started(version)
    made.complete(at(2), schema=COLUMNS.append(pa.field("added", pa.int32())))

    assert made.rows(columns=("id", "added")) == [{"id": "a", "added": None}]


@each_version
def test_a_compaction_does_not_change_the_columns(version: int) -> None:
    made = _started(version)
    made.complete(at(2), "commit", operationType="COMPACT", schema=pa.schema([("other", pa.string())]))

    assert _notes(made) == {"a": "base"}


def test_an_ordering_field_that_is_no_column_leaves_it_to_the_order_of_commits() -> None:
    """Release 0.15 writes its default, `ts`, whether there is such a column or not."""
    made = MadeTable(8, properties={"hoodie.table.precombine.field": "ts"})
    made.partition()
    made.base(at(1), [("a", 5, "base")])
    made.complete(at(1))
    made.log(at(2), [("a", 1, "later")])
    made.complete(at(2))

    assert _notes(made) == {"a": "later"}


def test_an_ordering_field_inside_of_a_column_is_refused_by_name() -> None:
    made = _started(9)
    made.storage.replace(
        ".hoodie/hoodie.properties",
        made.storage.read(".hoodie/hoodie.properties").replace(b"precombine.field=seen", b"precombine.field=meta.seen"),
    )
    made.log(at(2), [("a", 1, "later")])
    made.complete(at(2))

    with pytest.raises(Unsupported, match=r"meta\.seen"):
        made.rows()


@each_version
def test_a_log_of_two_writers_is_merged_in_the_order_of_java(version: int) -> None:
    made = _started(version)
    name = _log_name(made, at(2))
    made.log(name, [("a", 5, "ten")], block_instant=at(2), token="0-10-1")
    made.log(name, [("a", 5, "nine")], block_instant=at(2), token="0-9-1")
    made.complete(at(2))

    assert _notes(made) == {"a": "nine"}


def test_partitions_are_found_at_any_depth_and_one_may_be_chosen() -> None:
    made = MadeTable(8)
    for name in ("a/x", "a/y", "b"):
        made.partition(name)
        made.base(at(1), [(name, 1, "n")], partition=name, file_id=f"f-{name.replace('/', '-')}")
    made.complete(at(1))
    table = made.open()

    assert list(table.partitions()) == ["a/x", "a/y", "b"]
    assert [found.partition for found in table.snapshot(partition="a/y").slices] == ["a/y"]
    with pytest.raises(NotFound, match="no partition 'a'"):
        table.snapshot(partition="a")
    with pytest.raises(UnsafePath):
        table.snapshot(partition="../x")


def test_a_table_without_commits_has_no_rows_and_says_what_columns_it_needs() -> None:
    made = MadeTable(8)

    assert made.open().snapshot().slices == ()
    with pytest.raises(NotFound, match="Let a Hudi writer commit to this table once"):
        made.rows()


def test_the_schema_of_a_table_without_commits_is_the_one_it_was_created_with() -> None:
    schema = '{"type":"record","name":"r","fields":[{"name":"id","type":"string"}]}'
    made = MadeTable(8, properties={"hoodie.table.create.schema": schema.replace(":", "\\:")})

    assert made.rows(columns=("id",)) == []


def test_a_folder_that_is_no_table_is_said_to_be_none() -> None:
    storage = MemoryStorage(HandClock())
    storage.create("data/part-0.parquet", b"")

    with pytest.raises(NotATable, match=r"\.hoodie/hoodie\.properties is missing"):
        open_table(storage, HandClock(), {})


def test_a_link_that_leads_back_is_refused_and_not_followed_for_ever(tmp_path: Path) -> None:
    table = _on_disk(_started(8), tmp_path / "t")
    (table / ".hoodie_partition_metadata").unlink()
    (table / "round").symlink_to(table)

    with pytest.raises(UnsafePath, match="no partition within 16 folders"):
        open_table(LocalStorage(str(table)), SystemClock(), {}).snapshot()


@pytest.mark.parametrize("outside", ["elsewhere", "the_table_and_more"])
def test_a_partition_that_is_a_link_to_outside_is_refused_and_not_left_out(tmp_path: Path, outside: str) -> None:
    table, target = _on_disk(_started(8), tmp_path / "the_table"), tmp_path / outside
    (table / ".hoodie_partition_metadata").unlink()
    target.mkdir()
    (target / ".hoodie_partition_metadata").write_bytes(b"partitionDepth=1\n")
    (table / "p").symlink_to(target)

    opened = open_table(LocalStorage(str(table)), SystemClock(), {})

    with pytest.raises(UnsafePath, match=rf"the_table/p: leads to .*{outside}, outside of the table"):
        opened.snapshot()
    with pytest.raises(UnsafePath):
        opened.snapshot(partition="p")


def test_a_data_file_that_is_a_link_to_outside_is_refused(tmp_path: Path) -> None:
    table, secret = _on_disk(_started(8), tmp_path / "t"), tmp_path / "secret.parquet"
    (base,) = table.glob("*.parquet")
    base.rename(secret)
    base.symlink_to(secret)
    opened = open_table(LocalStorage(str(table)), SystemClock(), {})

    with pytest.raises(UnsafePath, match="outside of the table"):
        list(opened.rows(opened.snapshot()).tables())


def test_slices_read_ahead_are_left_unread_when_the_caller_stops() -> None:
    made = MadeTable(8)
    made.partition()
    for number in range(50):
        made.base(at(1), [(f"k{number}", 1, "n")], file_id=f"f{number:02d}")
    made.complete(at(1))
    table = made.open()

    pieces = table.rows(table.snapshot(), ["id"]).tables()

    assert next(pieces).to_pylist() == [{"id": "k0"}]
    pieces.close()  # type: ignore[attr-defined]  # a generator, said to be an iterator
