"""Keys and prefixes found inside of unpacked data blocks, without a look at any value but those found.

Rows ascend, so each search is a binary one. For many keys it is done for all at once: what the rows of a run of blocks
have in common at their start is put aside, the next eight bytes of each are read as a number, and only keys that share
these with several rows are compared with rows themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.format.arrow_bytes import bytes_of
from hudi_engine.format.hfile.cells import (
    HEAD_BYTES,
    LOW_HALF,
    MAX_ROW_BYTES,
    TAIL_BYTES,
    Payloads,
    find_cells,
    words_at,
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

    def lengths(self, at: Any) -> Any:
        """The bytes of the rows at these places."""
        return self.row_bytes if isinstance(self.row_bytes, int) else self.row_bytes[at].astype(np.int64)

    def keys(self, at: Any) -> Any:
        """The keys at these places, as an Arrow array."""
        return _gathered(self.data, self.rows[at].astype(np.int64), self.lengths(at))

    def entries(self, at: Any) -> Any:
        """The keys and values at these places."""
        starts, row_bytes = self.rows[at].astype(np.int64), self.lengths(at)
        value_bytes = (words_at(self.data)[starts - HEAD_BYTES].astype(np.uint64) & LOW_HALF).astype(np.int64)
        if len(value_bytes) and value_bytes.min() == value_bytes.max():
            value_bytes = int(value_bytes[0])
        keys = _gathered(self.data, starts, row_bytes)
        return pa.record_batch([keys, _gathered(self.data, starts + row_bytes + TAIL_BYTES, value_bytes)], ENTRIES)


def _gathered(data: Any, starts: Any, lengths: Any) -> Any:
    """The pieces that start there, of one length or each of its own, as an Arrow array of their own memory."""
    if isinstance(lengths, int) and lengths:
        pieces = np.ndarray((len(data) - lengths + 1,), f"V{lengths}", data, strides=(1,))[starts]
        borders = np.arange(0, len(starts) * lengths + 1, lengths)
        return _array(len(starts), borders, pieces)
    borders = np.empty(2 * len(starts), np.int64)
    borders[0::2] = starts
    borders[1::2] = starts + lengths
    # Every other piece is what lies between two that are wanted.
    return _array(max(len(borders) - 1, 0), borders, data).take(pa.array(np.arange(0, len(borders), 2)))


def _array(length: int, borders: Any, data: Any) -> Any:
    return pa.Array.from_buffers(pa.large_binary(), length, [None, pa.py_buffer(borders), pa.py_buffer(data)])


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the rows have in common at their start, and the eight bytes that follow it as numbers."""

    prefix: bytes
    words: Any


def cells_of(blocks: Payloads) -> tuple[Cells, Narrowing | None]:
    """The blocks' cells; refuses cells that do not add up and rows that do not ascend."""
    return _checked(Cells(blocks.data, *find_cells(blocks), is_strict=True), blocks.places[0])


def _checked(cells: Cells, place: int) -> tuple[Cells, Narrowing | None]:
    narrowing = _narrow(cells)
    if narrowing and _is_strict(cells, narrowing.words):
        return cells, narrowing
    require_ascending(cells.keys(slice(None)), place)
    return replace(cells, is_strict=False), None


def _is_strict(cells: Cells, words: Any) -> bool:
    """Whether each row is larger than the one before; rows themselves are compared only where their words are equal."""
    not_larger = words[1:] <= words[:-1]
    if not not_larger.any():
        return True
    at = np.flatnonzero(not_larger)
    if (words[at] > words[at + 1]).any():
        return False
    return not pc.less(cells.keys(at), cells.keys(at + 1)).false_count


def _narrow(cells: Cells) -> Narrowing | None:
    """The rows as numbers, if all have in common what the first and the last have."""
    if not len(cells):
        return Narrowing(b"", np.zeros(0, np.uint64))
    first, last = cells.keys(np.array([0, len(cells) - 1])).to_pylist()
    prefix = _common_start(first, last)
    if not _all_begin_with(cells, prefix):
        return None
    return Narrowing(prefix, _words(cells.data, cells.rows + len(prefix), cells.row_bytes - np.int64(len(prefix))))


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
    words = words_at(data)[starts].astype(np.uint64)
    if np.min(lengths, initial=WORD) < WORD:
        words &= MASKS[np.clip(lengths, 0, WORD)]
    return words


def find_keys(cells: Cells, keys: Any, narrowing: Narrowing | None = None) -> Any:
    """The entries whose key is among these, an Arrow array of large binaries, in the order of the cells."""
    narrowing = narrowing or (_narrow(cells) if cells.is_strict else None)
    if not narrowing or not len(cells):
        return cells.entries(_places(pc.is_in(cells.keys(slice(None)), keys)))
    low, high = _narrowed(narrowing, keys)
    if (high - low > 1).any():
        low = _ranked(cells, keys, low, high)
    at = np.minimum(low, len(cells) - 1)
    return cells.entries(np.unique(at[_places(pc.equal(cells.keys(at), keys))]))


def _places(is_wanted: Any) -> Any:
    return np.flatnonzero(is_wanted.to_numpy(zero_copy_only=False))


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
        return cells.entries(_places(begin_with_any(cells.keys(slice(None)), prefixes)))
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


def begin_with_any(keys: Any, prefixes: Prefixes) -> Any:
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
    return _ranked(cells, keys, *_narrowed(narrowing, keys))


def _ranked(cells: Cells, keys: Any, low: Any, high: Any) -> Any:
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
    data, borders = bytes_of(keys)
    first, end = int(borders[0]), int(borders[-1])
    padded = np.zeros(end - first + WORD, np.uint8)
    padded[: end - first] = np.frombuffer(data, np.uint8)[first:end]
    starts = np.minimum(borders[:-1] + start, borders[1:])
    return _words(padded, starts - first, borders[1:] - starts)
