"""What the tasks of a tagging do with their batches: send each row to the task of its shard, and look up there."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.index.record_index import LOCATIONS, RecordIndex
from hudi_engine.spark.placing import tickets
from hudi_engine.spark.shipped import ShippedIndex

TICKET = "ticket"
"""The last column between the two steps: the number that leads to the task of the row's shard."""

TAGS = ("partition", "file_id", "instant")
"""What a row is told of its record, in the order of the columns that are added."""

# So many bytes are looked up although they are fewer rows than are wanted at once.
_ENOUGH_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Lookup:
    """Which columns, by their places, have keys and partitions, and how many rows are looked up at once."""

    index: ShippedIndex
    key: int
    partition: int | None
    at_once: int

    def keys(self, rows: pa.RecordBatch | pa.Table) -> pa.Array:
        return rows.column(self.key)

    def partitions(self, rows: pa.RecordBatch | pa.Table) -> pa.Array | None:
        return None if self.partition is None else rows.column(self.partition)


@dataclass(frozen=True, slots=True)
class Ticketing:
    """Adds to each row its ticket."""

    lookup: Lookup

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        look = self.lookup
        numbers = tickets(look.index.shard_count)
        for rows in batches:
            places = look.index.places(look.keys(rows), look.partitions(rows))
            yield rows.append_column(TICKET, pa.array(numbers[places]))


@dataclass(frozen=True, slots=True)
class Tagging:
    """Puts the tags where the ticket was.

    Rows of more shards than one get right answers too, so that only speed rests on where Spark sends which number.
    """

    lookup: Lookup

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = tickets(self.lookup.index.shard_count).tolist()
        place_of = {ticket: place for place, ticket in enumerate(numbers)}
        opened = cache(self.lookup.index.open)
        for rows in _gathered(batches, self.lookup.at_once):
            for ticket in pc.unique(rows[TICKET]).to_pylist():
                same = rows.filter(pc.equal(rows[TICKET], ticket))
                yield from self._tagged(same, place_of[ticket], opened).to_batches()

    def _tagged(self, rows: pa.Table, place: int, opened: Callable[[int], RecordIndex]) -> pa.Table:
        is_sought = self._is_sought(rows, place)
        keys = self.lookup.keys(rows).filter(is_sought)
        # Nothing is opened for keys that no shard can have.
        found = opened(place).locate(keys) if len(keys) else LOCATIONS.empty_table()
        counted = pc.subtract(pc.cumulative_sum(pc.cast(is_sought, pa.int64())), 1)
        at = pc.if_else(is_sought, counted, pa.scalar(None, pa.int64()))
        rows = rows.drop_columns([TICKET])
        for name in TAGS:
            rows = rows.append_column(name, pc.cast(found[name].take(at), pa.string()))
        return rows

    def _is_sought(self, rows: pa.Table, place: int) -> pa.ChunkedArray:
        is_key = pc.is_valid(self.lookup.keys(rows))
        partition = self.lookup.index.partition_at(place)
        if partition is None:
            return is_key
        # Keys of partitions that the index does not have come to any shard's task.
        is_own = pc.equal(self.lookup.partitions(rows), partition)
        return pc.and_(is_key, pc.fill_null(is_own, False))


def _gathered(batches: Iterable[pa.RecordBatch], at_once: int) -> Iterator[pa.Table]:
    """The rows in tables of at least `at_once` rows or many bytes, but for the last."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(len(each) for each in waiting) >= at_once or sum(each.nbytes for each in waiting) >= _ENOUGH_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)
