"""Tables in memory whose data files hold record keys and nothing else, and what was built of them."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.clock import HandClock
from hudi_engine.compute.keys import RecordKeys
from hudi_engine.compute.order import BuildOrder, Built
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.names import parse_base_file
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.index.payloads import family_of
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.config import parse_config
from hudi_engine.table.conform import COMMIT_TIME, RECORD_KEY, with_meta_columns
from hudi_engine.table.file_view import BaseFile, Completions, FileSlice, FileView
from hudi_engine.table.snapshot import RowReader, Snapshot
from hudi_engine.table.timeline import Timeline

INSTANT = "20260101000000000"
INSTANT_MS = 1_767_225_600_000
SOLO = "00000000000000500"
SCHEMA = pa.schema([pa.field(RECORD_KEY, pa.string())])
DATED_SCHEMA = pa.schema([*SCHEMA, pa.field(COMMIT_TIME, pa.string())])
PROPERTIES = {
    "hoodie.table.name": "trips",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.version": "9",
    "hoodie.timeline.layout.version": "2",
    "hoodie.table.recordkey.fields": "id",
}
Place = tuple[str, str]
Keys = Sequence[str]  # or an Arrow array of any type
Entry = tuple[str, str, str, int]


def file_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}-0"


@dataclass(frozen=True)
class KeyTable:
    """A table of which only the keys matter."""

    storage: MemoryStorage
    reader: RowReader

    @classmethod
    def of(cls, files: Mapping[Place, Keys], properties: Mapping[str, str] | None = None) -> "KeyTable":
        """A base file for each partition and file id, with these keys."""
        storage = MemoryStorage(HandClock())
        slices = tuple(_base_file(storage, place, keys) for place, keys in files.items())
        view = FileView(2, Completions(INSTANT, {INSTANT: INSTANT}), frozenset({INSTANT}), {}, {})
        config = parse_config({**PROPERTIES, **(properties or {})})
        snapshot = Snapshot(INSTANT, Timeline((), {}), view, slices)
        return cls(storage, RowReader(storage, config, with_meta_columns(SCHEMA), SCHEMA, snapshot))

    @classmethod
    def dated(cls, files: Mapping[Place, Sequence[tuple[str, str | None]]]) -> "KeyTable":
        """The same with the commit time of each row beside its key."""
        table = cls.of({place: [key for key, _ in rows] for place, rows in files.items()})
        for found, rows in zip(table.reader.snapshot.slices, files.values(), strict=True):
            assert found.base_file is not None
            columns = {RECORD_KEY: [key for key, _ in rows], COMMIT_TIME: [time for _, time in rows]}
            data = io.BytesIO()
            pq.write_table(pa.table(columns, schema=DATED_SCHEMA), data, row_group_size=1000)
            table.storage.replace(found.base_file.stat.path, data.getvalue())
        snapshot = table.reader.snapshot
        sized = tuple(replace(each, base_file=_sized(table.storage, each.base_file)) for each in snapshot.slices)
        reader = replace(table.reader, schema=DATED_SCHEMA, snapshot=replace(snapshot, slices=sized))
        return cls(table.storage, reader)

    def order_of_newest(self, shard_counts: Mapping[str | None, int]) -> BuildOrder:
        return replace(self.order(shard_counts), entries=RecordKeys(keeps_newest=True))

    def order(self, shard_counts: Mapping[str | None, int], attempt: int = 1) -> BuildOrder:
        slices = self.reader.snapshot.slices
        return BuildOrder(self.reader, slices, shard_counts, SOLO, attempt, 9, ZoneInfo("UTC"), 1)

    def entries(self, built: Built) -> dict[str, list[Entry]]:
        """What our own reader finds in each shard's file, in the order of the file."""
        return {file.file_id: self._entries(file.path, file.size_bytes) for file in built.files}

    def files(self, built: Built) -> dict[str, bytes]:
        return {file.file_id: self.storage.read(f"{FOLDER}/{file.path}") for file in built.files}

    def _entries(self, path: str, size_bytes: int) -> list[Entry]:
        data = self.storage.read(f"{FOLDER}/{path}")
        assert len(data) == size_bytes
        hfile = read_hfile(data, 1)
        rows = family_of(IndexKind.RECORD_INDEX).decode(hfile.entries, hfile.info["schema"].decode())
        columns = [rows[name].to_pylist() for name in ("key", "partition", "file_id", "instant_ms")]
        return list(zip(*columns, strict=True))


def _base_file(storage: MemoryStorage, place: Place, keys: Keys) -> FileSlice:
    partition, group = place
    name = f"{group}_0-1-1_{INSTANT}.parquet"
    path = f"{partition}/{name}" if partition else name
    data = parquet_of(keys if isinstance(keys, pa.Array) else pa.array(keys, pa.string()))
    storage.create(path, data)
    parsed = parse_base_file(name)
    assert parsed is not None
    return FileSlice(partition, group, INSTANT, BaseFile(parsed, FileStat(path, len(data), 0)))


def _sized(storage: MemoryStorage, base: BaseFile | None) -> BaseFile:
    assert base is not None
    return BaseFile(base.name, replace(base.stat, size_bytes=len(storage.read(base.stat.path))))


def parquet_of(keys: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({RECORD_KEY: keys}), out, row_group_size=1000)
    return out.getvalue()
