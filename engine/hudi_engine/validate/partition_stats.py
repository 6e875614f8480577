"""The index `partition_stats` against the values that the files of each partition hold."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.format.instant_names import Action
from hudi_engine.index.index import Index
from hudi_engine.index.keys import partition_stats_key
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.name_ids import NAME_ID_LENGTH, column_id, partition_id, partition_identifier
from hudi_engine.table.file_view import FileSlice
from hudi_engine.validate.bounds import Objection, objections_to_partition, objections_to_wide_partition
from hudi_engine.validate.column_stats import facts_of_files, indexed_columns
from hudi_engine.validate.data_files import DataFile
from hudi_engine.validate.entries import Entry, entries_of
from hudi_engine.validate.ghosts import scanned
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.subject import Subject
from hudi_engine.validate.tally import ColumnFacts

_NAME = IndexKind.PARTITION_STATS


def check_partition_stats(subject: Subject) -> Iterator[Discrepancy]:
    """Every disagreement between the entries of a partition and the rows of its newest files.

    With each commit to a partition Hudi counts all of its newest files anew and calls that tight. Such an entry has to
    be exact, any other to have room for every row; of a sample, for those of the files looked at.
    """
    index = subject.metadata.index(_NAME)
    # The definitions know this index by that of the columns.
    definition = subject.metadata.definitions.get(IndexKind.COLUMN_STATS)
    columns = indexed_columns(index) if definition is None else definition.source_fields
    judge = _Judge(subject, index, columns, _replacements(subject))
    for partition, slices in groupby(subject.slices, key=lambda found: found.partition):
        yield from judge.partition(partition, [file for found in slices for file in _files_of(found)])
    if not subject.is_sample:
        yield from _ghosts(subject, index, columns)


@dataclass(frozen=True, slots=True)
class _Judge:
    subject: Subject
    index: Index
    columns: Sequence[str]
    replacements: frozenset[str]

    def partition(self, partition: str, files: Sequence[DataFile]) -> Iterator[Discrepancy]:
        """What is wrong with the entries of a partition that has these newest files."""
        facts = self._facts(files)
        keys = [partition_stats_key(column, partition) for column in self.columns]
        entries = {entry.key: entry for entry in entries_of(self.index.find(pa.array(keys, pa.large_string())))}
        # Of a partition whose last row was deleted Hudi finds nothing to write, and leaves the entries as they were.
        may_be_wide = self.subject.is_sample or not facts or self._was_replaced_last(files)
        for column, key in zip(self.columns, keys, strict=True):
            entry, place = entries.get(key), partition_identifier(partition)
            if entry is not None and (entry.column_name != column or entry.file_name not in {partition, place}):
                about = f"an entry of {entry.column_name} in {entry.file_name}"
                yield Discrepancy(_NAME, Fault.WRONG, key, place, about, f"one of {column} in {place}")
                continue
            for fault, found, expected in self._judge(entry, facts.get(column), may_be_wide):
                yield Discrepancy(_NAME, fault, key, place, f"{column}: {found}", f"{column}: {expected}")

    def _judge(
        self, entry: Entry | None, facts: ColumnFacts | None, may_be_wide: bool
    ) -> Iterator[tuple[Fault, str, str]]:
        has_values = facts is not None and facts.certain.values > 0 and not facts.may_be_left_out
        if entry is None:
            if facts is not None and has_values:
                yield Fault.MISSING, "nothing", f"statistics of {facts.certain.values} rows"
        elif facts is None:
            if not (may_be_wide or entry.nulls == entry.values):
                yield Fault.GHOST, "statistics", "none: no file of the partition has that column"
        elif wrong := self._objections(entry, facts, may_be_wide):
            found, expected = (", ".join(side) for side in zip(*wrong, strict=True))
            yield Fault.WRONG, found, expected

    def _objections(self, entry: Entry, facts: ColumnFacts, may_be_wide: bool) -> list[Objection]:
        if may_be_wide or not entry.is_tight:
            return objections_to_wide_partition(entry, facts)
        return objections_to_partition(entry, facts)

    def _facts(self, files: Sequence[DataFile]) -> dict[str, ColumnFacts]:
        found: dict[str, ColumnFacts] = {}
        lacking = Counter[str]()
        for of_file in facts_of_files(self.subject, files, self.columns):
            rows = max((facts.possible.values for facts in of_file.values() if not facts.is_repeated), default=0)
            self.subject.watch.advance(rows)
            lacking.update({column: rows for column in self.columns if column not in of_file})
            for column, facts in of_file.items():
                found.setdefault(column, ColumnFacts(kind=facts.kind)).absorb(facts)
        # Of a file from before the column Hudi says nothing, and we that all are nulls.
        for column, facts in found.items():
            facts.possible.values += lacking[column]
            facts.possible.nulls += lacking[column]
        return found

    def _was_replaced_last(self, files: Sequence[DataFile]) -> bool:
        """Whether the newest files are a replacement's.

        Hudi means to leave out what a replacement replaces, and looks for ids of file groups among names of files
        (`getFilesToFetchColumnStats`): until the next commit the entry tells of the replaced rows too.
        """
        completions = self.subject.snapshot.view.completions
        newest = max(files, key=lambda file: completions.time_of(file.name.instant) or "")
        return newest.name.instant in self.replacements


def _replacements(subject: Subject) -> frozenset[str]:
    """When all replacements were requested, archived ones included."""
    instants = (*subject.snapshot.timeline.completed(), *subject.table.history())
    return frozenset(instant.requested_at for instant in instants if instant.action is Action.REPLACE_COMMIT)


def _files_of(found: FileSlice) -> Iterator[DataFile]:
    if found.base_file is not None:
        yield DataFile(found.partition, found.base_file.name, found.base_file.stat)
    for log in found.log_files:
        yield DataFile(found.partition, log.name, log.stat)


def _ghosts(subject: Subject, index: Index, columns: Sequence[str]) -> Iterator[Discrepancy]:
    """Entries of partitions without rows, and of columns that are not indexed.

    Of a partition that a replacement emptied Hudi keeps the entries.
    """
    emptied = {partition for partition, _ in subject.snapshot.view.replaced_at}
    partitions = _ids(partition_id(name) for name in {found.partition for found in subject.slices} | emptied)
    column_ids = _ids(map(column_id, columns))
    for rows, strays in scanned(subject, index):
        yield from strays
        is_known = pc.is_in(pc.utf8_slice_codeunits(rows["key"], NAME_ID_LENGTH), partitions)
        is_indexed = pc.is_in(pc.utf8_slice_codeunits(rows["key"], 0, NAME_ID_LENGTH), column_ids)
        for entry in entries_of(rows.filter(pc.invert(is_known))):
            yield _ghost(entry, "nothing: that partition has no rows")
        for entry in entries_of(rows.filter(pc.and_(is_known, pc.invert(is_indexed)))):
            yield _ghost(entry, "nothing: that column is not indexed")


def _ghost(entry: Entry, expected: str) -> Discrepancy:
    return Discrepancy(_NAME, Fault.GHOST, entry.key, entry.file_name, f"statistics of {entry.column_name}", expected)


def _ids(ids: Iterable[str]) -> pa.Array:
    return pa.array(sorted(set(ids)), pa.large_string())
