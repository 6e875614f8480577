"""Which committed files a table has, from its folders: listed once, and then only where something happened since."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hudi_engine.errors import NotFound
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.format.names import parse_base_file, parse_log_file, refuse_if_native_log
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.files_entries import Sizes
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.file_view import FileView
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_RECORDS: Final = {Action.CLEAN: RecordName.CLEAN, Action.ROLLBACK: RecordName.ROLLBACK}
_COMMITS: Final = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
_MOVE_NO_FILE: Final = frozenset({Action.SAVEPOINT, Action.INDEXING})


@dataclass(frozen=True, slots=True)
class Listed:
    """Each partition with the listing of its folder, and the timeline as it was before they were listed."""

    timeline: Timeline
    partitions: Mapping[str, tuple[FileStat, ...]]


def list_files(table: Table) -> Listed:
    """The table's folders as they are now: as many requests as it has folders."""
    timeline = table.timeline()
    return Listed(timeline, table.partitions())


def list_again(table: Table, listed: Listed) -> Listed:
    """The same as it is now, of which only the folders are listed that something has been done to since."""
    timeline = table.timeline()
    touched: set[str] = set()
    for instant in timeline.completed():
        if instant not in listed.timeline.instants and instant.action not in _MOVE_NO_FILE:
            partitions = _touched(table, instant)
            if partitions is None:
                return Listed(timeline, table.partitions())
            touched |= partitions
    changed = {name: found for name in touched if (found := _listing(table, name)) is not None}
    kept = {name: found for name, found in listed.partitions.items() if name not in touched}
    return Listed(timeline, dict(sorted((kept | changed).items())))


def committed_files(table: Table, listed: Listed) -> dict[str, Sizes]:
    """Of each partition the data files that belong to it: those of pending and of failed writes do not."""
    view = table.view(listed.timeline)
    return {name: dict(_committed(view, files)) for name, files in listed.partitions.items()}


def _committed(view: FileView, files: Iterable[FileStat]) -> Iterator[tuple[str, int]]:
    for file in files:
        refuse_if_native_log(file.name)
        if not file.is_folder and file.size_bytes and _is_committed(view, file.name):
            yield file.name, file.size_bytes


def _is_committed(view: FileView, name: str) -> bool:
    """In layout 1 a log is named for its slice, which a compaction that is still pending may have begun."""
    if base := parse_base_file(name):
        return view.completions.is_completed(base.instant)
    log = parse_log_file(name)
    if log is None or log.extension != "log":
        return False
    begun = view.layout == 1 and log.instant in view.visible_instants
    return begun or view.completions.is_completed(log.instant)


def _touched(table: Table, instant: Instant) -> set[str] | None:
    """The partitions whose files the action may have changed; None if it does not say."""
    if instant.action in _COMMITS:
        commit = table.commit(instant)
        return {stat.partition for stat in commit.stats} | commit.replaced.keys()
    if instant.action not in _RECORDS:
        return None
    decode = partial(service_records.decode, _RECORDS[instant.action])
    record: Any = table.record(table.path_of(instant), decode)
    return set(record["partitionMetadata"] or {})


def _listing(table: Table, partition: str) -> tuple[FileStat, ...] | None:
    try:
        return table.partition(partition)
    except NotFound:
        return None  # a partition that was deleted
