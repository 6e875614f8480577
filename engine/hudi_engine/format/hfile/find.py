"""Keys and prefixes found inside of unpacked data blocks, without a look at any value but those found.

Rows ascend, so each search is a binary one. For many keys it is done for all at once: what the rows of a run of blocks
have in common at their start is put aside, the next eight bytes of each are read as a number, and only keys that share
these with several rows are compared with rows themselves.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.format.hfile.cells import (
    HEAD_BYTES,
    LENGTHS,
    LOW_HALF,
    MAX_ROW_BYTES,
    TAIL_BYTES,
    Payloads,
    find_cells,
)
from hudi_engine.format.hfile.order import require_ascending

ENTRIES = pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())])
WORD = 8
# The first so many bytes of a word.
MASKS = np.array([(1 << 64) - (1 << 8 * (WORD - kept)) for kept in range(WORD + 1)], np.uint64)
BEYOND_EVERY_KEY = b"\xff" * (MAX_ROW_BYTES + 1)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a block, or of a run of blocks, whose rows are known to ascend.

    Strictly and in bytes, if `is_strict`; else there may be equal rows, or they ascend as Java's strings.
    """

    data: Any  # uint8; at least ten bytes follow each row
    rows: Any  # where each row starts
    row_bytes: Any  # one number for all rows, or one for each
    is_strict: bool

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def size_bytes(self) -> int:
        row_bytes = 0 if isinstance(self.row_bytes, int) else self.row_bytes.nbytes
        return int(self.data.nbytes + self.rows.nbytes + row_bytes)

    def lengths(self, at: Any) -> Any:
        """The bytes of the rows at these places."""
        return self.row_bytes if isinstance(self.row_bytes, int) else self.row_bytes[at].astype(np.int64)

    def keys(self, at: Any) -> Any:
        """The keys at these places, as an Arrow array."""
        starts = self.rows[at].astype(np.int64)
        return _gathered(self.data, starts, starts + self.lengths(at))

    def entries(self, at: Any) -> Any:
        """The keys and values at these places."""
        starts = self.rows[at].astype(np.int64)
        ends = starts + self.lengths(at)
        heads = _numbers(self.data)[starts - HEAD_BYTES].astype(np.uint64)
        values = ends + TAIL_BYTES
        value_ends = values + (heads & LOW_HALF).astype(np.int64)
        columns = [_gathered(self.data, starts, ends), _gathered(self.data, values, value_ends)]
        return pa.record_batch(columns, ENTRIES)

    def value(self, at: int, row_bytes: int) -> bytes:
        """The value at a place, whose row has so many bytes."""
        start = int(self.rows[at])
        _, value_bytes = LENGTHS.unpack_from(self.data, start - HEAD_BYTES)
        end_of_key = start + row_bytes + TAIL_BYTES
        return self.data[end_of_key : end_of_key + value_bytes].tobytes()


def _numbers(data: Any) -> Any:
    """The eight bytes from any place on, as one number."""
    return np.ndarray((max(len(data) - WORD + 1, 0),), ">u8", data, strides=(1,))


def _gathered(data: Any, starts: Any, ends: Any) -> Any:
    borders = np.empty(2 * len(starts), np.int64)
    borders[0::2] = starts
    borders[1::2] = ends
    buffers = [None, pa.py_buffer(borders), pa.py_buffer(data)]
    # Every other piece is what lies between two that are wanted.
    pieces = pa.Array.from_buffers(pa.large_binary(), max(len(borders) - 1, 0), buffers)
    return pieces.take(pa.array(np.arange(0, len(borders), 2)))


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the rows have in common at their start, and the eight bytes that follow it, as ascending numbers."""

    prefix: bytes
    words: Any


def cells_of(blocks: Payloads) -> tuple[Cells, Narrowing | None]:
    """The blocks' cells; refuses cells that do not add up and rows that do not ascend."""
    return _checked(Cells(blocks.data, *find_cells(blocks), is_strict=True), blocks.places[0])


def _checked(cells: Cells, place: int) -> tuple[Cells, Narrowing | None]:
    narrowing = _narrow(cells)
    if narrowing and _is_strict(cells, narrowing):
        return cells, narrowing
    require_ascending(cells.keys(slice(None)), place)
    return replace(cells, is_strict=False), None


