"""Which files can hold a key, by the bloom filters of base files."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.bloom import parse_bloom_filter
from hudi_engine.index.index import Index
from hudi_engine.index.keys import bloom_filter_key

CANDIDATES = pa.schema([("key", pa.large_string()), ("partition", pa.string()), ("name", pa.string())])

_FILES_AT_ONCE: Final = 128
"""A filter has some hundred kilobytes, so that those of a table are not held together."""


def files_that_may_hold_keys(index: Index, files: pa.Table, keys: pa.Array) -> pa.Table:
    """By the schema CANDIDATES each of the keys with each of `files`, rows of `partition` and `name`, that may hold it.

    A file without a filter in the index may hold any key: log files have none.
    """
    keys = pc.cast(keys, pa.large_string())
    found = [CANDIDATES.empty_table()]
    for first in range(0, len(files), _FILES_AT_ONCE):
        found.extend(_candidates(index, files.slice(first, _FILES_AT_ONCE), keys))
    return pa.concat_tables(found)


def _candidates(index: Index, files: pa.Table, keys: pa.Array) -> Iterator[pa.Table]:
    places = list(zip(files["partition"].to_pylist(), files["name"].to_pylist(), strict=True))
    names = [bloom_filter_key(*place) for place in places]
    rows = index.find(pa.array(names, pa.string()))
    found = dict(zip(rows["key"].to_pylist(), range(len(rows)), strict=True))
    for place, name in zip(places, names, strict=True):
        some = keys
        if name in found:
            row = rows.slice(found[name], 1).to_pylist()[0]
            try:
                some = keys.filter(pa.array(_may_hold(row, keys)))
            except CorruptFile as wrong:
                raise wrong.in_file(f"the filter of {'/'.join(place)} in the index {index.name}") from wrong
        yield pa.table([some, *(pa.repeat(pa.scalar(part), len(some)) for part in place)], schema=CANDIDATES)


def _may_hold(row: dict[str, Any], keys: pa.Array) -> Any:
    # Hudi writes no empty keys, but that is not for a filter to say, which cannot hold one.
    is_empty = pc.equal(pc.binary_length(keys), 0).to_numpy(zero_copy_only=False)
    answer = np.ones(len(keys), dtype=np.bool_)
    answer[~is_empty] = parse_bloom_filter(row["bloom_filter"], row["type"]).might_contain(
        keys.filter(pa.array(~is_empty))
    )
    return answer
