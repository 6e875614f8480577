"""The entries of one shard to its HFile."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa

from hudi_engine.compute.duplicates import Duplicates, newest, ranks_of, refuse_duplicates, told, unique
from hudi_engine.compute.order import ENTRIES, BuildOrder, Built, ShardFile
from hudi_engine.compute.shard_names import ShardAttempt
from hudi_engine.format.hfile.write import Recipe, hfile_chunks
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.protocol import Storage
from hudi_engine.storage.scratch import room_in
from hudi_engine.watch import Watch

_PART_BYTES: Final = 1 << 20
_FOR: Final = (
    "an HFile before it is copied to the table",
    "Make room, or let TMPDIR name a folder on a larger disk, and build again.",
)


def values_of(order: BuildOrder) -> Any:
    """For each slice, by its number, the value of the entries of all its rows."""
    values = (order.entries.value_of(found, order.table_version, order.zone) for found in order.slices)
    return pa.array(values, pa.large_binary())


def recipe_of(table_version: int, created_ms: int, threads: int = 1) -> Recipe:
    """How the HFiles of an index are made for a table of this version."""
    return Recipe(WRITTEN_SCHEMA[table_version], created_ms, threads=threads)


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of one shard: its file if it has keys, and the keys that several rows have.

    Unless the newest of these is kept there is no file because of them.
    """

    file: ShardFile | None
    duplicates: Duplicates


@dataclass(frozen=True, slots=True)
class ShardWriter:
    """Writes any shard of one index. It can be sent to another process.

    With `ranks`, by slice, the newest row of each key counts.
    """

    values: Any
    recipe: Recipe
    ranks: Any = None

    @classmethod
    def of(cls, order: BuildOrder) -> "ShardWriter":
        ranks = ranks_of(order.slices) if order.entries.keeps_newest else None
        return cls(values_of(order), recipe_of(order.table_version, order.created_ms), ranks)

    def write(self, run: Iterable[Any], target: ShardAttempt, storage: Storage, scratch: Path) -> ShardResult:
        """The HFile made of a run. Whether there is to be one is known at its end only."""
        duplicates = Duplicates()
        once = unique(run, duplicates) if self.ranks is None else newest(run, duplicates, self.ranks)
        with hfile_of(self._entries(once), self.recipe, scratch) as made:
            is_refused = duplicates.rows and self.ranks is None
            file = None if is_refused else made.create(target, storage)
        return ShardResult(file, duplicates)

    def _entries(self, run: Iterable[Any]) -> Iterator[Any]:
        for piece in run:
            yield pa.record_batch([piece["key"], self.values.take(piece["slice"])], schema=ENTRIES)


def built_of(files: Iterable[ShardFile], found: Duplicates, order: BuildOrder, storage: Storage, watch: Watch) -> Built:
    """The result of all shards; `Contradiction` if keys that have several rows are refused."""
    if not order.entries.keeps_newest:
        refuse_duplicates(found, order.slices, storage.location)
    elif found.rows:
        watch.say(f"{told(found, order.slices)}. Of each key the row that was written last is indexed")
    ascending = sorted(files, key=lambda file: file.file_id)
    return Built(tuple(ascending), sum(file.entries for file in ascending), found.keys)


@contextmanager
def hfile_of(entries: Iterable[Any], recipe: Recipe, scratch: Path) -> Iterator["MadeHFile"]:
    """The HFile of these batches, in a nameless file below `scratch`: of a process that dies nothing is left."""
    counted = _Counted()
    with tempfile.TemporaryFile(dir=scratch) as file:
        with room_in(scratch, *_FOR):
            file.writelines(hfile_chunks(counted.of(entries), recipe))
            file.flush()
        yield MadeHFile(file, counted.entries)


@dataclass(frozen=True, slots=True)
class MadeHFile:
    """An HFile that is not in the table yet."""

    file: IO[bytes]
    entries: int

    def create(self, target: ShardAttempt, storage: Storage) -> ShardFile | None:
        """Puts it into the data table's `storage`, unless it has no entries."""
        if not self.entries:
            return None
        size_bytes = self.file.tell()
        self.file.seek(0)
        storage.create_in_parts(f"{FOLDER}/{target.path}", iter(partial(self.file.read, _PART_BYTES), b""))
        return ShardFile(target.file_id, target.path, size_bytes, self.entries)


@dataclass(slots=True)
class _Counted:
    """Batches, counted as they go by."""

    entries: int = 0

    def of(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            self.entries += len(batch)
            yield batch
