"""Our build of a record index, by threads or by Spark, or the floor of one, in a process of its own; a JSON line a job.

python -m benchmarks.record_index_builder local|spark|floor HEAP JOB...      where a JOB is one JSON object

The heap is that of Spark's JVM.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import cpu_seconds

SHARDS = 10  # what Java makes for this many keys
# For keys: of all threads together, and of each of Spark's tasks.
_MEMORY_BYTES, _TASK_BYTES = 64 << 20, 48 << 20
_THREADS = 2
Work = Callable[[str], dict[str, Any]]


@contextmanager
def local(heap: str) -> Iterator[Work]:
    from hudi_engine.compute.heap import share_heaps  # noqa: PLC0415
    from hudi_engine.compute.local import LocalCompute  # noqa: PLC0415 - each side has its own imports in memory only

    share_heaps()  # as the command does
    with tempfile.TemporaryDirectory() as scratch:
        yield lambda folder: _build(LocalCompute(_THREADS, _MEMORY_BYTES, Path(scratch)), folder)


@contextmanager
def spark(heap: str) -> Iterator[Work]:
    """As `--compute spark` starts one: no jar of Hudi, no setting that is not needed."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    from hudi_engine.compute.heap import share_heaps  # noqa: PLC0415
    from hudi_engine.spark.compute import SparkCompute  # noqa: PLC0415
    from hudi_engine.spark.session import ALONE  # noqa: PLC0415

    share_heaps()  # as the command does
    settings: dict[str, bool | float | int | str | None] = {
        **ALONE,
        "spark.master": f"local[{_THREADS}]",
        "spark.driver.memory": heap,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = SparkSession.Builder().config(map=settings).getOrCreate()
    yield lambda folder: _build(SparkCompute(session, folder, {}, _TASK_BYTES), folder)
    session.stop()


@contextmanager
def floor(heap: str) -> Iterator[Work]:
    from benchmarks.record_index_floor import build_floor  # noqa: PLC0415

    def build(folder: str) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=Path(folder).parent) as out:
            return {"bytes": build_floor(folder, out, SHARDS)}

    yield build


def _build(compute: Any, folder: str) -> dict[str, Any]:
    """The whole of `index build`: from the opening of the table until readers are told."""
    from hudi_engine.action.index import Ready, build  # noqa: PLC0415
    from hudi_engine.action.schedule import IndexRequest  # noqa: PLC0415
    from hudi_engine.cli.jobs import site_of  # noqa: PLC0415
    from hudi_engine.index.kinds import IndexKind  # noqa: PLC0415
    from hudi_engine.watch import Unwatched  # noqa: PLC0415

    site = site_of(folder, {"hudi.engine.single.writer": "true"}, compute, Unwatched())
    outcome = build(site, IndexRequest((IndexKind.RECORD_INDEX,)))
    assert isinstance(outcome, Ready), outcome
    sizes = [file.stat().st_size for file in Path(folder, ".hoodie/metadata/record_index").glob("*.hfile")]
    return {"bytes": sum(sizes), "holds_ms": list(site.holds_ms)}


SIDES = {side.__name__: side for side in (local, spark, floor)}


def main(side: str, heap: str, *jobs: str) -> None:
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        with SIDES[side](heap) as work:
            for text in jobs:
                before, started = cpu_seconds(os.getpid()), time.perf_counter()
                found = work(json.loads(text)["folder"])
                seconds, used = time.perf_counter() - started, cpu_seconds(os.getpid()) - before
                print(json.dumps({"seconds": seconds, "cpu_seconds": used} | found), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
