"""Hudi's bloom filters: simple ones, and dynamic ones that grow by a row when one is full.

Their hash is murmur2 as Hadoop has it, over whole columns. The package mmh3 has murmur3 only.
"""

import base64
import binascii
import math
import string
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format.arrow_bytes import bytes_of

SIMPLE = "SIMPLE"
DYNAMIC = "DYNAMIC_V0"
HEADER = struct.Struct(">iibi")
GROWTH = struct.Struct(">iii")
VERSION = -1
MURMUR = 1
# A hash each halves the false positives: nobody needs this many, and a forged header could cost minutes.
MAX_HASHES = 1024
MULTIPLIER = np.uint32(0x5BD1E995)
_LETTERS = (string.ascii_letters + string.digits + "+/").encode()
_MOST_PADDING = 2
# Keys hashed at a time: each needs one number per hash.
SOME_KEYS = 65536


@dataclass(frozen=True, slots=True)
class Shape:
    """How many bits a row of the filter has, and how many of them a key sets."""

    bits: int
    hashes: int

    @property
    def row_bytes(self) -> int:
        return -(-self.bits // 8)


@dataclass(frozen=True, slots=True)
class Growth:
    """Of a dynamic filter: the keys that fill a row, and the keys counted for its last row."""

    keys_per_row: int
    keys_in_last_row: int


@dataclass(frozen=True, slots=True)
class Sizing:
    """What a filter is made for; without `most_keys` it is a simple one, however many keys are added."""

    keys: int = 60_000
    false_positives: float = 1e-9
    most_keys: int | None = 100_000

    @property
    def shape(self) -> Shape:
        bits = math.ceil(self.keys * (-math.log(self.false_positives) / (math.log(2) * math.log(2))))
        return Shape(bits, math.ceil(math.log(2) * bits / self.keys))


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """Rows of bits, of which a simple filter has one. A key may be contained if one row has all of its bits."""

    shape: Shape
    rows: tuple[Any, ...]  # uint8, least significant bit first
    growth: Growth | None = None

    @property
    def type_code(self) -> str:
        return SIMPLE if self.growth is None else DYNAMIC

    def might_contain(self, keys: Any) -> Any:
        """For each key of an Arrow array: False only if it was certainly never added."""
        answer = np.zeros(len(keys), bool)
        for numbers, positions in _positions(keys, self.shape):
            for row in self.rows:
                bits = row[positions >> 3] >> (positions & 7).astype(np.uint8) & 1
                answer[numbers] |= bits.all(axis=1)
        return answer

    def to_text(self) -> str:
        """Base64, as it stands in footers and meta blocks."""
        header = HEADER.pack(VERSION, self.shape.hashes, MURMUR, self.shape.bits)
        data = b"".join(header + row.tobytes() for row in self.rows)
        if self.growth is not None:
            growth = GROWTH.pack(self.growth.keys_per_row, self.growth.keys_in_last_row, len(self.rows))
            data = header + growth + data
        return base64.b64encode(data).decode()


def build_bloom_filter(keys: Any, sizing: Sizing) -> BloomFilter:
    """A filter of an Arrow array of keys: bit by bit the one that Hudi makes of them, added in this order."""
    shape = sizing.shape
    if sizing.most_keys is None:
        return BloomFilter(shape, (_row_of(keys, np.zeros(len(keys), np.int64), 0, shape),))
    row_numbers, rows = _rows_of_keys(len(keys), sizing.keys, sizing.most_keys)
    growth = Growth(sizing.keys, len(keys) - (rows - 1) * sizing.keys)
    return BloomFilter(shape, tuple(_row_of(keys, row_numbers, row, shape) for row in range(rows)), growth)


def _rows_of_keys(count: int, per_row: int, most: int) -> tuple[Any, int]:
    """The row that each key goes to: rows fill up one by one, and once there are enough they take turns."""
    numbers = np.arange(count)
    rows = min(max(1, -(-most // per_row)), max(1, -(-count // per_row)))
    # The first key beyond the last row goes to row 0, and so does the second: that is how Hudi counts.
    beyond = np.maximum(numbers - rows * per_row - 1, 0) % rows
    return np.where(numbers < rows * per_row, numbers // per_row, beyond), rows


def _row_of(keys: Any, row_numbers: Any, row: int, shape: Shape) -> Any:
    bits = np.zeros(shape.row_bytes * 8, bool)
    for numbers, positions in _positions(keys, shape):
        bits[positions[row_numbers[numbers] == row]] = True
    return np.packbits(bits, bitorder="little")


def parse_bloom_filter(text: bytes | str, type_code: str) -> BloomFilter:
    """The filter that a footer or meta block holds; the old Jenkins hash and unknown types are Unsupported."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as broken:
        raise CorruptFile(f"a bloom filter that is no Base64: {broken}", 0) from broken
    match type_code.upper():
        case "SIMPLE":
            shape, row, end = _parse_row(data, 0)
            filter_ = BloomFilter(shape, (row,))
        case "DYNAMIC_V0":
            filter_, end = _parse_dynamic(data)
        case _:
            raise Unsupported(f"a bloom filter of type {type_code!r}: only {SIMPLE} and {DYNAMIC} are known")
    if end != len(data):
        raise CorruptFile(f"{len(data) - end} bytes after the end of a bloom filter", end)
    return filter_


def require_bloom_filter(text: bytes, type_code: str) -> None:
    """Refuses what `parse_bloom_filter` refuses, in a fifth of the time: the bits are counted, not unpacked."""
    if not _is_whole(text, type_code.upper()):
        parse_bloom_filter(text, type_code)


def _is_whole(text: bytes, type_code: str) -> bool:
    """Whether it is a filter beyond doubt: headers that fit the length, in letters of Base64."""
    body = text.rstrip(b"=")
    padding = len(text) - len(body)
    size = len(text) // 4 * 3 - padding
    if len(text) % 4 or padding > _MOST_PADDING or size < HEADER.size + GROWTH.size or body.translate(None, _LETTERS):
        return False
    header = _octets(text, 0, HEADER.size)
    version, hashes, kind, bits = HEADER.unpack(header)
    row_bytes = HEADER.size + Shape(bits, hashes).row_bytes
    if version != VERSION or kind != MURMUR or not (1 <= hashes <= MAX_HASHES and bits >= 1):
        return False
    if type_code == SIMPLE:
        return size == row_bytes
    per_row, _, count = GROWTH.unpack(_octets(text, HEADER.size, GROWTH.size))
    first = HEADER.size + GROWTH.size
    is_dynamic = type_code == DYNAMIC and per_row >= 1 and count >= 1 and size == first + count * row_bytes
    return is_dynamic and all(_octets(text, at, HEADER.size) == header for at in range(first, size, row_bytes))


def _octets(text: bytes, start: int, count: int) -> bytes:
    """What these bytes are of those that the text stands for; three are four letters."""
    place = start // 3 * 3
    return base64.b64decode(text[place // 3 * 4 : -(-(start + count) // 3) * 4])[start - place :][:count]


def _parse_dynamic(data: bytes) -> tuple[BloomFilter, int]:
    shape, at = _parse_shape(data, 0)
    if at + GROWTH.size > len(data):
        raise CorruptFile("a dynamic bloom filter ends before its rows", at)
    per_row, in_last_row, count = GROWTH.unpack_from(data, at)
    at += GROWTH.size
    if not 1 <= count <= len(data) // (HEADER.size + shape.row_bytes) or per_row < 1:
        raise CorruptFile(f"a bloom filter with {count} rows of {per_row} keys", at - GROWTH.size)
    rows = []
    for _ in range(count):
        row_shape, row, at = _parse_row(data, at)
        if row_shape != shape:
            raise CorruptFile("the rows of a bloom filter differ in shape", at)
        rows.append(row)
    return BloomFilter(shape, tuple(rows), Growth(per_row, in_last_row)), at


def _parse_row(data: bytes, at: int) -> tuple[Shape, Any, int]:
    shape, start = _parse_shape(data, at)
    end = start + shape.row_bytes
    if end > len(data):
        raise CorruptFile(f"a bloom filter of {shape.bits} bits in {len(data) - start} bytes", start)
    return shape, np.frombuffer(data, np.uint8, shape.row_bytes, start), end


def _parse_shape(data: bytes, at: int) -> tuple[Shape, int]:
    if at + HEADER.size > len(data):
        raise CorruptFile("a bloom filter ends inside its header", at)
    version, hashes, kind, bits = HEADER.unpack_from(data, at)
    if version > 0 or (version == VERSION and kind == 0):
        raise Unsupported("a bloom filter by the Jenkins hash, which Hudi no longer writes")
    if version != VERSION or kind != MURMUR:
        raise Unsupported(f"a bloom filter of version {version} with hash type {kind}")
    if not (1 <= hashes <= MAX_HASHES and bits >= 1):
        raise CorruptFile(f"a bloom filter of {bits} bits and {hashes} hashes", at)
    return Shape(bits, hashes), at + HEADER.size


def _positions(keys: Any, shape: Shape) -> Iterator[tuple[Any, Any]]:
    """Numbers of keys, and the bits of each: keys of one length together, since those hash in step."""
    keys = pc.cast(keys, pa.large_binary())
    lengths = pc.binary_length(keys)
    if keys.null_count or pc.any(pc.equal(lengths, 0)).as_py():
        raise Contradiction("an empty key or none at all: bloom filters cannot hold those")
    lengths = lengths.to_numpy()
    data, starts = bytes_of(keys)
    order = np.argsort(lengths, kind="stable")
    borders = np.flatnonzero(np.diff(lengths[order], prepend=-1))
    for group in np.split(order, borders[1:]):
        for first in range(0, len(group), SOME_KEYS):
            some = group[first : first + SOME_KEYS]
            length = int(lengths[some[0]])
            # Each row of this view is the bytes from one place on; nothing is copied before rows are chosen.
            view = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), length)
            yield some, _bits_of(view[starts[some]], shape)


def _bits_of(keys: Any, shape: Shape) -> Any:
    """The bits of keys of one length, a row each. Every hash is the seed of the next."""
    words, tail = _murmur_words(keys)
    seed = np.zeros(len(keys), np.uint32)
    positions = np.empty((len(keys), shape.hashes), np.int64)
    for number in range(shape.hashes):
        seed = seed ^ np.uint32(keys.shape[1])
        for word in words:
            seed = seed * MULTIPLIER ^ word
        if tail is not None:
            seed = (seed ^ tail) * MULTIPLIER
        seed = (seed ^ seed >> np.uint32(13)) * MULTIPLIER
        seed = seed ^ seed >> np.uint32(15)
        # Java's remainder keeps the sign, which Java's `abs` then drops.
        positions[:, number] = np.abs(np.fmod(seed.view(np.int32).astype(np.int64), shape.bits))
    return positions


def _murmur_words(keys: Any) -> tuple[list[Any], Any]:
    """What Murmur mixes in, word by word, and the rest: its bytes are signed, so that one can set all higher bits."""
    whole = keys.shape[1] // 4 * 4
    words = np.ascontiguousarray(keys[:, :whole].T.reshape(-1, 4, len(keys)).transpose(0, 2, 1)).view("<u4")[..., 0]
    words = words.astype(np.uint32) * MULTIPLIER
    words = (words ^ words >> np.uint32(24)) * MULTIPLIER
    if whole == keys.shape[1]:
        return list(words), None
    rest = keys[:, whole:].astype(np.int8).astype(np.int32)
    tail = np.zeros(len(keys), np.int32)
    for place in range(rest.shape[1]):
        tail ^= rest[:, place] << 8 * (rest.shape[1] - 1 - place)
    return list(words), tail.view(np.uint32)
