"""What no build of a record index can do without, on two threads, and nothing else.

Key columns are decoded, keys hashed, taken apart by shard and sorted, and entries packed as HFiles that are written.
Nothing is opened, checked, merged or locked, all keys are in memory at once, and no two threads wait for each other.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_engine.compute.sort import sort_order
from hudi_engine.format.hfile.write import Recipe, hfile_chunks
from hudi_engine.index.hashing import shard_numbers

THREADS = 2
# As long as the values that Java writes for the same table.
_VALUE_BYTES = 42
_RECIPE = Recipe(schema='{"type": "bytes"}', created_ms=1, threads=1)
_Given = TypeVar("_Given")
_Got = TypeVar("_Got")


def record_keys(file: Path) -> pa.Array:
    column = pq.read_table(file, columns=["_hoodie_record_key"], use_threads=False)["_hoodie_record_key"]
    return pc.cast(column.combine_chunks(), pa.large_binary())


def build_floor(
    table: str,
    out: str,
    shard_count: int,
    keys_of: Callable[[Path], pa.Array] = record_keys,
    value_bytes: int = _VALUE_BYTES,
) -> int:
    """Writes so many HFiles of the keys of all parquet files below `table` into the folder `out`; their bytes."""
    files = sorted(Path(table).rglob("*.parquet"))
    split = in_threads(lambda number: _split(keys_of(files[number]), number, shard_count), range(len(files)))
    values = pa.array([bytes([number % 256]) * value_bytes for number in range(len(files))], pa.large_binary())
    by_shard = [(Path(out, f"{number}.hfile"), [parts[number] for parts in split]) for number in range(shard_count)]
    del split
    return sum(in_threads(lambda shard: _write(*shard, values), by_shard))


def _split(keys: pa.Array, number: int, shard_count: int) -> list[pa.Table]:
    shards = shard_numbers(keys, shard_count)
    order = np.argsort(shards.astype(np.uint16), kind="stable")
    borders = np.searchsorted(shards[order], np.arange(shard_count + 1))
    rows = pa.table({"key": keys.take(pa.array(order)), "file": pa.repeat(pa.scalar(number, pa.int32()), len(keys))})
    return [rows.slice(start, end - start) for start, end in pairwise(borders.tolist())]


def _write(path: Path, parts: list[pa.Table], values: pa.Array) -> int:
    rows = pa.concat_tables(parts).combine_chunks()
    keys, files = (rows[name].combine_chunks() for name in ("key", "file"))
    order = pa.array(sort_order(keys))
    entries = pa.table({"key": keys.take(order), "value": values.take(files.take(order))})
    with path.open("wb") as file:
        return sum(map(file.write, hfile_chunks(entries.to_batches(), _RECIPE)))


def in_threads(work: Callable[[_Given], _Got], given: Sequence[_Given]) -> list[_Got]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, given))
