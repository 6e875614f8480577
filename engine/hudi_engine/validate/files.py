"""The index `files` against a listing of the storage: every partition, every data file, every size."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.format.names import parse_base_file, parse_log_file
from hudi_engine.index.index import Index
from hudi_engine.index.keys import ALL_PARTITIONS
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.name_ids import partition_identifier, partition_of_identifier
from hudi_engine.validate.batches import in_batches
from hudi_engine.validate.data_files import DataFile, DataFiles, blocks_of
from hudi_engine.validate.report import Discrepancy, Fault, place_of
from hudi_engine.validate.subject import Subject

_NAME = IndexKind.FILES
# An object store answers one look-up in some 50 ms, and the rows of a partition may be some ten thousand.
_PARTITIONS_AT_ONCE = 64


def check_files(subject: Subject) -> Iterator[Discrepancy]:
    """Every disagreement between the listing and the index, of a sample those about its file groups."""
    index = subject.metadata.index(_NAME)
    files = DataFiles(subject)
    listed = _names_of(index.find(_keys([ALL_PARTITIONS])))
    looked_at = sorted({found.partition for found in subject.slices}) if subject.is_sample else list(files.listings)
    for partitions in in_batches(looked_at, _PARTITIONS_AT_ONCE):
        rows = _rows_by_partition(index.find(_keys(map(partition_identifier, partitions))))
        for partition in partitions:
            sizes = rows.get(partition, {})
            subject.watch.advance(len(sizes))
            yield from _partition_row(files, partition, listed)
            yield from _files_of(subject, files, partition, sizes)
    if not subject.is_sample:
        yield from _ghost_partitions(subject, files, index, listed)


def _partition_row(files: DataFiles, partition: str, listed: Mapping[str, int]) -> Iterator[Discrepancy]:
    identifier = partition_identifier(partition)
    if identifier not in listed and any(True for _ in files.committed(partition)):
        yield Discrepancy(_NAME, Fault.MISSING, ALL_PARTITIONS, identifier, "nothing", "the partition: it has files")


def _files_of(subject: Subject, files: DataFiles, partition: str, sizes: Mapping[str, int]) -> Iterator[Discrepancy]:
    stored = {file.stat.name: file for file in files.of(partition)}
    for name, file in stored.items():
        if name not in sizes:
            if files.is_committed(file):
                yield _missing(file)
        elif sizes[name] != file.stat.size_bytes and not _grew_since(subject, files, file, sizes[name]):
            yield _wrong(file, sizes[name])
    for name in sorted(sizes.keys() - stored.keys()):
        if _is_looked_at(files, partition, name) and (partition, name) not in files.doomed:
            yield _ghost(partition, name, sizes[name])


def _is_looked_at(files: DataFiles, partition: str, name: str) -> bool:
    """A name that is no data file's belongs to no file group, so that a sample does not look at it."""
    parsed = parse_base_file(name) or parse_log_file(name)
    return files.is_looked_at(partition, "" if parsed is None else parsed.file_id)


def _grew_since(subject: Subject, files: DataFiles, file: DataFile, known_bytes: int) -> bool:
    """In layout 1 a writer may append to a log: what a commit in flight, or one that failed, put behind counts not."""
    if not files.is_shared_log(file) or known_bytes > file.stat.size_bytes:
        return False
    blocks = blocks_of(subject.table.storage, file.stat)
    behind = [block for block in blocks if block.offset >= known_bytes]
    is_border = bool(behind) and behind[0].offset == known_bytes
    return is_border and not any(map(files.is_committed_block, behind))


def _ghost_partitions(
    subject: Subject, files: DataFiles, index: Index, listed: Mapping[str, int]
) -> Iterator[Discrepancy]:
    """Partitions that the storage does not have: in the list of all, and those with files of their own."""
    for identifier in listed:
        partition = partition_of_identifier(identifier)
        if partition not in files.listings and (partition, "") not in files.doomed:
            yield Discrepancy(_NAME, Fault.GHOST, ALL_PARTITIONS, identifier, "the partition", "none: no such folder")
    known = pa.array([ALL_PARTITIONS, *map(partition_identifier, files.listings)], pa.large_string())
    for rows in index.scan():
        unknown = rows.filter(pc.invert(pc.is_in(rows["key"], known)))
        subject.watch.advance(len(rows))
        for partition, sizes in _rows_by_partition(unknown).items():
            for name, size_bytes in sizes.items():
                if (partition, name) not in files.doomed:
                    yield _ghost(partition, name, size_bytes)


def _missing(file: DataFile) -> Discrepancy:
    return _about(Fault.MISSING, file.partition, file.stat.name, "nothing", f"{file.stat.size_bytes} bytes")


def _wrong(file: DataFile, size_bytes: int) -> Discrepancy:
    return _about(Fault.WRONG, file.partition, file.stat.name, f"{size_bytes} bytes", f"{file.stat.size_bytes} bytes")


def _ghost(partition: str, name: str, size_bytes: int) -> Discrepancy:
    return _about(Fault.GHOST, partition, name, f"{size_bytes} bytes", "nothing: no such file")


def _about(fault: Fault, partition: str, name: str, found: str, expected: str) -> Discrepancy:
    return Discrepancy(_NAME, fault, partition_identifier(partition), place_of(partition, name), found, expected)


def _keys(identifiers: Iterable[str]) -> pa.Array:
    return pa.array(list(identifiers), pa.large_string())


def _names_of(rows: pa.Table) -> dict[str, int]:
    return dict(zip(rows["name"].to_pylist(), rows["size_bytes"].to_pylist(), strict=True))


def _rows_by_partition(rows: pa.Table) -> dict[str, dict[str, int]]:
    """Names and sizes by partition."""
    found: dict[str, dict[str, int]] = {}
    columns = (rows[name].to_pylist() for name in ("key", "name", "size_bytes"))
    for identifier, name, size_bytes in zip(*columns, strict=True):
        found.setdefault(partition_of_identifier(identifier), {})[name] = size_bytes
    return found