def cells_of_blocks(cells: Cells, borders: Any) -> Iterator[Cells]:
    """The run's cells block by block, to be kept without the rest of the run."""
    cuts = np.searchsorted(cells.rows, borders).tolist()
    for (start, end), (first, after) in zip(pairwise(borders.tolist()), pairwise(cuts), strict=True):
        row_bytes = cells.row_bytes if isinstance(cells.row_bytes, int) else cells.row_bytes[first:after].copy()
        rows = (cells.rows[first:after] - start).astype(np.int32)
        yield Cells(cells.data[start:end].copy(), rows, row_bytes, cells.is_strict)


def joined(blocks: Sequence[Cells], place: int) -> tuple[Cells, Narrowing | None]:
    """The cells of several blocks, the first of which is at `place`, as one run; refuses rows that do not ascend."""
    borders = np.cumsum([0, *(len(block.data) for block in blocks)]).tolist()
    rows = np.concatenate([block.rows + np.int64(border) for block, border in zip(blocks, borders, strict=False)])
    row_bytes = blocks[0].row_bytes
    if not all(isinstance(block.row_bytes, int) and block.row_bytes == row_bytes for block in blocks):
        row_bytes = np.concatenate([np.broadcast_to(np.int16(block.row_bytes), len(block)) for block in blocks])
    return _checked(Cells(np.concatenate([block.data for block in blocks]), rows, row_bytes, is_strict=True), place)


def _narrow(cells: Cells) -> Narrowing | None:
    """The rows as numbers, if they ascend as far as these tell."""
    if not len(cells):
        return Narrowing(b"", np.zeros(0, np.uint64))
    first, last = cells.keys(np.array([0, len(cells) - 1])).to_pylist()
    prefix = _common_start(first, last)
    if not _all_begin_with(cells, prefix):
        return None
    words = _words(cells.data, cells.rows + len(prefix), cells.row_bytes - np.int64(len(prefix)))
    return None if (words[1:] < words[:-1]).any() else Narrowing(prefix, words)


def _common_start(one: bytes, other: bytes) -> bytes:
    length = min(len(one), len(other))
    return one[: next((at for at in range(length) if one[at] != other[at]), length)]


def _all_begin_with(cells: Cells, prefix: bytes) -> bool:
    if prefix and int(np.min(cells.row_bytes)) < len(prefix):
        return False
    for start in range(0, len(prefix), WORD):
        words = _words(cells.data, cells.rows + start, np.int64(len(prefix) - start))
        if (words != words[0]).any():
            return False
    return True


def _words(data: Any, starts: Any, lengths: Any) -> Any:
    """The first eight bytes of each piece as a number; what a shorter piece lacks is nought."""
    words = _numbers(data)[starts].astype(np.uint64)
    words &= MASKS[np.clip(lengths, 0, WORD)]
    return words


def _is_strict(cells: Cells, narrowing: Narrowing) -> bool:
    """Whether rows with equal numbers ascend as well."""
    at = np.flatnonzero(narrowing.words[1:] == narrowing.words[:-1])
    return not len(at) or pc.less(cells.keys(at), cells.keys(at + 1)).false_count == 0


def find_keys(cells: Cells, keys: Any, narrowing: Narrowing | None = None) -> Any:
    """The entries whose key is among these, an Arrow array of large binaries, in the order of the cells."""
    narrowing = narrowing or (_narrow(cells) if cells.is_strict else None)
    if not narrowing or not len(cells):
        return cells.entries(_places(pc.is_in(cells.keys(slice(None)), keys)))
    at = np.minimum(_ranks(cells, narrowing, keys), len(cells) - 1)
    return cells.entries(np.unique(at[_places(pc.equal(cells.keys(at), keys))]))


