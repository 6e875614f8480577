"""Our build of an index that is no record index, or the floor of one, in a process of its own; a JSON line a job.

python -m benchmarks.indexes_builder local|floor JOB...     where a JOB is {"folder": …, "index": …, "columns": […]}
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.processes import cpu_seconds

_MEMORY_BYTES = 256 << 20
_THREADS = 2
Work = Callable[[Path, str, Sequence[str]], dict[str, Any]]


def local(folder: Path, index: str, columns: Sequence[str]) -> dict[str, Any]:
    """The whole of `index build`: from the opening of the table until readers are told."""
    from hudi_engine.action.index import Ready, build  # noqa: PLC0415 - each side has its own imports in memory only
    from hudi_engine.action.schedule import IndexRequest  # noqa: PLC0415
    from hudi_engine.cli.jobs import site_of  # noqa: PLC0415
    from hudi_engine.compute.heap import share_heaps  # noqa: PLC0415
    from hudi_engine.compute.local import LocalCompute  # noqa: PLC0415
    from hudi_engine.watch import Unwatched  # noqa: PLC0415

    share_heaps()  # as the command does
    with tempfile.TemporaryDirectory() as scratch:
        compute = LocalCompute(_THREADS, _MEMORY_BYTES, Path(scratch))
        site = site_of(str(folder), {"hudi.engine.single.writer": "true"}, compute, Unwatched())
        outcome = build(site, IndexRequest((index,), columns={index: tuple(columns)} if columns else {}))
        assert isinstance(outcome, Ready), outcome
        return {"longest_hold_ms": max(site.holds_ms)}


def floor(folder: Path, index: str, columns: Sequence[str]) -> dict[str, Any]:
    from benchmarks.indexes_floor import read_footers, write_secondary  # noqa: PLC0415

    if not columns:
        read_footers(folder)
        return {}
    with tempfile.TemporaryDirectory(dir=folder.parent) as out:
        return {"bytes": write_secondary(folder, columns[0], Path(out))}


SIDES: dict[str, Work] = {side.__name__: side for side in (local, floor)}


def main(side: str, *jobs: str) -> None:
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for text in jobs:
            job = json.loads(text)
            before, started = cpu_seconds(os.getpid()), time.perf_counter()
            found = SIDES[side](Path(job["folder"]), job["index"], job["columns"])
            seconds, used = time.perf_counter() - started, cpu_seconds(os.getpid()) - before
            print(json.dumps({"seconds": seconds, "cpu_seconds": used} | found), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
