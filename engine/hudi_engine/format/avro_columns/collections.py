"""Columns of arrays and maps: first where every item starts, then all items as records of their own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from hudi_engine.errors import CorruptFile
from hudi_engine.format.avro_columns.blanks import require_room
from hudi_engine.format.avro_columns.cursor import Cursor, Longs
from hudi_engine.format.avro_columns.scalars import Column
from hudi_engine.format.avro_decode import Read, read_count

FEW: Final = 48
"""With fewer records than this still inside of their collections, walking them one by one is faster."""

_ITEMS_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Walk:
    """The two ways over one item: for all records at once, and for one."""

    skip: Callable[[Cursor], None]
    read: Read


@dataclass(frozen=True, slots=True)
class Lists:
    type: pa.DataType
    items: Column
    walk: Walk

    def decode(self, cursor: Cursor) -> pa.Array:
        items, offsets = find_items(cursor, self.walk)
        require_room([self.items.type], items.size, len(cursor.content.data))
        values = [self.items.decode(part) for part in _parts(items)]
        return pa.ListArray.from_arrays(offsets, _joined(values, self.items.type), type=self.type)

    def skip(self, cursor: Cursor) -> None:
        find_items(cursor, self.walk)


@dataclass(frozen=True, slots=True)
class Maps:
    """Entries as they are written: a key that stands twice stays twice."""

    type: pa.DataType
    keys: Column
    values: Column
    walk: Walk

    def decode(self, cursor: Cursor) -> pa.Array:
        items, offsets = find_items(cursor, self.walk)
        require_room([self.keys.type, self.values.type], items.size, len(cursor.content.data))
        keys, values = [], []
        for part in _parts(items):
            keys.append(self.keys.decode(part))
            values.append(self.values.decode(part))
        entries = _joined(keys, self.keys.type), _joined(values, self.values.type)
        return pa.MapArray.from_arrays(offsets, *entries, type=self.type)

    def skip(self, cursor: Cursor) -> None:
        find_items(cursor, self.walk)


def find_items(cursor: Cursor, walk: Walk) -> tuple[Cursor, pa.Array]:
    """A cursor at the start of every item of every record, and the offsets of each record's items in it."""
    found = _Items(cursor)
    found.walk_all(walk)
    starts = np.sort(np.concatenate(found.starts)) if found.starts else np.empty(0, dtype=np.int64)
    offsets = np.zeros(cursor.size + 1, dtype=np.int32)
    np.cumsum(found.counts, out=offsets[1:])
    return Cursor(cursor.content, starts, np.repeat(cursor.end, found.counts)), pa.array(offsets)


class _Items:
    """The records that are still inside of their collections, and what was found so far."""

    def __init__(self, cursor: Cursor) -> None:
        self.starts: list[Longs] = []
        self.counts: Longs = np.zeros(cursor.size, dtype=np.int64)
        self._cursor = cursor
        self._rows = np.arange(cursor.size)
        self._open = Cursor(cursor.content, cursor.position.copy(), cursor.end)
        self._left: Longs = np.zeros(cursor.size, dtype=np.int64)

    def walk_all(self, walk: Walk) -> None:
        while True:
            self._begin_blocks()
            if self._rows.size < FEW:
                return self._walk_singly(walk.read)
            self.starts.append(self._open.position.copy())
            self.counts[self._rows] += 1
            walk.skip(self._open)
            self._left -= 1

    def _begin_blocks(self) -> None:
        fresh = np.flatnonzero(self._left == 0)
        if fresh.size == 0:
            return
        head = self._open.at(fresh)
        self._left[fresh] = _block_counts(head)
        self._open.put_back(fresh, head)
        goes_on = self._left > 0
        if not goes_on.all():
            self._cursor.put_back(self._rows, self._open)
            self._rows, self._left = self._rows[goes_on], self._left[goes_on]
            self._open = self._open.at(goes_on)

    def _walk_singly(self, read: Read) -> None:
        data, ends = self._cursor.content.data, self._open.end.tolist()
        for row, at, end, left in zip(self._rows, self._open.position.tolist(), ends, self._left.tolist(), strict=True):
            try:
                *starts, after = _item_starts(data, at, end, left, read)
            except IndexError:
                raise CorruptFile("a record ends within an array or a map", at) from None
            self.starts.append(np.array(starts, dtype=np.int64))
            self.counts[row] += len(starts)
            self._cursor.position[row] = after


def _item_starts(data: bytes, at: int, end: int, left: int, read: Read) -> Iterator[int]:
    """Where the items of one collection start, of which `left` stand before the next block; last where it ends."""
    while left:
        for _ in range(left):
            yield at
            _, at = read(data, at)
            if at > end:
                raise CorruptFile("a record ends within an item of an array or a map", end)
        left, at = read_count(data, at)
        if at > end:
            raise CorruptFile("a record ends within an array or a map", end)
    yield at


def _block_counts(cursor: Cursor) -> Longs:
    counts = cursor.varints()
    rows = np.flatnonzero(counts < 0)
    if rows.size:
        # A negative count is followed by the block's bytes, which are for readers that skip it.
        part = cursor.at(rows)
        part.varints()
        cursor.put_back(rows, part)
        counts[rows] = -counts[rows]
    # Every item has a byte at least. Seen without a sign the most negative number stays too large.
    is_possible = counts.view(np.uint64) <= (cursor.end - cursor.position).view(np.uint64)
    cursor.require(is_possible, "a count of more items than the record has bytes left")
    return counts


def _parts(items: Cursor) -> Iterator[Cursor]:
    for start in range(0, items.size, _ITEMS_AT_ONCE):
        end = start + _ITEMS_AT_ONCE
        yield Cursor(items.content, items.position[start:end], items.end[start:end])


def _joined(parts: list[pa.Array], kind: pa.DataType) -> pa.Array:
    return pa.concat_arrays(parts) if parts else pa.array([], kind)
