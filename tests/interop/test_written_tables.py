"""Our log blocks in tables of real Hudi: Spark's snapshot changes by exactly what they say."""

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.format import avro_schema, service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State, instant_file
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey, OrderingKind, OrderingValue
from hudi_engine.format.log.writer import avro_block, delete_block, rollback_block
from hudi_engine.format.names import LogFileName, parse_log_file
from hudi_engine.format.service_records import RecordName
from tests.golden.unpack import unpack
from tests.interop.readable import every_release_and_table_version
from tests.java.jvm import Jvm
from tests.kit.compare import Row, require_equal
from tools.parts import HUDI_VERSIONS

GOLDEN = Path(__file__).parents[1] / "golden"
# These tests write to no index of files, so Java is to list them.
LISTING = {"hoodie.metadata.enable": "false"}
BEGUN, ENDED = InstantTime("20990101000000000"), InstantTime("20990101000001000")
TOKEN = "0-1-2"
Change = Mapping[str, Row | None]
"""The rows that become others, and None for those that go."""


@pytest.mark.parametrize("real_hudi", HUDI_VERSIONS, indirect=True)
def test_our_rollback_block_brings_back_what_the_last_commit_deleted(real_hudi: Jvm, tmp_path: Path) -> None:
    table = unpack("v6_mor_compacted", tmp_path)
    *_, before_deletion, deletion = requested_times("v6_mor_compacted")

    roll_back(table, deletion, logs_of(table, deletion))

    rows = expected("v6_mor_compacted", before_deletion)
    assert {"s-10", "s-11"} <= set(rows["sensor"].to_pylist())
    require_equal(snapshot(real_hudi, table), rows)


@pytest.mark.parametrize("real_hudi", HUDI_VERSIONS, indirect=True)
def test_our_rollback_block_hides_its_target_and_not_the_blocks_around(real_hudi: Jvm, tmp_path: Path) -> None:
    table = unpack("v6_mor_compacted", tmp_path)
    *_, compaction, first_after, _, _, _, _, _ = requested_times("v6_mor_compacted")
    hidden = row_of(expected("v6_mor_compacted", compaction), "s-07")

    roll_back(table, first_after, logs_of(table, first_after))

    rows = expected("v6_mor_compacted")
    assert row_of(rows, "s-07")["_hoodie_commit_time"] == first_after
    require_equal(snapshot(real_hudi, table), changed(rows, {"s-07": hidden}))


@every_release_and_table_version
def test_our_delta_commit_deletes_and_updates_exactly_its_keys(
    real_hudi: Jvm, table_version: int, tmp_path: Path
) -> None:
    name = f"v{table_version}_mor_compacted"
    table = unpack(name, tmp_path)
    log = logs_of(table, requested_times(name)[-1])[-1]
    deletes = [
        DeletedKey("s-03", "", COMMIT_TIME),
        DeletedKey("s-04", "", OrderingValue(OrderingKind.INT, 1_000)),
        DeletedKey("s-05", "", OrderingValue(OrderingKind.INT, 1)),  # older than the row in a base file
        DeletedKey("s-07", "", OrderingValue(OrderingKind.INT, 1)),  # older than the row in a log
        DeletedKey("s-12", "", None),
        DeletedKey("not there", "", COMMIT_TIME),
    ]
    updated, late = (made_row(key, seen, log.file_id) for key, seen in (("s-06", 70), ("s-13", 1)))

    log = LogFileName(log.file_id, log.instant, log.version + 1, TOKEN)
    log = log if table_version == 6 else LogFileName(log.file_id, BEGUN, 1, TOKEN)
    header = {HeaderKey.INSTANT_TIME: BEGUN}
    schema = avro_schema.from_arrow(expected(name).schema, "row", "hoodie.written")
    (table / str(log)).write_bytes(
        avro_block(schema, [updated, late], header, table_version) + delete_block(deletes, header, table_version)
    )
    complete_delta_commit(table, table_version, log)

    gone: Change = {"s-03": None, "s-04": None, "s-12": None, "s-06": updated}
    if real_hudi.version == "0.15.0":
        gone = {**gone, "s-05": None}  # it compares a deletion with the rows of logs alone
    require_equal(snapshot(real_hudi, table), changed(expected(name), gone))


def snapshot(real: Jvm, table: Path) -> pa.Table:
    out = table.with_suffix(".parquet")
    real.snapshot(table=str(table), out=str(out), options=LISTING)
    return pq.read_table(out)


