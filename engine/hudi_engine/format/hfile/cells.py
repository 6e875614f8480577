"""Data blocks to rows and values, many blocks at once and no cell on its own.

A cell is two lengths, a key of 12 bytes and the row, a value and a zero; nothing tells where cells start but their
lengths. Two ways lead there. Every key ends in the same ten bytes: where rows are of one length, as those of UUIDs or
hashes, finding these finds all cells, and the lengths confirm it. Else the blocks are walked in many lanes at once,
each step being one NumPy operation over every lane. Inside of a block the start of a lane is guessed, by the end of a
key and a length that fits it; that the lane before arrives at the very place proves the guess.
"""

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.block import Block, Codec

LENGTHS = struct.Struct(">II")
LOW_HALF = np.uint64(0xFFFFFFFF)
# Two lengths, then the row's own length; the tail of the key; and the final zero.
HEAD_BYTES = LENGTHS.size + 2
TAIL_BYTES = 10
# What a key has beside its row.
KEY_EXTRA_BYTES = 2 + TAIL_BYTES
# What a cell has beside key and value.
FRAME_BYTES = LENGTHS.size + 1
CELL_EXTRA_BYTES = FRAME_BYTES + KEY_EXTRA_BYTES
MAX_ROW_BYTES = 32767
# With fewer lanes than this, a step of NumPy costs more than stepping through them one by one.
FEW_LANES = 32
# Lanes of about so many cells are begun inside of blocks, wherever a row no longer than this seems to be.
CELLS_PER_LANE = 32
LIKELY_ROW_BYTES = 128
LOW_LENGTHS_BACK = np.arange(LIKELY_ROW_BYTES, dtype=np.uint8)[::-1]


@dataclass(frozen=True, slots=True)
class Payloads:
    """Unpacked data blocks, one after the other, and where in the file each came from."""

    data: Any  # uint8, with eight more bytes at the end so that lengths can be read anywhere
    borders: Any  # int64: where each block begins, and where the last one ends
    places: Sequence[int]


def unpack_blocks(blocks: Sequence[Block], codec: Codec, room: Any) -> Payloads:
    """The blocks' payloads made one, in the room given if it is enough."""
    borders = np.cumsum([0, *(block.raw_bytes for block in blocks)])
    size = int(borders[-1]) + LENGTHS.size
    data = room[:size] if len(room) >= size else np.empty(size, np.uint8)
    data[-LENGTHS.size :] = 0
    into = data.data
    for block, (start, end) in zip(blocks, pairwise(borders.tolist()), strict=True):
        into[start:end] = block.unpack(codec)
    return Payloads(data, borders, [block.place for block in blocks])


def decode_cells(blocks: Payloads) -> tuple[Any, Any]:
    """Rows and values of every cell, in order, as two Arrow arrays; anything that does not add up is refused."""
    equal = _equal_rows(blocks)
    return _cells_of_equal_rows(blocks, *equal) if equal else _cells_of_any_rows(blocks)


def find_cells(blocks: Payloads) -> tuple[Any, Any]:
    """Where each row starts, in order, and its bytes: one number if that is the same for all, else one for each.

    Refuses what `decode_cells` refuses.
    """
    equal = _equal_rows(blocks)
    if equal:
        starts, equal_bytes = equal
        return starts[:-1] + HEAD_BYTES, equal_bytes
    starts, row_bytes, _ = _any_rows(blocks)
    return starts + HEAD_BYTES, row_bytes.astype(np.int16)


def words_at(data: Any) -> Any:
    """The eight bytes from any place on, as one number."""
    return np.ndarray((max(len(data) - LENGTHS.size + 1, 0),), ">u8", data, strides=(1,))


