"""What the engine writes into a metadata table is what every release reads there, keeps, and goes on from.

Built here piece by piece, without a lock or a plan: base files under one of the engine's own times, and logs under
times just below commits of the data that Java left out of the index.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest

from hudi_engine.action.definitions_file import write_definition
from hudi_engine.action.flags import flag_complete, flag_in_flight
from hudi_engine.action.metadata_commit import (
    INITIAL,
    UPDATE,
    MetadataCommit,
    WrittenFile,
    begin_metadata_commit,
    ensure_partition_metafile,
    run_metadata_commit,
)
from hudi_engine.action.metadata_disable import disable_metadata_table
from hudi_engine.action.metadata_files import build_metadata_table
from hudi_engine.action.metadata_instants import log_instant, solo_instant
from hudi_engine.action.metadata_logs import LogOrder, ShardChange, write_init_logs, write_logs
from hudi_engine.action.site import Site
from hudi_engine.clock import SystemClock
from hudi_engine.compute.local import LocalCompute
from hudi_engine.concurrency.heartbeat import Heartbeats, Lease
from hudi_engine.concurrency.in_process import InProcessLocks
from hudi_engine.concurrency.owner import Owner
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.format.names import BaseFileName, parse_base_file, parse_log_file
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.entries import WRITTEN_SCHEMA, value_of
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.zone import at_time, to_ms
from hudi_engine.watch import Unwatched
from tests.java.jvm import Jvm
from tests.kit.soak import and_in_soak

Location = tuple[str, str]
Located = Mapping[str, Location]
_TYPES = and_in_soak(["MERGE_ON_READ"], ["COPY_ON_WRITE"])
INDEX = "record_index"
SHARDS = tuple(f"record-index-{number:04d}-0" for number in range(3))
NOBODYS = "5fef950f-d85c-4083-8a08-7df520c80eb9-0"
NEWEST_VERSION = {"0.15.0": 6, "1.0.2": 8, "1.1.1": 9, "1.2.0": 9}
UNINDEXED = {"metadata__enable": "false"}
INDEXED = {"index__type": "RECORD_INDEX", "metadata__record__index__enable": "true"}
COMPACTING = INDEXED | {"metadata__compact__max__delta__commits": "1"}
# A writer that does not know of the index by itself: it finds it in flight, and moves records between partitions.
MOVING = {
    "index__type": "GLOBAL_BLOOM",
    "bloom__index__update__partition__path": "true",
    "metadata__record__index__enable": "true",
    "metadata__index__async": "true",
}


@dataclass(frozen=True, slots=True)
class Shared:
    """A table that Java and the engine write in turn."""

    jvm: Jvm
    folder: str
    kind: tuple[int, str]

    def write(
        self, numbers: Iterable[int], options: Mapping[str, str], partition: str = "", how: str = "upsert"
    ) -> str:
        rows = [{"id": key(n), "part": partition or f"p{n % 2}", "seen": n} for n in numbers]
        return str(self.jvm.write_rows(folder=self.folder, kind=self.kind, rows=rows, how=how, **options))

    def site(self) -> Site:
        storage, clock, owner = LocalStorage(self.folder), SystemClock(), Owner("engine", "host", "1")
        return Site(
            storage=storage,
            clock=clock,
            conf={},
            lock=InProcessLocks().of(self.folder, owner),
            heartbeats=Heartbeats(storage, clock, Lease(60_000, 2)),
            owner=owner,
            compute=LocalCompute(1, 64 << 20, Path(self.folder)),
            watch=Unwatched(),
        )

    def metadata(self) -> MetadataTable:
        return self.site().metadata()

    def truth(self) -> dict[str, Location]:
        """Where each row is; a key that is there twice is a writer's that did not find it in the index."""
        table = self.site().table()
        snapshot = table.snapshot()
        reader = table.rows(snapshot, [RECORD_KEY])
        found: dict[str, Location] = {}
        for each in snapshot.slices:
            for rows in reader.rows_of(each):
                for name in rows[RECORD_KEY].to_pylist():
                    assert name not in found, f"{name} is in {found[name]} and in {each.file_id}"
                    found[name] = (each.partition, each.file_id)
        return found

    def by_java(self) -> dict[str, Location]:
        """What Java's own reader finds in the index of all keys that a test may write."""
        with TemporaryDirectory() as scratch:
            asked, found = Path(scratch, "keys.json"), Path(scratch, "found")
            asked.write_text(json.dumps([key(number) for number in range(1000)]))
            self.jvm.metadata_lookup(table=self.folder, keys_file=str(asked), out=str(found))
            lines = [json.loads(line) for line in found.read_text().splitlines()]
        return {line["key"]: (line["partition"], line["file_id"]) for line in lines}


