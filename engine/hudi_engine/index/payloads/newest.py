"""The rule of most kinds of index: of each key the newest row counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def newest_wins(layers: Sequence[pa.Table]) -> pa.Table:
    """The newest row of each key; the layers come oldest first, and only the first is large."""
    oldest, *newer = layers
    newer = [layer for layer in newer if len(layer)]
    if not newer:
        return oldest
    changes = pa.concat_tables(newer)
    last = last_places(key_numbers(changes["key"]))
    if last.size < len(changes):
        changes = changes.take(pa.array(np.sort(last)))
    is_changed = pc.is_in(oldest["key"], changes["key"].combine_chunks())
    return pa.concat_tables([oldest.filter(pc.invert(is_changed)), changes])


def key_numbers(keys: Any) -> npt.NDArray[np.int64]:
    """A number for each key, from nought and without gaps; the same for the same key, also for null."""
    encoded = keys.combine_chunks().dictionary_encode("encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def last_places(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each number the last place where it stands."""
    last = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
    last[numbers] = np.arange(numbers.size)  # of assignments to the same place NumPy keeps the last
    return last
