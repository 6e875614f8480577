"""What building an index will take, reckoned from footers and commits: no row is read."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from hudi_engine.compute.shard_rule import ShardRule
from hudi_engine.errors import CorruptFile, NotFound
from hudi_engine.format.instant_names import Action, instant_file
from hudi_engine.format.parquet_file import open_parquet
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.table.contents import WriteStat, parse_commit
from hudi_engine.table.file_view import BaseFile, FileSlice
from hudi_engine.table.snapshot import RowReader

# So many footers are read at most; the rows of other files are reckoned from their size.
_FOOTERS: Final = 512
_READERS: Final = 16
# Guesses for files of which nobody tells.
_ROW_BYTES: Final = 128
# What of a base file its record keys take, and an entry in an HFile.
_KEYS_SHARE: Final = 0.2
_ENTRY_BYTES: Final = 25
# Measured on two cores: what one of them reads, sorts and writes in a second.
_KEYS_A_SECOND: Final = 1_000_000
_LOG_BYTES_A_SECOND: Final = 10 << 20
# Of a file whose footer is read, and how many such files there are in a second.
_FOOTER_BYTES: Final = 64 << 10
_FILES_A_SECOND: Final = 200
# Rows with logs are in memory as Python has them before they are merged.
_LOG_GROWTH: Final = 10


@dataclass(frozen=True, slots=True)
class Workload:
    """About how many keys there are, by partition, or under None in the whole table, and what must be read for them."""

    keys: Mapping[str | None, int]
    base_bytes: int
    log_bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What a build may use: threads, of this process or of executors, and bytes for keys that wait to be written."""

    threads: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a build will take, about."""

    keys: int
    shards: int
    read_bytes: int
    write_bytes: int
    memory_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FileSizes:
    """How many entries an index has of a file, how large each is, and whether log files have any."""

    entries: int
    entry_bytes: int
    has_logs: bool


def workload_of(reader: RowReader, *, is_partitioned: bool) -> Workload:
    """The rows of all slices that the reader's snapshot has: from footers and, for logs, from what commits say."""
    slices = reader.snapshot.slices
    bases = _rows_of_bases(reader, [found.base_file for found in slices if found.base_file is not None])
    logs = _rows_of_logs(reader) if any(found.log_files for found in slices) else {}
    keys: dict[str | None, int] = {} if is_partitioned else {None: 0}
    for found in slices:
        rows = 0 if found.base_file is None else bases[found.base_file.stat.path]
        for log in found.log_files:
            # A log beside a base file has updates above all.
            guess = 0 if found.base_file is not None else log.stat.size_bytes // _ROW_BYTES
            rows += logs.get(log.stat.path, guess)
        partition = found.partition if is_partitioned else None
        keys[partition] = keys.get(partition, 0) + max(0, rows)
    return Workload(
        keys=keys,
        base_bytes=sum(found.base_file.stat.size_bytes for found in slices if found.base_file is not None),
        log_bytes=sum(log.stat.size_bytes for found in slices for log in found.log_files),
    )


def shard_counts(reader: RowReader, is_partitioned: bool, conf: Mapping[str, str]) -> Mapping[str | None, int]:
    """How many shards the index of the reader's snapshot gets: each partition's or, under None, the table's."""
    rule = ShardRule.of(conf, is_partitioned=is_partitioned)
    keys = workload_of(reader, is_partitioned=is_partitioned).keys
    return {partition: rule.shards(count) for partition, count in keys.items()}


def estimate(reader: RowReader, is_partitioned: bool, conf: Mapping[str, str], limits: Limits) -> Estimate:
    """What a build of the reader's snapshot will take on so many threads."""
    rule = ShardRule.of(conf, is_partitioned=is_partitioned)
    work = workload_of(reader, is_partitioned=is_partitioned)
    keys = sum(work.keys.values())
    shards = {partition: rule.shards(count) for partition, count in work.keys.items()}
    largest_shard = max((work.keys[each] // count for each, count in shards.items()), default=0) * _ENTRY_BYTES
    log_bytes = (sum(log.stat.size_bytes for log in found.log_files) for found in reader.snapshot.slices)
    return Estimate(
        keys=keys,
        shards=sum(shards.values()),
        read_bytes=round(work.base_bytes * _KEYS_SHARE) + work.log_bytes,
        write_bytes=keys * _ENTRY_BYTES,
        memory_bytes=limits.memory_bytes + limits.threads * max(largest_shard, _LOG_GROWTH * max(log_bytes, default=0)),
        seconds=(keys / _KEYS_A_SECOND + work.log_bytes / _LOG_BYTES_A_SECOND) / limits.threads,
    )


def estimate_of_files(slices: Sequence[FileSlice], sizes: FileSizes, shards: int, limits: Limits) -> Estimate:
    """What a build of an index with entries for each file will take; files of former slices count as much again."""
    files = sum((found.base_file is not None) + len(found.log_files) * sizes.has_logs for found in slices)
    keys = files * sizes.entries
    return Estimate(
        keys=keys,
        shards=shards,
        read_bytes=files * _FOOTER_BYTES,
        write_bytes=keys * sizes.entry_bytes,
        memory_bytes=limits.memory_bytes,
        seconds=files / _FILES_A_SECOND,
    )


def _rows_of_bases(reader: RowReader, files: Sequence[BaseFile]) -> Mapping[str, int]:
    """By path the rows of each base file. Of very many files only some are asked, from the smallest to the largest."""
    by_size = sorted(files, key=lambda file: file.stat.size_bytes)
    step = max(1, -(-len(by_size) // _FOOTERS))
    asked = by_size[::step]
    with ThreadPoolExecutor(_READERS) as pool:
        rows = dict(zip(asked, pool.map(lambda file: _rows_of_base(reader, file), asked), strict=True))
    size_bytes = sum(file.stat.size_bytes for file in asked)
    row_bytes = size_bytes / max(1, sum(rows.values()))
    return {file.stat.path: rows.get(file, round(file.stat.size_bytes / row_bytes)) for file in files}


def _rows_of_base(reader: RowReader, file: BaseFile) -> int:
    try:
        footer = open_parquet(StoredFile(reader.storage, file.stat.path, file.stat.size_bytes)).metadata
        return int(footer.num_rows)
    except CorruptFile as corrupt:
        raise corrupt.in_file(file.stat.path) from corrupt


def _rows_of_logs(reader: RowReader) -> Mapping[str, int]:
    """By path the rows that each log file added, less those that it deleted, as far as active commits tell."""
    rows: dict[str, int] = {}
    for stat in _log_stats(reader):
        rows[stat.path] = rows.get(stat.path, 0) + stat.inserts - stat.deletes
    return rows


def _log_stats(reader: RowReader) -> Iterator[WriteStat]:
    for instant in reader.snapshot.timeline.of(Action.DELTA_COMMIT):
        if instant.is_completed:
            path = f"{reader.config.timeline_folder}/{instant_file(instant)}"
            try:
                yield from parse_commit(reader.storage.read(path), instant.action, layout=reader.config.layout).stats
            except NotFound:
                continue  # archived since the timeline was read
            except CorruptFile as corrupt:
                raise corrupt.in_file(path) from corrupt
