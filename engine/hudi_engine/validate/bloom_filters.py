"""The index `bloom_filters` against the filters that the base files carry themselves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.bloom import parse_bloom_filter
from hudi_engine.format.bloom_footer import StoredFilter, filter_in_footer
from hudi_engine.format.parquet_file import batches, open_parquet
from hudi_engine.index.index import Index
from hudi_engine.index.keys import bloom_filter_key
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.validate.batches import in_batches
from hudi_engine.validate.data_files import DataFile, DataFiles
from hudi_engine.validate.ghosts import is_of_known_file, known_file_ids, scanned
from hudi_engine.validate.report import Discrepancy, Fault, place_of
from hudi_engine.validate.subject import Subject, unless_files_vanish

_NAME = IndexKind.BLOOM_FILTERS
# A filter of the usual 60,000 keys has some 430 kB in Base64.
_FILES_AT_ONCE = 32


def check_bloom_filters(subject: Subject) -> Iterator[Discrepancy]:
    """Every base file whose filter the index does not have as it is, and every filter of no such file.

    Hudi copies the filter out of the footer, so that the two are the same, byte by byte. Of a file without one an
    entry need not be there; one that is must contain every key of the file.
    """
    index = subject.metadata.index(_NAME)
    files = DataFiles(subject)
    bases = (file for partition in files.listings for file in files.of(partition) if file.is_base)
    for batch in in_batches(bases, _FILES_AT_ONCE):
        yield from _compare(subject, index, files, batch)
    if not subject.is_sample:
        yield from _ghosts(subject, index, files)


def _compare(subject: Subject, index: Index, files: DataFiles, batch: Sequence[DataFile]) -> Iterator[Discrepancy]:
    keys = [bloom_filter_key(file.partition, file.stat.name) for file in batch]
    rows = {row["key"]: row for row in index.find(pa.array(keys, pa.large_string())).to_pylist()}
    for file, key in zip(batch, keys, strict=True):
        subject.watch.advance(1)
        # A file that is being written is not to be opened; one that a failed commit left need not have an entry.
        fault = _judge(subject, file, rows.get(key)) if key in rows or files.is_committed(file) else None
        if fault is not None:
            kind, found, expected = fault
            yield Discrepancy(_NAME, kind, key, place_of(file.partition, file.stat.name), found, expected)


def _judge(subject: Subject, file: DataFile, row: Mapping[str, Any] | None) -> tuple[Fault, str, str] | None:
    own = _filter_in(subject, file)
    if row is None:
        return None if own is None else (Fault.MISSING, "nothing", f"the file's filter, {_described(own)}")
    entry = StoredFilter(row["bloom_filter"] or b"", row["type"] or "")
    if own is None:
        lost = _keys_not_in(subject, file, entry)
        return lost and (Fault.WRONG, lost, "a filter that contains every key of the file")
    if entry.text != own.text:
        return Fault.WRONG, _described(entry), f"the file's filter, {_described(own)}"
    if entry.type_code.upper() != own.type_code.upper():
        return Fault.WRONG, f"the type {entry.type_code}", f"the type {own.type_code}"
    # An index that was built later has the instant at which it was built.
    newest = max((instant.requested_at for instant in subject.snapshot.timeline.instants), default="")
    instant = row["instant"] or ""
    if not (instant.isdigit() and file.name.instant <= instant <= newest):
        return Fault.WRONG, f"the instant {instant!r}", f"{file.name.instant} or one between it and {newest}"
    return None


def _filter_in(subject: Subject, file: DataFile) -> StoredFilter | None:
    return filter_in_footer(_opened(subject, file).metadata.metadata or {})


def _keys_not_in(subject: Subject, file: DataFile, entry: StoredFilter) -> Any:
    """What is wrong with the filter as one of the file's keys; None if nothing is."""
    try:
        bloom = parse_bloom_filter(entry.text, entry.type_code)
    except (CorruptFile, Unsupported) as unreadable:
        return f"a filter that cannot be read: {unreadable}"
    try:
        for rows in batches(_opened(subject, file), [RECORD_KEY]):
            keys = rows[RECORD_KEY].combine_chunks()
            lost = keys.filter(pc.invert(pa.array(bloom.might_contain(keys))))
            if len(lost):
                return f"a filter that does not contain {lost[0].as_py()!r}"
    except CorruptFile as corrupt:
        raise corrupt.in_file(file.stat.path) from corrupt
    return None


def _opened(subject: Subject, file: DataFile) -> Any:
    if not file.stat.name.endswith(".parquet"):
        raise Unsupported(f"{file.stat.path}: only Parquet is searched for bloom filters. Leave out {_NAME}.")
    try:
        with unless_files_vanish():
            return open_parquet(StoredFile(subject.table.storage, file.stat.path, file.stat.size_bytes))
    except CorruptFile as corrupt:
        raise corrupt.in_file(file.stat.path) from corrupt


def _described(bloom: StoredFilter) -> str:
    return f"{len(bloom.text)} bytes with checksum {crc32(bloom.text):08x}"


def _ghosts(subject: Subject, index: Index, files: DataFiles) -> Iterator[Discrepancy]:
    known = known_file_ids(files)
    for rows, strays in scanned(subject, index):
        yield from strays
        for key in rows["key"].filter(pc.invert(is_of_known_file(rows, known))).to_pylist():
            yield Discrepancy(_NAME, Fault.GHOST, key, "", "a filter", "nothing: no file with this key")
