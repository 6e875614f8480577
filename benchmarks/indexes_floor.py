"""What no build of these indexes can do without, on two threads, and nothing else."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.record_index_floor import build_floor, in_threads

SHARDS = 10  # what Java makes for this many keys
_VALUE_BYTES = 12  # as long as the value that Java writes


def read_footers(table: Path) -> None:
    """Of indexes that say something of each file: every footer, as Arrow reads it, and nothing made of it."""
    in_threads(pq.read_metadata, sorted(table.rglob("*.parquet")))


def write_secondary(table: Path, column: str, out: Path) -> int:
    """HFiles of the pairs of value and record key: read, joined, hashed as a whole, sorted and packed."""

    def keys_of(file: Path) -> pa.Array:
        rows = pq.read_table(file, columns=[column, "_hoodie_record_key"], use_threads=False)
        parts = (pc.cast(rows[name].combine_chunks(), pa.large_binary()) for name in rows.column_names)
        return pc.binary_join_element_wise(*parts, pa.scalar(b"$", pa.large_binary()))

    return build_floor(str(table), str(out), SHARDS, keys_of, _VALUE_BYTES)
