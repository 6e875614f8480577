"""The record index against the record keys of the data: each key has one row, one entry, and the entry is right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.name_ids import partition_of_identifier
from hudi_engine.index.shard import Shard
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader
from hudi_engine.table.zone import at_time
from hudi_engine.validate.compare import ROOM, Piece, Room, Sides, suspects
from hudi_engine.validate.data_rows import Flags, key_sizes, pieces_of, place_prints, reader_of
from hudi_engine.validate.fingerprints import Numbers, combined, fingerprints
from hudi_engine.validate.meeting import Dispute, Row, Terms, disputes
from hudi_engine.validate.outside import with_rows_outside
from hudi_engine.validate.report import Discrepancy, DuplicateKey, Fault
from hudi_engine.validate.sketch import Prints
from hudi_engine.validate.spill import suspect_rows
from hudi_engine.validate.subject import Subject, unless_files_vanish

_NAME = IndexKind.RECORD_INDEX


def check_record_index(subject: Subject, room: Room = ROOM) -> Iterator[Discrepancy | DuplicateKey]:
    """What the record index and the data files disagree about, key by key; in the order of keys within a part of them.

    An entry is right if it names a file group that has the key, lies in the shard where a look-up searches, and is of
    a completed instant: another one was written by a commit that failed or was rolled back. A key that has several
    rows and not as many entries is told as such beside what is wrong with its entry, if anything is.
    """
    subject.table.require_certain_zone()
    index = subject.metadata.index(_NAME)
    is_partitioned = None not in index.groups
    reader = reader_of(subject, (), _NAME)
    sample = _sampled_places(subject) if subject.is_sample else None
    sides = Sides(
        data=[partial(_rows, reader, found) for found in subject.slices],
        index=[
            partial(_entries, _Where(subject, shard, group, number, len(shards)), sample)
            for group, shards in index.groups.items()
            for number, shard in enumerate(shards)
        ],
    )
    terms = Terms(("key", "partition") if is_partitioned else ("key",), ("partition", "file_id"))
    with unless_files_vanish():
        for part in suspects(sides, subject.watch, room):
            for dispute in with_rows_outside(subject, reader, disputes(part, terms)):
                yield from _judged(dispute)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Record keys of one file group."""

    keys: pa.Array
    found: FileSlice

    def prints(self) -> Prints:
        keys = fingerprints(self.keys)
        place = place_prints(pa.array([self.found.partition]), pa.array([self.found.file_id]))
        return Prints(keys, combined(keys, place), key_sizes(self.keys))

    def kept(self, chosen: Flags) -> pa.Table:
        keys = self.keys.filter(pa.array(chosen))
        return suspect_rows({"key": keys, "partition": self.found.partition, "file_id": self.found.file_id}, len(keys))


def _rows(reader: RowReader, found: FileSlice) -> Iterator[Piece]:
    for batch in pieces_of(reader, found):
        yield _Rows(batch.column(RECORD_KEY), found)


@dataclass(frozen=True, slots=True)
class _Where:
    """The shard that entries are in: of which data partition's group, and its place among the shards of that."""

    subject: Subject
    shard: Shard
    group: str | None
    number: int
    shards: int
    # What is known of instants, in milliseconds: None if they are completed, else what is wrong.
    seen: dict[int, str | None] = field(default_factory=dict)

    def misplaced(self, entries: pa.RecordBatch) -> Flags:
        """Which entries are not looked for in this shard."""
        here: Flags = shard_numbers(entries.column("key"), self.shards) == self.number
        if self.group is not None:
            partition = partition_of_identifier(self.group)
            here &= pc.equal(entries.column("partition"), partition).to_numpy(zero_copy_only=False)
        return ~here

    def bad_instants(self, entries: pa.RecordBatch) -> Mapping[int, str]:
        """The instants that no reader trusts, and why; pieces have few different ones."""
        moments = pc.unique(entries.column("instant_ms")).to_pylist()
        for moment in moments:
            if moment not in self.seen:
                self.seen[moment] = self._fault_of(moment)
        return {moment: fault for moment in moments if (fault := self.seen[moment]) is not None}

    def _fault_of(self, moment_ms: int) -> str | None:
        try:
            instant = at_time(moment_ms, self.subject.table.zone)
        except (Contradiction, ValueError):
            return f"an instant {moment_ms} ms after 1970, which is in no calendar"
        completions = self.subject.snapshot.view.completions
        # An instant of whole seconds, as old releases have them, is taken for the last millisecond of its second.
        names = [instant, instant[:14]] if instant.endswith("999") else [instant]
        return None if any(map(completions.is_completed, names)) else f"the instant {instant}, which is not completed"


