"""The keys of one shard to its HFile."""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.compute.duplicates import Duplicates, unique
from hudi_engine.compute.order import ShardFile
from hudi_engine.compute.shard_names import ShardAttempt
from hudi_engine.errors import Unsupported
from hudi_engine.format.hfile.write import Recipe, hfile_chunks
from hudi_engine.index.entries import WRITTEN_SCHEMA, value_of
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.zone import to_ms

_ENTRY: Final = pa.schema([pa.field("key", pa.large_binary()), pa.field("value", pa.large_binary())])


def values_of(slices: Sequence[FileSlice], table_version: int, zone: ZoneInfo) -> Any:
    """For each slice, by its number, the value of the entries of all its keys."""
    return pa.array([_value_of(found, table_version, zone) for found in slices], pa.large_binary())


def recipe_of(table_version: int, created_ms: int, threads: int = 1) -> Recipe:
    """How the HFiles of a record index are made for a table of this version."""
    return Recipe(WRITTEN_SCHEMA[table_version], created_ms, threads=threads)


@dataclass(frozen=True, slots=True)
class ShardResult:
    """What became of one shard: its file if it has keys, or the rows because of which it was not written."""

    file: ShardFile | None
    duplicates: Duplicates


@dataclass(frozen=True, slots=True)
class ShardWriter:
    """Writes any shard of one index. It can be sent to another process."""

    values: Any
    recipe: Recipe

    def write(self, run: Iterable[Any], target: ShardAttempt, storage: Storage) -> ShardResult:
        """The HFile made of a run, whole in memory once and then created in the data table's `storage`."""
        duplicates = Duplicates()
        entries = _Entries(self.values)
        file = io.BytesIO()
        for chunk in hfile_chunks(entries.of(unique(run, duplicates)), self.recipe):
            file.write(chunk)
        if duplicates.count or not entries.count:
            return ShardResult(None, duplicates)
        size_bytes = file.tell()
        storage.create(f"{FOLDER}/{target.path}", file.getvalue())
        return ShardResult(ShardFile(target.file_id, target.path, size_bytes, entries.count), duplicates)


@dataclass(slots=True)
class _Entries:
    """Keys with their values, counted as they go by."""

    values: Any
    count: int = 0

    def of(self, run: Iterable[Any]) -> Iterator[Any]:
        for piece in run:
            self.count += len(piece)
            yield pa.record_batch([piece["key"], self.values.take(piece["slice"])], schema=_ENTRY)


def _value_of(found: FileSlice, table_version: int, zone: ZoneInfo) -> bytes:
    instant_ms = to_ms(found.base_instant, zone)
    if instant_ms is None:
        raise Unsupported(
            f"{found.partition or '.'}/{found.file_id}: its base instant {found.base_instant} names no moment (a "
            "bootstrapped file?), and an entry of a record index holds one. Let Hudi rewrite the file by clustering."
        )
    return value_of(found.partition, found.file_id, instant_ms, table_version)
