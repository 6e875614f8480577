"""Texts as 64-bit numbers, whole columns at a time: equal texts give equal numbers, others almost never.

The numbers depend on nothing but the text: not on the other texts of the column, its offsets or its batches.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hudi_engine.format.arrow_bytes import bytes_of

Numbers: TypeAlias = NDArray[np.uint64]
Integers: TypeAlias = NDArray[np.int64]

_WORD = 8
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(32)
_LESS = np.uint64(33)
# The low bytes of a word: what is left of it where the text ends within.
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(_WORD + 1)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as they lie in memory: where in `data` each starts, and how many bytes it has."""

    data: memoryview
    starts: Integers
    sizes: Integers


def fingerprints(texts: pa.Array) -> Numbers:
    """One number for each text or bytes value; a null counts as empty."""
    return fingerprints_at(texts_of(texts))


def fingerprints_at(texts: Texts) -> Numbers:
    """One number for each text."""
    sizes = texts.sizes
    numbers: Numbers = (sizes.astype(np.uint64) + np.uint64(1)) * _STEP
    if not len(sizes):
        return numbers
    longest = int(sizes.max())
    if longest == int(sizes.min()) and longest >= _WORD and _are_adjacent(texts.starts, longest):
        _take_in_even(numbers, texts.data, int(texts.starts[0]), longest)
    else:
        _take_in_uneven(numbers, texts)
    return _mixed(numbers)


def fingerprints_of_numbers(numbers: NDArray[np.float64]) -> Numbers:
    """One number for each fraction: all that are not a number have the same, zeros of both signs do not."""
    bits: Numbers = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    return _mixed((bits ^ _FIRST) * _STEP)


def combined(first: Numbers, second: Numbers) -> Numbers:
    """One number for each pair; the order of the two matters."""
    return _mixed((first ^ (second >> _HALF)) * _STEP + second)


def texts_of(texts: pa.Array) -> Texts:
    """How the texts or bytes values of an array lie in memory; a null is empty."""
    data, borders = bytes_of(texts)
    sizes: Integers = np.diff(borders)
    if texts.null_count:
        sizes[texts.is_null().to_numpy(zero_copy_only=False)] = 0
    return Texts(data, borders[:-1], sizes)


def _are_adjacent(starts: Integers, size: int) -> bool:
    return bool(starts[-1] - starts[0] == size * (len(starts) - 1))


def _take_in_even(numbers: Numbers, data: memoryview, start: int, size: int) -> None:
    """Texts of one length lie as the rows of a matrix: each word of theirs is a column, read without an index."""
    full, rest = divmod(size, _WORD)
    for word in range(full):
        _take_in(numbers, _column(data, start + word * _WORD, size, len(numbers)))
    if rest:
        last = _column(data, start + size - _WORD, size, len(numbers))
        _take_in(numbers, last >> np.uint64(8 * (_WORD - rest)))


def _column(data: memoryview, start: int, stride: int, count: int) -> Numbers:
    return np.ndarray((count,), "<u8", data, start, (stride,))


def _take_in_uneven(numbers: Numbers, texts: Texts) -> None:
    """Word by word, with fewer and fewer texts that are so long."""
    data, starts, sizes = texts.data, texts.starts, texts.sizes
    first, end = int(starts.min()), int((starts + sizes).max())
    if len(data) < end + _WORD:
        data, starts = memoryview(bytes(data[first:end]) + bytes(_WORD)), starts - first
    words = np.ndarray((len(data) - _WORD + 1,), "<u8", data, 0, (1,))
    left = np.flatnonzero(sizes)
    at = 0
    while len(left):
        remaining = np.minimum(sizes[left] - at, _WORD)
        some = numbers[left]
        _take_in(some, words[starts[left] + at] & _MASKS[remaining])
        numbers[left] = some
        at += _WORD
        left = left[sizes[left] > at]


def _take_in(numbers: Numbers, word: Numbers) -> None:
    numbers ^= word
    numbers *= _STEP
    numbers ^= numbers >> _HALF


def _mixed(numbers: Numbers) -> Numbers:
    """Each bit of the result depends on all of them, so that sums of related texts are not related."""
    numbers ^= numbers >> _LESS
    numbers *= _FIRST
    numbers ^= numbers >> _LESS
    numbers *= _SECOND
    numbers ^= numbers >> _LESS
    return numbers
