"""One Hudi table: what is in it now. Everything read here is a snapshot; to see news, read again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.clock import Clock
from hudi_engine.errors import Contradiction, CorruptFile, NotATable, NotFound, UnsafePath
from hudi_engine.format import avro_schema
from hudi_engine.format.instant_names import Action, Instant, State, instant_file
from hudi_engine.format.names import PARTITION_METAFILE, parse_log_file
from hudi_engine.storage.paths import require_folder_path
from hudi_engine.storage.protocol import FileStat, Storage, is_remote
from hudi_engine.table.config import ATTEMPTS, TableConfig, parse_config
from hudi_engine.table.conform import select_columns, with_meta_columns
from hudi_engine.table.contents import (
    CommitMetadata,
    CompactionOperation,
    is_clustering,
    parse_cleaned,
    parse_commit,
    parse_compaction_plan,
    parse_earliest_kept,
    parse_undone,
    refuse_renamed_columns,
)
from hudi_engine.table.file_times import require_zone
from hudi_engine.table.file_view import Completions, FileSlice, FileView
from hudi_engine.table.find_zone import Stated, find_zone
from hudi_engine.table.history import read_archived_commits, read_completion_times, read_history
from hudi_engine.table.merge_mode import require_readable_rows
from hudi_engine.table.properties_file import BACKUP, MAIN, read_properties
from hudi_engine.table.snapshot import RowReader, Snapshot
from hudi_engine.table.timeline import Timeline, read_timeline, require_content
from hudi_engine.table.zone import ZONE_KEY, at_time, parse_as_of
from hudi_engine.table.zone_evidence import NO_EVIDENCE, FoundZone, ZoneEvidence

_COMMITS = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
_KEEP_THE_SCHEMA = frozenset({"CLUSTER", "COMPACT", "INDEX", "LOG_COMPACT"})
_DEEPEST = 16  # folders below folders; more are a link that leads back
_Record = TypeVar("_Record")
_LOOKS: Final = 5
_PAUSE_SECONDS: Final = 0.2
_FILLED_WITHIN_MS: Final = 10_000
_LISTERS = 16  # folders listed at once: an object store answers one listing in some 50 ms


@dataclass(frozen=True, slots=True)
class Table:
    storage: Storage
    config: TableConfig
    clock: Clock
    zone: ZoneInfo
    was_built_on: bool = False
    """Whether this engine ever began to build an index here, so that plans may lie beside the timeline."""
    zone_evidence: ZoneEvidence = NO_EVIDENCE

    @property
    def known_zone(self) -> ZoneInfo | None:
        """The zone, unless it is but the default or a guess."""
        return self.zone if self.zone_evidence.is_known else None

    def in_zone(self, found: FoundZone) -> "Table":
        """The same table, by further evidence of its zone."""
        return replace(self, zone=found.zone, zone_evidence=found.evidence)

    def require_certain_zone(self, instants: Iterable[str] = ()) -> None:
        """For what writes instants or compares moments: refuse zones that differ on the timeline or on `instants`."""
        self.zone_evidence.require_certain(self.storage.location, instants)

    def reopened(self) -> "Table":
        """The same table, with its properties as they are now."""
        was_built_on = _has_attempts(self.storage.list(".hoodie"))
        return replace(self, config=_config(self.storage, self.clock), was_built_on=was_built_on)

    def timeline(self) -> Timeline:
        """The active timeline as it is now, with plans of ours wherever they lie."""
        folders = {self.config.timeline_folder, *([self.config.plan_folder] if self.was_built_on else [])}
        timeline = read_timeline(file for folder in sorted(folders) for file in self.storage.list(folder))
        require_zone(self.config, self.zone, timeline, self.zone_evidence)
        return timeline

    def history(self) -> tuple[Instant, ...]:
        """The archived instants."""
        return read_history(self.storage, self.config)

    def record(self, path: str, parse: Callable[[bytes], _Record], *, may_be_empty: bool = False) -> _Record:
        """What `parse` makes of a file of the timeline.

        Java makes a file and then fills it, and a store of this machine shows it meanwhile: one that is new and empty
        (where that is not what many are), or ends early, is looked at again for a moment before it is believed.
        """
        with _naming(path):
            for _ in range(_LOOKS):
                with suppress(CorruptFile):
                    data = self.storage.read(path)
                    if data or may_be_empty:
                        return parse(data)
                if not self._may_be_filled_yet(path):
                    break
                self.clock.sleep(_PAUSE_SECONDS)
            return parse(self.storage.read(path))

    def commit(self, instant: Instant) -> CommitMetadata:
        """What a completed commit says about itself."""
        parse = partial(parse_commit, action=instant.action, layout=self.config.layout)
        return self._told(instant, parse, lambda archived: archived)

    def archived_commits(self, first: str, last: str) -> list[tuple[Instant, CommitMetadata]]:
        """The archived commits from `first` to `last`, with what each says about itself."""
        return read_archived_commits(self.storage, self.config, first, last)

    def archived_commit(self, requested_at: str, action: Action) -> CommitMetadata | None:
        """What the one of that time says about itself; None if it is not archived."""
        found = self.archived_commits(requested_at, requested_at)
        return next((said for each, said in found if each.action is action), None)

    def undone(self, instant: Instant) -> frozenset[str]:
        """The instants that a completed rollback or restore undid."""
        return self._told(instant, partial(parse_undone, action=instant.action), lambda archived: archived.undone)

    def cleaned(self, instant: Instant) -> Mapping[str, tuple[str, ...]]:
        """The names of the files that a completed clean deleted, by partition."""
        return self._told(instant, parse_cleaned, lambda archived: archived.cleaned)

    def _told(
        self, instant: Instant, parse: Callable[[bytes], _Record], of_archived: Callable[[CommitMetadata], _Record]
    ) -> _Record:
        """What a completed instant says. An archiver may have taken the instant since the timeline was listed."""
        try:
            return self.record(self.path_of(instant), parse)
        except NotFound:
            # An archiver writes an instant down before the archiver deletes the instant's files.
            archived = self.archived_commit(instant.requested_at, instant.action)
            if archived is None:
                raise
            return of_archived(archived)

    def compaction_plan(self, instant: Instant) -> tuple[CompactionOperation, ...]:
        """What a pending or completed compaction was asked to do."""
        requested = Instant(instant.requested_at, _pending_action(instant.action), State.REQUESTED)
        return self.record(self.path_of(requested), lambda data: parse_compaction_plan(require_content(data)))

    def earliest_kept(self, timeline: Timeline) -> str:
        """The oldest instant that the last clean left readable; empty if nothing was cleaned.

        A clean by file versions does not say; Hudi then trusts no time before the first active commit.
        """
        cleans = [instant for instant in timeline.of(Action.CLEAN) if instant.is_completed]
        if not cleans:
            return ""
        named = self.record(self.path_of(cleans[-1]), parse_earliest_kept)
        return named or next((write.requested_at for write in timeline.writes() if write.is_completed), "")

    def partitions(self) -> dict[str, tuple[FileStat, ...]]:
        """Every data partition with the listing of its folder; an unpartitioned table has the one named "" ."""
        found: dict[str, tuple[FileStat, ...]] = {}
        level = [""]
        with ThreadPoolExecutor(_LISTERS) as lister:
            while level:
                if level[0].count("/") >= _DEEPEST:
                    raise UnsafePath(
                        f"{self.storage.location}/{level[0]}: no partition within {_DEEPEST} folders. "
                        "Remove the link that leads back, or whatever lies there."
                    )
                listings = zip(level, lister.map(self.storage.list, level), strict=True)
                level = []
                for folder, listing in listings:
                    if _is_partition(listing):
                        found[folder] = listing
                    else:
                        # A link that leads outside is listed as a file; whoever looks into it is refused.
                        level += [child.path for child in listing if child.path != ".hoodie"]
        return dict(sorted(found.items()))

    def partition(self, name: str) -> tuple[FileStat, ...]:
        """The listing of one data partition."""
        require_folder_path(name)
        listing = self.storage.list(name)
        if not _is_partition(listing):
            raise NotFound(
                f"{self.storage.location}: no partition {name!r}. "
                "Partition names are the folders' names, as `hudi-engine inspect` shows them."
            )
        return listing

    def view(self, timeline: Timeline) -> FileView:
        """What this timeline says about files."""
        writes = timeline.writes()
        compactions: dict[tuple[str, str], str] = {}
        for instant in writes:
            if instant.action is Action.COMPACTION:
                for operation in self.compaction_plan(instant):
                    compactions[operation.partition, operation.file_id] = instant.requested_at
        replaced: dict[tuple[str, str], str] = {}
        for instant in writes:
            if instant.action is Action.REPLACE_COMMIT and instant.is_completed:
                for partition, file_ids in self.commit(instant).replaced.items():
                    replaced |= {(partition, file_id): instant.requested_at for file_id in file_ids}
        return FileView(
            layout=self.config.layout,
            completions=self._completions(timeline),
            visible_instants=frozenset(
                i.requested_at for i in writes if i.is_completed or i.action is Action.COMPACTION
            ),
            compactions=compactions,
            replaced_at=replaced,
        )

    def slices(self, view: FileView, listings: Mapping[str, Iterable[FileStat]], instant: str) -> list[FileSlice]:
        """What a snapshot at `instant` reads of these partitions, by partition and file id."""
        view = replace(view, completions=self._with_history(view.completions, listings))
        groups = (group for partition, listing in listings.items() for group in view.groups(partition, listing))
        return [found for group in groups if (found := view.slice_at(group, instant)) is not None]

    def snapshot(self, as_of: str | None = None, partition: str | None = None) -> Snapshot:
        """What a reader sees now, or saw at `as_of`: the slices of all partitions or of one."""
        timeline = self.timeline()
        view = self.view(timeline)
        instant = max(view.visible_instants, default="") if as_of is None else self._past(as_of, timeline)
        listings = self.partitions() if partition is None else {partition: self.partition(partition)}
        return Snapshot(instant, timeline, view, tuple(self.slices(view, listings, instant)))

    def rows(self, snapshot: Snapshot, columns: Sequence[str] | None = None) -> RowReader:
        """A reader of the rows of this snapshot; `columns` None means all."""
        require_readable_rows(self.config)
        schema = self.row_schema(snapshot)
        return RowReader(self.storage, self.config, schema, select_columns(schema, columns), snapshot)

    def row_schema(self, snapshot: Snapshot) -> pa.Schema:
        """The columns of this snapshot's rows: those of the last commit that could change them, meta columns first.

        Tables with `hoodie.populate.meta.fields=false` have no meta columns.
        """
        for instant in reversed(snapshot.timeline.writes()):
            if instant.is_completed and instant.requested_at <= snapshot.instant:
                commit = self.commit(instant)
                if commit.schema and commit.operation not in _KEEP_THE_SCHEMA:
                    refuse_renamed_columns(commit, instant)
                    with _naming(self.path_of(instant)):
                        return self._whole(avro_schema.to_arrow(commit.schema))
        if created := self.config.properties.get("hoodie.table.create.schema"):
            with _naming(MAIN):
                return self._whole(avro_schema.to_arrow(created))
        raise NotFound(
            f"{self.storage.location}: no commit up to {snapshot.instant or 'now'} says what columns the rows have, "
            "and hoodie.table.create.schema is not set. Let a Hudi writer commit to this table once."
        )

    def _whole(self, schema: pa.Schema) -> pa.Schema:
        """With Hudi's own columns, unless the table has none: its files then have them empty, and Spark shows none."""
        return with_meta_columns(schema) if self.config.has_meta_columns else schema

    def _past(self, as_of: str, timeline: Timeline) -> str:
        """An instant whose files are all still there and can no longer change: Java's own two conditions."""
        instant = parse_as_of(as_of)
        pending = [i for i in timeline.of(*_COMMITS) if not i.is_completed and not self.is_clustering(i, timeline)]
        if pending and instant >= pending[0].requested_at:
            raise Contradiction(
                f"--as-of {as_of}: the commit {pending[0].requested_at} is still pending: the table at that time may "
                "yet change. Give a time before it, or leave --as-of out for what is committed now."
            )
        earliest = self.earliest_kept(timeline)
        if instant < earliest:
            raise NotFound(f"--as-of {as_of}: files from before {earliest} were cleaned. Give a later time.")
        return instant

    def is_clustering(self, pending: Instant, timeline: Timeline) -> bool:
        """Whether a pending replacement only moves rows to other files, as layout 1 calls clustering."""
        requested = pending.in_state(State.REQUESTED)
        if pending.action is not Action.REPLACE_COMMIT or instant_file(requested) not in timeline.files:
            return False
        return self.record(self.path_of(requested), is_clustering, may_be_empty=True)

    def _with_history(self, known: Completions, listings: Mapping[str, Iterable[FileStat]]) -> Completions:
        """Log files of archived commits are sliced by completion times that only the history still has."""
        names = (parse_log_file(file.name) for listing in listings.values() for file in listing)
        archived = {n.instant for n in names if n and n.instant < known.border and n.instant not in known.completed_at}
        times = read_completion_times(self.storage, self.config, archived)
        return replace(known, completed_at={**times, **known.completed_at})

    def _completions(self, timeline: Timeline) -> Completions:
        completed: dict[str, str] = {
            instant.requested_at: instant.completed_at or self._time_of_file(timeline, instant)
            for instant in timeline.completed()
        }
        return Completions(timeline.first_write_still_active(), completed)

    def _time_of_file(self, timeline: Timeline, instant: Instant) -> str:
        """Where the name does not tell (layout 1, and files that an upgrade left), the modification time does."""
        return at_time(timeline.files[instant_file(instant)].modified_ms, self.zone)

    def _may_be_filled_yet(self, path: str) -> bool:
        if is_remote(self.storage):
            return False
        folder = path.rpartition("/")[0]
        modified_ms = next((file.modified_ms for file in self.storage.list(folder) if file.path == path), 0)
        return self.clock.now_ms() - modified_ms < _FILLED_WITHIN_MS

    def path_of(self, instant: Instant) -> str:
        """The instant's file in the state that it is in; of a pending index plan, if it is ours."""
        is_plan = instant.action is Action.INDEXING and not instant.is_completed
        folder = self.config.plan_folder if is_plan else self.config.timeline_folder
        return f"{folder}/{instant_file(instant)}"