def expected(name: str, as_of: str = "") -> pa.Table:
    return pq.read_table(GOLDEN / name / f"expected{as_of and '_' + as_of}.parquet")


def requested_times(name: str) -> list[str]:
    """Of the table's instants, in their order."""
    return [each["requested"] for each in json.loads((GOLDEN / name / "timeline.json").read_text())["active"]]


def row_of(rows: pa.Table, key: str) -> Row:
    row: Row
    (row,) = (each for each in rows.to_pylist() if each["_hoodie_record_key"] == key)
    return row


def changed(rows: pa.Table, change: Change) -> pa.Table:
    kept = [change.get(row["_hoodie_record_key"], row) for row in rows.to_pylist()]
    return pa.Table.from_pylist([row for row in kept if row is not None], schema=rows.schema)


def made_row(key: str, seen: int, file_id: str) -> Row:
    meta = {
        "_hoodie_commit_time": BEGUN,
        "_hoodie_commit_seqno": f"{BEGUN}_0_1",
        "_hoodie_record_key": key,
        "_hoodie_partition_path": "",
        "_hoodie_file_name": file_id,
    }
    return meta | {"sensor": key, "seen": seen, "celsius": seen / 8, "room": "Łódź"}


def logs_of(table: Path, instant: str) -> list[LogFileName]:
    """The logs of the slice that has the one which the instant wrote, oldest first."""
    names = [name for name in map(parse_log_file, (file.name for file in table.iterdir())) if name is not None]
    (written,) = (name for name in names if instant.encode() in (table / str(name)).read_bytes())
    slice_ = [name for name in names if (name.file_id, name.instant) == (written.file_id, written.instant)]
    return sorted(slice_, key=lambda name: name.merge_order)


def roll_back(table: Path, target: str, logs: list[LogFileName]) -> None:
    """A rollback block behind the slice's logs, the rollback in the timeline, and a commit after it.

    The commit, because readers go no further than to its time. The target stays in the timeline as completed, so that
    nothing but the block can hide what it wrote.
    """
    last = logs[-1]
    log = LogFileName(last.file_id, last.instant, last.version + 1, "1-0-1")
    (table / str(log)).write_bytes(rollback_block(BEGUN, target, 6))
    info = {"commitTime": target, "action": "deltacommit"}
    partition = {
        "partitionPath": "",
        "successDeleteFiles": [],
        "failedDeleteFiles": [],
        "rollbackLogFiles": {str(log): 1},
    }
    done = {
        "startRollbackTime": BEGUN,
        "timeTakenInMillis": 5,
        "totalFilesDeleted": 0,
        "commitsRollback": [target],
        "partitionMetadata": {"": partition},
        "instantsRollback": [info],
    }
    plan = service_records.encode(RecordName.ROLLBACK_PLAN, {"instantToRollback": info, "RollbackRequests": []}, 6)
    metadata = service_records.encode(RecordName.ROLLBACK, done, 6)
    put_instant(table / ".hoodie", Instant(BEGUN, Action.ROLLBACK, State.COMPLETED), (plan, b"", metadata))
    nothing = service_records.encode_commit_json(RecordName.COMMIT, {"partitionToWriteStats": {}, "extraMetadata": {}})
    put_instant(table / ".hoodie", Instant(ENDED, Action.DELTA_COMMIT, State.COMPLETED), (b"", nothing, nothing))


def complete_delta_commit(table: Path, table_version: int, log: LogFileName) -> None:
    stat = {
        "fileId": log.file_id,
        "path": str(log),
        "prevCommit": log.instant,
        "partitionPath": "",
        "numWrites": 2,
        "numDeletes": 6,
        "fileSizeInBytes": (table / str(log)).stat().st_size,
    }
    value = {"partitionToWriteStats": {"": [stat]}, "extraMetadata": {}, "operationType": "UPSERT"}
    if table_version == 6:
        folder, ended, data = ".hoodie", None, service_records.encode_commit_json(RecordName.COMMIT, value)
    else:
        folder, ended, data = ".hoodie/timeline", ENDED, service_records.encode(RecordName.COMMIT, value, table_version)
    put_instant(table / folder, Instant(BEGUN, Action.DELTA_COMMIT, State.COMPLETED, ended), (b"", data, data))


def put_instant(folder: Path, done: Instant, contents: tuple[bytes, bytes, bytes]) -> None:
    """The three files of a completed instant."""
    states = (done.in_state(State.REQUESTED), done.in_state(State.INFLIGHT), done)
    for instant, content in zip(states, contents, strict=True):
        (folder / instant_file(instant)).write_bytes(content)
