"""How indexes with entries for each data file are made and kept: `bloom_filters` and `column_stats`.

What a file says never changes. So what such an index lacks of a commit are entries of files that it wrote, and what it
has too much of a clean are entries of files that it deleted.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.action.entry_changes import NO_KEYS, EntryChanges, one, present_of
from hudi_engine.action.keeping import BaseOrder, Correction, Made, Question, Traits
from hudi_engine.action.plans import pending_plans
from hudi_engine.action.reading import Reading
from hudi_engine.action.site import Site
from hudi_engine.compute.column_stats import StatsReader
from hudi_engine.compute.entries_of_files import BloomFilterEntries, ColumnStatsEntries
from hudi_engine.compute.indexed_columns import (
    COLUMN_LIST,
    columns_to_index,
    most_columns,
    require_own_columns,
    require_statistics,
)
from hudi_engine.compute.order import ENTRIES, DataFile, FileOrder
from hudi_engine.compute.shard_names import shard_file_ids
from hudi_engine.compute.shard_rule import shard_count
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.format.names import parse_base_file, parse_log_file
from hudi_engine.index.definitions import FIRST_WITH_DEFINITIONS, IndexDefinition, IndexVersion
from hudi_engine.index.files import listings
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.index.ranges import REMOTE_READERS, in_order
from hudi_engine.storage.protocol import FileStat, is_remote
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.file_view import FileView
from hudi_engine.table.merge_mode import require_meta_columns
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_FIRST_WITH_TYPES = 9
_SHARDS: Mapping[IndexKind, tuple[str, int]] = {
    IndexKind.BLOOM_FILTERS: ("hoodie.metadata.index.bloom.filter.file.group.count", 4),
    IndexKind.COLUMN_STATS: ("hoodie.metadata.index.column.stats.file.group.count", 2),
}


_Entries = BloomFilterEntries | ColumnStatsEntries
_FILES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class FileIndexKeeping:
    """`Keeping` of `bloom_filters`, or of `column_stats` of these columns or, without any, of those that Hudi takes.

    `is_addition`: it is complete, and some of the columns are new.
    """

    kind: IndexKind
    conf: Mapping[str, str]
    columns: tuple[str, ...] = ()
    is_addition: bool = False

    @property
    def traits(self) -> Traits:
        return Traits(is_of_files=True, is_addition=self.is_addition)

    def refuse(self, table: Table, others: Collection[str]) -> None:
        base_format = table.config.properties.get("hoodie.table.base.file.format", "PARQUET")
        if base_format.upper() != "PARQUET":
            raise Unsupported(
                f"{table.storage.location}: its base files are {base_format}, and {self.kind} is made of what Parquet "
                "files say of themselves. Leave this index out."
            )
        if self.kind is IndexKind.BLOOM_FILTERS:
            require_meta_columns(table.config, table.storage.location, "bloom filters are made of them")
        if table.config.is_merge_on_read:
            require_meta_columns(table.config, table.storage.location, "logs are not read without them")
        shard_count(self.conf, *_SHARDS[self.kind])
        if self.kind is IndexKind.COLUMN_STATS:
            most_columns(self.conf)
            require_own_columns(self.conf, _schema(table, table.timeline()), table.config.version)
        if self.columns:
            self._refuse_columns(table, others)

    def _refuse_columns(self, table: Table, others: Collection[str]) -> None:
        where, version = table.storage.location, table.config.version
        require_statistics(self.columns, _schema(table, table.timeline()), version, _version_of(table))
        if version < FIRST_WITH_DEFINITIONS:
            raise Unsupported(
                f"{where}: columns of {self.kind} are recorded from table version {FIRST_WITH_DEFINITIONS} on, this "
                f"table has {version}. Leave them out, and all are indexed as by Hudi 0.15, or name them by "
                f"{COLUMN_LIST} for every writer and reader, and here."
            )
        if self.is_addition and IndexKind.PARTITION_STATS in (
            *others,
            *table.config.inflight_indexes,
            *_planned(table),
        ):
            raise Contradiction(
                f"{where}: {IndexKind.PARTITION_STATS} is of the columns of {self.kind}; of a new one it would lack "
                f"all partitions that nobody writes to; queries would skip them. Drop {IndexKind.PARTITION_STATS} "
                f"first, and build it again once {self.kind} has the column."
            )

    def make(self, site: Site, order: BaseOrder) -> Made:
        """Of every committed file, also of those that newer ones have replaced: readers of the past ask for them."""
        metadata, view = order.metadata, order.snapshot.view
        count = shard_count(site.conf, *_SHARDS[self.kind])
        build = FileOrder(
            entries=self._entries(metadata, view),
            sources=committed_files(metadata, view),
            shard_count=count,
            instant=order.instant,
            attempt=order.attempt,
            table_version=metadata.data.config.version,
            created_ms=site.clock.now_ms(),
        )
        built = site.compute.build_of_files(build, site.storage, site.watch)
        return Made(built.files, shard_file_ids({None: count}, self.kind.value))

    def concerns(self, commit: CommitMetadata) -> bool:
        return bool(commit.stats or commit.cleaned)

    def derive(self, reading: Reading, question: Question) -> Correction:
        """Entries of files that the commit wrote and that are still listed, and keys of those that a clean deleted."""
        entries = self._entries(reading.metadata, reading.view)
        gone = frozenset(file for file in question.deleted if file[1] not in reading.listing(file[0]))
        written = [
            DataFile(at, stat) for at, name in sorted(question.written) if (stat := reading.listing(at).get(name))
        ]
        lacking = _lacking(reading, entries, written)
        made = _entries_of(lacking, entries, is_remote=is_remote(reading.metadata.data.storage))
        doomed = pa.array([key.encode() for file in gone for key in entries.keys_of(*file)], pa.large_binary())
        present = present_of(reading, pa.concat_arrays([one(made["key"]), doomed]))
        return EntryChanges(
            puts=made.filter(pc.invert(pc.is_in(made["key"], present))),
            deletes=doomed.filter(pc.is_in(doomed, present)) if len(doomed) else NO_KEYS,
            present=present,
            grounds=_Files(frozenset((file.partition, file.stat.name) for file in lacking), gone),
            shards=reading.shard_states(),
            looked_at=len(written),
        )

    def definition(self, metadata: MetadataTable) -> IndexDefinition | None:
        """Hudi defines statistics only: of the columns that they are of."""
        if self.kind is not IndexKind.COLUMN_STATS:
            return None
        name, version = IndexKind.COLUMN_STATS.value, _version_of(metadata.data)
        return IndexDefinition(name, self.kind, name, name, self.columns_of(metadata), version=version)

    def _entries(self, metadata: MetadataTable, view: FileView) -> _Entries:
        storage, version = metadata.data.storage, metadata.data.config.version
        if self.kind is IndexKind.BLOOM_FILTERS:
            return BloomFilterEntries(storage, version)
        is_valid = view.completions.is_completed
        reader = StatsReader(storage, self.columns_of(metadata), _version_of(metadata.data), is_valid)
        return ColumnStatsEntries(reader, version)

    def columns_of(self, metadata: MetadataTable) -> tuple[str, ...]:
        """As they were asked for, else as they are defined, else those that Hudi would take."""
        defined = metadata.definitions.get(self.kind.value)
        if not self.columns and defined is not None and defined.source_fields:
            return defined.source_fields
        table = metadata.data
        schema = _schema(table, metadata.data_timeline)
        asked = {COLUMN_LIST: ",".join(self.columns)} if self.columns else {}
        return columns_to_index(schema, {**self.conf, **asked}, table.config.version, _version_of(table))


def _planned(table: Table) -> Iterator[str]:
    """Indexes of plans that are pending; their bases may be made of what there is now."""
    return (index.name for plan in pending_plans(table, table.timeline()).values() for index in plan.indexes)


def committed_files(metadata: MetadataTable, view: FileView) -> tuple[DataFile, ...]:
    """Every committed file that is listed, also those that newer ones have replaced."""
    listed = listings(metadata.index(IndexKind.FILES.value))
    return tuple(DataFile(at, stat) for at, stats in listed.items() for stat in stats if _is_committed(view, stat))


def _lacking(reading: Reading, entries: _Entries, files: list[DataFile]) -> list[DataFile]:
    """Those of which the index has not all keys that it might have."""
    keys = {file: entries.keys_of(file.partition, file.stat.name) for file in files}
    wanted = pa.array([key.encode() for some in keys.values() for key in some], pa.large_binary())
    there = {key.decode() for key in present_of(reading, wanted).to_pylist()}
    return [file for file in files if not there.issuperset(keys[file])]


@dataclass(frozen=True, slots=True)
class _Files:
    """`Grounds`: files that are listed, and others that are not."""

    there: frozenset[tuple[str, str]]
    gone: frozenset[tuple[str, str]]

    def stand(self, reading: Reading) -> bool:
        return all(_is_listed(reading, self.there)) and not any(_is_listed(reading, self.gone))


def _is_listed(reading: Reading, files: frozenset[tuple[str, str]]) -> Iterator[bool]:
    return (name in reading.listing(partition) for partition, name in files)


def _entries_of(files: list[DataFile], entries: _Entries, *, is_remote: bool) -> pa.Table:
    """Some at a time, since footers with large filters are."""
    readers = REMOTE_READERS if is_remote else 1
    made = [ENTRIES.empty_table()]
    for at in range(0, len(files), _FILES_AT_ONCE):
        some = files[at : at + _FILES_AT_ONCE]
        looked: list[Any] = [*in_order(entries.look, some, readers, 2 * REMOTE_READERS)]
        made.append(entries.of(looked))
    return pa.concat_tables(made)


def _is_committed(view: FileView, stat: FileStat) -> bool:
    """In layout 1 a log bears its slice's instant, and is listed because a commit to it has completed."""
    log = parse_log_file(stat.name)
    if log is not None:
        return not log.is_cdc and (view.layout == 1 or view.completions.is_completed(log.instant))
    base = parse_base_file(stat.name)
    return base is not None and view.completions.is_completed(base.instant)


def _schema(table: Table, timeline: Timeline) -> pa.Schema:
    return table.row_schema(Snapshot.of_no_slices(timeline, table.view(timeline)))


def _version_of(table: Table) -> IndexVersion:
    return IndexVersion.V2 if table.config.version >= _FIRST_WITH_TYPES else IndexVersion.V1
