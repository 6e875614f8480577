"""What the operator's runs are doing, as one sees it who looks at files and processes."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Seen

_SECONDS_TO_BEGIN: Final = 120.0


def orders(state: Path) -> list[dict[str, Any]]:
    """Of all runs on record."""
    found = []
    for file in sorted((state / "runs").glob("[!.]*/order.json")):
        with suppress(FileNotFoundError):  # forgotten meanwhile
            found.append(json.loads(file.read_text()))
    return found


def attempts(state: Path) -> Counter[tuple[str, str, int]]:
    """How many runs there are of each attempt at a build, by their owner's uid."""
    return Counter(
        (order["owner_uid"], order["trigger"], order["attempt"])
        for order in orders(state)
        if json.loads(order["request"])["action"] == "build"
    )


def engines(cluster: Cluster, table: Path) -> list[Seen]:
    """The engine's processes that are at a run on that table; their keepers are others."""
    return [
        seen
        for seen in cluster.processes()
        if {"hudi_engine.cli.main", "run"} <= {*seen.arguments}
        and "-S" not in seen.arguments
        and any(str(table) in part for part in seen.arguments)
    ]


@contextmanager
def stopped_in_a_build(cluster: Cluster, table: Path) -> Iterator[Seen]:
    """The build of that table, standing still with its index in flight; it goes on at the end of the block."""
    end = time.monotonic() + _SECONDS_TO_BEGIN
    while True:
        assert time.monotonic() < end, "no build came so far"
        building = engines(cluster, table)
        if not building:
            time.sleep(0.02)
            continue
        with suppress(ProcessLookupError, FileNotFoundError):
            _stop(building[0].pid)
            if is_in_flight(table):
                break
            os.kill(building[0].pid, signal.SIGCONT)
        time.sleep(0.005)
    try:
        yield building[0]
    finally:
        with suppress(ProcessLookupError):
            os.kill(building[0].pid, signal.SIGCONT)


def _stop(process: int) -> None:
    """Returns when it stands still."""
    os.kill(process, signal.SIGSTOP)
    while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "TZX":
        time.sleep(0.001)


def is_asked_to_end(stopped: Seen) -> bool:
    """A signal to end waits for that process, which stands still."""
    status = Path(f"/proc/{stopped.pid}/status").read_text()
    waiting = next(line.split()[1] for line in status.splitlines() if line.startswith("ShdPnd:"))
    return bool(int(waiting, 16) >> (signal.SIGTERM - 1) & 1)


def is_in_flight(table: Path) -> bool:
    """An index plan has begun and is not over, and nobody holds the lock."""
    begun = any((table / ".hoodie" / ".index_attempts" / "plans").glob("*.indexing.inflight"))
    return begun and not (table / ".hoodie" / "lock").exists()
