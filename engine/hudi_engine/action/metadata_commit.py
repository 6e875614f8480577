"""Deltacommits of the metadata table: the only writer of its timeline. Call everything here under the table's lock.

A reader takes the log blocks of an instant for true as soon as its deltacommit is completed, so the files come first
and `run_metadata_commit` last. Whoever writes logs calls `begin_metadata_commit` before them: a writer that dies in
between then leaves a pending deltacommit, which every Hudi writer knows how to roll back, and a time nobody uses again.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from hudi_engine.errors import AlreadyExists, Contradiction
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State, instant_file
from hudi_engine.format.names import PARTITION_METAFILE, parse_log_file
from hudi_engine.format.properties import render
from hudi_engine.format.service_records import RecordName, schema_text
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import parse_commit
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline, read_timeline

INITIAL: Final = "BULK_INSERT_PREPPED"
"""The operation that makes an index: base files only."""
UPDATE: Final = "UPSERT_PREPPED"
"""The operation that changes an index: log files only."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A base file or a log file in the metadata table. `path` is relative to that table.

    Of a log file `log_files` are the names that its slice has with it, `base_file` is the name of its base or empty.
    The empty log by which a shard exists is no part of what a commit says it wrote, but must be there when it says so.
    """

    index: str
    file_id: str
    path: str
    size_bytes: int
    entries: int
    deletes: int = 0
    base_file: str = ""
    log_files: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class MetadataCommit:
    """One deltacommit of the metadata table. `extra` goes into its extra metadata beside the schema of its records."""

    instant: str
    operation: str
    files: tuple[WrittenFile, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)


def begin_metadata_commit(metadata: MetadataTable, commit: MetadataCommit) -> None:
    """The deltacommit requested and in flight; what stands already stays."""
    table = metadata.table
    _require_free(_timeline_now(table), commit.instant)
    requested = Instant(InstantTime(commit.instant), Action.DELTA_COMMIT, State.REQUESTED)
    _create_once(table, requested, b"")
    _create_once(table, requested.in_state(State.INFLIGHT), _inflight(table, commit))


def run_metadata_commit(metadata: MetadataTable, commit: MetadataCommit, completed_at: InstantTime) -> None:
    """The deltacommit requested, in flight and completed.

    Repeating it is fine: what is completed already and says the same is accepted, what says otherwise is a
    `Contradiction`, as are files that are not there as this commit has them. A completed file is never replaced.
    """
    table = metadata.table
    completed = _completed(_timeline_now(table), commit.instant)
    if completed is not None:
        _require_same(table, completed, commit)
        return
    _require_files(table, commit)
    begin_metadata_commit(metadata, commit)
    ended = Instant(
        InstantTime(commit.instant),
        Action.DELTA_COMMIT,
        State.COMPLETED,
        None if table.config.layout == 1 else completed_at,
    )
    try:
        table.storage.create(table.path_of(ended), _content(table, commit))
    except AlreadyExists:
        _require_same(table, ended, commit)


def ensure_partition_metafile(metadata: MetadataTable, index: str, instant: str) -> None:
    """The file by which Hudi knows the folder of an index for a partition of the metadata table."""
    data = render({"commitTime": instant, "partitionDepth": "1"}, ["partition metadata"])
    with suppress(AlreadyExists):  # only that it is there matters, not which instant it names
        metadata.table.storage.create(f"{index}/{PARTITION_METAFILE}", data)


def _timeline_now(table: Table) -> Timeline:
    return read_timeline(table.storage.list(table.config.timeline_folder))


def _completed(timeline: Timeline, instant: str) -> Instant | None:
    return next((i for i in timeline.of(Action.DELTA_COMMIT) if i.requested_at == instant and i.is_completed), None)


def _require_free(timeline: Timeline, instant: str) -> None:
    other = next((i for i in timeline.instants if i.requested_at == instant), None)
    if other is not None and (other.action is not Action.DELTA_COMMIT or other.is_completed):
        raise Contradiction(
            f"the metadata table has {instant_file(other)} already, where a deltacommit of {instant} was to begin. "
            "Nothing was written; run the same again, which takes another time."
        )


def _create_once(table: Table, instant: Instant, data: bytes) -> None:
    with suppress(AlreadyExists):  # ours, from a run before this one: `_require_free` saw no other action
        table.storage.create(table.path_of(instant), data)


def _require_files(table: Table, commit: MetadataCommit) -> None:
    """A commit of files that a rollback has taken away since would leave an index with holes."""
    for index in sorted({file.index for file in commit.files}):
        there = {stat.path: stat.size_bytes for stat in table.storage.list(index)}
        for file in commit.files:
            if file.index == index and there.get(file.path) != file.size_bytes:
                raise Contradiction(
                    f"{table.storage.location}/{file.path}: {there.get(file.path)} bytes, expected "
                    f"{file.size_bytes} as they were written for {commit.instant}: somebody removed or replaced the "
                    "file since. Nothing was committed; run the same again."
                )


def _require_same(table: Table, completed: Instant, commit: MetadataCommit) -> None:
    path = table.path_of(completed)
    wanted = parse_commit(_content(table, commit), Action.DELTA_COMMIT, layout=table.config.layout)
    if parse_commit(table.storage.read(path), Action.DELTA_COMMIT, layout=table.config.layout) != wanted:
        raise Contradiction(
            f"{table.storage.location}/{path} is completed and says otherwise than what was to be committed. "
            "Nothing was written; run the same again, which takes another time."
        )


def _content(table: Table, commit: MetadataCommit) -> bytes:
    stats: dict[str, list[dict[str, object]]] = {}
    for file in commit.files:
        if file.entries or file.deletes:
            stats.setdefault(file.index, []).append(_write_stat(file))
    extra = {"schema": schema_text(RecordName.METADATA_RECORD, table.config.version), **commit.extra}
    return _encode(table, commit.operation, stats, extra)


def _inflight(table: Table, commit: MetadataCommit) -> bytes:
    """Java leaves it empty where there is nothing but base files to roll back."""
    return b"" if commit.operation == INITIAL else _encode(table, commit.operation, {}, {})


def _encode(table: Table, operation: str, stats: Mapping[str, object], extra: Mapping[str, str]) -> bytes:
    value = {
        "partitionToWriteStats": stats,
        "compacted": False,
        "extraMetadata": extra,
        "operationType": operation,
    }
    if table.config.layout == 1:
        return service_records.encode_commit_json(RecordName.COMMIT, value)
    return service_records.encode(RecordName.COMMIT, value, table.config.version)


def _write_stat(file: WrittenFile) -> dict[str, object]:
    """What Java says of such a file; of times and sizes that nobody measured here it gets zeros, as from Java."""
    log = parse_log_file(file.name)
    common: dict[str, object] = {
        "fileId": file.file_id,
        "path": file.path,
        "prevCommit": "null" if log is None else log.instant,
        "partitionPath": file.index,
        "numWrites": file.entries,
        "numDeletes": file.deletes,
        "numUpdateWrites": 0 if log is None else file.entries,
        "numInserts": file.entries if log is None else 0,
        "totalWriteBytes": file.size_bytes,
        "fileSizeInBytes": file.size_bytes,
        **dict.fromkeys(_ZEROS, 0),
    }
    if log is None:
        return common
    return common | {
        "logVersion": log.version,
        "logOffset": 0,
        "baseFile": file.base_file,
        "logFiles": list(file.log_files),
    }


_ZEROS: Final[Iterable[str]] = (
    "totalWriteErrors",
    "totalLogRecords",
    "totalUpdatedRecordsCompacted",
    "totalLogBlocks",
    "totalCorruptLogBlock",
    "totalRollbackBlocks",
    "totalLogFilesCompacted",
    "totalLogSizeCompacted",
)
