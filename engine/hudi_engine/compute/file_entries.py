"""An index with entries for each data file, or each partition, built by threads of this process, in bounded memory."""

import io
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa

from hudi_engine.compute.order import ENTRIES, Built, FileOrder, ShardFile, Source
from hudi_engine.compute.shard import recipe_of
from hudi_engine.compute.shard_names import ShardAttempt, shard_file_ids
from hudi_engine.compute.sort import sort_order
from hudi_engine.compute.threads import in_threads
from hudi_engine.errors import NotFound
from hudi_engine.format.hfile.write import hfile_chunks
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.protocol import Storage, is_remote
from hudi_engine.storage.scratch import room_in
from hudi_engine.watch import Watch

# What footers say is put together by one core at a time; more threads only help where a store answers slowly. Of each
# thread so many are in memory at a time, and one with a large filter has half a megabyte.
_READERS, _AT_ONCE = 2, 64
_REMOTE_READERS, _AT_ONCE_REMOTE = 16, 16
_FOR = (
    "the entries of an index that do not fit into memory",
    "Make room, or let TMPDIR name a folder on a larger disk, or allow more memory, and build again.",
)


@dataclass(frozen=True, slots=True)
class Room:
    """What building may use: beyond `memory_bytes` entries are kept below `scratch` until they are written.

    One shard's entries are in memory while its file is made.
    """

    memory_bytes: int
    scratch: Path


def build_of_files(order: FileOrder[Any], storage: Storage, watch: Watch, room: Room) -> Built:
    """Every shard's HFile. Of what vanished meanwhile, because somebody cleaned it, there are no entries."""
    with tempfile.TemporaryDirectory(dir=room.scratch, prefix="index-") as folder:
        waiting = _Waiting(Path(folder), room.memory_bytes)
        watch.begin("read data files", len(order.sources))
        readers, most = (_REMOTE_READERS, _AT_ONCE_REMOTE) if is_remote(storage) else (_READERS, _AT_ONCE)
        at_once = max(1, min(most, len(order.sources) // (4 * readers)))
        parts = (order.sources[at : at + at_once] for at in range(0, len(order.sources), at_once))
        works = (partial(_read, order, part, waiting) for part in parts)
        with closing(in_threads(readers, works)) as done:
            for sources, entries in done:
                watch.advance(sources, entries)
        file_ids = shard_file_ids({None: order.shard_count}, order.entries.index)
        watch.begin("write shards", len(file_ids))
        files = []
        for place, file_id in enumerate(file_ids):
            target = ShardAttempt(file_id, place, order.attempt, 0, order.instant, order.entries.index)
            if (written := _write(order, target, waiting.take(place), storage)) is not None:
                files.append(written)
            watch.advance(1, 0 if written is None else written.entries)
    return Built(tuple(files), sum(file.entries for file in files))


def _read(order: FileOrder[Source], sources: Sequence[Source], waiting: "_Waiting", is_over: Event) -> tuple[int, int]:
    """How many sources it has read and, of what is still there, how many entries they have."""
    looked = []
    for source in sources:
        if is_over.is_set():
            return 0, 0
        with suppress(NotFound):
            looked.append(order.entries.look(source))
    entries = order.entries.of(looked)
    if len(entries):
        waiting.add(entries, shard_numbers(entries["key"], order.shard_count))
    return len(sources), len(entries)


def _write(order: FileOrder[Any], target: ShardAttempt, entries: pa.Table, storage: Storage) -> ShardFile | None:
    if not len(entries):
        return None
    file = io.BytesIO()
    for chunk in hfile_chunks(entries.to_batches(), recipe_of(order.table_version, order.created_ms, threads=2)):
        file.write(chunk)
    size_bytes = file.tell()
    storage.create(f"{FOLDER}/{target.path}", file.getvalue())
    return ShardFile(target.file_id, target.path, size_bytes, len(entries))


@dataclass(slots=True)
class _Waiting:
    """Entries by the place of their shard, added by any number of threads."""

    folder: Path
    limit_bytes: int
    entries: dict[int, list[pa.Table]] = field(default_factory=dict)
    size_bytes: int = 0
    files: list[tuple[int, Path]] = field(default_factory=list)
    adding: threading.Lock = field(default_factory=threading.Lock)

    def add(self, entries: pa.Table, places: Any) -> None:
        with self.adding:
            for place in np.unique(places).tolist():
                some = entries.filter(pa.array(places == place))
                self.entries.setdefault(place, []).append(some)
                self.size_bytes += some.nbytes
            if self.size_bytes > self.limit_bytes:
                self._spill()

    def take(self, place: int) -> pa.Table:
        """All entries of one shard, once, in the order of their keys."""
        parts = [ENTRIES.empty_table(), *self.entries.pop(place, []), *self._spilled(place)]
        entries = pa.concat_tables(parts).combine_chunks()
        keys = entries["key"].combine_chunks()
        return entries.take(pa.array(sort_order(keys)))

    def _spill(self) -> None:
        for place, parts in self.entries.items():
            path = self.folder / f"{place}-{len(self.files)}.arrow"
            with room_in(self.folder, *_FOR), pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, ENTRIES) as out:
                for part in parts:
                    out.write_table(part)
            self.files.append((place, path))
        self.entries.clear()
        self.size_bytes = 0

    def _spilled(self, place: int) -> Iterator[pa.Table]:
        for of, path in self.files:
            if of == place:
                with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
                    yield reader.read_all()
