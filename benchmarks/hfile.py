"""HFile write and scan against what compression alone costs: `python -m benchmarks.hfile`.

The entries look like a record index's: UUID keys, values of some 50 bytes that differ a little in length. The floor
packs or unpacks the very same blocks with the same libraries (`deflate`, `isal`), on the same number of threads, and
does nothing else; `gzip` does it with Python's own gzip, zlib, at the level that Java's GZIPOutputStream has.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from isal import igzip_lib

from benchmarks.memory import peak_bytes_of
from hudi_engine.format.hfile.block import HEADER, Codec, pack
from hudi_engine.format.hfile.index import parse_load_on_open
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.hfile.trailer import parse_trailer
from hudi_engine.format.hfile.write import Recipe, hfile_chunks, write_hfile

ENTRIES = 2_000_000
THREADS = 2
ROUNDS = 5
RECIPE = Recipe(schema='{"type": "string"}', created_ms=1, threads=THREADS)
Work = Callable[[], object]


def run(count: int = ENTRIES) -> dict[str, Any]:
    """Seconds of each side, their ratio, the memory each needed at most, and whether the entries came back equal."""
    entries = record_index_like(count)
    file = write_hfile(entries, RECIPE)
    stored = stored_blocks(file)
    raw = unpacked(stored)
    return {
        "work": f"{count} entries in {len(stored)} blocks, {sum(map(len, raw))} bytes, {len(file)} as a file",
        "threads": THREADS,
        "results_equal": read_hfile(file, THREADS).entries.equals(entries),
        **_sides(
            "write",
            count,
            lambda: _drain(hfile_chunks(entries.to_batches(), RECIPE)),
            (lambda: _each(_deflate, raw), lambda: _each(_gzip, raw)),
        ),
        **_sides(
            "scan",
            count,
            lambda: read_hfile(file, THREADS),
            (lambda: _each(_inflate, stored), lambda: _each(_gunzip, stored)),
        ),
        "peak_bytes": _peaks(entries, file),
    }


def record_index_like(count: int) -> Any:
    """Sorted UUID keys; values that name one of 400 files, in lengths from 46 to 52 bytes."""
    random = np.random.default_rng(1)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[random.integers(0, 16, (count, 36))]
    digits[:, [8, 13, 18, 23]] = ord("-")
    offsets = np.arange(count + 1) * 36
    keys = pa.Array.from_buffers(pa.large_binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(digits)])
    keys = keys.take(pc.sort_indices(keys))
    files = [b"\0\2\x0e" + random.bytes(int(size)) + b"2024-01-01/part=3" for size in random.integers(26, 33, 400)]
    values = pa.array(files, pa.large_binary()).take(pa.array(random.integers(0, 400, count)))
    return pa.table({"key": keys, "value": values})


def stored_blocks(file: bytes) -> list[bytes]:
    """The compressed payloads of the file's data blocks."""
    index = parse_load_on_open(file, parse_trailer(file[-4096:], len(file)), 0).root
    return [file[at + HEADER.size : at + HEADER.unpack_from(file, at)[6]] for at in index.offsets.tolist()]


def unpacked(stored: list[bytes]) -> list[bytes]:
    """The payloads as they were before they were compressed."""
    return [igzip_lib.decompress(block, igzip_lib.DECOMP_GZIP) for block in stored]


def _deflate(blocks: Sequence[bytes]) -> None:
    for block in blocks:
        pack(block, Codec.GZ)


def _inflate(blocks: Sequence[bytes]) -> None:
    for block in blocks:
        igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(block, 65536)


def _gzip(blocks: Sequence[bytes]) -> None:
    for block in blocks:
        gzip.compress(block, 6)


def _gunzip(blocks: Sequence[bytes]) -> None:
    for block in blocks:
        gzip.decompress(block)


def _each(work: Callable[[Sequence[bytes]], None], blocks: list[bytes]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, [blocks[start : start + 64] for start in range(0, len(blocks), 64)]))


def _sides(name: str, count: int, ours: Work, others: tuple[Work, Work]) -> dict[str, Any]:
    """The best of some rounds of each side, taken in turns so that other work on the machine disturbs all alike."""
    rounds = [[_costs(side) for side in (ours, *others)] for _ in range(ROUNDS)]
    (our_seconds, our_cpu), (floor_seconds, floor_cpu), (gzip_seconds, _) = np.min(rounds, axis=0).tolist()
    return {
        name: {
            "our_seconds": round(our_seconds, 3),
            "floor_seconds": round(floor_seconds, 3),
            "gzip_seconds": round(gzip_seconds, 3),
            "ratio_to_floor": round(our_seconds / floor_seconds, 2),
            "ratio_to_floor_of_processor_seconds": round(our_cpu / floor_cpu, 2),
            "ratio_to_gzip": round(our_seconds / gzip_seconds, 2),
            "entries_per_second": round(count / our_seconds),
        }
    }


def _drain(chunks: Iterator[bytes]) -> None:
    """Let go of each chunk as it comes, as the floor lets go of each block."""
    for _ in chunks:
        pass


def _costs(work: Work) -> tuple[float, float]:
    start, cpu_start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu_start


def _peaks(entries: Any, file: bytes) -> dict[str, int]:
    """The most memory each side's process ever had, its input included."""
    with tempfile.TemporaryDirectory() as folder:
        with pa.ipc.new_file(f"{folder}/entries", entries.schema) as out:
            out.write_table(entries)
        Path(folder, "file").write_bytes(file)
        return {side: _peak(side, folder) for side in SIDES}


def _peak(side: str, folder: str) -> int:
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.hfile", side, folder], capture_output=True, check=True, text=True
    )
    return int(child.stdout)


def _entries_in(folder: str) -> Any:
    return pa.ipc.open_file(pa.memory_map(f"{folder}/entries")).read_all()


def _file_in(folder: str) -> bytes:
    return Path(folder, "file").read_bytes()


SIDES: dict[str, Callable[[str], object]] = {
    "write": lambda folder: _drain(hfile_chunks(_entries_in(folder).to_batches(), RECIPE)),
    "write_floor": lambda folder: _each(_deflate, unpacked(stored_blocks(_file_in(folder)))),
    "scan": lambda folder: read_hfile(_file_in(folder), THREADS),
    "scan_floor": lambda folder: _each(_inflate, stored_blocks(_file_in(folder))),
}


def main(arguments: list[str]) -> None:
    """Without arguments the benchmark; with the name of a side and a folder only that side's memory."""
    if arguments:
        side, folder = arguments
        SIDES[side](folder)
        print(peak_bytes_of())
    else:
        print(json.dumps(run(), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
