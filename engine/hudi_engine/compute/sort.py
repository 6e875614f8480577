"""Keys in the order in which an HFile has them: that of their bytes, unsigned.

Words of eight bytes are compared as numbers: the first word of all keys, then the next one of those that are equal so
far. Of random keys that is next to none.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.format.arrow_bytes import bytes_of

Order = npt.NDArray[np.int64]

_WORD: Final = 8
# Keys that are equal in so many words are compared whole: each word costs a round for all of them.
_ROUNDS: Final = 8
_U: Final = np.uint64


def sort_order(keys: Any) -> Order:
    """The places of the keys, a large binary array, in ascending order of the keys; equal keys in any order."""
    if len(keys) < 2:
        return np.arange(len(keys))
    text = _Text.of(keys)
    depth, words = 0, text.words(0, slice(None))
    while depth < _ROUNDS and words[0] == words[-1] and (words == words[0]).all():
        depth += 1
        words = text.words(depth, slice(None))
    # A word is worth the more the less of it is the same for all keys.
    if shared := _WORD - -(-int(np.bitwise_or.reduce(words ^ words[0])).bit_length() // 8):
        text, depth = text.behind(depth * _WORD + shared), 0
        words = text.words(0, slice(None))
    order = np.argsort(words)
    _resolve(order, _Ties.of(words[order], np.arange(len(keys))), text, depth)
    return order


@dataclass(frozen=True, slots=True)
class _Text:
    """The bytes of all keys with a word behind, so that the word after any place can be read."""

    keys: Any
    at: npt.NDArray[Any]
    starts: Order
    sizes: Order

    @classmethod
    def of(cls, keys: Any) -> "_Text":
        data, borders = bytes_of(keys)
        padded = b"".join((data[int(borders[0]) : int(borders[-1])], bytes(_WORD)))
        at = np.ndarray((len(padded) - _WORD + 1,), dtype=">u8", buffer=padded, strides=(1,))
        return cls(keys, at, borders[:-1] - borders[0], np.diff(borders))

    def behind(self, count: int) -> "_Text":
        """The same without so many bytes in front, which all keys share, or noughts where a key has ended."""
        return replace(self, starts=self.starts + count, sizes=self.sizes - count)

    def words(self, depth: int, rows: Order | slice) -> npt.NDArray[np.uint64]:
        """One word of each of these keys as a number; what is beyond a key's end is nought."""
        left = self.sizes[rows] - _WORD * depth
        places = np.minimum(self.starts[rows] + _WORD * depth, len(self.at) - 1)
        words = self.at[places].astype(np.uint64)
        if left.min() < _WORD:
            missing = np.clip(_WORD - left, 0, _WORD - 1).astype(np.uint64) << _U(3)
            words = np.where(left > 0, words >> missing << missing, _U(0))
        return words


@dataclass(frozen=True, slots=True)
class _Ties:
    """Places within an order whose keys are equal so far to a neighbour's; `groups` tells which are equal."""

    places: Order
    groups: Order

    @classmethod
    def of(cls, ranks: npt.NDArray[Any], places: Order) -> "_Ties":
        """`ranks` ascend with the keys as far as these are compared."""
        return cls.where(ranks[1:] == ranks[:-1], places)

    @classmethod
    def where(cls, is_as_before: npt.NDArray[np.bool_], places: Order) -> "_Ties":
        is_tied = np.zeros(len(places), bool)
        is_tied[1:] = is_as_before
        is_tied[:-1] |= is_as_before
        groups = np.zeros(len(places), np.int64)
        np.cumsum(~is_as_before, out=groups[1:])
        return cls(places[is_tied], groups[is_tied])


def _resolve(order: Order, ties: _Ties, text: _Text, depth: int) -> None:
    """Put in order what is equal in the words up to `depth`."""
    while len(ties.places) and depth < _ROUNDS:
        depth += 1
        rows = order[ties.places]
        words = text.words(depth, rows)
        # Groups ascend already, so that each stays where it is.
        moved = np.lexsort((words, ties.groups))
        order[ties.places] = rows[moved]
        words = words[moved]
        is_as_before = (words[1:] == words[:-1]) & (ties.groups[1:] == ties.groups[:-1])
        ties = _Ties.where(is_as_before, ties.places)
    if len(ties.places):
        rows = order[ties.places]
        whole = pa.table({"group": ties.groups, "key": text.keys.take(pa.array(rows))})
        moved = pc.sort_indices(whole, sort_keys=[("group", "ascending"), ("key", "ascending")]).to_numpy()
        order[ties.places] = rows[moved]
