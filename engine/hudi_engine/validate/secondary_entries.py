"""Keys of a secondary index taken apart: millions of them, so that where nothing is escaped no byte is copied."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.keys import NULL_VALUE, hashed_part, split_secondary_keys
from hudi_engine.index.secondary_values import Column
from hudi_engine.validate.fingerprints import Integers, Numbers, Texts, fingerprints, fingerprints_at, texts_of
from hudi_engine.validate.secondary_values import prints_of_texts

_DOLLAR, _BACKSLASH = ord("$"), b"\\"


@dataclass(frozen=True, slots=True)
class Parts:
    """Of each entry: the fingerprints of its record key and its value, whether that is null, and its shard's number."""

    keys: Numbers
    values: Numbers
    is_null: NDArray[np.bool_]
    shards: Integers


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a secondary index spells and spreads its keys."""

    column: Column
    is_spread_by_value: bool
    shards: int

    def parts(self, entries: pa.Array) -> Parts:
        """What is to be known of secondary keys; `CorruptFile` if one has no `$` between value and record key."""
        texts = texts_of(entries)
        middle = _middle(texts)
        return self._escaped_parts(entries) if middle is None else self._plain_parts(entries, texts, middle)

    def _plain_parts(self, entries: pa.Array, texts: Texts, middle: Integers) -> Parts:
        values = Texts(texts.data, texts.starts, middle - texts.starts)
        keys = Texts(texts.data, middle + 1, texts.starts + texts.sizes - middle - 1)
        octets = np.frombuffer(texts.data, np.uint8)
        if self.column.has_two_spellings:
            prints = prints_of_texts(self.column, _up_to(texts, middle))
        else:
            prints = fingerprints_at(values)
        is_null = (values.sizes == 1) & (octets[texts.starts] == ord(NULL_VALUE))
        hashed = _up_to(texts, middle + 1) if self.is_spread_by_value else entries
        return Parts(fingerprints_at(keys), prints, is_null, shard_numbers(hashed, self.shards))

    def _escaped_parts(self, entries: pa.Array) -> Parts:
        values, keys = split_secondary_keys(entries)
        is_null = values.is_null().to_numpy(zero_copy_only=False)
        hashed = hashed_part(entries) if self.is_spread_by_value else entries
        shards = shard_numbers(hashed, self.shards)
        return Parts(fingerprints(keys), prints_of_texts(self.column, values), is_null, shards)


def _middle(texts: Texts) -> Integers | None:
    """Where each text has its first dollar; None if some of them are not that simple."""
    if not len(texts.starts):
        return None
    first, ends = int(texts.starts[0]), texts.starts + texts.sizes
    octets = np.frombuffer(texts.data[first : int(ends[-1])], np.uint8)
    if _BACKSLASH in octets.tobytes():
        return None
    dollars = np.flatnonzero(octets == _DOLLAR) + first
    number = np.searchsorted(dollars, texts.starts)
    if not len(dollars) or int(number[-1]) == len(dollars):
        return None
    middle: Integers = dollars[number]
    return middle if bool((middle < ends).all()) else None


def _up_to(texts: Texts, borders: Integers) -> pa.Array:
    """Each text up to its border. The texts lie one behind the other, so that nothing is copied but what is taken."""
    offsets = np.empty(2 * len(borders) + 1, np.int64)
    offsets[0:-1:2], offsets[1::2], offsets[-1] = texts.starts, borders, texts.starts[-1] + texts.sizes[-1]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts.data)]
    both = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
    return both.take(pa.array(np.arange(0, len(both), 2)))
