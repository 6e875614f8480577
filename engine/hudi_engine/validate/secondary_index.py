"""A secondary index against the values of its column: each row has one entry, under the value that it has now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.keys import NULL_VALUE, secondary_keys, split_secondary_keys
from hudi_engine.index.secondary_values import Column
from hudi_engine.index.shard import Shard
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader
from hudi_engine.validate.compare import ROOM, Room, Sides, Source, suspects
from hudi_engine.validate.data_rows import Flags, key_sizes, pieces_of, reader_of
from hudi_engine.validate.fingerprints import Numbers, combined, fingerprints
from hudi_engine.validate.meeting import Dispute, Row, Terms, disputes
from hudi_engine.validate.report import Discrepancy, Fault, place_of
from hudi_engine.validate.secondary_entries import Parts, Spelling
from hudi_engine.validate.secondary_values import column_of, prints
from hudi_engine.validate.sketch import Prints
from hudi_engine.validate.spill import suspect_rows
from hudi_engine.validate.subject import Subject, unless_files_vanish

_TERMS = Terms(("key",), ("value",))
# In the place of a null's fingerprint.
_NULL = np.uint64(0x6E756C6C6E756C6C)


def check_secondary_index(subject: Subject, name: str, room: Room = ROOM) -> Iterator[Discrepancy]:
    """What a secondary index and the data files disagree about, by record key within a part of them.

    Each entry must have a row with its record key and value, and each row an entry, in the shard where a look-up
    searches. Of a sample, entries count whose record key is in the sample; eight bytes are held for each such key.
    """
    index = subject.metadata.index(name)
    column = column_of(subject, index)
    is_spread_by_value = index.definition is not None and index.definition.version is IndexVersion.V2
    reader = reader_of(subject, (column.top,), name)
    data = [partial(_rows, reader, column, found) for found in subject.slices]
    judge = _Judge(name, column)
    with unless_files_vanish():
        sample = _sampled_keys(data) if subject.is_sample else None
        shards = [
            _Where(shard, number, Spelling(column, is_spread_by_value, len(group)))
            for group in index.groups.values()
            for number, shard in enumerate(group)
        ]
        sides = Sides(data, [partial(_entries, where, sample) for where in shards])
        for part in suspects(sides, subject.watch, room):
            for dispute in disputes(part, _TERMS):
                yield from judge.judged(dispute)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one file group: record keys, and the column at whose top the values are."""

    keys: pa.Array
    stored: pa.Array
    column: Column
    found: FileSlice

    def prints(self) -> Prints:
        keys = fingerprints(self.keys)
        whole = _whole(keys, prints(self.column, self.stored), self.column.is_null(self.stored))
        return Prints(keys, whole, 2 * key_sizes(self.keys))

    def kept(self, chosen: Flags) -> pa.Table:
        rows = pa.array(chosen)
        columns = {"key": self.keys.filter(rows), "value": self.column.texts(self.stored.filter(rows))}
        place = {"partition": self.found.partition, "file_id": self.found.file_id}
        return suspect_rows({**columns, **place}, int(chosen.sum()))


def _rows(reader: RowReader, column: Column, found: FileSlice) -> Iterator["_Rows"]:
    for batch in pieces_of(reader, found):
        rows = batch
        if not column.has_nulls:
            rows = batch.filter(pa.array(~column.is_null(batch.column(column.top))))
        yield _Rows(rows.column(RECORD_KEY), rows.column(column.top), column, found)


@dataclass(frozen=True, slots=True)
class _Where:
    """The shard that entries are in, and its place among those of its index."""

    shard: Shard
    number: int
    spelling: Spelling