@pytest.mark.parametrize("table_type", _TYPES)
def test_java_goes_on_with_a_metadata_table_an_index_and_logs_of_ours(
    real_hudi: Jvm, table_type: str, tmp_path: Path
) -> None:
    table = Shared(real_hudi, str(tmp_path / "table"), (NEWEST_VERSION[real_hudi.version], table_type))
    table.write(range(100), UNINDEXED, how="insert")
    table.write(range(90, 130), UNINDEXED)

    assert build_metadata_table(table.site())
    assert listed_by_java(table) == files_in_folders(table)

    based_on = table.truth()
    left_out = table.write(range(300, 340), {}, how="insert")
    assert listed_by_java(table) == files_in_folders(table)
    publish(table, based_on)
    before = table.truth()
    moved = table.write(range(300, 306), MOVING, partition="p9")
    assert table.truth() != before
    # What the commit that was left out put where, except, in layout 1, what has gone elsewhere since: there logs
    # merge as they come, so that ours would win over Java's own of a later commit.
    late = {name: place for name, place in before.items() if name not in based_on}
    if table.kind[0] == 6:
        late = {name: place for name, place in late.items() if table.truth()[name] == place}
    add_logs(table, left_out, late, ())
    flag_complete(table.metadata().data, [INDEX])
    assert table.by_java() == table.truth()

    table.write([*range(3), *range(320, 325), *range(500, 510)], INDEXED)
    assert table.by_java() == table.truth()
    table.write([*range(20, 25), *range(304, 307)], COMPACTING, how="delete")
    table.write([*range(310, 313), *range(520, 530)], COMPACTING)
    assert table.by_java() == table.truth()

    # Below a commit that the base files have taken in by now, and that is true of no row: only to be told apart.
    add_logs(table, moved, {}, [key(500)])
    add_logs(table, moved, {key(501): ("p7", NOBODYS)}, ())
    told = {name: place for name, place in table.truth().items() if name != key(500)} | {key(501): ("p7", NOBODYS)}
    assert table.by_java() == told
    table.write(range(600, 605), COMPACTING)
    more = {name: place for name, place in table.truth().items() if name >= key(600)}
    assert table.by_java() == told | more


def test_java_makes_a_metadata_table_of_its_own_where_ours_was_taken_away(real_hudi: Jvm, tmp_path: Path) -> None:
    table = Shared(real_hudi, str(tmp_path / "table"), (NEWEST_VERSION[real_hudi.version], "MERGE_ON_READ"))
    table.write(range(100), INDEXED, how="insert")

    disable_metadata_table(table.site())
    assert not (Path(table.folder) / ".hoodie/metadata/.hoodie/hoodie.properties").exists()
    table.write(range(90, 120), INDEXED)

    assert listed_by_java(table) == files_in_folders(table)
    assert table.by_java() == table.truth()


def key(number: int) -> str:
    return f"k-{number:04d}"


def publish(table: Shared, located: Located) -> None:
    """The index made of these entries, in flight."""
    metadata = table.metadata()
    instant, version = solo_instant(metadata, ()), table.kind[0]
    files = list(write_init_logs(metadata, INDEX, SHARDS, instant))
    for number, change in enumerate(changes_of(metadata, located, ()).values()):
        data = write_hfile(change.puts, Recipe(WRITTEN_SCHEMA[version], 0))
        path = f"{INDEX}/{BaseFileName(SHARDS[number], f'{number}-1-0', instant, 'hfile')}"
        metadata.table.storage.create(path, data)
        files.append(WrittenFile(INDEX, SHARDS[number], path, len(data), len(change.puts)))
    ensure_partition_metafile(metadata, INDEX, instant)
    write_definition(
        metadata.data,
        IndexDefinition(INDEX, IndexKind.RECORD_INDEX, INDEX, options={"isPartitioned": "false"}),
    )
    run_metadata_commit(
        metadata, MetadataCommit(instant, INITIAL, tuple(files), {"hudi.engine.plan": "1"}), now(metadata)
    )
    flag_in_flight(metadata.data, [INDEX])


def add_logs(table: Shared, below: str, puts: Located, deletes: Collection[str]) -> None:
    """Entries put and deleted by a commit just below one of the data."""
    metadata = table.metadata()
    instant = log_instant(metadata, INDEX, below)
    begin_metadata_commit(metadata, MetadataCommit(instant, UPDATE))
    files = write_logs(metadata, LogOrder(INDEX, instant, 1, 0), changes_of(metadata, puts, deletes))
    run_metadata_commit(metadata, MetadataCommit(instant, UPDATE, files), now(metadata))


def changes_of(metadata: MetadataTable, puts: Located, deletes: Collection[str]) -> dict[str, ShardChange]:
    written_ms = to_ms(metadata.data_timeline.writes()[-1].requested_at, metadata.data.zone)
    assert written_ms is not None
    version, changes = metadata.table.config.version, {}
    for number, shard in enumerate(SHARDS):
        names = of_shard(puts, number)
        values = [value_of(*puts[name], written_ms, version) for name in names]
        entries = {
            "key": pa.array([name.encode() for name in names], pa.large_binary()),
            "value": pa.array(values, pa.large_binary()),
        }
        changes[shard] = ShardChange(pa.table(entries), of_shard(deletes, number))
    return changes


def of_shard(names: Iterable[str], number: int) -> list[str]:
    ordered = sorted(names)
    places = shard_numbers(pa.array(ordered, pa.large_string()), len(SHARDS))
    return [name for name, place in zip(ordered, places, strict=True) if place == number]


def now(metadata: MetadataTable) -> InstantTime:
    return at_time(metadata.data.clock.now_ms(), metadata.data.zone)


def listed_by_java(table: Shared) -> dict[str, dict[str, int]]:
    return dict(table.jvm.listed_files(table=table.folder))


def files_in_folders(table: Shared) -> dict[str, dict[str, int]]:
    return {
        partition: {
            file.name: file.size_bytes for file in files if parse_base_file(file.name) or parse_log_file(file.name)
        }
        for partition, files in table.site().table().partitions().items()
    }
