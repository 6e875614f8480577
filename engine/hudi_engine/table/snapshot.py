"""What a reader at one instant sees of a table: file slices, and their rows as Arrow."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.parquet_file import batches, open_parquet
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.config import TableConfig
from hudi_engine.table.conform import RECORD_KEY, conform
from hudi_engine.table.file_view import BaseFile, FileSlice, FileView
from hudi_engine.table.interleave import interleave
from hudi_engine.table.log_changes import DeleteMarker, LogReader
from hudi_engine.table.merge import merge
from hudi_engine.table.merge_mode import MergeRule, merge_rule
from hudi_engine.table.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The slices that a reader at `instant` sees, with the timeline and the view that say so."""

    instant: str
    timeline: Timeline
    view: FileView
    slices: tuple[FileSlice, ...]

    @staticmethod
    def of_no_slices(timeline: Timeline, view: FileView) -> "Snapshot":
        """What is committed by now, for who asks of rows what they are and not where."""
        return Snapshot(max(view.visible_instants, default=""), timeline, view, ())


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads rows of slices. `schema` has the columns that the caller gets; `whole` those of the table."""

    storage: Storage
    config: TableConfig
    whole: pa.Schema
    schema: pa.Schema
    snapshot: Snapshot

    def tables(self) -> Iterator[pa.Table]:
        """Rows in pieces, as many slices at once as there are cores; the same order each time.

        A slice without logs comes in pieces of some ten thousand rows, one with logs whole.
        """
        return interleave((partial(self.rows_of, found) for found in self.snapshot.slices), os.cpu_count() or 1)

    def rows_of(self, found: FileSlice) -> Iterator[pa.Table]:
        """The rows of one slice, its logs merged in."""
        if found.base_file is not None and not found.log_files:
            yield from self._base(found.base_file, self.schema)
        else:
            yield self._merged(found)

    def named_keys(self, found: FileSlice) -> Iterator[pa.ChunkedArray]:
        """The record keys that the files of a slice name: of rows it has, had, or has deleted; some several times."""
        keys = pa.schema([self.whole.field(RECORD_KEY)])
        if found.base_file is not None:
            for rows in self._base(found.base_file, keys):
                yield rows[RECORD_KEY]
        if found.log_files:
            reader = LogReader(self.storage, keys, (), delete_marker(self.config), self._is_valid)
            yield pa.chunked_array([reader.changes(found.log_files).keys])

    def stored_rows_of(self, found: FileSlice) -> Iterator[pa.Table]:
        """The rows that files of a slice hold, whether they still count or not; a key may have several."""
        if found.base_file is not None:
            yield from self._base(found.base_file, self.schema)
        if found.log_files:
            reader = LogReader(self.storage, self.schema, (), delete_marker(self.config), self._is_valid)
            yield reader.changes(found.log_files).rows

    def _merged(self, found: FileSlice) -> pa.Table:
        rule = self._rule()
        wanted = self._with_columns((RECORD_KEY, *rule.ordering))
        reader = LogReader(self.storage, wanted, rule.ordering, delete_marker(self.config), self._is_valid)
        changes = reader.changes(found.log_files)
        pieces = [] if found.base_file is None else self._base(found.base_file, wanted)
        base = pa.concat_tables([wanted.empty_table(), *pieces])
        if len(changes):
            base = merge(base, changes, rule)
        return base.select(self.schema.names)

    def _rule(self) -> MergeRule:
        """The table's rule; an ordering field that is no column (0.15's default is `ts`) tells no row from another."""
        rule = merge_rule(self.config)
        if nested := [name for name in rule.ordering if "." in name]:
            raise Unsupported(
                f"rows are ordered by {', '.join(nested)}, inside of a column. Read this table with Spark."
            )
        ordering = tuple(name for name in rule.ordering if name in self.whole.names)
        for field in map(self.whole.field, ordering):
            if pa.types.is_nested(field.type):
                raise Unsupported(f"rows are ordered by {field.name}, of the type {field.type}, which has no order")
        return replace(rule, ordering=ordering)

    def _base(self, base: BaseFile, schema: pa.Schema) -> Iterator[pa.Table]:
        path = base.stat.path
        try:
            file = open_parquet(StoredFile(self.storage, path, base.stat.size_bytes))
            stored = [name for name in schema.names if name in file.schema_arrow.names]
            for rows in batches(file, stored):
                yield conform(rows, schema, path)
        except CorruptFile as corrupt:
            raise corrupt.in_file(path) from corrupt

    def _with_columns(self, names: Sequence[str]) -> pa.Schema:
        """The wanted columns and those that merging needs."""
        extra = [self.whole.field(name) for name in dict.fromkeys(names) if name not in self.schema.names]
        return pa.schema([*self.schema, *extra])

    def _is_valid(self, instant: str) -> bool:
        """A block counts if its commit completed, and not after the instant that is read."""
        return instant <= self.snapshot.instant and self.snapshot.view.completions.is_completed(instant)


def delete_marker(config: TableConfig) -> DeleteMarker | None:
    """By which column of its own, if any, rows of this table say that they are deletions."""
    for prefix in ("hoodie.record.merge.property.", ""):
        column = config.properties.get(f"{prefix}hoodie.payload.delete.field")
        value = config.properties.get(f"{prefix}hoodie.payload.delete.marker")
        if column and value:
            return DeleteMarker(column, value)
    return None
