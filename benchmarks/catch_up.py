"""How long a build of a record index takes to catch up with one commit whose writer has left the index out.

python -m benchmarks.catch_up COMMITS       prints one JSON line

The table is a small one of Hudi's in memory, on a clock that nobody waits for: reading, comparing, packing and both
commits of the metadata table are counted, a store's answers are not.
"""

import json
import sys
import time
from typing import Final

import numpy as np

from hudi_engine.action.catch_up import CaughtUp
from hudi_engine.action.execute import Run
from hudi_engine.concurrency.heartbeat import Heartbeats, by_hand
from hudi_engine.table.conform import RECORD_KEY
from tests.unit.action.builds import catching_up, in_build
from tests.worlds.world import WRITERS_LEASE, World, world_of
from tests.worlds.writer import Write, timeline_of

KEYS: Final = 10_000


def main(commits: str) -> None:
    world = world_of("v9_cow")
    took: list[tuple[float, float]] = []

    def catch_up(run: Run) -> None:
        catching = catching_up(run)
        assert isinstance(catching.run(), CaughtUp)
        for number in range(int(commits)):
            commit_unaware(world, number)
            cpu, started = time.process_time(), time.perf_counter()
            assert isinstance(catching.run(), CaughtUp)
            took.append((time.perf_counter() - started, time.process_time() - cpu))

    in_build(world, catch_up)
    p50, p95 = (1000 * np.percentile(took, [50, 95], axis=0)).round(1).tolist()
    found = {"p50_ms": p50[0], "p95_ms": p95[0], "p50_cpu_ms": p50[1], "p95_cpu_ms": p95[1]}
    print(json.dumps({"keys": KEYS, "commits": len(took), **found}))


def commit_unaware(world: World, number: int) -> None:
    """A commit that inserts so many rows into a new file group, and tells `files` alone of it."""
    instant = world.next_time()
    timeline_of(world).begin(instant, "commit", b"")
    beats = Heartbeats(world.storage, world.clock, WRITERS_LEASE, by_hand)
    write = Write(world, instant, "commit", f"{number}-{number}", frozenset(), beats)
    names = [f"{number}-{key:06}" for key in range(KEYS)]
    write.insert(min(partition for partition, _ in world.slices()), names[0])
    (change,) = write.changes.values()
    row, field = change.puts[names[0]], world.table().config.record_key_fields[0]
    change.puts |= {name: {**row, RECORD_KEY: name, field: name} for name in names}
    write.complete()


if __name__ == "__main__":
    main(*sys.argv[1:])