@dataclass(frozen=True, slots=True)
class _Entries:
    """Some entries of one shard; of a sample, those of other record keys count for nothing."""

    entries: pa.Array
    where: _Where
    sample: Numbers | None

    def prints(self) -> Prints:
        parts = self._parts()
        whole = _whole(parts.keys, parts.values, parts.is_null)
        whole = np.where(parts.shards == self.where.number, whole, ~whole)
        whole[self._outside(parts)] = 0
        return Prints(parts.keys, whole, 2 * key_sizes(self.entries))

    def kept(self, chosen: Flags) -> pa.Table:
        few = _Entries(self.entries.filter(pa.array(chosen)), self.where, self.sample)
        parts = few._parts()
        values, keys = split_secondary_keys(few.entries)
        shard = self.where.shard.file_slice.file_id
        flaws = np.full(len(keys), None, object)
        flaws[parts.shards != self.where.number] = f"in the shard {shard}, where no look-up searches for it"
        column = self.where.spelling.column
        columns = {
            "key": keys,
            "value": column.agreed(values),
            "flaw": pa.array(flaws, pa.large_string()),
            "is_outside": pa.array(few._outside(parts)),
        }
        return suspect_rows(columns, len(keys))

    def _parts(self) -> Parts:
        try:
            return self.where.spelling.parts(self.entries)
        except CorruptFile as corrupt:
            shard = self.where.shard.file_slice
            raise corrupt.in_file(place_of(shard.partition, shard.file_id)) from corrupt

    def _outside(self, parts: Parts) -> Flags:
        return np.zeros(len(parts.keys), bool) if self.sample is None else ~np.isin(parts.keys, self.sample)


def _entries(where: _Where, sample: Numbers | None) -> Iterator["_Entries"]:
    for table in where.shard.scan():
        for batch in table.combine_chunks().to_batches():
            entries = batch.column("key")
            if not where.spelling.column.has_nulls:
                entries = entries.filter(pc.invert(pc.starts_with(entries, f"{NULL_VALUE}$")))
            yield _Entries(entries, where, sample)


def _whole(keys: Numbers, values: Numbers, is_null: Flags) -> Numbers:
    """The fingerprint of a record key and its value; a null is no empty text."""
    return combined(keys, np.where(is_null, _NULL, values))


def _sampled_keys(data: Sequence[Source]) -> Numbers:
    """The fingerprints of the sample's record keys."""
    return np.concatenate([np.zeros(0, np.uint64), *(piece.prints().keys for source in data for piece in source())])


@dataclass(frozen=True, slots=True)
class _Judge:
    """Says what is to be said about record keys of one index."""

    name: str
    column: Column

    def judged(self, dispute: Dispute) -> Iterator[Discrepancy]:
        """An entry in the place of another is one wrong entry, not two faults."""
        rows = {row.value: row for row in dispute.rows}
        entries: dict[str | None, list[Row]] = {}
        for entry in dispute.entries:
            entries.setdefault(entry.value, []).append(entry)
        missing = [value for value in rows if value not in entries]
        ghosts = [value for value in entries if value not in rows]
        for value, found in entries.items():
            place = rows[value].place if value in rows else ""
            key = self._key(value, dispute)
            if len(found) > 1:
                yield Discrepancy(self.name, Fault.DUPLICATE, key, place, f"{len(found)} entries", "one entry")
            elif found[0].flaw is not None and value in rows:
                yield Discrepancy(self.name, Fault.WRONG, key, place, str(found[0].flaw), "it in its own shard")
        for wanted, ghost in zip(missing, ghosts, strict=False):
            told = f"an entry {self._key(ghost, dispute)!r}"
            yield self._unmet(Fault.WRONG, dispute, rows[wanted], told)
        for wanted in missing[len(ghosts) :]:
            yield self._unmet(Fault.MISSING, dispute, rows[wanted], "no entry")
        for ghost in ghosts[len(missing) :]:
            yield self._ghost(dispute, ghost)

    def _unmet(self, fault: Fault, dispute: Dispute, row: Row, found: str) -> Discrepancy:
        return Discrepancy(self.name, fault, self._key(row.value, dispute), row.place, found, "this entry")

    def _ghost(self, dispute: Dispute, value: str | None) -> Discrepancy:
        place, told = "", "no row with this record key"
        for row in dispute.rows[:1]:
            place, told = row.place, f"the value {self.column.spelled(row.value)!r}"
        return Discrepancy(self.name, Fault.GHOST, self._key(value, dispute), place, "an entry", told)

    def _key(self, value: str | None, dispute: Dispute) -> str:
        """The key of an entry as the index spells it."""
        values = pa.array([self.column.spelled(value)], pa.large_string())
        key: str = secondary_keys(values, pa.array([dispute.key]))[0].as_py()
        return key
