"""Two multisets of rows compared without keeping either: per bucket of keys, the sum of the rows' fingerprints."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hudi_engine.validate.fingerprints import Integers, Numbers

BUCKET_BITS = 12
BUCKETS = 1 << BUCKET_BITS
_SHIFT = np.uint64(64 - BUCKET_BITS)
_LOW = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
# NumPy adds weights as doubles: this many numbers of 32 bits still have an exact sum.
_EXACT_ROWS = 1 << 20


@dataclass(frozen=True, slots=True)
class Prints:
    """Of each row of a piece: the fingerprint of what both sides meet by, that of all there is to compare, its size.

    A row whose whole print is nought is there for its size alone.
    """

    keys: Numbers
    whole: Numbers
    sizes: Integers

    @property
    def buckets(self) -> Integers:
        return (self.keys >> _SHIFT).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What one side holds, as two numbers a bucket, whatever the order and the pieces it came in."""

    sums: Numbers = field(default_factory=lambda: np.zeros(BUCKETS, np.uint64))
    sizes: Integers = field(default_factory=lambda: np.zeros(BUCKETS, np.int64))

    def __add__(self, other: "Sketch") -> "Sketch":
        return Sketch(self.sums + other.sums, self.sizes + other.sizes)

    def differs(self, other: "Sketch") -> NDArray[np.bool_]:
        """In which buckets the two do not hold the same rows. One that is not named is equal, up to 1 in 2^64."""
        found: NDArray[np.bool_] = self.sums != other.sums
        return found


def sketch_of(prints: Prints) -> Sketch:
    """The sketch of one piece."""
    sketch = Sketch()
    for start in range(0, len(prints.keys), _EXACT_ROWS):
        rows = slice(start, start + _EXACT_ROWS)
        sketch += _few(Prints(prints.keys[rows], prints.whole[rows], prints.sizes[rows]))
    return sketch


def _few(prints: Prints) -> Sketch:
    buckets = prints.buckets
    low = _sum_of(buckets, prints.whole & _LOW)
    high = _sum_of(buckets, prints.whole >> _HALF)
    return Sketch(low + (high << _HALF), _sum_of(buckets, prints.sizes).astype(np.int64))


def _sum_of(buckets: Integers, weights: NDArray[np.uint64] | NDArray[np.int64]) -> Numbers:
    return np.bincount(buckets, weights.astype(np.float64), BUCKETS).astype(np.uint64)
