"""Runs: rows of one shard sorted by their keys, each with the number of its slice, or with the value of an entry."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.compute.keys import DATED
from hudi_engine.compute.order import ENTRIES, RowEntries
from hudi_engine.compute.sort import sort_order

RUN: Final = pa.schema(
    [pa.field("key", pa.large_binary(), nullable=False), pa.field("slice", pa.int32(), nullable=False)]
)
DATED_RUN: Final = pa.schema([*RUN, pa.field("written", pa.int64(), nullable=False)])
# A piece is worked upon while it is in the processor's cache; of long keys it has few.
_PIECE_ROWS: Final = 1 << 15
_PIECE_BYTES: Final = 2 << 20


class SliceKeys(NamedTuple):
    """Keys in any order, whose rows are all in the slice of this number: large binaries, or such by the type DATED."""

    keys: Any
    number: int

    @property
    def nbytes(self) -> int:
        return int(self.keys.nbytes)


def run_of(gathered: Sequence[SliceKeys], piece_bytes: int = _PIECE_BYTES) -> Iterator[Any]:
    """All these keys as one run: record batches by the schema RUN or DATED_RUN, each made when it is asked for."""
    keys = pa.concat_arrays([some.keys for some in gathered])
    numbers = np.repeat(np.array([some.number for some in gathered], np.int32), [len(some.keys) for some in gathered])
    if keys.type == DATED:
        columns, schema = [keys.field("key"), pa.array(numbers), keys.field("written")], DATED_RUN
    else:
        columns, schema = [keys, pa.array(numbers)], RUN
    return sorted_run(pa.record_batch(columns, schema=schema), piece_bytes)


def schema_of(entries: RowEntries) -> pa.Schema:
    """That of the runs of these entries."""
    return DATED_RUN if entries.keeps_newest else RUN


def run_of_entries(gathered: Sequence[pa.Table], piece_bytes: int = _PIECE_BYTES) -> Iterator[Any]:
    """All these entries as one run, by the schema ENTRIES."""
    whole = pa.concat_tables(gathered).combine_chunks()
    return sorted_run(pa.record_batch([whole["key"].chunk(0), whole["value"].chunk(0)], schema=ENTRIES), piece_bytes)


def merged(runs: Sequence[Iterator[Any]], piece_bytes: int = _PIECE_BYTES) -> Iterator[Any]:
    """Several runs of one shard as one. Of each run one piece is in memory."""
    heads = [head for run in runs if (head := _Head.of(run)) is not None]
    while len(heads) > 1:
        # Up to this key every run is at hand; what is taken ends at least one piece.
        pivot = min(head.last for head in heads)
        parts = pa.Table.from_batches([part for head in heads if len(part := head.take(pivot))]).combine_chunks()
        for whole in parts.to_batches():
            yield from sorted_run(whole, piece_bytes)
        heads = [head for head in heads if head.has_more]
    for head in heads:
        yield head.piece
        yield from head.rest


def sorted_run(rows: Any, piece_bytes: int = _PIECE_BYTES) -> Iterator[Any]:
    """The rows of a batch, which has their keys in `key`, as one run."""
    order = sort_order(rows["key"])
    ends = np.cumsum(_row_bytes(rows)[order])
    first, done = 0, 0
    while first < len(order):
        last = min(first + _PIECE_ROWS, max(first + 1, int(ends.searchsorted(done + piece_bytes, "right"))))
        yield rows.take(pa.array(order[first:last]))
        first, done = last, int(ends[last - 1])


def _row_bytes(rows: Any) -> Any:
    return sum(pc.binary_length(each).to_numpy() for each in rows.columns if pa.types.is_large_binary(each.type))


class _Head:
    """The piece of a run that is to be taken from next, and the pieces after it."""

    def __init__(self, piece: Any, rest: Iterator[Any]) -> None:
        self.piece = piece
        self.rest = rest
        self.last: bytes = piece["key"][-1].as_py()

    @classmethod
    def of(cls, run: Iterator[Any]) -> "_Head | None":
        piece = next(run, None)
        return None if piece is None else cls(piece, run)

    @property
    def has_more(self) -> bool:
        return self.piece is not None

    def take(self, pivot: bytes) -> Any:
        """The rows of the piece up to this key, which are gone from it then."""
        count = len(self.piece) if self.last <= pivot else _count_up_to(self.piece["key"], pivot)
        taken = self.piece.slice(0, count)
        if count < len(self.piece):
            self.piece = self.piece.slice(count)
        else:
            self.piece = next(self.rest, None)
            self.last = b"" if self.piece is None else self.piece["key"][-1].as_py()
        return taken


def _count_up_to(keys: Any, pivot: bytes) -> int:
    """How many of the sorted keys are not greater."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle].as_py() <= pivot:
            low = middle + 1
        else:
            high = middle
    return low
