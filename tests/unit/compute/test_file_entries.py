"""Indexes made of files are the same to the byte however little memory there is, and take no more than that."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import HandClock
from hudi_engine.compute.column_stats import StatsReader
from hudi_engine.compute.entries_of_files import BloomFilterEntries, ColumnStatsEntries
from hudi_engine.compute.local import LocalCompute
from hudi_engine.compute.order import Built, DataFile, EntriesOf, FileOrder
from hudi_engine.compute.shard_names import shard_file_ids
from hudi_engine.format.bloom import Sizing, build_bloom_filter
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import FileStat
from tests.unit.compute.tables import SOLO, file_id

FILES, SHARDS = 60, 2
FILTER = build_bloom_filter(pa.array(["a"]), Sizing(1000, 1e-9, None)).to_text().encode()
COLUMNS = ("name", "number")


def entries_of(index: str, storage: MemoryStorage) -> EntriesOf[DataFile, Any]:
    if index == "bloom_filters":
        return BloomFilterEntries(storage, 9)
    return ColumnStatsEntries(StatsReader(storage, COLUMNS, IndexVersion.V2, lambda _: True), 9)


@dataclass(frozen=True)
class Table:
    """Data files in memory, each with a bloom filter in its footer and two columns."""

    storage: MemoryStorage
    files: tuple[DataFile, ...]

    @classmethod
    def of(cls, count: int) -> "Table":
        storage = MemoryStorage(HandClock())
        return cls(storage, tuple(_data_file(storage, number) for number in range(count)))

    def build(self, entries: EntriesOf[DataFile, Any], attempt: int, compute: LocalCompute, watch: "Folders") -> Built:
        order = FileOrder(entries, self.files, SHARDS, SOLO, attempt, 9, 1)
        return compute.build_of_files(order, self.storage, watch)

    def shards(self, built: Built) -> list[bytes]:
        return [self.storage.read(f"{FOLDER}/{file.path}") for file in built.files]


def _data_file(storage: MemoryStorage, number: int) -> DataFile:
    partition, name = f"p{number % 3}", f"{file_id(number)}_0-1-1_{SOLO}.parquet"
    out = io.BytesIO()
    rows = pa.table({"name": [f"{number}-a", f"{number}-b"], "number": [number, -number]})
    pq.write_table(rows.replace_schema_metadata({"org.apache.hudi.bloomfilter": FILTER}), out)
    storage.create(f"{partition}/{name}", out.getvalue())
    return DataFile(partition, FileStat(f"{partition}/{name}", len(out.getvalue()), 0))


@dataclass
class Folders:
    """`Watch` that sees which files wait in the scratch folder as the work goes on."""

    scratch: Path
    seen: set[str] = field(default_factory=set)

    def begin(self, phase: str, total: int | None = None) -> None:
        self.advance(0)

    def advance(self, steps: int, rows: int = 0) -> None:
        self.seen |= {file.name.partition("-")[0] for file in self.scratch.rglob("*.arrow")}

    def say(self, what: str) -> None: ...


@pytest.mark.parametrize("index", ["bloom_filters", "column_stats"])
def test_files_are_the_same_to_the_byte_if_runs_wait_on_disk_and_are_merged_in_several_rounds(
    index: str, tmp_path: Path
) -> None:
    table = Table.of(FILES)
    entries = entries_of(index, table.storage)
    roomy, tiny = Folders(tmp_path), Folders(tmp_path)

    in_memory = table.build(entries, 1, LocalCompute(2, 1 << 30, tmp_path), roomy)
    on_disk = table.build(entries, 2, LocalCompute(2, 1, tmp_path), tiny)

    assert (roomy.seen, tiny.seen) == (set(), {"run", "merged"})
    assert table.shards(on_disk) == table.shards(in_memory)
    assert on_disk.keys == in_memory.keys == FILES * (1 if index == "bloom_filters" else len(COLUMNS))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("index", ["bloom_filters", "column_stats"])
def test_every_entry_is_in_the_shard_of_its_key_in_byte_order(index: str, tmp_path: Path) -> None:
    table = Table.of(FILES)
    entries = entries_of(index, table.storage)

    built = table.build(entries, 1, LocalCompute(2, 1 << 18, tmp_path), Folders(tmp_path))

    expected = entries.of([entries.look(file) for file in table.files]).sort_by("key")
    numbers = shard_numbers(expected["key"], SHARDS)
    assert [file.file_id for file in built.files] == list(shard_file_ids({None: SHARDS}, index))
    for number, shard in enumerate(table.shards(built)):
        assert read_hfile(shard, 1).entries.to_pylist() == expected.filter(pa.array(numbers == number)).to_pylist()


@dataclass
class Counted:
    """`EntriesOf` numbers, each of which takes ten bytes, that counts how many are held at a time."""

    index: str = "bloom_filters"
    held: int = 0
    most: int = 0
    lock: Any = field(default_factory=Lock)

    def look(self, source: DataFile) -> str:
        with self.lock:
            self.held += 1
            self.most = max(self.most, self.held)
        return source.stat.name

    def size_of(self, looked: str) -> int:
        return 10

    def of(self, looked: Sequence[str]) -> pa.Table:
        with self.lock:
            self.held -= len(looked)
        keys = pa.array(sorted(name.encode() for name in looked), pa.large_binary())
        return pa.table({"key": keys, "value": keys})


@pytest.mark.parametrize(("memory_bytes", "most"), [(1 << 20, 128), (8 * 40, 10)])
def test_no_more_files_are_held_than_there_is_room_for(memory_bytes: int, most: int, tmp_path: Path) -> None:
    entries = Counted()
    files = tuple(DataFile("p", FileStat(f"{number:04d}", 1, 0)) for number in range(600))

    built = Table(MemoryStorage(HandClock()), files).build(
        entries, 1, LocalCompute(2, memory_bytes, tmp_path), Folders(tmp_path)
    )

    assert 0 < entries.most <= most
    assert built.keys == 600


def test_a_table_without_files_gets_no_shard(tmp_path: Path) -> None:
    table = Table.of(0)

    built = table.build(entries_of("bloom_filters", table.storage), 1, LocalCompute(2, 1, tmp_path), Folders(tmp_path))

    assert (built.files, built.keys) == ((), 0)