def _equal_rows(blocks: Payloads) -> tuple[Any, int] | None:
    """Where cells start, and the last ends, if all rows are as long as the first and nothing else looks like a tail."""
    row_bytes = int.from_bytes(blocks.data[LENGTHS.size : HEAD_BYTES].tobytes(), "big")
    starts = _starts_of_cells(blocks, HEAD_BYTES + row_bytes)
    if row_bytes > MAX_ROW_BYTES or (starts[np.searchsorted(starts[:-1], blocks.borders)] != blocks.borders).any():
        return None
    lengths = np.diff(starts)
    lengths -= CELL_EXTRA_BYTES + row_bytes
    if lengths.min(initial=0) < 0:
        return None
    lengths += (row_bytes + KEY_EXTRA_BYTES) << 32
    if not np.array_equal(words_at(blocks.data)[starts[:-1]].astype(np.int64), lengths):
        return None
    return starts, row_bytes


def _cells_of_equal_rows(blocks: Payloads, starts: Any, row_bytes: int) -> tuple[Any, Any]:
    cells = _slices(blocks.data, starts)
    value_start = HEAD_BYTES + row_bytes + TAIL_BYTES
    return pc.binary_slice(cells, HEAD_BYTES, HEAD_BYTES + row_bytes), pc.binary_slice(cells, value_start, -1)


