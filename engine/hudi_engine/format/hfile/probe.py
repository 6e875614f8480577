"""A few keys found in an unpacked data block of which most cells are not even looked at.

The block is bisected by its bytes. In the middle of nowhere the next cell shows by the ten bytes that end every key:
the row before them is as long as the lengths before it say. The last steps go from cell to cell by their lengths alone.
"""

import struct
from collections.abc import Iterable
from itertools import chain

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.cells import FRAME_BYTES, HEAD_BYTES, KEY_EXTRA_BYTES, LENGTHS, TAIL_BYTES
from hudi_engine.format.hfile.order import FIRST_MOVED

TAIL = b"\0\x7f" + b"\xff" * 7 + b"\x04"
HEAD = struct.Struct(">IIH")
# Cells closer than this are walked over rather than bisected; what takes more steps than this is given up.
NEAR_BYTES = 192
MOST_STEPS = 64
# Longer rows are found only if a shorter one with the same length was seen; they are no keys that anybody has.
LONGEST_SOUGHT = 1024
MOVED = frozenset(range(FIRST_MOVED, 256))


def probe(block: bytes, keys: Iterable[bytes], least: bytes, place: int) -> list[tuple[bytes, bytes]] | None:
    """The entries that have these keys; None where only a look at all cells can tell.

    That is so for keys that Java may have sorted otherwise than by their bytes: any key without such bytes has the same
    neighbours in both orders. What is found is checked, what is passed over is not: of the whole block only that its
    keys begin at `least`, where the index says.
    """
    probed = _Probe(block, place)
    if block and probed.row(0) < least:
        raise CorruptFile(f"the key {least!r} comes after {probed.row(0)!r} in the index, which names it first", place)
    found = []
    for key in keys:
        if not MOVED.isdisjoint(key):
            return None
        at = probed.last_not_after(key)
        if at is None:
            return None
        if at >= 0 and probed.row(at) == key:
            found.append((key, probed.value(at)))
    return found


class _Probe:
    """A block whose cells are found one by one."""

    def __init__(self, block: bytes, place: int) -> None:
        self._block, self._place = block, place
        self._row_lengths: list[int] = [HEAD.unpack_from(block)[2]] if len(block) >= HEAD.size else []

    def row(self, at: int) -> bytes:
        key_bytes, _ = self._lengths(at)
        return self._block[at + HEAD_BYTES : at + HEAD_BYTES + key_bytes - KEY_EXTRA_BYTES]

    def value(self, at: int) -> bytes:
        key_bytes, value_bytes = self._lengths(at)
        start = at + LENGTHS.size + key_bytes
        return self._block[start : start + value_bytes]

    def last_not_after(self, key: bytes) -> int | None:
        """Where the last cell begins whose row is not larger; -1 if there is none, None if it was not to be found."""
        block = self._block
        if not block or self.row(0) > key:
            return -1
        # Every step of this loop counts: what the methods below do is done here for rows as long as the first.
        row_bytes = self._row_lengths[0]
        to_tail, key_bytes = HEAD_BYTES + row_bytes, row_bytes + KEY_EXTRA_BYTES
        low, high = 0, len(block)
        while high - low > NEAR_BYTES:
            middle = (low + high) >> 1
            tail = block.find(TAIL, middle + to_tail, high + to_tail + TAIL_BYTES)
            at = tail - to_tail
            if tail < 0 or HEAD.unpack_from(block, at)[::2] != (key_bytes, row_bytes):
                other = self._next_cell(middle, high)
                if other is None:
                    return None
                at = other if other >= 0 and self.row(other) <= key else -1
            elif block[tail - row_bytes : tail] > key:
                at = -1
            if at >= 0:
                low = at
            else:
                high = middle
        return self._walked(low, key)

    def _next_cell(self, start: int, end: int) -> int | None:
        """Where between these places a cell begins; -1 if none does, None if that is not clear."""
        tail = start
        for _ in range(MOST_STEPS):
            tail = self._block.find(TAIL, tail + 1, end + HEAD_BYTES + LONGEST_SOUGHT + TAIL_BYTES)
            if tail < 0:
                return -1
            at = self._cell_of(tail)
            if at >= end:
                return -1
            if at >= start:
                return at
        return None

    def _cell_of(self, tail: int) -> int:
        """Where the cell begins whose key ends in this tail; -1 if it is no tail."""
        for row_bytes in chain(self._row_lengths, range(LONGEST_SOUGHT + 1)):
            at = tail - HEAD_BYTES - row_bytes
            if self._is_head(at, row_bytes):
                if row_bytes not in self._row_lengths:
                    self._row_lengths.append(row_bytes)
                return at
        return -1

    def _is_head(self, at: int, row_bytes: int) -> bool:
        if at < 0:
            return False
        key_bytes, _, found = HEAD.unpack_from(self._block, at)
        return bool(found == row_bytes and key_bytes == row_bytes + KEY_EXTRA_BYTES)

    def _walked(self, at: int, key: bytes) -> int | None:
        for _ in range(MOST_STEPS):
            key_bytes, value_bytes = self._lengths(at)
            following = at + key_bytes + value_bytes + FRAME_BYTES
            if following == len(self._block) or self.row(following) > key:
                return at
            at = following
        return None

    def _lengths(self, at: int) -> tuple[int, int]:
        """The bytes of key and value of a cell, which must be wholly there."""
        if at + HEAD.size <= len(self._block):
            key_bytes, value_bytes, row_bytes = HEAD.unpack_from(self._block, at)
            fits = at + key_bytes + value_bytes + FRAME_BYTES <= len(self._block)
            if fits and key_bytes == row_bytes + KEY_EXTRA_BYTES:
                return key_bytes, value_bytes
        raise CorruptFile(f"the cell {at} bytes into the payload has lengths that cannot be true", self._place)
