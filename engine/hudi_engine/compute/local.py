"""An index of rows built by threads of this process, in bounded memory."""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Final

import pyarrow as pa

from hudi_engine.compute.duplicates import Duplicates
from hudi_engine.compute.file_entries import Room, build_of_files
from hudi_engine.compute.keys import require_stored_keys
from hudi_engine.compute.order import BuildOrder, Built, FileOrder
from hudi_engine.compute.runs import SliceKeys, run_of, schema_of
from hudi_engine.compute.shard import ShardResult, ShardWriter, built_of
from hudi_engine.compute.shard_names import Group, ShardAttempt, groups_of, shard_file_ids
from hudi_engine.compute.spill import Spill
from hudi_engine.compute.split import split_all
from hudi_engine.compute.threads import in_threads
from hudi_engine.storage.protocol import Storage
from hudi_engine.watch import Watch

# The spill holds up to two times its limit, and as much again is needed to sort and to write.
_PARTS: Final = 4
# So many rows of a shard go by before memory is given back: what is given back too often is asked for again.
_ROWS_KEPT: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class LocalCompute:
    """`Compute` by so many threads. Beyond `memory_bytes` keys are kept below `scratch` until they are written.

    Beside those bytes each thread holds what it reads of a file at a time (a slice with logs whole).
    """

    threads: int
    memory_bytes: int
    scratch: Path

    def build(self, order: BuildOrder, storage: Storage, watch: Watch) -> Built:
        require_stored_keys(order.reader.config, storage.location)
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="index-") as folder:
            spill = Spill(Path(folder), self.memory_bytes // _PARTS, schema_of(order.entries), run_of)
            self._read(order, spill, watch)
            return self._write(order, spill, storage, watch, Path(folder))

    def build_of_files(self, order: FileOrder[Any], storage: Storage, watch: Watch) -> Built:
        return build_of_files(order, storage, watch, Room(self.memory_bytes, self.scratch))

    def _read(self, order: BuildOrder, spill: Spill[SliceKeys], watch: Watch) -> None:
        groups = groups_of(order.shard_counts)
        # The largest first, so that no thread is left alone with one in the end.
        numbers = sorted(range(len(order.slices)), key=lambda number: -order.slices[number].size_bytes)
        watch.begin("read record keys", len(numbers))
        partitions = [found.partition if order.is_partitioned else None for found in order.slices]
        works = (partial(_read_slice, order, number, groups[partitions[number]], spill) for number in numbers)
        with closing(in_threads(self.threads, works)) as done:
            for rows in done:
                watch.advance(1, rows)

    def _write(
        self, order: BuildOrder, spill: Spill[SliceKeys], storage: Storage, watch: Watch, scratch: Path
    ) -> Built:
        writer = ShardWriter.of(order)
        targets = [
            ShardAttempt(file_id, place, order.attempt, 0, order.instant, order.entries.index)
            for place, file_id in enumerate(shard_file_ids(order.shard_counts, order.entries.index))
        ]
        watch.begin("write shards", len(targets))
        files, duplicates = [], Duplicates()
        write = partial(writer.write, storage=storage, scratch=scratch)
        works = (partial(_write_shard, write, target, spill) for target in targets)
        with closing(in_threads(self.threads, works)) as done:
            for result in done:
                duplicates.add(result.duplicates)
                if result.file is not None:
                    files.append(result.file)
                watch.advance(1, 0 if result.file is None else result.file.entries)
        return built_of(files, duplicates, order, storage, watch)


def _read_slice(order: BuildOrder, number: int, group: Group, spill: Spill[SliceKeys], is_over: Event) -> int:
    """How many rows the slice has; their keys are in the spill."""
    rows, entries = 0, order.entries
    for parts in split_all(entries.keys_of(order.reader, order.slices[number]), group, entries.hashed):
        if is_over.is_set():
            break
        spill.add([(place, SliceKeys(keys, number)) for place, keys in parts])
        rows += sum(len(part.keys) for part in parts)
    _give_back()
    return rows


def _give_back() -> None:
    """Arrow keeps for a thread what others let go of that it made: without this, as much as a whole shard takes."""
    pa.default_memory_pool().release_unused()


def _write_shard(
    write: Callable[[Iterator[Any], ShardAttempt], ShardResult],
    target: ShardAttempt,
    spill: Spill[SliceKeys],
    is_over: Event,
) -> ShardResult:
    result = write(_until(is_over, spill.run(target.place)), target)
    _give_back()
    return result


def _until(is_over: Event, run: Iterator[Any]) -> Iterator[Any]:
    """The run, given up in the middle if the build has failed elsewhere: half of it must not become a file."""
    rows = 0
    for piece in run:
        if is_over.is_set():
            raise CancelledError
        yield piece
        rows += len(piece)
        if rows >= _ROWS_KEPT:
            _give_back()
            rows = 0