def _starts_of_cells(blocks: Payloads, tail_after: int) -> Any:
    """Where cells start whose keys' tails begin so many bytes later, and where the last one ends.

    A tail is a zero, 7f and seven times ff. Of these seven, four are one whole word of the data, wherever they are;
    the bytes ff at the end of the word before are the others.
    """
    words = blocks.data[: len(blocks.data) // 4 * 4].view("<u4")
    found = np.flatnonzero(words == 0xFFFFFFFF)
    before = words[found - 1]
    starts = np.empty(len(found) + 1, np.int64)
    starts[-1] = blocks.borders[-1]
    some = starts[:-1]
    np.multiply(found, 4, out=some)
    some -= tail_after + 2
    for most in (0xFF000000, 0xFFFF0000, 0xFFFFFF00):
        some -= before >= most
    return starts


def _slices(data: Any, borders: Any) -> Any:
    """The data as one array, cut at the borders; nothing is copied."""
    return pa.Array.from_buffers(pa.large_binary(), len(borders) - 1, [None, pa.py_buffer(borders), pa.py_buffer(data)])


def _any_rows(blocks: Payloads) -> tuple[Any, Any, Any]:
    """Where cells start, and the bytes of their rows and values."""
    starts = _walk(blocks)
    lengths = words_at(blocks.data)[starts].astype(np.uint64)
    key_bytes = (lengths >> np.uint64(32)).astype(np.int64)
    value_bytes = (lengths & LOW_HALF).astype(np.int64)
    row_bytes = key_bytes - KEY_EXTRA_BYTES
    _require_cells_fill_blocks(blocks, starts, starts + key_bytes + value_bytes + FRAME_BYTES, row_bytes)
    return starts, row_bytes, value_bytes


def _cells_of_any_rows(blocks: Payloads) -> tuple[Any, Any]:
    starts, row_bytes, value_bytes = _any_rows(blocks)
    borders = np.empty(4 * len(starts) + 1, np.int64)
    borders[0:-1:4] = starts + HEAD_BYTES
    borders[1::4] = borders[0:-1:4] + row_bytes
    borders[2::4] = borders[1::4] + TAIL_BYTES
    borders[3::4] = borders[2::4] + value_bytes
    borders[-1] = blocks.borders[-1]
    pieces = _slices(blocks.data, borders)
    rows = pa.array(np.arange(0, len(pieces), 4))
    return pieces.take(rows), pieces.take(pc.add(rows, 2))


def _walk(blocks: Payloads) -> Any:
    """Where each cell starts, if the lengths are to be believed."""
    filled = blocks.borders[:-1] < blocks.borders[1:]
    starts, ends = blocks.borders[:-1][filled], blocks.borders[1:][filled]
    lanes = np.union1d(starts, _likely_starts(blocks))
    found, reached = _walk_lanes(blocks.data, lanes, np.append(lanes[1:], blocks.borders[-1]))
    # Block by block there is no doubt where to begin. Elsewhere it must be where the walk before arrived.
    is_end = np.isin(lanes[1:], starts)
    if (is_end | (reached[:-1] == lanes[1:])).all():
        return found
    return _walk_lanes(blocks.data, starts, ends)[0]


def _likely_starts(blocks: Payloads) -> Any:
    """Places, one in a number of cells, that look as if a cell started there."""
    tails = _starts_of_cells(blocks, 0)[CELLS_PER_LANE:-1:CELLS_PER_LANE]
    tails = tails[tails >= LIKELY_ROW_BYTES + HEAD_BYTES]
    if not len(tails):
        return tails
    windows = np.lib.stride_tricks.sliding_window_view(blocks.data, LIKELY_ROW_BYTES)[tails - LIKELY_ROW_BYTES]
    # The last byte of a row's length is as many bytes before the tail as it says.
    which, at = np.nonzero(windows == LOW_LENGTHS_BACK)
    row_bytes = LIKELY_ROW_BYTES - 1 - at
    starts = tails[which] - row_bytes - HEAD_BYTES
    return starts[words_at(blocks.data)[starts].astype(np.uint64) >> np.uint64(32) == row_bytes + KEY_EXTRA_BYTES]


def _walk_lanes(data: Any, at: Any, end: Any) -> tuple[Any, Any]:
    """Where cells start from each place to the end beside it, in order, and where beyond each end the next would."""
    lengths = words_at(data)
    reached = np.empty(len(at), np.int64)
    lanes = np.arange(len(at))
    steps = []
    while len(at) > FEW_LANES:
        steps.append(at)
        found = lengths[at].astype(np.uint64)
        at = at + ((found >> np.uint64(32)) + (found & LOW_HALF)).view(np.int64) + FRAME_BYTES
        is_inside = at < end
        if not is_inside.all():
            reached[lanes[~is_inside]] = at[~is_inside]
            at, end, lanes = at[is_inside], end[is_inside], lanes[is_inside]
    for lane, one_at, one_end in zip(lanes.tolist(), at.tolist(), end.tolist(), strict=True):
        starts, reached[lane] = _walk_one(data, one_at, one_end)
        steps.append(starts)
    return np.sort(np.concatenate(steps), kind="stable") if steps else at, reached


def _walk_one(data: Any, at: int, end: int) -> tuple[Any, int]:
    starts = array("q")
    while at < end:
        starts.append(at)
        key_bytes, value_bytes = LENGTHS.unpack_from(data, at)
        if key_bytes < KEY_EXTRA_BYTES:
            break  # It will be refused; a payload of zeros would otherwise be a very long walk.
        at += key_bytes + value_bytes + FRAME_BYTES
    return np.frombuffer(starts, np.int64), at


def _require_cells_fill_blocks(blocks: Payloads, starts: Any, ends: Any, row_bytes: Any) -> None:
    """Each cell must end where the next begins, and its key must have the one form that Hudi writes.

    The walk went on only inside of a block, so a cell that reaches into the next block is found here as well.
    """
    nexts = np.append(starts[1:], blocks.borders[-1])
    wrong = (ends != nexts) | (row_bytes < 0) | (row_bytes > MAX_ROW_BYTES)
    place = np.minimum(starts + LENGTHS.size, len(blocks.data) - 2)
    wrong |= (blocks.data[place].astype(np.int64) << 8 | blocks.data[place + 1]) != row_bytes
    if wrong.any():
        at = int(starts[wrong.argmax()])
        block = int(np.searchsorted(blocks.borders, at, "right")) - 1
        into = at - int(blocks.borders[block])
        raise CorruptFile(
            f"the cell {into} bytes into the payload has lengths that cannot be true", int(blocks.places[block])
        )
