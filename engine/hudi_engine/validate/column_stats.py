"""The index `column_stats` against the values that the data files hold."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.index.index import Index
from hudi_engine.index.keys import column_stats_key
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.name_ids import NAME_ID_LENGTH, column_id
from hudi_engine.validate.batches import in_batches
from hudi_engine.validate.bounds import objections_to_file
from hudi_engine.validate.column_facts import facts_of_base_file, facts_of_log_file
from hudi_engine.validate.data_files import DataFile, DataFiles
from hudi_engine.validate.entries import Entry, entries_of
from hudi_engine.validate.ghosts import is_of_known_file, known_file_ids, scanned
from hudi_engine.validate.report import Discrepancy, Fault, place_of
from hudi_engine.validate.subject import Subject
from hudi_engine.validate.tally import ColumnFacts

_NAME = IndexKind.COLUMN_STATS
# Two thousand keys with the usual dozen of columns: a look-up of some blocks.
_FILES_AT_ONCE = 128
# Waiting for the store takes longer than the work; each holds some ten thousand rows of a file, or one log.
_READERS = 4


@dataclass(frozen=True, slots=True)
class _File:
    file: DataFile
    is_committed: bool
    facts: Mapping[str, ColumnFacts]

    @property
    def rows(self) -> int:
        return max((facts.possible.values for facts in self.facts.values()), default=0)

    @property
    def place(self) -> str:
        return place_of(self.file.partition, self.file.stat.name)


def check_column_stats(subject: Subject) -> Iterator[Discrepancy]:
    """Every disagreement between the entries and the rows of the files that they are about.

    Every committed file is looked at, also those that newer ones have replaced: readers of the past ask for them, until
    the cleaner removes file and entries. What a failed commit left behind need not have entries.
    """
    index = subject.metadata.index(_NAME)
    columns = indexed_columns(index)
    files = DataFiles(subject)
    for batch in _read_files(subject, index, files, columns):
        subject.watch.advance(sum(found.rows for found in batch))
        yield from _compare(index, files, batch, columns)
    if not subject.is_sample:
        yield from _ghosts(subject, index, files, columns)


def indexed_columns(index: Index) -> tuple[str, ...]:
    """The columns that the index is of. Where no definition says so, up to version 6, those that it has entries of."""
    if index.definition is not None and index.definition.source_fields:
        return index.definition.source_fields
    found: set[str] = set()
    for rows in index.scan():
        found.update(rows["column_name"].unique().drop_null().to_pylist())
    return tuple(sorted(found))


def facts_of_files(
    subject: Subject, files: Sequence[DataFile], columns: Sequence[str]
) -> Iterator[Mapping[str, ColumnFacts]]:
    """What each file says of the columns that it has, some files at once."""
    with ThreadPoolExecutor(_READERS) as readers:
        for batch in in_batches(files, _FILES_AT_ONCE):
            yield from readers.map(lambda file: _facts_of(subject, file, columns), batch)


def _facts_of(subject: Subject, file: DataFile, columns: Sequence[str]) -> Mapping[str, ColumnFacts]:
    if file.is_base:
        return facts_of_base_file(subject, file.stat, columns)
    return facts_of_log_file(subject, file.stat, columns)


def _read_files(subject: Subject, index: Index, files: DataFiles, columns: Sequence[str]) -> Iterator[Sequence[_File]]:
    """The files to look at, some at a time, each read on a thread of its own."""
    listed = (file for partition in files.listings for file in files.of(partition))
    with ThreadPoolExecutor(_READERS) as readers:
        for batch in in_batches(listed, _FILES_AT_ONCE):
            found = readers.map(partial(_read_file, subject, index, files, columns), batch)
            yield [each for each in found if each is not None]


def _read_file(
    subject: Subject, index: Index, files: DataFiles, columns: Sequence[str], file: DataFile
) -> _File | None:
    is_committed = not file.is_change_data and files.is_committed(file)
    # A file that is being written is not to be opened.
    if is_committed or len(index.find(_keys_of(file, columns))):
        return _File(file, is_committed, _facts_of(subject, file, columns))
    return None


def _keys_of(file: DataFile, columns: Sequence[str]) -> pa.Array:
    return pa.array([column_stats_key(column, file.partition, file.stat.name) for column in columns], pa.large_string())


def _compare(index: Index, files: DataFiles, batch: Sequence[_File], columns: Sequence[str]) -> Iterator[Discrepancy]:
    keys = [_keys_of(found.file, columns) for found in batch]
    entries = {entry.key: entry for entry in entries_of(index.find(pa.concat_arrays(keys)))}
    for found, its_keys in zip(batch, keys, strict=True):
        pairs = zip(columns, its_keys.to_pylist(), strict=True)
        wrong = [each for column, key in pairs for each in _judge(found, column, key, entries.get(key))]
        # The log is read once more for that, so only where something is missed.
        if any(each.fault is Fault.MISSING for each in wrong) and files.is_of_failed_commits(found.file):
            wrong = [each for each in wrong if each.fault is not Fault.MISSING]
        yield from wrong


def _judge(found: _File, column: str, key: str, entry: Entry | None) -> Iterator[Discrepancy]:
    facts = found.facts.get(column)
    if entry is None:
        if facts is not None and found.is_committed and _must_have_entry(found.file, facts):
            expected = f"statistics of {column} in {facts.certain.values} rows"
            yield Discrepancy(_NAME, Fault.MISSING, key, found.place, "nothing", expected)
        return
    if entry.file_name != found.file.stat.name or entry.column_name != column:
        about = f"an entry of {entry.column_name} in {entry.file_name}"
        yield Discrepancy(_NAME, Fault.WRONG, key, found.place, about, f"one of {column} in {found.file.stat.name}")
        return
    if facts is None:
        if not _says_nothing(entry):
            yield Discrepancy(_NAME, Fault.GHOST, key, found.place, f"statistics of {column}", "none: no such column")
    elif wrong := objections_to_file(entry, facts):
        says, expected = (", ".join(side) for side in zip(*wrong, strict=True))
        yield Discrepancy(_NAME, Fault.WRONG, key, found.place, f"{column}: {says}", f"{column}: {expected}")


def _says_nothing(entry: Entry) -> bool:
    """Of a log, Hudi also counts the rows without a column that came later as so many nulls."""
    return entry.least is None and entry.greatest is None and entry.nulls == entry.values


def _must_have_entry(file: DataFile, facts: ColumnFacts) -> bool:
    """Hudi makes none of what it finds no rows in; and of logs none for types whose bounds it cannot collect there.

    An index of version V1 takes no bytes, fixed and decimals out of rows of Spark.
    """
    if not facts.certain.values or facts.may_be_left_out:
        return False
    kind = facts.kind
    return file.is_base or not (facts.is_repeated or pa.types.is_binary(kind) or pa.types.is_decimal(kind))


def _ghosts(subject: Subject, index: Index, files: DataFiles, columns: Sequence[str]) -> Iterator[Discrepancy]:
    """Entries of no such file; `_compare` finds those of a column that its file does not have.

    Of columns that are not indexed there may be any: a column that writers index no more leaves them, one that is being
    added has them early, and nobody asks for either.
    """
    known = known_file_ids(files)
    ids = pa.array([column_id(column) for column in columns], pa.large_string())
    for rows, strays in scanned(subject, index):
        yield from strays
        is_indexed = pc.is_in(pc.utf8_slice_codeunits(rows["key"], 0, NAME_ID_LENGTH), ids)
        for entry in entries_of(rows.filter(pc.and_(is_indexed, pc.invert(is_of_known_file(rows, known))))):
            about = f"statistics of {entry.column_name}"
            yield Discrepancy(_NAME, Fault.GHOST, entry.key, entry.file_name, about, "nothing: no such file")
