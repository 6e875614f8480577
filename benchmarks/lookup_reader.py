"""Our look-up, or the floor of one, in a process of its own with a peak of memory of its own; one JSON line a job.

python -m benchmarks.lookup_reader JOB...      where a JOB is one JSON object
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from isal import igzip_lib

from benchmarks.memory import peak_bytes_of
from hudi_engine.format.hfile.block import HEADER
from hudi_engine.format.hfile.index import parse_load_on_open
from hudi_engine.format.hfile.trailer import TRAILER_BYTES, parse_trailer
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.open import open_table

THREADS = 2
# Room for all blocks of the index: warm is what a process is that has asked before.
ROOMY_BYTES = 1 << 30
Stored = tuple[bytes, int]


def locate(folder: str, keys: str, repeat: int) -> dict[str, Any]:
    """Seconds of a look-up: each time of a table opened anew, then each time of one that has been asked before.

    `keys` is a file with one a line. The answers of the last time go beside it, as parquet.
    """
    wanted = _lines(keys)
    cold, warm = [], []
    for _ in range(repeat):
        cpu, started = time.process_time(), time.perf_counter()
        index = open_table(folder, cache_bytes=ROOMY_BYTES).index("record_index")
        index.locate(wanted)
        cold.append((time.perf_counter() - started, time.process_time() - cpu))
    for _ in range(repeat):
        cpu, started = time.process_time(), time.perf_counter()
        found = index.locate(wanted)
        warm.append((time.perf_counter() - started, time.process_time() - cpu))
    pq.write_table(found, f"{keys}.ours.parquet")
    return {"cold": cold, "warm": warm, "found": pc.sum(found["found"]).as_py(), "peak_bytes": peak_bytes_of()}


def peak(folder: str, keys: str, cache_bytes: int) -> dict[str, Any]:
    """The memory of one look-up, that of the process before it apart."""
    wanted = _lines(keys)
    before = peak_bytes_of()
    open_table(folder, cache_bytes=cache_bytes).index("record_index").locate(wanted)
    return {"peak_bytes": peak_bytes_of(), "bytes_before": before}


def floor(folder: str, keys: str, repeat: int) -> dict[str, Any]:
    """Nothing but the inflating of the blocks that can hold the keys, which are in memory already, on two threads."""
    shards = sorted(Path(folder, ".hoodie/metadata/record_index").glob("record-index-*.hfile"))
    wanted = pc.cast(_lines(keys), pa.large_binary())
    numbers = shard_numbers(wanted, len(shards))
    blocks = [
        block
        for number, shard in enumerate(shards)
        for block in _touched(shard.read_bytes(), wanted.filter(pa.array(numbers == number)))
    ]
    seconds = []
    for _ in range(repeat):
        cpu, started = time.process_time(), time.perf_counter()
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(_inflate, [blocks[start::THREADS] for start in range(THREADS)]))
        seconds.append((time.perf_counter() - started, time.process_time() - cpu))
    return {"seconds": seconds, "blocks": len(blocks), "bytes": sum(size for _, size in blocks)}


def _touched(file: bytes, keys: Any) -> list[Stored]:
    """The compressed payloads of the blocks that can hold these keys, each with its size when inflated."""
    index = parse_load_on_open(file, parse_trailer(file[-TRAILER_BYTES:], len(file)), 0).root
    firsts = np.array(index.keys.to_pylist(), object)
    touched = np.unique(np.searchsorted(firsts, np.array(keys.to_pylist(), object), "right") - 1)
    found = []
    for at in index.offsets[touched[touched >= 0]].tolist():
        header = HEADER.unpack_from(file, at)
        found.append((file[at + HEADER.size : at + header[6]], header[2]))
    return found


def _inflate(blocks: list[Stored]) -> None:
    for block, size in blocks:
        igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(block, size)


def _lines(file: str) -> Any:
    return pa.array(Path(file).read_text().splitlines(), pa.large_string())


JOBS = {job.__name__: job for job in (locate, peak, floor)}


def main(*jobs: str) -> None:
    for text in jobs:
        job = json.loads(text)
        print(json.dumps(JOBS[job.pop("do")](**job)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
