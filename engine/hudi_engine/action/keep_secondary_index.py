"""How a secondary index is made and kept: of every row the value of one column, with the record key.

Hudi's writers pass over it until it is complete. So nothing proves a commit but that we looked at it; and whoever began
before the end, and settled then which indexes it keeps, is waited for (`Traits`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.action.coverage import moves_records
from hudi_engine.action.entry_changes import NO_KEYS, EntryChanges, present_of
from hudi_engine.action.keeping import BaseOrder, Correction, Made, Overtaken, Question, Traits
from hudi_engine.action.made_of_rows import made_of_rows
from hudi_engine.action.reading import Group, Reading
from hudi_engine.action.site import Site
from hudi_engine.compute.duplicates import keeps_newest
from hudi_engine.compute.estimate import shard_counts
from hudi_engine.compute.order import ENTRIES
from hudi_engine.compute.secondary_keys import SecondaryKeys
from hudi_engine.compute.shard_rule import ShardRule
from hudi_engine.errors import Unsupported
from hudi_engine.index.definitions import IndexDefinition, IndexVersion
from hudi_engine.index.indexable import require_indexable
from hudi_engine.index.keys import split_secondary_keys
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable, definitions_of
from hudi_engine.index.secondary_entries import secondary_value
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.merge_mode import require_meta_columns, require_readable_rows
from hudi_engine.table.snapshot import RowReader, Snapshot
from hudi_engine.table.table import Table

_FIRST_BY_VALUE = 9


@dataclass(frozen=True, slots=True)
class SecondaryIndexKeeping:
    """`Keeping` of the secondary index of this name, which is of these columns: Hudi has such of one column only."""

    name: str
    columns: tuple[str, ...]
    conf: Mapping[str, str]

    @property
    def traits(self) -> Traits:
        return Traits(is_logged_in_flight=False)

    def refuse(self, table: Table, others: Collection[str]) -> None:
        require_meta_columns(table.config, table.storage.location, "a secondary index leads to them")
        timeline = table.timeline()
        schema = table.row_schema(Snapshot.of_no_slices(timeline, table.view(timeline)))
        has_record_index = IndexKind.RECORD_INDEX in others
        require_indexable(self._defined(table), schema, table.config.version, has_record_index=has_record_index)
        require_readable_rows(table.config)
        ShardRule.of(self.conf, is_partitioned=False)
        keeps_newest(self.conf)
        record_index = definitions_of(table).get(IndexKind.RECORD_INDEX.value)
        if record_index is not None and record_index.is_partitioned:
            raise beside_partitioned(table, self.name)

    def make(self, site: Site, order: BaseOrder) -> Made:
        entries = replace(self._entries(order.metadata, order.snapshot), keeps_newest=keeps_newest(self.conf))
        reader = order.metadata.data.rows(order.snapshot, entries.columns)
        return made_of_rows(site, order, reader, shard_counts(reader, False, site.conf), entries)

    def concerns(self, commit: CommitMetadata) -> bool:
        return moves_records(commit)

    def derive(self, reading: Reading, question: Question) -> Correction | Overtaken:
        """What the touched file groups hold, and what they held since the base that they hold no more.

        What has left them may be elsewhere, as it was: clustering and rows that change their partition take it there.
        """
        if gone := [group for group in sorted(question.groups) if reading.may_lack_files(group)]:
            return Overtaken(
                f"files of {gone[0][1]} that {self.name} was built of were cleaned before it was caught up, so that "
                "nothing tells which of its entries are stale"
            )
        snapshot = Snapshot(reading.instant, reading.metadata.data_timeline, reading.view, ())
        entries = self._entries(reading.metadata, snapshot)
        rows = _Rows(reading, entries, reading.metadata.data.rows(snapshot, entries.columns))
        kept = _together(key for group in sorted(question.groups) for key in rows.after(group, question))
        former = _minus(_together(key for group in question.groups for key in rows.since_base(group)), kept)
        present = present_of(reading, pa.concat_arrays([kept, former]))
        stale = former.filter(pc.is_in(former, present))
        others = self._others(reading, stale) - question.groups
        stale = _minus(stale, _together(key for group in sorted(others) for key in rows.now(group)))
        lacking = _minus(kept, present)
        values = pa.repeat(pa.scalar(secondary_value(rows.table_version), pa.large_binary()), len(lacking))
        return EntryChanges(
            puts=pa.table([lacking, values], schema=ENTRIES),
            deletes=stale,
            present=present,
            grounds=_Slices({group: reading.slice_of(group) for group in question.groups | others}),
            shards=reading.shard_states(),
            looked_at=len(kept),
        )

    def _others(self, reading: Reading, stale: pa.Array) -> frozenset[Group]:
        """The file groups that may have rows of these entries; of a key with several the record index names one."""
        if not keeps_newest(self.conf) or not len(stale):
            return _groups_of(reading, stale)
        return frozenset((name, found.file_id) for name in reading.partitions() for found in reading.slices_of(name))

    def definition(self, metadata: MetadataTable) -> IndexDefinition | None:
        return self._defined(metadata.data)

    def _defined(self, table: Table) -> IndexDefinition:
        version = IndexVersion.V2 if table.config.version >= _FIRST_BY_VALUE else IndexVersion.V1
        kind = IndexKind.SECONDARY_INDEX
        return IndexDefinition(self.name, kind, kind.value, "identity", self.columns, version=version)

    def _entries(self, metadata: MetadataTable, snapshot: Snapshot) -> SecondaryKeys:
        table = metadata.data
        schema = table.row_schema(snapshot)
        column = require_indexable(self._defined(table), schema, table.config.version, has_record_index=True)
        return SecondaryKeys(self.name, column)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Keys of entries that rows of file groups have, or had."""

    reading: Reading
    entries: SecondaryKeys
    reader: RowReader

    @property
    def table_version(self) -> int:
        return self.reader.config.version

    def now(self, group: Group) -> Iterator[pa.Array]:
        found = self.reading.slice_of(group)
        return iter(()) if found is None else self.entries.keys_of(self.reader, found)

    def after(self, group: Group, question: Question) -> Iterator[pa.Array]:
        """As the commit left them: what later ones did is for these to say, or a restore to it would keep that."""
        if group not in question.later:
            return self.now(group)
        found = self.reading.slice_at(group, question.instant)
        reader = replace(self.reader, snapshot=replace(self.reader.snapshot, instant=question.instant))
        return iter(()) if found is None else self.entries.keys_of(reader, found)

    def since_base(self, group: Group) -> Iterator[pa.Array]:
        """Of every row that a slice since the base has in any of its files: an entry may be made of each."""
        for found in self.reading.slices_since_base(group):
            for rows in self.reader.stored_rows_of(found):
                for batch in rows.to_batches():
                    yield self.entries.of(batch, f"{found.partition or '.'}/{found.file_id}")


