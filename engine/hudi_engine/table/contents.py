"""What the files of the timeline say, as types: commits, compaction plans, cleans. Names in them are not trusted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_engine.errors import CorruptFile, UnsafePath, Unsupported
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.paths import require_file_path, require_folder_path


@dataclass(frozen=True, slots=True)
class WriteStat:
    """What one commit wrote to one file."""

    partition: str
    file_id: str
    path: str
    rows: int
    inserts: int
    updates: int
    deletes: int
    bytes_written: int


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """A completed commit: its files, the schema of its rows, and the file groups that it replaced.

    `cleaned` has by partition the names of files that it deleted, of a clean; `undone` the instants that it took back,
    of a rollback.
    """

    operation: str = "UNKNOWN"
    stats: tuple[WriteStat, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cleaned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    undone: frozenset[str] = frozenset()

    @property
    def schema(self) -> str:
        """The writer's Avro schema without meta columns; empty where the commit does not carry one."""
        return self.extra.get("schema") or ""


@dataclass(frozen=True, slots=True)
class CompactionOperation:
    partition: str
    file_id: str
    base_instant: str
    base_file: str
    log_files: tuple[str, ...]


def parse_commit(data: bytes, action: Action, *, layout: int) -> CommitMetadata:
    """The metadata of a completed commit: JSON in layout 1, an Avro container in layout 2.

    Empty bytes say nothing, as in Hudi; but of a replacement that would bring back the rows it replaced.
    """
    if not data and action is Action.REPLACE_COMMIT:
        raise CorruptFile("an empty file where a replacement should name the file groups that it replaced", 0)
    if not data:
        return CommitMetadata()
    name = RecordName.REPLACE_COMMIT if action is Action.REPLACE_COMMIT else RecordName.COMMIT
    is_json = layout == 1 or data.lstrip()[:1] == b"{"  # an upgraded table keeps what version 6 wrote
    decode = service_records.decode_commit_json if is_json else service_records.decode
    return commit_of(decode(name, data))


def commit_of(record: Mapping[str, Any]) -> CommitMetadata:
    """A completed commit from the record that its file, or the archive, has of it."""
    replaced = record.get("partitionToReplaceFileIds") or {}
    for partition, file_ids in replaced.items():
        require_folder_path(partition)
        for file_id in file_ids:
            require_file_path(file_id)
    return CommitMetadata(
        operation=record.get("operationType") or "UNKNOWN",
        stats=tuple(_write_stats(record.get("partitionToWriteStats") or {})),
        extra={key: value for key, value in (record.get("extraMetadata") or {}).items() if value is not None},
        replaced={partition: tuple(file_ids) for partition, file_ids in replaced.items()},
    )


def refuse_renamed_columns(commit: CommitMetadata, instant: Instant) -> None:
    """With `hoodie.schema.on.read.enable` columns are known by number and may carry another name in older files."""
    if commit.extra.get("latest_schema"):
        raise Unsupported(
            f"the commit {instant.requested_at} was written with hoodie.schema.on.read.enable=true: columns of older "
            "files may have other names. Read this table with Spark; its timeline and files can be inspected here."
        )


def parse_compaction_plan(data: bytes) -> tuple[CompactionOperation, ...]:
    """The operations of a compaction or log compaction plan; each names its files without a folder."""
    plan: Any = service_records.decode(RecordName.COMPACTION_PLAN, data)
    return tuple(_operation(operation) for operation in plan["operations"] or ())


def is_clustering(data: bytes) -> bool:
    """Whether a requested replacement only moves rows to other files (layout 1 names clustering a replacement)."""
    return bool(data) and service_records.decode(RecordName.REQUESTED_REPLACE, data)["operationType"] == "CLUSTER"


def parse_cleaned(data: bytes) -> Mapping[str, tuple[str, ...]]:
    """The names of the files that a completed clean deleted, or tried to, by partition."""
    return cleaned_by(service_records.decode(RecordName.CLEAN, data))


def cleaned_by(record: Any) -> Mapping[str, tuple[str, ...]]:
    """The same, from the record that a file, or the archive, has of the clean."""
    found = {}
    for partition, each in (record["partitionMetadata"] or {}).items():
        names = (*each["deletePathPatterns"], *each["successDeleteFiles"], *each["failedDeleteFiles"])
        found[partition] = tuple(sorted({name.rpartition("/")[2] for name in names}))
    return found


def parse_undone(data: bytes, action: Action) -> frozenset[str]:
    """The instants that a completed rollback or restore undid."""
    if action is Action.RESTORE:
        restore: Any = service_records.decode(RecordName.RESTORE, data)
        infos = restore["restoreInstantInfo"] or ()
        return frozenset((*restore["instantsToRollback"], *(info["commitTime"] for info in infos)))
    return undone_by(service_records.decode(RecordName.ROLLBACK, data))


def undone_by(rollback: Any) -> frozenset[str]:
    """The same, from the record that a file, or the archive, has of the rollback."""
    infos = rollback["instantsRollback"] or ()
    return frozenset((*rollback["commitsRollback"], *(info["commitTime"] for info in infos)))


def parse_earliest_kept(data: bytes) -> str:
    """The oldest instant whose files a completed clean left whole; empty if it counted versions and not instants."""
    return str(service_records.decode(RecordName.CLEAN, data)["earliestCommitToRetain"] or "")


def _write_stats(by_partition: Mapping[str, Any]) -> Iterator[WriteStat]:
    for partition, stats in by_partition.items():
        require_folder_path(partition)
        for stat in stats or ():
            path = stat.get("path") or ""
            if path:
                require_file_path(path)
            yield WriteStat(
                partition=partition,
                file_id=stat.get("fileId") or "",
                path=path,
                rows=stat.get("numWrites") or 0,
                inserts=stat.get("numInserts") or 0,
                updates=stat.get("numUpdateWrites") or 0,
                deletes=stat.get("numDeletes") or 0,
                bytes_written=stat.get("totalWriteBytes") or 0,
            )


def _operation(operation: Mapping[str, Any]) -> CompactionOperation:
    partition, file_id = operation["partitionPath"] or "", operation["fileId"]
    if not file_id:
        raise CorruptFile("a compaction operation without a file id", 0)
    require_folder_path(partition)
    names = [operation["dataFilePath"] or "", *(operation["deltaFilePaths"] or ())]
    return CompactionOperation(
        partition=partition,
        file_id=file_id,
        base_instant=operation["baseInstantTime"] or "",
        base_file=_name_only(names[0]),
        log_files=tuple(_name_only(name) for name in names[1:]),
    )


def _name_only(name: str) -> str:
    """Plans of version 2 hold plain names; anything with a folder in it could lead anywhere and is refused."""
    if name and ("/" in name or name in {".", ".."} or "\0" in name):
        raise UnsafePath(
            f"a compaction plan names {name!r}; expected a file name without a folder. "
            "The plan is damaged or was not written by Hudi 0.14 or newer: unschedule this compaction with Hudi."
        )
    return name
