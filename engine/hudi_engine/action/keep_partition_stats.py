"""How `partition_stats` is made and kept: of each partition the statistics of all of its newest files, as one.

An entry is about all files that there are, and called tight: it takes the place of every older one. A writer that logs
to the index makes it of `column_stats` as it finds that; two that overlap leave what the second to complete, if it was
the first to begin, did out of the entry that wins. So nothing of theirs proves a commit: the partitions that it
touched are looked at, and what is written takes a time above all logs (`Traits.is_of_state`).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hudi_engine.action.entry_changes import NO_KEYS, EntryChanges, one, present_of
from hudi_engine.action.keep_files import FileIndexKeeping
from hudi_engine.action.keeping import BaseOrder, Correction, Made, Question, Traits
from hudi_engine.action.metadata_logs import ShardChange
from hudi_engine.action.reading import Reading
from hudi_engine.action.site import Site
from hudi_engine.compute.column_stats import StatsReader
from hudi_engine.compute.entries_of_partitions import PartitionStatsEntries, partitions_of
from hudi_engine.compute.indexed_columns import type_at
from hudi_engine.compute.order import FileOrder
from hudi_engine.compute.shard_names import shard_file_ids
from hudi_engine.compute.shard_rule import shard_count
from hudi_engine.concurrency.lock import is_shared
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table

_FIRST = 8
_SHARDS = "hoodie.metadata.index.partition.stats.file.group.count"
_USUAL_SHARDS = 1
_OVERLAPPING = (
    f"{IndexKind.PARTITION_STATS}: Hudi's writers keep it right only where commits and services do not overlap; else "
    "queries may skip rows. If several write to this table, drop it (docs/writers.md)"
)


@dataclass(frozen=True, slots=True)
class PartitionStatsKeeping:
    """`Keeping` of `partition_stats`, of the columns that `column_stats` is of."""

    conf: Mapping[str, str]

    @property
    def traits(self) -> Traits:
        return Traits(is_of_files=True, is_of_state=True)

    def refuse(self, table: Table, others: Collection[str]) -> None:
        where = table.storage.location
        if table.config.version < _FIRST:
            raise Unsupported(
                f"{where}: {IndexKind.PARTITION_STATS} needs table version {_FIRST}, this table has "
                f"{table.config.version}. Leave this index out, or upgrade the table with a Hudi writer."
            )
        if not table.config.partition_fields:
            raise Unsupported(
                f"{where}: the table has no partitions (hoodie.table.partition.fields), and Hudi keeps no "
                f"{IndexKind.PARTITION_STATS} of such a table. {IndexKind.COLUMN_STATS} does what it would."
            )
        self._of_files.refuse(table, others)
        shard_count(self.conf, _SHARDS, _USUAL_SHARDS)
        if IndexKind.COLUMN_STATS not in others:
            raise Contradiction(
                f"{where}: {IndexKind.PARTITION_STATS} is kept by {IndexKind.COLUMN_STATS}, and as long as that is not "
                f"complete every commit of Hudi's writers would fail. Build {IndexKind.COLUMN_STATS} first."
            )

    def make(self, site: Site, order: BaseOrder) -> Made:
        count = shard_count(site.conf, _SHARDS, _USUAL_SHARDS)
        build = FileOrder(
            entries=self._entries(order.metadata, order.snapshot),
            sources=partitions_of(order.snapshot.slices),
            shard_count=count,
            instant=order.instant,
            attempt=order.attempt,
            table_version=order.metadata.data.config.version,
            created_ms=site.clock.now_ms(),
        )
        if is_shared(site.conf):
            site.watch.say(_OVERLAPPING)
        built = site.compute.build_of_files(build, site.storage, site.watch)
        return Made(built.files, shard_file_ids({None: count}, build.entries.index))

    def concerns(self, commit: CommitMetadata) -> bool:
        """Compaction too: of the same rows there are other files, with other counts."""
        return bool(commit.stats or commit.replaced)

    def derive(self, reading: Reading, question: Question) -> Correction:
        """What the entries of the partitions should say now; none of a partition that has no rows any more."""
        entries = self._entries(reading.metadata, Snapshot.of_no_slices(reading.metadata.data_timeline, reading.view))
        slices = {name: reading.slices_of(name) for name in sorted({name for name, _ in question.groups})}
        partitions = partitions_of(each for found in slices.values() for each in found)
        made = entries.of([*map(entries.look, partitions)])
        wanted = [key.encode() for name in slices for key in entries.keys_of(name)]
        there = _said(reading.index.find(pa.array(wanted, pa.large_binary())))
        ours = _said(_decoded(reading, made))
        is_other = [there.get(key) != said for key, said in ours.items()]
        stale = pa.array(sorted(key.encode() for key in there.keys() - ours.keys()), pa.large_binary())
        puts = made.filter(pa.array(is_other, pa.bool_()))
        changes = EntryChanges(
            puts=puts,
            deletes=stale if len(stale) else NO_KEYS,
            present=present_of(reading, pa.concat_arrays([one(puts["key"]), stale])),
            grounds=_Partitions(slices),
            shards=reading.shard_states(),
            looked_at=sum(len(each.files) for each in partitions),
        )
        return _StateChanges(changes)

    def definition(self, metadata: MetadataTable) -> IndexDefinition | None:
        """Hudi writes none."""
        return None

    @property
    def _of_files(self) -> FileIndexKeeping:
        return FileIndexKeeping(IndexKind.COLUMN_STATS, self.conf)

    def _entries(self, metadata: MetadataTable, snapshot: Snapshot) -> PartitionStatsEntries:
        table = metadata.data
        defined = metadata.definitions.get(IndexKind.COLUMN_STATS.value) or self._of_files.definition(metadata)
        assert defined is not None, "statistics of columns are defined"
        schema, columns = table.row_schema(snapshot), defined.source_fields
        reader = StatsReader(table.storage, columns, defined.version, snapshot.view.completions.is_completed)
        kinds = {column: kind for column in columns if (kind := type_at(schema, column)) is not None}
        return PartitionStatsEntries(reader, table.config.version, kinds)


@dataclass(frozen=True, slots=True)
class _StateChanges:
    """`Correction` by entries that take the place of others under the same keys."""

    entries: EntryChanges

    @property
    def count(self) -> int:
        return self.entries.count

    @property
    def looked_at(self) -> int:
        return self.entries.looked_at

    def parts(self, most: int) -> Iterator[Correction]:
        return self.entries.parts(most)

    def still_holds(self, reading: Reading) -> bool:
        return self.entries.still_holds(reading)

    def lacks_shards(self, reading: Reading, conf: Mapping[str, str]) -> tuple[str, ...]:
        return self.entries.lacks_shards(reading, conf)

    def shard_changes(self, reading: Reading) -> Mapping[str, ShardChange]:
        return self.entries.shard_changes(reading)

    def is_in_effect(self, reading: Reading) -> bool:
        """Whether nothing overrides what was written."""
        puts, deletes = self.entries.puts, self.entries.deletes
        there = _said(reading.index.find(pa.concat_arrays([one(puts["key"]), deletes])))
        return there == _said(_decoded(reading, puts))


@dataclass(frozen=True, slots=True)
class _Partitions:
    """`Grounds`: the current slices of partitions."""

    slices: Mapping[str, tuple[FileSlice, ...]]

    def stand(self, reading: Reading) -> bool:
        return all(reading.slices_of(name) == found for name, found in self.slices.items())


def _decoded(reading: Reading, entries: pa.Table) -> pa.Table:
    return reading.index.family.decode(entries, WRITTEN_SCHEMA[reading.metadata.data.config.version])


def _said(rows: pa.Table) -> dict[str, str]:
    """What each entry says, by its key, spelled out: NaN is NaN, and -0.0 is not 0.0."""
    found: list[dict[str, Any]] = rows.to_pylist()
    return {row["key"]: repr(row) for row in found}
