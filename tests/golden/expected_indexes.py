"""What Java found in the indexes of a golden table."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

_HERE = Path(__file__).parent


def expected_indexes(name: str) -> dict[str, list[dict[str, Any]]]:
    """Per index that is ready every live entry, ascending by the UTF-8 bytes of its key.

    Fields by kind: `files` has key, name, size_bytes, one entry a file; `record_index` has key, partition, file_id,
    instant, instant_ms, position; column, partition and expression statistics have key, file_name, column_name, min and
    max (null, or a kind and a value as text: bytes in hex, of arrays a list), value_count, null_count, total_bytes,
    total_raw_bytes, is_tight_bound, value_type, value_type_info; `bloom_filters` has key, type, instant, bloom_filter
    in base64; a secondary index has key.
    """
    found: dict[str, list[dict[str, Any]]] = json.loads(
        gzip.decompress((_HERE / name / "indexes.json.gz").read_bytes())
    )
    # An index of more than 10,000 entries is kept as parquet.
    for path in (_HERE / name).glob("index_*.parquet"):
        found[path.stem.removeprefix("index_")] = pq.read_table(path).to_pylist()
    return found
