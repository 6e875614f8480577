"""One reader in a process of its own, so that its peak of memory is its own.

python -m benchmarks.reader ours|hudi-rs|floor TABLE REPEAT
"""

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.memory import peak_bytes_of


def ours(table: str) -> int:
    from hudi_engine.clock import SystemClock  # noqa: PLC0415 - each reader pays for its own imports only
    from hudi_engine.storage.open import open_storage  # noqa: PLC0415
    from hudi_engine.table.table import open_table  # noqa: PLC0415

    opened = open_table(open_storage(table, {}), SystemClock(), {})
    return sum(rows.num_rows for rows in opened.rows(opened.snapshot()).tables())


def hudi_rs(table: str) -> int:
    from hudi import HudiReadOptions, HudiTable  # noqa: PLC0415

    return sum(batch.num_rows for batch in HudiTable(table).read_stream(HudiReadOptions()))


def floor(table: str) -> int:
    """Every base file decoded and every log file read, on the same two cores, nothing merged."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    for log in Path(table).rglob(".*.log.*"):
        log.read_bytes()
    with ThreadPoolExecutor(2) as pool:
        rows = pool.map(lambda path: pq.read_table(path, use_threads=False).num_rows, Path(table).rglob("*.parquet"))
        return sum(rows)


READERS: dict[str, Callable[[str], int]] = {"ours": ours, "hudi-rs": hudi_rs, "floor": floor}


def main(name: str, table: str, repeat: str) -> None:
    seconds, cpu_seconds = [], []
    rows = 0
    for _ in range(int(repeat)):
        started, cpu_started = time.perf_counter(), time.process_time()
        rows = READERS[name](table)
        seconds.append(time.perf_counter() - started)
        cpu_seconds.append(time.process_time() - cpu_started)
    best = {"seconds": min(seconds), "cpu_seconds": min(cpu_seconds)}
    print(json.dumps({**best, "rows": rows, "peak_bytes": peak_bytes_of()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
