"""Which data blocks a search has to look at, as the block index tells."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.format.hfile.find import Cells, prefixes_of
from hudi_engine.format.hfile.index import BlockIndex
from hudi_engine.format.hfile.order import AS_JAVA, Order, require_not_after

# Up to so many keys are looked for one by one, which is then faster than sorting.
FEW_KEYS = 64


@dataclass(frozen=True, slots=True)
class Touched:
    """Numbers of blocks, ascending, and beside each the number of a key that it may hold."""

    blocks: Any
    keys: Any


def blocks_of_keys(index: BlockIndex, orders: Sequence[Order], keys: Any) -> Touched:
    """For each key the block that may hold it; where it is not known what the file is ordered by, there may be two.

    Keys are unique, so an equal key is never at the end of the block before: no writer ends a block between equals.
    """
    blocks = np.concatenate([_ranks(order.of(index.keys), order.of(keys), is_after=True) - 1 for order in orders])
    numbers = np.tile(np.arange(len(keys)), len(orders))
    if len(orders) == 1 and orders[0] is Order.BYTES:
        first = int(np.searchsorted(blocks, 0))
        return Touched(blocks[first:], numbers[first:])
    pairs = np.unique(np.stack([blocks, numbers], axis=1)[blocks >= 0], axis=0)
    return Touched(pairs[:, 0].copy(), pairs[:, 1].copy())


def blocks_of_prefixes(index: BlockIndex, orders: Sequence[Order], wanted: Sequence[bytes]) -> Any:
    """The numbers of all blocks, ascending, that may hold a key that begins with one of these."""
    change = np.zeros(len(index) + 1, np.int64)
    for order in orders:
        moved = wanted if order is Order.BYTES else [prefix.translate(AS_JAVA) for prefix in wanted]
        prefixes, firsts = prefixes_of(moved), order.of(index.keys)
        np.add.at(change, np.maximum(_ranks(firsts, prefixes.starts, is_after=True) - 1, 0), 1)
        np.add.at(change, _ranks(firsts, prefixes.ends, is_after=False), -1)
    return np.flatnonzero(np.cumsum(change[:-1]))


def _ranks(ascending: Any, keys: Any, *, is_after: bool) -> Any:
    """How many come before each key, those equal to it included if it is to be after them."""
    if len(keys) <= FEW_KEYS:
        places = range(len(ascending))
        bisect = bisect_right if is_after else bisect_left
        return np.array(
            [bisect(places, key, key=lambda at: ascending[at].as_py()) for key in keys.to_pylist()], np.int64
        )
    count, total = len(ascending), len(ascending) + len(keys)
    # Sorting is stable: of equals the first given comes first.
    order = pc.sort_indices(pa.concat_arrays([ascending, keys] if is_after else [keys, ascending])).to_numpy()
    is_key = order >= count if is_after else order < len(keys)
    ranks = np.empty(len(keys), np.int64)
    ranks[order[is_key] - (count if is_after else 0)] = (np.arange(total) - np.cumsum(is_key) + 1)[is_key]
    return ranks


def require_own_keys(index: BlockIndex, numbers: Any, cells: Cells, borders: Any) -> None:
    """Refuse blocks whose keys are not those that the index tells of; `cells` are of the blocks so numbered."""
    cuts = np.searchsorted(cells.rows, borders)
    filled = cuts[1:] > cuts[:-1]
    numbers, starts, ends = numbers[filled], cuts[:-1][filled], cuts[1:][filled]
    if not len(numbers):
        return
    place = int(index.offsets[numbers[0]])
    require_not_after(index.keys.take(pa.array(numbers)), cells.keys(starts), place)
    has_next = numbers + 1 < len(index)
    nexts = index.keys.take(pa.array(numbers[has_next] + 1))
    require_not_after(cells.keys(ends[has_next] - 1), nexts, place)
