"""Our build of a record index, dropped and begun anew for so many seconds, in a process of its own; one JSON line.

The last one stays: what the writer does to keep an index is its own work, and beside a burner it has it to do as well.

python -m benchmarks.writer_beside_builder FOLDER SECONDS CONF      where CONF is a JSON object
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.processes import cpu_seconds
from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import Ready, build
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.cli.jobs import site_of
from hudi_engine.compute.local import LocalCompute
from hudi_engine.index.kinds import IndexKind
from hudi_engine.watch import Unwatched

_MEMORY_BYTES = 256 << 20
_THREADS = 2


def main(folder: str, seconds: float, conf: dict[str, str]) -> None:
    build_seconds: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        site = site_of(folder, conf, LocalCompute(_THREADS, _MEMORY_BYTES, Path(scratch)), Unwatched())
        began, used = time.time(), cpu_seconds(os.getpid())
        while time.time() < began + seconds:
            run_drop(site, [IndexKind.RECORD_INDEX.value])
            started = time.perf_counter()
            outcome = build(site, IndexRequest((IndexKind.RECORD_INDEX,)))
            build_seconds.append(time.perf_counter() - started)
            assert isinstance(outcome, Ready), outcome
        turn = {"began": began, "ended": time.time(), "cpu_seconds": cpu_seconds(os.getpid()) - used}
    print(json.dumps({**turn, "build_seconds": build_seconds, "holds_ms": site.holds_ms}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3]))
