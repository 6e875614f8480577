"""How rows get to the one task that is meant: by numbers whose hash, as Spark takes it, leads there.

Spark 3 shuffles by hash only. With the numbers of shards themselves some tasks would get several and others none.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

_SEED: Final = 42
_U: Final = np.uint32


def tickets(tasks: int) -> npt.NDArray[np.int32]:
    """For each of so many tasks a number that `repartition(tasks, number)` sends to it and to no other."""
    drawn = 2 * tasks
    while True:
        leads_to = spark_hash(np.arange(drawn, dtype=np.int32)).astype(np.int64) % tasks
        reached, first = np.unique(leads_to, return_index=True)
        if len(reached) == tasks:
            return first.astype(np.int32)
        drawn *= 2


def spark_hash(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Spark's `hash` of a column of integers: Murmur3 of four bytes."""
    mixed = _rotated(numbers.view(_U) * _U(0xCC9E2D51), 15) * _U(0x1B873593)
    hashed = _rotated(mixed ^ _U(_SEED), 13) * _U(5) + _U(0xE6546B64)
    hashed ^= _U(4)
    hashed = (hashed ^ (hashed >> _U(16))) * _U(0x85EBCA6B)
    hashed = (hashed ^ (hashed >> _U(13))) * _U(0xC2B2AE35)
    return (hashed ^ (hashed >> _U(16))).view(np.int32)


def _rotated(words: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.uint32]:
    return (words << _U(bits)) | (words >> _U(32 - bits))
