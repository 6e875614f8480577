"""What the tasks of a build do: read keys and sort them out by shard, and write the shard that they are given."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipimport import zipimporter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, Broadcast

from hudi_engine.compute.heap import share_heaps
from hudi_engine.compute.keys import DATED
from hudi_engine.compute.order import RowEntries
from hudi_engine.compute.runs import SliceKeys, run_of, schema_of
from hudi_engine.compute.shard import ShardResult, ShardWriter
from hudi_engine.compute.shard_names import Group, ShardAttempt
from hudi_engine.compute.spill import Spill
from hudi_engine.compute.split import ShardKeys, split
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.spark.failures import told_to_driver
from hudi_engine.spark.written_once import WrittenOnce
from hudi_engine.storage.open import open_storage
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.config import TableConfig
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader, Snapshot

# Borders of 32 bits do for a parcel, and are half as many bytes to send.
_PARCEL: Final = pa.schema([pa.field("key", pa.binary()), pa.field("slice", pa.int32())])
_DATED_PARCEL: Final = pa.schema([*_PARCEL, pa.field("written", pa.int64())])
_LARGEST_PARCEL: Final = 1 << 30
# Spark gathers some ten parcels for each shard, and makes their bytes once more, before it lets go of any.
_PARCELS_HELD: Final = 20
# The spill holds up to two times its limit, and as much again to sort from.
_SPILL_PARTS: Final = 4
# What an array costs beyond its values.
_ARRAY_BYTES: Final = 512

Parcel = tuple[int, bytes]
"""The place of a shard, and keys of it with the numbers of their slices as an Arrow stream."""


class NumberedSlice(NamedTuple):
    """A slice and its number among all slices of the build."""

    number: int
    found: FileSlice


@dataclass(frozen=True, slots=True)
class ShippedReader:
    """A reader of rows but for its storage, which each task opens anew, and the slices, which each task is given."""

    location: str
    conf: Mapping[str, str]
    config: TableConfig
    whole: pa.Schema
    schema: pa.Schema
    snapshot: Snapshot

    @classmethod
    def of(cls, reader: RowReader, location: str, conf: Mapping[str, str]) -> "ShippedReader":
        snapshot = replace(reader.snapshot, slices=())
        return cls(location, dict(conf), reader.config, reader.whole, reader.schema, snapshot)

    def storage(self) -> Storage:
        return open_storage(self.location, self.conf)

    def open(self) -> RowReader:
        return RowReader(self.storage(), self.config, self.whole, self.schema, self.snapshot)


@dataclass(frozen=True, slots=True)
class Build:
    """All that the tasks of one build share. A task's keys take about `memory_bytes`; the rest of them is on disk."""

    entries: RowEntries
    reader: ShippedReader
    writer: ShardWriter
    groups: Mapping[str | None, Group]
    targets: tuple[ShardAttempt, ...]
    memory_bytes: int

    def group_of(self, partition: str) -> Group:
        return self.groups[None if None in self.groups else partition]


@dataclass(frozen=True, slots=True)
class Reading:
    """Slices to parcels. `rows` counts keys."""

    build: "Broadcast[Build]"
    rows: "Accumulator[int]"

    def __call__(self, given: Iterable[list[NumberedSlice]]) -> Iterator[Parcel]:
        share_heaps()
        build = self.build.value
        packing = _Packing(min(build.memory_bytes // _PARCELS_HELD, _LARGEST_PARCEL))
        with told_to_driver(), _ready_for_the_next():
            reader = build.reader.open()
            for number, found in (each for slices in given for each in slices):
                group = build.group_of(found.partition)
                for keys in build.entries.keys_of(reader, found):
                    self.rows.add(len(keys))
                    yield from packing.add(split(keys, group, build.entries.hashed), number)
            yield from packing.parcels()


@dataclass(frozen=True, slots=True)
class Writing:
    """Parcels of one shard to its file. `rows` counts keys."""

    build: "Broadcast[Build]"
    rows: "Accumulator[int]"

    def __call__(self, place: int, parcels: Iterable[Parcel]) -> Iterator[ShardResult]:
        share_heaps()
        build = self.build.value
        with told_to_driver(), _ready_for_the_next(), _scratch() as folder:
            spill = Spill(Path(folder), build.memory_bytes // _SPILL_PARTS, schema_of(build.entries), run_of)
            for _, content in parcels:
                _unpack(content, place, spill)
            storage = WrittenOnce(build.reader.storage())
            result = build.writer.write(spill.run(place), build.targets[place], storage, Path(folder))
            if (file := result.file) is not None:
                self.rows.add(file.entries)
                size_bytes = storage.kept_bytes.get(f"{FOLDER}/{file.path}", file.size_bytes)
                result = replace(result, file=replace(file, size_bytes=size_bytes))
            yield result


@dataclass(slots=True)
class _Packing:
    """Keys that wait, by the place of their shard, until they are enough for a parcel each."""

    limit_bytes: int
    waiting: dict[int, list[tuple[Any, int]]] = field(default_factory=dict)
    waiting_bytes: int = 0

    def add(self, shards: Iterable[ShardKeys], number: int) -> Iterator[Parcel]:
        for place, keys in shards:
            self.waiting.setdefault(place, []).append((keys, number))
            self.waiting_bytes += keys.nbytes + _ARRAY_BYTES
        if self.waiting_bytes >= self.limit_bytes:
            yield from self.parcels()

    def parcels(self) -> Iterator[Parcel]:
        for place in sorted(self.waiting):
            yield place, _packed(self.waiting.pop(place))
        self.waiting_bytes = 0


def _packed(gathered: list[tuple[Any, int]]) -> bytes:
    keys = pa.concat_arrays([keys for keys, _ in gathered])
    numbers = np.repeat(np.array([number for _, number in gathered], np.int32), [len(keys) for keys, _ in gathered])
    is_dated = keys.type == DATED
    schema, dates = (_DATED_PARCEL, [keys.field("written")]) if is_dated else (_PARCEL, [])
    plain = pc.cast(keys.field("key") if is_dated else keys, pa.binary())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(pa.record_batch([plain, pa.array(numbers), *dates], schema=schema))
    return bytes(sink.getvalue())


def _unpack(content: bytes, place: int, spill: Spill[SliceKeys]) -> None:
    for batch in pa.ipc.open_stream(content):
        numbers = batch["slice"].to_numpy()
        borders = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        keys = pc.cast(batch["key"], pa.large_binary())
        if batch.schema == _DATED_PARCEL:
            keys = pa.StructArray.from_arrays([keys, batch["written"]], fields=[*DATED])
        for start, end in pairwise(borders):
            spill.add([(place, SliceKeys(keys.slice(start, end - start), int(numbers[start])))])


def _scratch() -> "tempfile.TemporaryDirectory[str]":
    """Where Spark itself keeps what does not fit into memory: it tells the processes of its tasks by this name."""
    folder = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
    return tempfile.TemporaryDirectory(dir=folder, prefix="index-")


@contextmanager
def _ready_for_the_next() -> Iterator[None]:
    """Lets the process begin its next task at once.

    PySpark begins each task by emptying the caches of all importers. Those of archives, of which its own is one, then
    read their archive again, each: a tenth of a second for a task that needs as little. One is made anew when needed.
    """
    try:
        yield
    finally:
        for path, importer in list(sys.path_importer_cache.items()):
            if isinstance(importer, zipimporter):
                del sys.path_importer_cache[path]
