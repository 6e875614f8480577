"""How long a build takes to catch up with one commit whose writer has left the index out, and holds the lock for it.

python -m benchmarks.catch_up COMMITS       prints one JSON line: by index what it took

The table is a small one of Hudi's on a disk, on a clock that nobody waits for: reading, comparing, packing and both
commits of the metadata table are counted.
"""

import json
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.holds import quantiles_of
from hudi_engine.action.catch_up import CatchUp, CaughtUp
from hudi_engine.action.execute import Run
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.concurrency.heartbeat import Heartbeats, by_hand
from hudi_engine.concurrency.lock import Lock
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.conform import RECORD_KEY
from tests.unit.action.builds import base_of, in_build
from tests.worlds.world import WRITERS_LEASE, World, world_of
from tests.worlds.writer import Write, timeline_of

KEYS: Final = 10_000
INDEXES: Final = ("record_index", "column_stats")


@dataclass(slots=True)
class TimedLock:
    """A lock that remembers for how many milliseconds it was held each time: the clock of the site stands still."""

    lock: Lock
    holds_ms: list[float] = field(default_factory=list)
    held_from: float = 0

    def acquire(self, wait_seconds: float) -> None:
        self.lock.acquire(wait_seconds)
        self.held_from = time.perf_counter()

    def require_held(self) -> None:
        self.lock.require_held()

    def release(self) -> None:
        self.lock.release()
        self.holds_ms.append(1000 * (time.perf_counter() - self.held_from))


def main(commits: str) -> None:
    print(json.dumps({index: measure(index, int(commits)) for index in INDEXES}))


def measure(index: str, commits: int) -> dict[str, Any]:
    """Of each pass how long it took and how long, in all, it held the lock."""
    took: list[tuple[float, float]] = []
    held: list[float] = []

    def catch_up(run: Run) -> None:
        lock = TimedLock(run.site.lock)
        catching = CatchUp(replace(run, site=replace(run.site, lock=lock)), base_of(run, index))
        assert isinstance(catching.run(), CaughtUp)
        for number in range(commits):
            commit_unaware(world, number)
            lock.holds_ms.clear()
            cpu, started = time.process_time(), time.perf_counter()
            assert isinstance(catching.run(), CaughtUp)
            took.append((time.perf_counter() - started, time.process_time() - cpu))
            held.append(sum(lock.holds_ms))

    with tempfile.TemporaryDirectory() as folder:
        world = on_disk(world_of("v9_cow"), Path(folder))
        in_build(world, catch_up, request=IndexRequest((index,)))
    p50, p95 = (1000 * np.percentile(took, [50, 95], axis=0)).round(1).tolist()
    found = {"p50_ms": p50[0], "p95_ms": p95[0], "p50_cpu_ms": p50[1], "p95_cpu_ms": p95[1]}
    return {"keys": KEYS, "commits": len(took), **found, "held_ms": quantiles_of([round(each, 1) for each in held])}


def on_disk(world: World, folder: Path) -> World:
    """The world with its files in a folder."""
    storage = LocalStorage(str(folder))
    for path, file in world.began_with.items():
        storage.create(path, file.data)
    return replace(world, storage=storage)  # type: ignore[arg-type]  # any store will do


def commit_unaware(world: World, number: int) -> None:
    """A commit that inserts so many rows into a new file group, and tells `files` alone of it."""
    instant = world.next_time()
    timeline_of(world).begin(instant, "commit", b"")
    beats = Heartbeats(world.storage, world.clock, WRITERS_LEASE, by_hand)
    write = Write(world, instant, "commit", f"{number}-{number}", frozenset(), beats)
    names = [f"{number}-{key:06}" for key in range(KEYS)]
    write.insert(min(partition for partition, _ in world.slices()), names[0])
    (change,) = write.changes.values()
    row, key = change.puts[names[0]], world.table().config.record_key_fields[0]
    change.puts |= {name: {**row, RECORD_KEY: name, key: name} for name in names}
    write.complete()


if __name__ == "__main__":
    main(*sys.argv[1:])