@dataclass(frozen=True, slots=True)
class _Slices:
    """`Grounds`: the current slices of file groups."""

    slices: Mapping[Group, FileSlice | None]

    def stand(self, reading: Reading) -> bool:
        return all(reading.slice_of(group) == found for group, found in self.slices.items())


def beside_partitioned(table: Table, name: str) -> Unsupported:
    """What is said of a secondary index on a table whose record index is, or is to be, kept by partition."""
    return Unsupported(
        f"{table.storage.location}: {name} leads to record keys, and the table's record index is kept by partition, in "
        "which a key alone is not found. Build a global record index instead, or leave this out."
    )


def _groups_of(reading: Reading, keys: pa.Array) -> frozenset[Group]:
    """Where the records are that these entries are of, as the record index knows, which every such table has."""
    _, records = split_secondary_keys(keys)
    found = reading.metadata.index(IndexKind.RECORD_INDEX.value).find(pc.cast(records, pa.large_string()))
    return frozenset(zip(found["partition"].to_pylist(), found["file_id"].to_pylist(), strict=True))


def _together(pieces: Iterable[pa.Array]) -> pa.Array:
    return pc.unique(pa.concat_arrays([NO_KEYS, *pieces]))


def _minus(keys: pa.Array, others: pa.Array) -> pa.Array:
    return keys.filter(pc.invert(pc.is_in(keys, others)))
