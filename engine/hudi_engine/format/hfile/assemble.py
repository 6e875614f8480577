"""Keys and values to data blocks: cells are put together by Arrow, a run of blocks at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.format.hfile.block import Codec, pack
from hudi_engine.format.hfile.cells import CELL_EXTRA_BYTES, KEY_EXTRA_BYTES, MAX_ROW_BYTES
from hudi_engine.format.hfile.index import KEY_TAIL
from hudi_engine.format.hfile.wire import Bytes

# Native readers up to 1.2.0 lose the cells that start in the last 4 bytes per 16 KiB of a block. In blocks of this
# size that is less than a cell.
BLOCK_BYTES = 65536
# A run is the unit of work of a thread: enough blocks to be worth the hand-over.
RUN_BYTES = 2 << 20
HEAD = np.dtype([("zero", "u1"), ("key", ">u4"), ("value", ">u4"), ("row", ">u2")])


@dataclass(frozen=True, slots=True)
class Run:
    """Cells that fill whole blocks: the first row of each block, then the end of the last."""

    entries: Any  # pa.Table of key and value
    borders: list[int]


@dataclass(frozen=True, slots=True)
class PackedBlock:
    """A block's payload as it will be stored."""

    first_row: bytes
    raw_bytes: int
    stored: Bytes


@dataclass(frozen=True, slots=True)
class PackedRun:
    """The blocks of a run, and what the file info wants to know of it."""

    blocks: list[PackedBlock]
    last_row: bytes
    entries: int
    row_bytes: int
    value_bytes: int


def runs_of(batches: Iterable[Any]) -> Iterator[Run]:
    """The batches' entries cut into blocks that are as full as they can be, in runs of some blocks."""
    rest = None
    for batch in batches:
        table = _as_entries(batch)
        table = table if rest is None else pa.concat_tables([rest, table])
        borders = _block_borders(_cell_bytes(table))
        # The last block is not full yet if another batch follows.
        yield from _cut(table, borders[:-1])
        rest = table.slice(borders[-2]) if len(borders) > 1 else table
    if rest is not None and len(rest):
        yield Run(rest, [0, len(rest)])


def _as_entries(batch: Any) -> Any:
    table = pa.table({"key": batch["key"], "value": batch["value"]})
    for name in table.column_names:
        if table[name].null_count:
            raise Contradiction(f"a null {name} in {len(table)} HFile entries")
    return table.cast(pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())]))


def _cell_bytes(table: Any) -> Any:
    row_bytes = pc.binary_length(table["key"]).to_numpy()
    wrong = (row_bytes < 1) | (row_bytes > MAX_ROW_BYTES)
    if wrong.any():
        key = table["key"][int(wrong.argmax())].as_py()
        raise Unsupported(
            f"a key of {len(key)} bytes, beginning {key[:40]!r}: an HFile's keys have 1 to {MAX_ROW_BYTES}"
        )
    return row_bytes + pc.binary_length(table["value"]).to_numpy() + CELL_EXTRA_BYTES


def _block_borders(cell_bytes: Any) -> list[int]:
    """The number of each block's first cell, and of the cell after the last."""
    ends = np.cumsum(cell_bytes)
    borders = [0]
    filled = 0
    while borders[-1] < len(ends):
        # A block holds one cell at least, however large that is.
        border = max(int(ends.searchsorted(filled + BLOCK_BYTES, "right")), borders[-1] + 1)
        borders.append(border)
        filled = int(ends[border - 1])
    return borders


def _cut(table: Any, borders: list[int]) -> Iterator[Run]:
    blocks = RUN_BYTES // BLOCK_BYTES
    for first in range(0, len(borders) - 1, blocks):
        some = borders[first : first + blocks + 1]
        yield Run(table.slice(some[0], some[-1] - some[0]), [border - some[0] for border in some])


def pack_run(run: Run, codec: Codec) -> PackedRun:
    """The run's blocks, compressed. Keys that do not ascend are refused."""
    keys, values = (_whole(run.entries[name]) for name in ("key", "value"))
    require_ascending(keys)
    row_bytes, value_bytes = pc.binary_length(keys).to_numpy(), pc.binary_length(values).to_numpy()
    # The zero that ends a cell is put before the next one instead: that is a piece less to join for each cell.
    cells = pc.binary_join_element_wise(
        _heads(row_bytes, value_bytes), keys, _constant(KEY_TAIL), values, _constant(b"")
    )
    _, offsets, data = cells.buffers()
    borders = (np.frombuffer(offsets, np.int64)[run.borders] + 1).tolist()
    whole = memoryview(data)
    raws: list[Bytes] = [whole[start:end] for start, end in pairwise(borders)]
    raws[-1] = b"".join((whole[borders[-2] : borders[-1] - 1], b"\0"))
    blocks = [
        PackedBlock(keys[row].as_py(), len(raw), pack(raw, codec)) for row, raw in zip(run.borders, raws, strict=False)
    ]
    return PackedRun(blocks, keys[-1].as_py(), len(keys), int(row_bytes.sum()), int(value_bytes.sum()))


def _whole(column: Any) -> Any:
    # Combining copies even a single chunk.
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def require_ascending(keys: Any) -> None:
    """Refuse keys that are not strictly ascending in unsigned bytes."""
    wrong = pc.less_equal(keys[1:], keys[:-1])
    if wrong.true_count:
        at = pc.index(wrong, pa.scalar(value=True)).as_py()
        before, after = keys[at].as_py(), keys[at + 1].as_py()
        how = "is there twice" if before == after else f"comes after {before!r}"
        raise Contradiction(f"the key {after!r} {how}: an HFile's keys are unique and in byte order")


def _constant(value: bytes) -> Any:
    return pa.scalar(value, pa.large_binary())


def _heads(row_bytes: Any, value_bytes: Any) -> Any:
    """What stands before each row: the end of the cell before, and the lengths of key, value and row."""
    heads = np.zeros(len(row_bytes), HEAD)
    heads["key"] = row_bytes + KEY_EXTRA_BYTES
    heads["value"] = value_bytes
    heads["row"] = row_bytes
    offsets = np.arange(len(heads) + 1, dtype=np.int64) * HEAD.itemsize
    return pa.Array.from_buffers(pa.large_binary(), len(heads), [None, pa.py_buffer(offsets), pa.py_buffer(heads)])
