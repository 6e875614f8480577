"""Which shard a key belongs to: the remainder of Java's hash of the key, which goes over UTF-16 code units.

Eight bytes or four units are folded at a time: a word's units become their polynomial in three steps, whatever they
are, and the words of a key add up with powers of 31. Zeros in front of a key change nothing, so that the first word,
which may be cut, needs no care but to be masked.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.arrow_bytes import bytes_of

Hashes = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_U: Final = np.uint64
_WORD: Final = 8
_KEYS_AT_ONCE: Final = 1 << 14
_LONG_KEY: Final = 2048
"""Bytes from which on a key is folded alone: in step with others it would cost a round of the loop for each word."""


@dataclass(frozen=True, slots=True)
class _Text:
    """Code units one after the other, and which bytes of them each key is."""

    data: bytes | memoryview
    starts: Longs
    ends: Longs
    unit: int  # bytes: 1 for ASCII, 2 for UTF-16


def java_hash(keys: Any) -> Hashes:
    """Java's `String.hashCode` of each key of an Arrow array of strings or binaries; keys are UTF-8 and never null.

    `CorruptFile` for a key that is not UTF-8, with its offset among the bytes of all keys: Java cannot write one.
    """
    hashes = np.empty(len(keys), dtype=np.int32)
    at = 0
    for chunk in keys.chunks if isinstance(keys, pa.ChunkedArray) else [keys]:
        hashes[at : at + len(chunk)] = _hash_chunk(pc.cast(chunk, pa.large_binary()))
        at += len(chunk)
    return hashes


def shard_numbers(keys: Any, shard_count: int) -> npt.NDArray[np.int64]:
    """For each key the place of its shard among the `shard_count` of its index, in the order of their file ids."""
    if shard_count == 1:
        return np.zeros(len(keys), dtype=np.int64)
    # In 64 bits the most negative number has a magnitude too; Java gets to the same remainder by a second `abs`.
    return np.abs(java_hash(keys).astype(np.int64)) % shard_count


def octet_hash(keys: Any) -> npt.NDArray[np.uint32]:
    """A hash of the bytes of each key of an Arrow array of large binaries, whatever they are; of ASCII it is Java's."""
    return _hash_text(_as_octets(keys))


def _hash_chunk(keys: Any) -> Hashes:
    if not len(keys):
        return np.empty(0, dtype=np.int32)
    text = _as_octets(keys)
    hashes = _hash_text(text)
    octets = np.frombuffer(text.data, np.uint8)
    if octets.size and octets.max() >= 0x80:
        rows = np.unique(np.searchsorted(text.ends, np.flatnonzero(octets >= 0x80), side="right"))
        hashes[rows] = _hash_text(_as_utf16(keys.take(pa.array(rows)), int(text.starts[rows[0]])))
    return hashes.view(np.int32)


def _as_octets(keys: Any) -> _Text:
    """These keys as they are, one unit a byte."""
    data, borders = bytes_of(keys)
    ends = borders - borders[0]
    return _Text(data[borders[0] : borders[-1]], ends[:-1], ends[1:], 1)


def _as_utf16(keys: Any, place: int) -> _Text:
    """These keys in UTF-16. Bytes tell where a key ends in it: a character has one unit, of four bytes two."""
    data, borders = bytes_of(keys)
    octets = np.frombuffer(data, np.uint8, int(borders[-1]))
    is_lead = (octets & 0xC0) != 0x80
    try:
        if not is_lead[borders[:-1][np.diff(borders) > 0]].all():
            raise CorruptFile("a key that begins within a character", place)
        units = octets.tobytes().decode().encode("utf-16-le")
    except UnicodeDecodeError as wrong:
        raise CorruptFile(f"a key that is not UTF-8 ({wrong.reason})", place + wrong.start) from wrong
    counts = np.zeros(octets.size + 1, dtype=np.int64)
    np.cumsum(is_lead.astype(np.int64) + (octets >= 0xF0), out=counts[1:])
    places = counts[borders] * 2
    return _Text(units, places[:-1], places[1:], 2)


def _hash_text(text: _Text) -> npt.NDArray[np.uint32]:
    hashes = np.zeros(text.starts.size, dtype=np.uint32)
    for first in range(0, text.starts.size, _KEYS_AT_ONCE):
        part = slice(first, first + _KEYS_AT_ONCE)
        hashes[part] = _hash_some(_Text(text.data, text.starts[part], text.ends[part], text.unit))
    return hashes


def _hash_some(text: _Text) -> npt.NDArray[np.uint32]:
    """The hashes of some keys: in step, the longest first, and alone those that are much longer than keys are."""
    start, lengths = int(text.starts[0]), text.ends - text.starts
    # A margin of a word in front, so that the word before any place can be read.
    padded = b"".join((bytes(_WORD), text.data[start : int(text.ends[-1])]))
    words = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    hashes = np.zeros(lengths.size, dtype=np.uint32)
    order = np.argsort(-lengths, kind="stable")
    for row in order[lengths[order] > _LONG_KEY].tolist():
        hashes[row] = _hash_long(words, int(text.starts[row]) - start, int(text.ends[row]) - start, text.unit)
    order = order[lengths[order] <= _LONG_KEY]
    hashes[order] = _hash_in_step(words, text.ends[order] - start, lengths[order], text.unit)
    return hashes


def _hash_in_step(words: Words, ends: Longs, left: Longs, unit: int) -> npt.NDArray[np.uint32]:
    """`left` is the length of each key and descends. With the margin, a word starts where its last byte's key ends."""
    sums = np.zeros(left.size, dtype=np.uint32)
    power, step = 1, pow(31, _WORD // unit, 1 << 32)
    while left.size and left[0] > 0:
        count = int(np.searchsorted(-left, 0))
        ends, left = ends[:count], left[:count]
        word = words[ends]
        if left[-1] < _WORD:
            missing = np.maximum(_WORD - left, 0).astype(np.uint64) << _U(3)
            word = word >> missing << missing
        sums[:count] += _fold(word, unit) * np.uint32(power)
        power = power * step % (1 << 32)
        ends, left = ends - _WORD, left - _WORD
    return sums


def _hash_long(words: Words, start: int, end: int, unit: int) -> int:
    places = np.arange(end, start, -_WORD)
    word = words[places]
    missing = _U(max(0, _WORD - (int(places[-1]) - start)) * 8)
    word[-1] = word[-1] >> missing << missing
    powers = np.full(places.size, pow(31, _WORD // unit, 1 << 32), dtype=np.uint32)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    return int((_fold(word, unit) * powers).sum(dtype=np.uint32))


def _fold(word: Words, unit: int) -> npt.NDArray[np.uint32]:
    """The polynomial of each word's units: neighbours are joined, then pairs, then halves, all lanes at once."""
    if unit == 1:
        word = (word & _U(0x00FF00FF00FF00FF)) * _U(31) + (word >> _U(8) & _U(0x00FF00FF00FF00FF))
        word = (word & _U(0x0000FFFF0000FFFF)) * _U(31**2) + (word >> _U(16) & _U(0x0000FFFF0000FFFF))
        return ((word & _U(0xFFFFFFFF)) * _U(31**4) + (word >> _U(32))).astype(np.uint32)
    word = (word & _U(0x0000FFFF0000FFFF)) * _U(31) + (word >> _U(16) & _U(0x0000FFFF0000FFFF))
    return ((word & _U(0xFFFFFFFF)) * _U(31**2) + (word >> _U(32))).astype(np.uint32)
