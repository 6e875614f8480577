"""What a Java writer (Hudi 1.2.0) loses while we build a record index beside it: `python -m benchmarks.writer_beside`.

    python -m benchmarks.writer_beside [--rows N] [--seconds N] [--rounds N] [--quick]

The writer upserts a few rows again and again. Beside it are, in turns and for as long each: our build of the index by
threads, dropped and begun anew; then a process that does nothing but use as much processor time a second as the
builds of the turn nearest to it did; so what is left between the two is what locks, logs and the store cost. Prints
commits a second beside each, their ratio, work, memory and how long the lock was held, and writes
benchmarks/out/writer_beside.json.

In all turns the writer keeps an index, in flight or complete, but for the moments until one is published. A round is
build, burner, burner, build, since the table grows. A commit on the border of two turns counts for both in
part. The writer's settings are those of docs/writers.md: it logs to an index in flight and to one that is complete.
"""

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.holds import quantiles_of
from benchmarks.processes import Measured, run_watched
from benchmarks.record_index import copy_of, unindexed
from benchmarks.writer_beside_peer import ROWS_OF_A_COMMIT
from tests.java.live_checks import require_valid
from tests.java.live_writers import zookeeper_lock
from tests.kit.zookeeper_server import ZooKeeperServer
from tools.parts import bundle_jar

OUT = Path(__file__).parent / "out" / "writer_beside.json"
# On a small table a build takes a second, and what is measured is what dropping and publishing thirty a minute does.
ROWS, SECONDS, ROUNDS = 5_000_000, 60.0, 3
QUICK_ROWS, QUICK_SECONDS = 300_000, 30.0
# The JVM's memory is gone through page by page for that: more often, and the writer feels it.
_WATCHED_EVERY_SECONDS = 2.0
HEAP = "3g"
_LONG_SECONDS = 600.0
Found = dict[str, Any]


def main() -> None:
    asked = argparse.ArgumentParser(description="see the module's text")
    asked.add_argument("--rows", type=int)
    asked.add_argument("--seconds", type=float, help="of each turn")
    asked.add_argument("--rounds", type=int, default=ROUNDS, help="of four turns")
    asked.add_argument("--quick", action="store_true", help="a small table and short turns")
    options = asked.parse_args()
    rows = options.rows or (QUICK_ROWS if options.quick else ROWS)
    document = measure(rows, options.seconds or (QUICK_SECONDS if options.quick else SECONDS), options.rounds)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    show(document)
    print(f"written to {OUT.relative_to(Path.cwd())}")


def measure(rows: int, seconds: float, rounds: int) -> Found:
    builds: list[Found] = []
    burnt: list[Found] = []
    with tempfile.TemporaryDirectory(dir=unindexed(rows).parent) as scratch, ZooKeeperServer(tick_ms=2000) as zookeeper:
        table, lock = Path(scratch, "table"), zookeeper_lock(zookeeper.address, "bench")
        copy_of(unindexed(rows), table)
        with Writer(table, rows, lock) as writer:
            for _ in range(rounds):
                builds.append(build(table, seconds, lock))
                burnt += [burn(_cpu_a_second(builds[-1:]), seconds) for _ in range(2)]
                builds.append(build(table, seconds, lock))
        require_valid(table)
        commits = writer.commits
    beside, alone = _commits_a_second(commits, builds), _commits_a_second(commits, burnt)
    return {
        "work": {
            "keys_at_first": rows,
            "rows_of_a_commit": ROWS_OF_A_COMMIT,
            "commits": len(commits),
            "builds": sum(len(each["build_seconds"]) for each in builds),
            "seconds_of_a_turn": seconds,
        },
        "commits_a_second": {"beside our build": beside, "beside a burner": alone},
        "ratio": beside / alone,
        "cpu_a_second": {"build": _cpu_a_second(builds), "burner": _cpu_a_second(burnt)},
        "build_seconds": [round(took, 2) for each in builds for took in each["build_seconds"]],
        "lock_holds_ms": quantiles_of([held for each in builds for held in each["holds_ms"]]),
        "peak_bytes": {"build": max(each["peak_bytes"] for each in builds), "java": writer.peak_bytes},
    }


