"""An index with entries for each data file, or each partition, built by threads of this process, in bounded memory."""

import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa

from hudi_engine.compute.order import ENTRIES, Built, FileOrder
from hudi_engine.compute.runs import run_of_entries
from hudi_engine.compute.shard import hfile_of, recipe_of
from hudi_engine.compute.shard_names import ShardAttempt, shard_file_ids
from hudi_engine.compute.spill import Spill
from hudi_engine.compute.threads import in_threads
from hudi_engine.errors import NotFound
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.storage.protocol import Storage, is_remote
from hudi_engine.watch import Watch

# What footers say is put together by one core at a time; more threads only help where a store answers slowly. Of each
# thread so many are in memory at a time, or fewer that are large: a filter may have half a megabyte.
_READERS, _AT_ONCE = 2, 64
_REMOTE_READERS, _AT_ONCE_REMOTE = 16, 16
# The spill holds up to two times its limit, and as much again is needed to sort, and to read.
_PARTS = 4


@dataclass(frozen=True, slots=True)
class Room:
    """What building may use: entries that take more than `memory_bytes` are kept below `scratch` meanwhile."""

    memory_bytes: int
    scratch: Path


def build_of_files(order: FileOrder[Any], storage: Storage, watch: Watch, room: Room) -> Built:
    """Every shard's HFile. Of what vanished meanwhile, because somebody cleaned it, there are no entries."""
    with tempfile.TemporaryDirectory(dir=room.scratch, prefix="index-") as folder:
        spill = Spill(Path(folder), room.memory_bytes // _PARTS, ENTRIES, run_of_entries)
        watch.begin("read data files", len(order.sources))
        readers, most = (_REMOTE_READERS, _AT_ONCE_REMOTE) if is_remote(storage) else (_READERS, _AT_ONCE)
        at_once = max(1, min(most, len(order.sources) // (4 * readers)))
        parts = (order.sources[at : at + at_once] for at in range(0, len(order.sources), at_once))
        reading = _Reading(order, spill, room.memory_bytes // _PARTS // readers)
        with closing(in_threads(readers, (partial(reading.read, part) for part in parts))) as done:
            for sources, entries in done:
                watch.advance(sources, entries)
        file_ids = shard_file_ids({None: order.shard_count}, order.entries.index)
        recipe = recipe_of(order.table_version, order.created_ms, threads=2)
        watch.begin("write shards", len(file_ids))
        files = []
        for place, file_id in enumerate(file_ids):
            target = ShardAttempt(file_id, place, order.attempt, 0, order.instant, order.entries.index)
            with hfile_of(spill.run(place), recipe, Path(folder)) as made:
                written = made.create(target, storage)
            if written is not None:
                files.append(written)
            watch.advance(1, made.entries)
    return Built(tuple(files), sum(file.entries for file in files))


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads sources, each thread so many at a time that about `held_bytes` are in memory."""

    order: FileOrder[Any]
    spill: Spill[pa.Table]
    held_bytes: int

    def read(self, sources: Sequence[Any], is_over: Event) -> tuple[int, int]:
        """How many sources it has read and, of what is still there, how many entries they have."""
        read, entries, held_bytes = self.order.entries, 0, 0
        looked: list[Any] = []
        for source in sources:
            if is_over.is_set():
                return 0, 0
            with suppress(NotFound):
                looked.append(read.look(source))
                held_bytes += read.size_of(looked[-1])
            if held_bytes > self.held_bytes:
                entries += self._add(looked)
                looked, held_bytes = [], 0
        return len(sources), entries + self._add(looked)

    def _add(self, looked: Sequence[Any]) -> int:
        entries = self.order.entries.of(looked)
        places = shard_numbers(entries["key"], self.order.shard_count) if len(entries) else np.empty(0, np.int64)
        self.spill.add((place, entries.filter(pa.array(places == place))) for place in np.unique(places).tolist())
        return len(entries)
