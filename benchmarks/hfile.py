"""HFile write and scan against what compression alone costs: `python -m benchmarks.hfile`.

The entries look like a record index's: UUID keys, values of some 50 bytes that differ a little in length. The floor
packs or unpacks the very same blocks with the same library, on the same number of threads, and does nothing else.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from isal import igzip_lib

from hudi_engine.format.hfile.block import HEADER
from hudi_engine.format.hfile.index import parse_load_on_open
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.hfile.trailer import parse_trailer
from hudi_engine.format.hfile.write import Recipe, write_hfile

ENTRIES = 2_000_000
THREADS = 2
ROUNDS = 5
RECIPE = Recipe(schema='{"type": "string"}', created_ms=1, threads=THREADS)


def run(count: int = ENTRIES) -> dict[str, Any]:
    """Seconds of each side, their ratio, the memory each needed at most, and whether the entries came back equal."""
    entries = record_index_like(count)
    file = write_hfile(entries, RECIPE)
    stored, raw = blocks_of(file)
    write_ours, write_floor = _race(lambda: write_hfile(entries, RECIPE), lambda: _each(_deflate, raw))
    scan_ours, scan_floor = _race(lambda: read_hfile(file, THREADS), lambda: _each(_inflate, stored))
    return {
        "entries": count,
        "threads": THREADS,
        "file_bytes": len(file),
        "blocks": len(stored),
        "raw_bytes": sum(map(len, raw)),
        "equal": read_hfile(file, THREADS).entries.equals(entries),
        "write": _verdict(write_ours, write_floor, count),
        "scan": _verdict(scan_ours, scan_floor, count),
    }


def record_index_like(count: int) -> Any:
    """Sorted UUID keys; values of one instant and a few hundred files, in lengths from 46 to 52 bytes."""
    random = np.random.default_rng(1)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[random.integers(0, 16, (count, 36))]
    digits[:, [8, 13, 18, 23]] = ord("-")
    keys = pc.unique(_binary(np.full(count, 36), digits.ravel()))
    keys = keys.take(pc.sort_indices(keys))
    files = [b"\0\2\x0e" + random.bytes(int(size)) + b"2024-01-01/part=3" for size in random.integers(26, 33, 400)]
    values = pa.array(files, pa.large_binary()).take(pa.array(random.integers(0, 400, len(keys))))
    return pa.table({"key": keys, "value": values})


def _binary(lengths: Any, data: Any) -> Any:
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return pa.Array.from_buffers(pa.large_binary(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def blocks_of(file: bytes) -> tuple[list[bytes], list[bytes]]:
    """The file's data blocks, as they are stored and unpacked."""
    index = parse_load_on_open(file, parse_trailer(file[-4096:], len(file)), 0).root
    stored = []
    for at in index.offsets.tolist():
        with_header = HEADER.unpack_from(file, at)[6]
        stored.append(file[at + HEADER.size : at + with_header])
    return stored, [igzip_lib.decompress(block, igzip_lib.DECOMP_GZIP) for block in stored]


def _deflate(blocks: Sequence[bytes]) -> None:
    for block in blocks:
        igzip_lib.compress(block, 1, igzip_lib.COMP_GZIP)


def _inflate(blocks: Sequence[bytes]) -> None:
    for block in blocks:
        igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(block, 65536)


def _each(work: Callable[[Sequence[bytes]], None], blocks: list[bytes]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, [blocks[start : start + 64] for start in range(0, len(blocks), 64)]))


def _race(ours: Callable[[], Any], floor: Callable[[], Any]) -> tuple[float, float]:
    """The best of some rounds of each, taken in turns so that other work on the machine disturbs both alike."""
    times = [(_seconds(ours), _seconds(floor)) for _ in range(ROUNDS)]
    return min(first for first, _ in times), min(second for _, second in times)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _verdict(ours: float, floor: float, count: int) -> dict[str, float]:
    return {
        "our_seconds": round(ours, 3),
        "floor_seconds": round(floor, 3),
        "ratio": round(ours / floor, 2),
        "entries_per_second": round(count / ours),
    }