def open_table(storage: Storage, clock: Clock, conf: Mapping[str, str]) -> Table:
    """The table at the storage's base; everything about it that the engine would have to guess is refused here."""
    listing = storage.list(".hoodie")
    if not any(file.path in {MAIN, BACKUP} for file in listing):
        raise NotATable(
            f"{storage.location}: no Hudi table: .hoodie/hoodie.properties is missing. "
            "Give the table's base path, the folder that holds .hoodie."
        )
    file = read_properties(storage, clock)
    config = parse_config(file.properties)
    stated = Stated(config.timeline_zone, conf.get(ZONE_KEY), file.saved_at)
    found = find_zone(stated, lambda: read_timeline(storage.list(config.timeline_folder)), clock.now_ms())
    return Table(storage, config, clock, found.zone, _has_attempts(listing), found.evidence)


def _has_attempts(listing: Iterable[FileStat]) -> bool:
    return any(file.path == ATTEMPTS for file in listing)


def _config(storage: Storage, clock: Clock) -> TableConfig:
    return parse_config(read_properties(storage, clock).properties)


def _is_partition(listing: Iterable[FileStat]) -> bool:
    return any(not file.is_folder and file.name.startswith(PARTITION_METAFILE) for file in listing)


def _pending_action(action: Action) -> Action:
    return {Action.COMMIT: Action.COMPACTION, Action.DELTA_COMMIT: Action.LOG_COMPACTION}.get(action, action)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    try:
        yield
    except CorruptFile as corrupt:
        raise corrupt.in_file(path) from corrupt