@dataclass(frozen=True, slots=True)
class _Entries:
    """Some entries of one shard; of a sample, those that point elsewhere count for nothing."""

    entries: pa.RecordBatch
    where: _Where
    sample: Numbers | None

    def prints(self) -> Prints:
        keys = fingerprints(self.entries.column("key"))
        whole = combined(keys, self._places())
        if (flaws := self._flaws()).any():
            whole = np.where(flaws, ~whole, whole)
        if self.sample is not None:
            whole[self._outside()] = 0
        return Prints(keys, whole, key_sizes(self.entries.column("key")))

    def kept(self, chosen: Flags) -> pa.Table:
        rows = pa.array(chosen)
        few = _Entries(self.entries.filter(rows), self.where, self.sample)
        columns = {name: few.entries.column(name) for name in ("key", "partition", "file_id")}
        outside = False if self.sample is None else pa.array(few._outside())
        return suspect_rows({**columns, "flaw": few._told_flaws(), "is_outside": outside}, few.entries.num_rows)

    def _places(self) -> Numbers:
        return place_prints(self.entries.column("partition"), self.entries.column("file_id"))

    def _outside(self) -> Flags:
        return ~np.isin(self._places(), self.sample if self.sample is not None else [])

    def _flaws(self) -> Flags:
        flaws = self.where.misplaced(self.entries)
        if bad := self.where.bad_instants(self.entries):
            flaws |= _is_in(self.entries.column("instant_ms"), bad)
        return flaws

    def _told_flaws(self) -> pa.Array:
        """What is wrong with each entry, null for those that are fine."""
        told = np.full(self.entries.num_rows, None, object)
        for moment, fault in self.where.bad_instants(self.entries).items():
            told[_is_in(self.entries.column("instant_ms"), {moment: fault})] = fault
        shard = self.where.shard.file_slice.file_id
        told[self.where.misplaced(self.entries)] = f"an entry in the shard {shard}, where no look-up searches for it"
        return pa.array(told, pa.large_string())


def _entries(where: _Where, sample: Numbers | None) -> Iterator[Piece]:
    for table in where.shard.scan():
        for batch in table.combine_chunks().to_batches():
            yield _Entries(batch, where, sample)


def _is_in(moments: pa.Array, some: Mapping[int, str]) -> Flags:
    found: Flags = pc.is_in(moments, pa.array(list(some), pa.int64())).to_numpy(zero_copy_only=False)
    return found


def _sampled_places(subject: Subject) -> Numbers:
    partitions = pa.array([found.partition for found in subject.slices], pa.string())
    return place_prints(partitions, pa.array([found.file_id for found in subject.slices], pa.string()))


def _judged(dispute: Dispute) -> Iterator[Discrepancy | DuplicateKey]:
    """What is to be said about one key."""
    rows, entries = dispute.rows, dispute.entries
    if len(rows) > 1:
        yield DuplicateKey(dispute.key)
    if len(entries) > 1:
        yield _said(Fault.DUPLICATE, dispute, entries[0].place, f"entries for {_all(entries)}", "one entry")
    if not entries:
        yield _said(Fault.MISSING, dispute, rows[0].place, "no entry", f"an entry for {rows[0].place}")
    elif not rows:
        yield _said(Fault.GHOST, dispute, entries[0].place, f"an entry for {_all(entries)}", "none: no such row")
    else:
        yield from _wrong(dispute, {row.place for row in rows})


def _wrong(dispute: Dispute, places: set[str]) -> Iterator[Discrepancy]:
    """Nothing if one entry at least is right."""
    here, entry = dispute.rows[0].place, dispute.entries[0]
    if any(entry.place in places and entry.flaw is None for entry in dispute.entries):
        return
    if entry.place in places:
        yield _said(Fault.WRONG, dispute, here, str(entry.flaw), "a completed instant, in the key's shard")
    else:
        yield _said(Fault.WRONG, dispute, here, f"an entry for {entry.place}", f"an entry for {here}")


def _all(rows: Sequence[Row]) -> str:
    return ", ".join(row.place for row in rows)


def _said(fault: Fault, dispute: Dispute, place: str, found: str, expected: str) -> Discrepancy:
    return Discrepancy(_NAME, fault, dispute.key, place, found, expected)
