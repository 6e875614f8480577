"""Archived instants: the history of layout 2 and the archive logs of layout 1, whole, torn and hostile."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import HandClock, SystemClock
from hudi_engine.errors import CorruptFile, NotFound, UnsafePath, Unsupported
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, State
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.writer import avro_block
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.open import open_storage
from hudi_engine.table.config import TableConfig, parse_config
from hudi_engine.table.history import parse_manifest, read_completion_times, read_history
from hudi_engine.table.table import open_table
from tests.golden.unpack import unpack

HISTORY = ".hoodie/timeline/history"


def _config(version: int = 8) -> TableConfig:
    return parse_config({"hoodie.table.name": "t", "hoodie.table.version": str(version)})


def _instants(*rows: tuple[Any, Any, Any]) -> bytes:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(["instantTime", "completionTime", "action"])}
    data = io.BytesIO()
    pq.write_table(pa.table({**columns, "metadata": [b""] * len(rows)}), data)
    return data.getvalue()


def _storage(files: dict[str, bytes], version: str | None = "1") -> MemoryStorage:
    """A history whose first manifest lists these files."""
    storage = MemoryStorage(HandClock())
    for name, data in files.items():
        storage.create(f"{HISTORY}/{name}", data)
    _manifest(storage, 1, *files)
    if version is not None:
        storage.create(f"{HISTORY}/_version_", version.encode())
    return storage


def _manifest(storage: MemoryStorage, number: int, *names: str) -> None:
    document = {"files": [{"fileName": name, "fileLen": 1} for name in names]}
    storage.create(f"{HISTORY}/manifest_{number}", json.dumps(document).encode())


def test_a_table_that_never_archived_has_no_history() -> None:
    storage = MemoryStorage(HandClock())

    assert read_history(storage, _config()) == ()
    assert read_history(storage, _config(6)) == ()


def test_the_history_is_read_in_order_and_services_are_the_commits_that_they_became() -> None:
    storage = _storage(
        {
            "20_30_0.parquet": _instants(("20", "21", "deltacommit"), ("30", "31", "compaction")),
            "10_10_0.parquet": _instants(("10", "11", "clustering")),
        }
    )

    found = read_history(storage, _config())

    assert [(i.requested_at, i.completed_at, i.action, i.state) for i in found] == [
        ("10", "11", Action.REPLACE_COMMIT, State.COMPLETED),
        ("20", "21", Action.DELTA_COMMIT, State.COMPLETED),
        ("30", "31", Action.COMMIT, State.COMPLETED),
    ]


def test_a_file_that_the_manifest_does_not_list_is_not_read() -> None:
    storage = _storage({"10_10_0.parquet": _instants(("10", "11", "commit"))})
    storage.create(f"{HISTORY}/20_20_0.parquet", b"half written")

    assert [i.requested_at for i in read_history(storage, _config())] == ["10"]


@pytest.mark.parametrize("version", [None, "", "nonsense", "\xff", "9" * 5000, "-1", "1.5"])
def test_while_the_version_is_missing_or_torn_the_highest_manifest_counts(version: str | None) -> None:
    """Archival deletes and rewrites it."""
    storage = _storage({"10_10_0.parquet": _instants(("10", "11", "commit"))}, version)
    storage.create(f"{HISTORY}/20_20_0.parquet", _instants(("20", "21", "commit")))
    _manifest(storage, 12, "10_10_0.parquet", "20_20_0.parquet")
    _manifest(storage, 2)

    assert [i.requested_at for i in read_history(storage, _config())] == ["10", "20"]


def test_the_version_says_which_manifest_counts() -> None:
    storage = _storage({"10_10_0.parquet": _instants(("10", "11", "commit"))}, "1")
    _manifest(storage, 2)

    assert [i.requested_at for i in read_history(storage, _config())] == ["10"]


def test_a_listed_manifest_or_file_that_is_not_there_is_not_taken_for_an_empty_history() -> None:
    storage = _storage({"10_10_0.parquet": _instants(("10", "11", "commit"))})
    storage.delete(f"{HISTORY}/10_10_0.parquet")

    with pytest.raises(NotFound, match=r"10_10_0\.parquet"):
        read_history(storage, _config())

    storage.delete(f"{HISTORY}/manifest_1")
    with pytest.raises(NotFound, match="manifest_1"):
        read_history(storage, _config())


def test_only_history_files_that_may_hold_a_wanted_instant_are_opened() -> None:
    storage = _storage(
        {
            "10_19_0.parquet": b"never opened",
            "20_29_0.parquet": _instants(("20", "21", "deltacommit"), ("25", "28", "deltacommit")),
        }
    )

    assert read_completion_times(storage, _config(), {"25", "40"}) == {"25": "28"}
    assert read_completion_times(storage, _config(), set()) == {}
    assert read_completion_times(storage, _config(6), {"25"}) == {}


@pytest.mark.parametrize("name", ["../../x", "../../20_20_0.parquet", "/etc/passwd", "a/../../1_1_0.parquet", ""])
def test_a_manifest_that_names_a_path_outside_is_refused(name: str) -> None:
    data = json.dumps({"files": [{"fileName": name}]}).encode()

    with pytest.raises(UnsafePath):
        parse_manifest(data, "m")


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{}",
        b'{"files": 5}',
        b'{"files": [5]}',
        b'{"files": [{}]}',
        b'{"files": [{"fileName": 5}]}',
        b'{"files": [{"fileName": null}]}',
        b'{"files": [{"fileName": "notes.txt"}]}',
        b'{"files": [{"fileName": "sub/1_2_0.parquet"}]}',
        b'{"files": [{"fileName": "1_2_' + b"9" * 5000 + b'.parquet"}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"files": [{"fileName": "1_2_0.parquet"}',
    ],
)
def test_a_manifest_of_another_shape_is_corrupt_and_named(document: bytes) -> None:
    with pytest.raises(CorruptFile, match=r"^folder/manifest_7: corrupt at offset [0-9]+: "):
        parse_manifest(document, "folder/manifest_7")


@pytest.mark.parametrize(
    "row",
    [("10", None, "commit"), (None, "11", "commit"), ("", "11", "commit"), ("10", "../x", "commit")],
)
def test_a_history_row_without_its_times_is_corrupt_and_its_file_named(row: tuple[Any, Any, Any]) -> None:
    storage = _storage({"10_10_0.parquet": _instants(("09", "10", "commit"), row)})

    with pytest.raises(CorruptFile, match=rf"{HISTORY}/10_10_0\.parquet"):
        read_history(storage, _config())


def test_times_that_are_numbers_are_corrupt() -> None:
    storage = _storage({"10_10_0.parquet": _instants((10, 11, "commit"))})

    with pytest.raises(CorruptFile, match="without a time"):
        read_history(storage, _config())


def test_an_unknown_action_in_the_history_is_refused_by_name() -> None:
    storage = _storage({"10_10_0.parquet": _instants(("10", "11", "vacuum"))})

    with pytest.raises(Unsupported, match="'vacuum'"):
        read_history(storage, _config())


def test_a_history_file_cut_short_is_corrupt_and_named() -> None:
    whole = _instants(("10", "11", "commit"))
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        storage = _storage({"10_10_0.parquet": whole[:length]})

        with pytest.raises(CorruptFile, match=rf"{HISTORY}/10_10_0\.parquet"):
            read_history(storage, _config())


def _archive(*entries: tuple[str, str, str]) -> bytes:
    records = [
        service_records.decode(
            RecordName.ARCHIVED_ENTRY,
            service_records.encode(
                RecordName.ARCHIVED_ENTRY, {"commitTime": time, "actionType": action, "actionState": state}, 6
            ),
        )
        for time, action, state in entries
    ]
    schema = service_records.schema_text(RecordName.ARCHIVED_ENTRY, 6)
    known = json.loads(schema)["fields"]
    kept = [{field["name"]: record[field["name"]] for field in known} for record in records]
    return avro_block(schema, kept, {HeaderKey.INSTANT_TIME: "1"}, 6)


def test_archive_logs_of_layout_1_are_read_in_the_order_of_their_versions() -> None:
    storage = MemoryStorage(HandClock())
    storage.create(".hoodie/archived/.commits_.archive.10_1-0-1", _archive(("30", "clean", "COMPLETED")))
    storage.create(
        ".hoodie/archived/.commits_.archive.2_1-0-1",
        _archive(("20", "compaction", "INFLIGHT"), ("20", "compaction", "COMPLETED"), ("10", "commit", "COMPLETED")),
    )
    storage.create(".hoodie/archived/readme.txt", b"")

    found = read_history(storage, _config(6))

    assert [(i.requested_at, i.action, i.state) for i in found] == [
        ("10", Action.COMMIT, State.COMPLETED),
        ("20", Action.COMMIT, State.COMPLETED),
        ("20", Action.COMPACTION, State.INFLIGHT),
        ("30", Action.CLEAN, State.COMPLETED),
    ]


def test_an_archive_log_whose_writer_died_gives_what_is_whole() -> None:
    first, second = _archive(("10", "commit", "COMPLETED")), _archive(("20", "commit", "COMPLETED"))
    for cut in (1, len(second) // 2, len(second) - 1):
        storage = MemoryStorage(HandClock())
        storage.create(".hoodie/archived/.commits_.archive.1_1-0-1", first + second[:cut])

        assert [i.requested_at for i in read_history(storage, _config(6))] == ["10"]


def test_an_archived_entry_of_an_unknown_state_is_corrupt_and_named() -> None:
    storage = MemoryStorage(HandClock())
    storage.create(".hoodie/archived/.commits_.archive.1_1-0-1", _archive(("10", "commit", "PAUSED")))

    with pytest.raises(CorruptFile, match=r"\.hoodie/archived/\.commits_\.archive\.1_1-0-1.*'PAUSED'"):
        read_history(storage, _config(6))


@pytest.mark.parametrize("name", ["v6_cow_archived", "v8_mor_archived", "v9_cow_archived"])
def test_archived_commits_say_what_they_wrote_and_cleans_what_they_deleted(name: str, tmp_path: Path) -> None:
    table = open_table(open_storage(str(unpack(name, tmp_path)), {}), SystemClock(), {})
    commits = {Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT, Action.CLEAN, Action.ROLLBACK}
    expected = [each for each in table.history() if each.is_completed and each.action in commits]

    found = table.archived_commits("", "9")

    assert [each.requested_at for each, _ in found] == [each.requested_at for each in expected]
    assert any(commit.stats for _, commit in found)
    # Of each file that was deleted the archive has the name, as the partition, which has it no more, once had it.
    cleaned = {
        (at, gone)
        for each, said in found
        if each.action is Action.CLEAN
        for at in said.cleaned
        for gone in said.cleaned[at]
    }
    assert cleaned
    assert not cleaned & {(at, file.name) for at, listing in table.partitions().items() for file in listing}
    assert all(commit.operation != "UNKNOWN" for _, commit in found)
    middle = expected[len(expected) // 2].requested_at
    assert [each.requested_at for each, _ in table.archived_commits(middle, middle)] == [middle]
