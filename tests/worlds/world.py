"""A small table of real Hudi in memory, with writers that act like Hudi's own, on a clock moved by hand.

Everything that two processes can do to one table happens here in one: `StagedStorage` says when.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import Final
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.action.site import Site
from hudi_engine.compute.local import LocalCompute
from hudi_engine.concurrency.heartbeat import Heartbeats, Lease, Pace, by_hand
from hudi_engine.concurrency.in_process import InProcessLock, InProcessLocks
from hudi_engine.concurrency.owner import Owner
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table, open_table
from hudi_engine.table.zone import at_time, to_ms
from hudi_engine.watch import Unwatched, Watch
from tests.worlds.java_metadata import Location
from tests.worlds.java_rows import Row
from tests.worlds.stage import StagedClock, StagedStorage
from tests.worlds.starts import Files, files_of, put, stored_in

LEASE: Final = Lease(5_000, 4)
WRITERS_LEASE: Final = Lease(60_000, 2)
_UTC: Final = ZoneInfo("UTC")
_IDLE_MS: Final = 60_000
_BETWEEN_MS: Final = 100
CONF: Final = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "2",
    "hoodie.metadata.global.record.level.index.max.filegroup.count": "2",
}


@dataclass(slots=True)
class World:
    """The disk, the time, the lock, and what the table was when the world began."""

    clock: StagedClock
    storage: MemoryStorage
    began_with: Files
    locks: InProcessLocks = field(default_factory=InProcessLocks)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    runs: Iterator[int] = field(default_factory=lambda: count(1))
    conf: Mapping[str, str] = field(default_factory=lambda: CONF)

    def site(self, name: str = "engine", storage: Storage | None = None, watch: Watch | None = None) -> Site:
        """What an engine of this name works with; each has an owner and a lock object of its own."""
        chosen = self.storage if storage is None else storage
        owner = Owner(name, "host", f"{next(self.runs)}")
        return Site(
            storage=chosen,
            clock=self.clock,
            conf=self.conf,
            lock=self.lock(owner),
            heartbeats=Heartbeats(chosen, self.clock, LEASE, self._pace(chosen)),
            owner=owner,
            compute=LocalCompute(1, 64 << 20, Path(gettempdir())),
            watch=Unwatched() if watch is None else watch,
        )

    def _pace(self, storage: Storage) -> Pace:
        """The heart of a process that is on stage beats as time passes; any other beats when it is asked."""
        if not isinstance(storage, StagedStorage):
            return by_hand
        return lambda seconds, beat: self.clock.beating(storage, seconds, beat)

    def lock(self, owner: Owner) -> InProcessLock:
        return self.locks.of(self.storage.location, owner)

    def table(self) -> Table:
        return open_table(self.storage, self.clock, {})

    def metadata(self) -> MetadataTable:
        return open_metadata_table(self.table(), BlockCache(1 << 20))

    def next_time(self) -> InstantTime:
        """A time that nobody has used, above all that are known: some time passes."""
        metadata = self.metadata()
        timelines = (metadata.data_timeline, metadata.timeline)
        known = [time for each in timelines for i in each.instants for time in (i.requested_at, i.completed_at) if time]
        self.clock.advance(_BETWEEN_MS)
        newest = max(moment for time in known if (moment := to_ms(time, _UTC)) is not None)
        self.clock.advance(max(0, newest + 1 - self.clock.now_ms()))
        return at_time(self.clock.now_ms(), _UTC)

    def times(self) -> Iterator[str]:
        """New times, one by one."""
        while True:
            yield self.next_time()

    def rows(self) -> dict[Location, dict[str, Row]]:
        """Each file group's rows by their keys, as of the commits completed now."""
        table = self.table()
        snapshot = table.snapshot()
        reader = table.rows(snapshot)
        found = {}
        for each in snapshot.slices:
            pieces: list[pa.Table] = list(reader.rows_of(each))
            rows = [row for piece in pieces for row in piece.to_pylist()]
            found[each.partition, each.file_id] = {str(row[RECORD_KEY]): row for row in rows}
        return found

    def truth(self) -> dict[str, Location]:
        """Where each committed key is: what a record index must answer."""
        table = self.table()
        snapshot = table.snapshot()
        reader = table.rows(snapshot, [RECORD_KEY])
        found: dict[str, Location] = {}
        for each in snapshot.slices:
            for piece in reader.rows_of(each):
                for key in piece[RECORD_KEY].to_pylist():
                    assert key not in found, f"{key} is in {found[key]} and in {each.file_id}: the world is wrong"
                    found[key] = (each.partition, each.file_id)
        return found

    def slices(self) -> dict[Location, FileSlice]:
        """The slices that a reader sees now."""
        return {(each.partition, each.file_id): each for each in self.snapshot().slices}

    def snapshot(self) -> Snapshot:
        return self.table().snapshot()

    def flags(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The indexes that are complete, and those in flight."""
        config = self.table().config
        return config.readable_indexes, config.inflight_indexes

    def paths(self) -> set[str]:
        return set(stored_in(self.storage))


@dataclass(frozen=True, slots=True)
class Saved:
    """A moment of a world, from which any number of worlds can go on."""

    files: Files
    now_ms: int


def world_of(start: str) -> World:
    """A world that begins as one of `starts.STARTS`, a minute after its last commit."""
    files = files_of(start)
    return world_at(Saved(files, max(file.modified_ms for file in files.values()) + _IDLE_MS))


def world_at(saved: Saved) -> World:
    """A world that goes on from a moment of another."""
    clock = StagedClock(min(file.modified_ms for file in saved.files.values()))
    storage = put(saved.files, clock)
    clock.advance(saved.now_ms - clock.now_ms())
    return World(clock, storage, saved.files)


def saved(world: World) -> Saved:
    return Saved(stored_in(world.storage), world.clock.now_ms())
