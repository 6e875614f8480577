"""Keys to the shards that look-ups search for them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from hudi_engine.compute.shard_names import Group
from hudi_engine.index.hashing import shard_numbers

# Of that many keys a shard gets enough at once that an array costs less than what it holds; no more are kept waiting.
_ROWS_PER_SHARD: Final = 512
_MOST_ROWS: Final = 1 << 18


Hashed = Callable[[Any], Any]
"""Of keys what tells their shards: by most indexes the whole key."""


def _whole(keys: Any) -> Any:
    return keys


class ShardKeys(NamedTuple):
    """Keys, a large binary array, that belong to the shard at a place."""

    place: int
    keys: Any


def split_all(pieces: Iterable[Any], group: Group, hashed: Hashed = _whole) -> Iterator[tuple[ShardKeys, ...]]:
    """Keys that come in pieces, shard by shard, in pieces that are large enough for each shard."""
    enough = min(_ROWS_PER_SHARD * group.count, _MOST_ROWS)
    waiting: list[Any] = []
    rows = 0
    for piece in pieces:
        waiting.append(piece)
        rows += len(piece)
        if rows >= enough:
            yield tuple(split(pa.concat_arrays(waiting), group, hashed))
            waiting, rows = [], 0
    if waiting:
        yield tuple(split(pa.concat_arrays(waiting), group, hashed))


def split(keys: Any, group: Group, hashed: Hashed = _whole) -> Iterator[ShardKeys]:
    """The keys shard by shard, each shard's in the order in which they came; `hashed` is what tells the shard."""
    if group.count == 1:
        yield ShardKeys(group.first, keys)
        return
    numbers = shard_numbers(hashed(keys), group.count)
    # There are fewer shards than such numbers, which are sorted by their digits, without comparing.
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    together = keys.take(pa.array(order))
    counts = np.bincount(numbers, minlength=group.count)
    ends = np.cumsum(counts)
    for number in np.flatnonzero(counts).tolist():
        yield ShardKeys(group.first + number, together.slice(ends[number] - counts[number], counts[number]))