@dataclass(slots=True)
class Writer(AbstractContextManager["Writer"]):
    """Java, which has committed a few times when the block begins, and goes on until it ends."""

    table: Path
    rows: int
    lock: Mapping[str, str]
    commits: list[tuple[float, float]] = field(default_factory=list)
    peak_bytes: int = 0
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _running: list[Future[Measured]] = field(default_factory=list)

    def __enter__(self) -> "Writer":
        job = {"do": "write", "folder": str(self.table), "rows": self.rows, "lock": self.lock}
        arguments = (HEAP, str(bundle_jar("1.2.0")), json.dumps(job))
        watched = partial(run_watched, whole=False, every_seconds=_WATCHED_EVERY_SECONDS)
        self._running.append(self._pool.submit(watched, "benchmarks.writer_beside_peer", *arguments))
        end = time.monotonic() + _LONG_SECONDS
        while not self._ready.exists() and not self._running[0].done():
            assert time.monotonic() < end, f"the writer has not committed within {_LONG_SECONDS} s"
            time.sleep(0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.touch()
        measured = self._running[0].result(timeout=_LONG_SECONDS)
        self._pool.shutdown()
        self.commits = [(began, ended) for began, ended in measured.answers[-1]["commits"]]
        self.peak_bytes = measured.peak_bytes

    @property
    def _ready(self) -> Path:
        return self.table.with_name("ready")

    @property
    def _stop(self) -> Path:
        return self.table.with_name("stop")


def build(table: Path, seconds: float, lock: Mapping[str, str]) -> Found:
    """Our builds and drops, for so many seconds and until the last is done."""
    measured = run_watched("benchmarks.writer_beside_builder", str(table), str(seconds), json.dumps(lock))
    return {**measured.answers[-1], "peak_bytes": measured.peak_bytes}


def burn(cpu_a_second: float, seconds: float) -> Found:
    """As many processes as it takes to use so much."""
    count = max(1, math.ceil(cpu_a_second))
    share = str(cpu_a_second / count)
    with ThreadPoolExecutor(count) as pool:
        running = [pool.submit(run_watched, "benchmarks.burner", share, str(seconds)) for _ in range(count)]
        found = [each.result().answers[-1] for each in running]
    return {
        "began": min(each["began"] for each in found),
        "ended": max(each["ended"] for each in found),
        "cpu_seconds": sum(each["cpu_seconds"] for each in found),
    }


def _cpu_a_second(turns: Sequence[Found]) -> float:
    return float(sum(each["cpu_seconds"] for each in turns)) / _length(turns)


def _commits_a_second(commits: Sequence[tuple[float, float]], turns: Sequence[Found]) -> float:
    done = sum(_overlap(commit, each) / (commit[1] - commit[0]) for commit in commits for each in turns)
    return done / _length(turns)


def _length(turns: Sequence[Found]) -> float:
    return float(sum(each["ended"] - each["began"] for each in turns))


def _overlap(commit: tuple[float, float], turn: Found) -> float:
    began, ended = (float(turn[name]) for name in ("began", "ended"))
    return max(0.0, min(commit[1], ended) - max(commit[0], began))


def show(document: Found) -> None:
    work, rates = document["work"], document["commits_a_second"]
    print(
        f"{work['commits']} commits of {work['rows_of_a_commit']} rows by Hudi 1.2.0 to a table of "
        f"{work['keys_at_first']:,} keys; {work['builds']} builds of its record index beside them, the last one valid"
    )
    for name, rate in rates.items():
        print(f"  {rate:.3f} commits a second {name}")
    print(f"  ratio {document['ratio']:.3f}")
    cpu = document["cpu_a_second"]
    print(f"processor seconds a second: build {cpu['build']:.2f}, burner {cpu['burner']:.2f}")
    peak = {side: f"{size_bytes / 2**20:.0f} MiB" for side, size_bytes in document["peak_bytes"].items()}
    print(f"peak memory: build {peak['build']}, the writer's JVM {peak['java']}")
    held = document["lock_holds_ms"]
    print(f"lock held by us, ms: p50 {held['p50']}, p99 {held['p99']}, max {held['max']} of {held['count']} holds")


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    main()
