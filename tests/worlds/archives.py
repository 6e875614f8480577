"""Where Java puts the instants that it archives: logs of Avro in layout 1, files of Parquet in layout 2."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.errors import NotFound
from hudi_engine.format import avro_types, service_records
from hudi_engine.format.avro_types import Array, AvroType, MapOf, Record, Union
from hudi_engine.format.instant_names import Action, Instant, State, parse_instant
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.writer import avro_block
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.table import Table
from hudi_engine.table.zone import at_time

_UTC: Final = ZoneInfo("UTC")
_VERSION: Final = 6
"""The table version whose timeline has layout 1."""
# By action and state: the field of the archived entry, and the record in it. Other fields are null.
_FIELDS: Final[dict[tuple[Action, State], tuple[str, RecordName]]] = {
    (Action.COMMIT, State.COMPLETED): ("hoodieCommitMetadata", RecordName.COMMIT),
    (Action.DELTA_COMMIT, State.COMPLETED): ("hoodieCommitMetadata", RecordName.COMMIT),
    (Action.REPLACE_COMMIT, State.COMPLETED): ("hoodieReplaceCommitMetadata", RecordName.REPLACE_COMMIT),
    (Action.CLEAN, State.COMPLETED): ("hoodieCleanMetadata", RecordName.CLEAN),
    (Action.CLEAN, State.REQUESTED): ("hoodieCleanerPlan", RecordName.CLEANER_PLAN),
    (Action.CLEAN, State.INFLIGHT): ("hoodieCleanerPlan", RecordName.CLEANER_PLAN),
    (Action.ROLLBACK, State.COMPLETED): ("hoodieRollbackMetadata", RecordName.ROLLBACK),
    (Action.COMPACTION, State.REQUESTED): ("hoodieCompactionPlan", RecordName.COMPACTION_PLAN),
}
# In layout 2 a row of the history has one plan, of one of the files before the completed one.
_PLANS: Final = {Action.CLEAN: "clean", Action.COMMIT: "compaction", Action.REPLACE_COMMIT: "replacecommit"}
_ROW: Final = pa.schema(
    [
        ("instantTime", pa.string()),
        ("completionTime", pa.string()),
        ("action", pa.string()),
        ("metadata", pa.binary()),
        ("plan", pa.binary()),
        ("version", pa.int32()),
    ]
)


def move_to_archive(table: Table, gone: Sequence[Instant]) -> None:
    """Write these instants down, then delete their files: the pending states first, and of the rest the oldest first.

    So no reader sees a pending instant whose completed file is gone (`TimelineArchiverV2#deleteArchivedActions`).
    """
    identities = {each.identity for each in gone}
    files = [(file, instant) for file, instant in _timeline_files(table) if instant.identity in identities]
    write = _write_log if table.config.layout == 1 else _write_history
    write(table, files)
    for file, _ in sorted(files, key=lambda pair: (pair[1].is_completed, pair[1].requested_at)):
        table.storage.delete(file.path)


def _timeline_files(table: Table) -> list[tuple[FileStat, Instant]]:
    listing = table.storage.list(table.config.timeline_folder)
    found = [(file, parse_instant(file.name)) for file in listing if not file.is_folder]
    order = list(State)
    known = [(file, instant) for file, instant in found if instant is not None]
    return sorted(known, key=lambda pair: (pair[1].requested_at, order.index(pair[1].state)))


def _write_log(table: Table, files: Sequence[tuple[FileStat, Instant]]) -> None:
    """A new log for each run, an entry for each state file (`TimelineArchiverV1#archive`)."""
    schema = service_records.schema_text(RecordName.ARCHIVED_ENTRY, _VERSION)
    entries = [_entry(table, file, instant) for file, instant in files]
    taken = [file for file in table.storage.list(table.config.history_folder) if ".archive." in file.name]
    numbers = [int(file.name.split(".archive.")[1].partition("_")[0]) for file in taken]
    path = f"{table.config.history_folder}/.commits_.archive.{max(numbers, default=0) + 1}_1-0-1"
    # Java's blocks have no INSTANT_TIME, which no reader of archives asks for.
    table.storage.create(path, avro_block(schema, entries, {HeaderKey.INSTANT_TIME: "0"}, _VERSION))


def _entry(table: Table, file: FileStat, instant: Instant) -> object:
    entry: dict[str, object] = {
        "commitTime": instant.requested_at,
        "actionType": str(instant.action),
        "actionState": instant.state.name,
        "stateTransitionTime": at_time(file.modified_ms, _UTC),
    }
    data = table.storage.read(file.path)
    if data and (instant.action, instant.state) in _FIELDS:
        field, name = _FIELDS[instant.action, instant.state]
        is_json = name in {RecordName.COMMIT, RecordName.REPLACE_COMMIT}
        entry[field] = (service_records.decode_commit_json if is_json else service_records.decode)(name, data)
    return _fitted(service_records.record_type(RecordName.ARCHIVED_ENTRY, _VERSION), entry)


def _fitted(kind: AvroType, value: Any) -> object:
    """The value with all fields of this type and no others: records of newer releases have more."""
    match kind:
        case Record(_, fields):
            return {each.name: _fitted(each.type, value.get(each.name, each.default)) for each in fields}
        case Array(items):
            return [_fitted(items, each) for each in value]
        case MapOf(values):
            return {key: _fitted(values, each) for key, each in value.items()}
        case Union(branches) if len(branches) == 2 and value is not None:
            return _fitted(next(each for each in branches if each != avro_types.NULL), value)
        case _:
            return value


def _write_history(table: Table, files: Sequence[tuple[FileStat, Instant]]) -> None:
    """A new file of the lowest layer for each run, and a manifest that names it too (`LSMTimelineWriter#write`)."""
    rows = [_row(table, instant, files) for _, instant in files if instant.is_completed]
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, _ROW), out)
    data, folder = out.getvalue().to_pybytes(), table.config.history_folder
    name = f"{rows[0]['instantTime']}_{rows[-1]['instantTime']}_0.parquet"
    table.storage.create(f"{folder}/{name}", data)
    version, listed = _manifest(table)
    manifest = json.dumps({"files": [*listed, {"fileName": name, "fileLen": len(data)}]}).encode()
    table.storage.create(f"{folder}/manifest_{version + 1}", manifest)
    if version:
        table.storage.delete(f"{folder}/_version_")
    table.storage.create(f"{folder}/_version_", str(version + 1).encode())


def _manifest(table: Table) -> tuple[int, list[object]]:
    folder = table.config.history_folder
    try:
        version = int(table.storage.read(f"{folder}/_version_"))
    except NotFound:
        return 0, []
    manifest: Any = json.loads(table.storage.read(f"{folder}/manifest_{version}"))
    return version, manifest["files"]


def _row(table: Table, instant: Instant, files: Sequence[tuple[FileStat, Instant]]) -> Mapping[str, object]:
    return {
        "instantTime": instant.requested_at,
        "completionTime": instant.completed_at,
        "action": str(instant.action),
        "metadata": table.storage.read(table.path_of(instant)),
        "plan": _plan(table, instant, files),
        "version": 1,
    }


def _plan(table: Table, completed: Instant, files: Sequence[tuple[FileStat, Instant]]) -> bytes | None:
    wanted = f"{completed.requested_at}.{_PLANS.get(completed.action)}.requested"
    return next((table.storage.read(file.path) or None for file, _ in files if file.name == wanted), None)
