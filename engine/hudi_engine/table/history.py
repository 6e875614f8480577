"""Instants that have left the active timeline: the LSM history of layout 2 and the archive logs of layout 1."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from hudi_engine.errors import CorruptFile, NotFound, Unsupported
from hudi_engine.format import json_text, parquet_file
from hudi_engine.format.instant_names import COMPLETED_ACTION, Action, Instant, InstantTime, State
from hudi_engine.format.log.block import BlockType
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import decode_avro_records
from hudi_engine.format.names import HistoryFileName, parse_history_file, parse_log_file
from hudi_engine.storage.paths import require_file_path
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.config import TableConfig
from hudi_engine.table.contents import (
    CommitMetadata,
    cleaned_by,
    commit_of,
    parse_cleaned,
    parse_commit,
    parse_undone,
    undone_by,
)

_MANIFEST = re.compile(r"manifest_([0-9]{1,18})", re.ASCII)
_COLUMNS = ["instantTime", "completionTime", "action"]
_COMMITS = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
_TOLD = (*_COMMITS, Action.CLEAN, Action.ROLLBACK)
# Java spells the states of archived entries in upper case.
_STATES = {state.name: state for state in State}


def read_history(storage: Storage, config: TableConfig) -> tuple[Instant, ...]:
    """Every archived instant, completed or not, by requested time."""
    found = _archive_logs(storage, config) if config.layout == 1 else _lsm(storage, config, None)
    return tuple(sorted(set(found), key=lambda instant: (instant.requested_at, instant.action, instant.state)))


def read_completion_times(storage: Storage, config: TableConfig, wanted: Collection[str]) -> dict[str, str]:
    """Completion times of archived instants; only history files whose range holds a wanted instant are opened."""
    if config.layout == 1 or not wanted:
        return {}
    return {
        instant.requested_at: instant.completed_at
        for instant in _lsm(storage, config, wanted)
        if instant.completed_at and instant.requested_at in wanted
    }


def read_archived_commits(
    storage: Storage, config: TableConfig, first: str, last: str
) -> list[tuple[Instant, CommitMetadata]]:
    """The archived commits from `first` to `last`, by requested time, with what each says about itself.

    Cleans and rollbacks among them.
    """
    read = _commits_of_logs if config.layout == 1 else _commits_of_lsm
    found = dict(read(storage, config, first, last))
    return sorted(found.items(), key=lambda pair: (pair[0].requested_at, pair[0].action))


def _commits_of_lsm(
    storage: Storage, config: TableConfig, first: str, last: str
) -> Iterator[tuple[Instant, CommitMetadata]]:
    for name in _manifest(storage, config.history_folder):
        if name.last < first or name.first > last:
            continue
        path = f"{config.history_folder}/{name}"
        try:
            rows = parquet_file.read_rows(storage.read(path), [*_COLUMNS, "metadata"])
            for row in rows.to_pylist():
                instant = _lsm_instant(row)
                if first <= instant.requested_at <= last and instant.action in _TOLD:
                    yield instant, _parse(instant.action, row["metadata"] or b"")
        except CorruptFile as corrupt:
            raise corrupt.in_file(path) from corrupt


def _commits_of_logs(
    storage: Storage, config: TableConfig, first: str, last: str
) -> Iterator[tuple[Instant, CommitMetadata]]:
    for instant, record in _archived_entries(storage, config):
        if instant.is_completed and instant.action in _TOLD and first <= instant.requested_at <= last:
            yield instant, _said(instant.action, record)


def _parse(action: Action, data: bytes) -> CommitMetadata:
    if action is Action.CLEAN:
        return CommitMetadata(operation=action.name, cleaned=parse_cleaned(data) if data else {})
    if action is Action.ROLLBACK:
        return CommitMetadata(operation=action.name, undone=parse_undone(data, action) if data else frozenset())
    return parse_commit(data, action, layout=2)


def _said(action: Action, record: dict[str, Any]) -> CommitMetadata:
    if action is Action.CLEAN:
        clean = record.get("hoodieCleanMetadata")
        return CommitMetadata(operation=action.name, cleaned=cleaned_by(clean) if clean else {})
    if action is Action.ROLLBACK:
        rollback = record.get("hoodieRollbackMetadata")
        return CommitMetadata(operation=action.name, undone=undone_by(rollback) if rollback else frozenset())
    return commit_of(record.get("hoodieReplaceCommitMetadata") or record.get("hoodieCommitMetadata") or {})


def _lsm(storage: Storage, config: TableConfig, wanted: Collection[str] | None) -> Iterator[Instant]:
    for name in _manifest(storage, config.history_folder):
        if wanted is not None and not any(name.first <= instant <= name.last for instant in wanted):
            continue
        path = f"{config.history_folder}/{name}"
        try:
            rows = parquet_file.read_rows(storage.read(path), _COLUMNS)
            yield from (_lsm_instant(row) for row in rows.to_pylist())
        except CorruptFile as corrupt:
            raise corrupt.in_file(path) from corrupt


def _lsm_instant(row: dict[str, Any]) -> Instant:
    requested_at, completed_at, action = (row[column] for column in _COLUMNS)
    if not all(isinstance(time, str) and time.isdecimal() for time in (requested_at, completed_at)):
        raise CorruptFile(f"a history row without a time: {row}", 0)
    return Instant(InstantTime(requested_at), _completed_action(action), State.COMPLETED, InstantTime(completed_at))


def _manifest(storage: Storage, folder: str) -> list[HistoryFileName]:
    """The files of the newest snapshot of the history; none if nothing was ever archived."""
    version = _manifest_version(storage, folder)
    if version is None:
        return []
    path = f"{folder}/manifest_{version}"
    return parse_manifest(storage.read(path), path)


def parse_manifest(data: bytes, path: str) -> list[HistoryFileName]:
    """The history files that a manifest lists."""
    try:
        document: Any = json_text.parse(data, "a manifest of history files")
        names = [entry["fileName"] for entry in document["files"]]
    except CorruptFile as broken:
        raise broken.in_file(path) from broken
    except (KeyError, TypeError) as broken:
        raise CorruptFile(f"not a manifest of history files ({type(broken).__name__}: {broken})", 0, path) from broken
    return [_history_file(name, path) for name in names]


def _history_file(name: object, path: str) -> HistoryFileName:
    if not isinstance(name, str):
        raise CorruptFile(f"a manifest entry without a file name: {name!r}", 0, path)
    require_file_path(name)
    parsed = parse_history_file(name)
    if parsed is None:
        raise CorruptFile(f"the manifest lists {name!r}, expected <first>_<last>_<layer>.parquet", 0, path)
    return parsed


def _manifest_version(storage: Storage, folder: str) -> int | None:
    """Archival deletes and rewrites `_version_`: while it is missing or torn, the highest manifest counts."""
    try:
        text = storage.read(f"{folder}/_version_").decode("ascii").strip()
        if _MANIFEST.fullmatch(f"manifest_{text}"):
            return int(text)
    except (NotFound, UnicodeDecodeError):
        pass
    matches = (_MANIFEST.fullmatch(file.name) for file in storage.list(folder))
    return max((int(match[1]) for match in matches if match), default=None)


def _archive_logs(storage: Storage, config: TableConfig) -> Iterator[Instant]:
    return (instant for instant, _ in _archived_entries(storage, config))


def _archived_entries(storage: Storage, config: TableConfig) -> Iterator[tuple[Instant, dict[str, Any]]]:
    logs = [(parse_log_file(file.name), file.path) for file in storage.list(config.history_folder)]
    archives = [(name.merge_order, path) for name, path in logs if name is not None and name.extension == "archive"]
    for _, path in sorted(archives):
        try:
            for record in _log_records(storage.read(path)):
                yield _archived_instant(record), record
        except CorruptFile as corrupt:
            raise corrupt.in_file(path) from corrupt


def _log_records(data: bytes) -> Iterator[dict[str, Any]]:
    """The entries of an archive log. Its writer may have died inside of the last block: what is whole counts."""
    for block in read_blocks(data, is_store_atomic=False, is_archive=True):
        if block.type is BlockType.AVRO_DATA:
            yield from decode_avro_records(block)


def _archived_instant(record: dict[str, Any]) -> Instant:
    requested_at, state = record.get("commitTime"), _STATES.get(str(record.get("actionState")))
    if not isinstance(requested_at, str) or not requested_at or state is None:
        raise CorruptFile(f"an archived entry without a time or a known state: {record.get('actionState')!r}", 0)
    name = record.get("actionType")
    action = _completed_action(name) if state is State.COMPLETED else _known(name)
    completed_at = record.get("stateTransitionTime") if state is State.COMPLETED else None
    return Instant(InstantTime(requested_at), action, state, InstantTime(completed_at) if completed_at else None)


def _completed_action(name: object) -> Action:
    action = _known(name)
    return COMPLETED_ACTION.get(action, action)


def _known(name: object) -> Action:
    try:
        return Action(str(name))
    except ValueError:
        raise Unsupported(f"the history holds an action {name!r} that this engine does not know") from None