def find_one_by_one(cells: Cells, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The same for keys so few that most cells should not even be looked at; the cells must be strict."""
    key_at, places = _KeyAt(cells), range(len(cells))
    for key in keys:
        at = bisect_left(places, key, key=key_at)
        if at < len(cells) and key_at(at) == key:
            yield key, cells.value(at, len(key))


def _places(is_wanted: Any) -> Any:
    return np.flatnonzero(is_wanted.to_numpy(zero_copy_only=False))


class _KeyAt:
    """The key at a place, at the cost of a few bytecodes."""

    def __init__(self, cells: Cells) -> None:
        self._data, self._rows = memoryview(cells.data), memoryview(cells.rows)
        self._row_bytes = None if isinstance(cells.row_bytes, int) else memoryview(cells.row_bytes)
        self._equal_bytes = cells.row_bytes if isinstance(cells.row_bytes, int) else 0

    def __call__(self, at: int) -> bytes:
        start = self._rows[at]
        length = self._row_bytes[at] if self._row_bytes is not None else self._equal_bytes
        return bytes(self._data[start : start + length])


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Prefixes in byte order, none of which begins with another, and for each the smallest key after all of its own."""

    starts: Any
    ends: Any


def prefixes_of(wanted: Iterable[bytes]) -> Prefixes:
    """As few prefixes as say the same."""
    starts: list[bytes] = []
    for prefix in sorted(wanted):
        if not starts or not prefix.startswith(starts[-1]):
            starts.append(prefix)
    return Prefixes(pa.array(starts, pa.large_binary()), pa.array(map(_successor, starts), pa.large_binary()))


def _successor(prefix: bytes) -> bytes:
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else BEYOND_EVERY_KEY


def find_prefixes(cells: Cells, prefixes: Prefixes, narrowing: Narrowing | None = None) -> Any:
    """The entries whose key begins with one of the prefixes, in the order of the cells."""
    narrowing = narrowing or (_narrow(cells) if cells.is_strict else None)
    if not narrowing or not len(cells):
        return cells.entries(_places(_begin_with_any(cells.keys(slice(None)), prefixes)))
    prefixes = _near(prefixes, *cells.keys(np.array([0, len(cells) - 1])))
    change = np.zeros(len(cells) + 1, np.int64)
    np.add.at(change, _ranks(cells, narrowing, prefixes.starts), 1)
    np.add.at(change, _ranks(cells, narrowing, prefixes.ends), -1)
    return cells.entries(np.flatnonzero(np.cumsum(change[:-1])))


def _near(prefixes: Prefixes, first: Any, last: Any) -> Prefixes:
    """The prefixes that keys between these can begin with."""
    start = int(pc.sum(pc.less_equal(prefixes.ends, first), min_count=0).as_py())
    end = int(pc.sum(pc.less_equal(prefixes.starts, last), min_count=0).as_py())
    return Prefixes(prefixes.starts[start:end], prefixes.ends[start:end])


def _begin_with_any(keys: Any, prefixes: Prefixes) -> Any:
    """Which keys begin with a prefix, in whatever order the keys are."""
    order = pc.sort_indices(pa.concat_arrays([prefixes.starts, keys])).to_numpy()
    is_prefix = order < len(prefixes.starts)
    # The one prefix that a key may begin with is the last that is not larger; before the first there is none.
    last = np.empty(len(keys), np.int64)
    last[order[~is_prefix] - len(prefixes.starts)] = np.cumsum(is_prefix)[~is_prefix] - 1
    ends = prefixes.ends.take(pa.array(last, mask=last < 0))
    return pc.fill_null(pc.less(keys, ends), False)


def _ranks(cells: Cells, narrowing: Narrowing, keys: Any) -> Any:
    """For each key how many rows are smaller."""
    low, high = _narrowed(narrowing, keys)
    while len(at := np.flatnonzero(low < high)):
        middle = (low[at] + high[at]) >> 1
        is_less = pc.less(cells.keys(middle), keys.take(pa.array(at))).to_numpy(zero_copy_only=False)
        low[at] = np.where(is_less, middle + 1, low[at])
        high[at] = np.where(is_less, high[at], middle)
    return low


def _narrowed(narrowing: Narrowing, keys: Any) -> tuple[Any, Any]:
    """Between which ranks each key's is."""
    words = _words_of_keys(keys, len(narrowing.prefix))
    low = np.searchsorted(narrowing.words, words, "left")
    high = np.searchsorted(narrowing.words, words, "right")
    if narrowing.prefix:
        prefix = pa.scalar(narrowing.prefix, pa.large_binary())
        is_other = ~pc.starts_with(keys, narrowing.prefix).to_numpy(zero_copy_only=False)
        is_less = pc.less(keys, prefix).to_numpy(zero_copy_only=False)
        low[is_other] = high[is_other] = np.where(is_less, 0, len(narrowing.words))[is_other]
    return low, high


def _words_of_keys(keys: Any, start: int) -> Any:
    """The eight bytes of each key from there on."""
    _, offsets, data = keys.buffers()
    borders = np.frombuffer(offsets, np.int64)[keys.offset : keys.offset + len(keys) + 1]
    first, end = int(borders[0]), int(borders[-1])
    padded = np.zeros(end - first + WORD, np.uint8)
    padded[: end - first] = np.frombuffer(data or b"", np.uint8)[first:end]
    starts = np.minimum(borders[:-1] + start, borders[1:])
    return _words(padded, starts - first, borders[1:] - starts)
