"""One look at a table whose index is being built: the data's file groups and what the index says, at one moment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from hudi_engine.action.coverage import Base
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.format.names import parse_base_file, parse_log_file
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.files import listing_of, partitions
from hudi_engine.index.index import Index
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.index.name_ids import partition_identifier
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.file_view import FileSlice, FileView
from hudi_engine.table.snapshot import RowReader, Snapshot

Group = tuple[str, str]
"""A file group of the data: its partition and its file id."""
Clean = tuple[Instant, Mapping[str, tuple[str, ...]]]
"""One that is complete, and by partition the names of the files that it deleted."""
Archived = Sequence[tuple[Instant, CommitMetadata]]
"""What has left a timeline, with what it says about itself."""
ShardState = tuple[object, ...]
"""Whatever of a shard decides what it says: equal ones say the same."""


@dataclass(frozen=True, slots=True)
class _Partition:
    """What one partition has: its files by name, the current slice of each file group, and all slices on storage."""

    listing: Mapping[str, FileStat]
    current: Mapping[str, FileSlice]
    stored: Mapping[str, tuple[FileSlice, ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a snapshot of the data and the index in flight say at one moment. Files come from the `files` index."""

    metadata: MetadataTable
    base: Base
    view: FileView
    index: Index
    files: Index
    cleans: tuple[Clean, ...]
    cleaned: frozenset[Group]
    _partitions: dict[str, _Partition] = field(default_factory=dict)
    _readers: dict[tuple[str, ...], RowReader] = field(default_factory=dict)

    @property
    def instant(self) -> str:
        return max(self.view.visible_instants, default="")

    @property
    def is_partitioned(self) -> bool:
        return None not in self.index.groups

    def listing(self, partition: str) -> Mapping[str, FileStat]:
        """The files of a partition by name, as the `files` index has them."""
        return self._partition(partition).listing

    def slice_of(self, group: Group) -> FileSlice | None:
        """The current slice of a file group; None if it has none, or was replaced."""
        return self._partition(group[0]).current.get(group[1])

    def slices_of(self, partition: str) -> tuple[FileSlice, ...]:
        """The current slices of all file groups of a partition."""
        return tuple(self._partition(partition).current.values())

    def slice_at(self, group: Group, instant: str) -> FileSlice | None:
        """The slice as it was once `instant` had completed; for a reader of that instant."""
        table, listing = self.metadata.data, listing_of(self.files, group[0])
        slices = table.slices(self.view, {group[0]: listing}, instant)
        return next((found for found in slices if found.file_id == group[1]), None)

    def slices_since_base(self, group: Group) -> tuple[FileSlice, ...]:
        """The slices that are still on storage, newest first, the last being that which the base was made of."""
        found: list[FileSlice] = []
        for each in self._partition(group[0]).stored.get(group[1], ()):
            found.append(each)
            if self._may_be_of_base(each):
                break
        return tuple(found)

    def may_lack_files(self, group: Group) -> bool:
        """Whether files that the base was made of may have been deleted since."""
        return group in self.cleaned and not any(map(self._may_be_of_base, self.slices_since_base(group)))

    def _may_be_of_base(self, found: FileSlice) -> bool:
        """Not if its base file was left by a commit that failed: older files say what the base was made of then."""
        made = found.base_file
        if made is None or found.base_instant > self.base.upto:
            return False
        return self.view.completions.is_completed(made.name.instant)

    def find(self, keys: pa.Array, partition: str) -> pa.Table:
        """The rows that the index has for keys of a partition."""
        return self.index.find(keys, partition_identifier(partition) if self.is_partitioned else None)

    def shard_states(self) -> dict[str, ShardState]:
        """Of each shard of the index, by file id, what decides what it says."""
        return {shard.file_slice.file_id: self._state(shard.file_slice) for shard in self.index.shards}

    def partitions(self) -> tuple[str, ...]:
        """All partitions of the data."""
        return tuple(partitions(self.files))

    def reader(self, instant: str | None = None, columns: tuple[str, ...] = (RECORD_KEY,)) -> RowReader:
        """A reader of the record keys of any slice, or of these columns, as of now or of an instant."""
        if columns not in self._readers:
            now = Snapshot(self.instant, self.metadata.data_timeline, self.view, ())
            self._readers[columns] = self.metadata.data.rows(now, columns)
        reader = self._readers[columns]
        return reader if instant is None else replace(reader, snapshot=replace(reader.snapshot, instant=instant))

    def _state(self, found: FileSlice) -> ShardState:
        """A log of a commit that is pending in the data is there and says nothing yet; in layout 1 its blocks tell."""
        instants = self.metadata.instants
        if self.metadata.table.config.layout == 1:
            return (found, instants)
        return (found.base_file, tuple(log for log in found.log_files if log.name.instant in instants))

    def _partition(self, partition: str) -> _Partition:
        if partition not in self._partitions:
            listing = listing_of(self.files, partition)
            current = self.metadata.data.slices(self.view, {partition: listing}, self.instant)
            self._partitions[partition] = _Partition(
                {stat.name: stat for stat in listing},
                {found.file_id: found for found in current},
                {group.file_id: group.slices for group in self.view.groups(partition, listing)},
            )
        return self._partitions[partition]


def read(
    metadata: MetadataTable,
    base: Base,
    definition: IndexDefinition | None = None,
    *,
    is_complete: bool = False,
    archived: Archived = (),
) -> Reading:
    """A look at the table as this reading of its timelines shows it; an index may not be defined on disk yet.

    `archived` is what has left the timeline of the data and the base may not know of.
    """
    view = metadata.data.view(metadata.data_timeline)
    cleans = tuple(_cleans(metadata, view, base, archived))
    return Reading(
        metadata=metadata,
        base=base,
        view=view,
        index=metadata.index(base.index) if is_complete else metadata.being_built(base.index, definition),
        files=metadata.index(IndexKind.FILES.value),
        cleans=cleans,
        cleaned=frozenset(_groups(cleans)),
    )


def _cleans(metadata: MetadataTable, view: FileView, base: Base, archived: Archived) -> Iterator[Clean]:
    """Those that have deleted files since the base was read."""
    for clean in metadata.data_timeline.of(Action.CLEAN):
        if clean.is_completed and view.completions.completed_at[clean.requested_at] >= base.settled_at:
            yield clean, metadata.data.cleaned(clean)
    for instant, said in archived:
        # When one was archived of version 6 may not be known.
        if instant.action is Action.CLEAN and (instant.completed_at or base.settled_at) >= base.settled_at:
            yield instant, said.cleaned


def _groups(cleans: Iterable[Clean]) -> Iterator[Group]:
    for _, files in cleans:
        for partition, names in files.items():
            yield from ((partition, file_id) for name in names if (file_id := _file_id(name)))


def _file_id(name: str) -> str | None:
    parsed = parse_base_file(name) or parse_log_file(name)
    return None if parsed is None else parsed.file_id
