"""Whole HFiles, and the steps of reading one for callers that fetch parts of it.

Part by part: `parse_trailer` of the last bytes, `parse_load_on_open`, `parse_child_index` while the trailer tells of
more than one level, `locate` for keys, and `entries_of` the blocks that it names.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.block import DATA, META, Codec, parse_block
from hudi_engine.format.hfile.cells import decode_cells, unpack_blocks
from hudi_engine.format.hfile.index import (
    BlockIndex,
    LoadOnOpen,
    locate,
    parse_child_index,
    parse_load_on_open,
)
from hudi_engine.format.hfile.order import require_ascending
from hudi_engine.format.hfile.trailer import Trailer, parse_trailer
from hudi_engine.format.hfile.wire import Bytes

ENTRIES = pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())])
THREADS = 2
# Blocks are decoded in runs: long enough for the walk over them to be wide, short enough to stay near the processor.
RUN_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class HFile:
    """All that a file says: entries in file order, file info by name, and the content of its meta blocks."""

    entries: Any  # pa.Table of ENTRIES
    info: dict[str, bytes]
    meta: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Opened:
    """A whole file in memory whose blocks are known and not yet decoded."""

    data: memoryview
    trailer: Trailer
    index: BlockIndex
    load_on_open: LoadOnOpen


def read_hfile(data: Bytes, threads: int = THREADS) -> HFile:
    """Everything in the file, whoever wrote it; CorruptFile if any part of it contradicts another."""
    file = _open(data)
    entries = _entries_at(file, np.arange(len(file.index)), threads)
    if len(entries) != file.trailer.entry_count:
        raise CorruptFile(f"{len(entries)} entries where the trailer counts {file.trailer.entry_count}", len(data))
    meta = {name: _meta_block(file, *place) for name, place in file.load_on_open.meta.items()}
    return HFile(entries, file.load_on_open.info, meta)


def lookup(data: Bytes, keys: Any, threads: int = THREADS) -> Any:
    """The entries that have one of the keys, an Arrow array of strings or binaries, in file order.

    Only the blocks that may hold one are decoded.
    """
    file = _open(data)
    keys = pc.cast(keys, pa.large_binary())
    blocks = np.unique(locate(file.index, keys))
    entries = _entries_at(file, blocks[blocks >= 0], threads)
    return entries.filter(pc.is_in(entries["key"], keys))


def _open(data: Bytes) -> Opened:
    whole = memoryview(data)
    trailer = parse_trailer(whole[-4096:], len(whole))
    load_on_open = parse_load_on_open(whole, trailer, 0)
    index = load_on_open.root
    for level in range(trailer.index_levels - 1, 0, -1):
        index = parse_child_index(_blocks(whole, index), index, trailer, level)
    return Opened(whole, trailer, index, load_on_open)


def _blocks(data: memoryview, index: BlockIndex) -> Iterator[memoryview]:
    for offset, size in zip(index.offsets.tolist(), index.sizes.tolist(), strict=True):
        yield data[offset : offset + size]


def _meta_block(file: Opened, offset: int, size: int) -> bytes:
    block = file.data[offset : offset + size]
    return bytes(parse_block(block, 0, (META, file.trailer.codec), offset).unpack(file.trailer.codec))


def _entries_at(file: Opened, numbers: Any, threads: int) -> Any:
    chosen = BlockIndex(file.index.keys, file.index.offsets[numbers], file.index.sizes[numbers])
    blocks = list(zip(chosen.offsets.tolist(), _blocks(file.data, chosen), strict=True))
    return entries_of(blocks, file.trailer.codec, threads)


def entries_of(blocks: Sequence[tuple[int, Bytes]], codec: Codec, threads: int = THREADS) -> Any:
    """The cells of data blocks, each given with its offset in the file, as a table of key and value.

    Keys are required to ascend, in bytes or as Java's strings compare, which early native writers went by.
    """
    runs = list(_runs(blocks))
    if threads == 1:
        # The caller may have threads of its own; another for each call would leave its memory behind.
        decoded = [list(_decoded(runs, codec))]
    else:
        with ThreadPoolExecutor(threads) as pool:
            decoded = list(pool.map(lambda first: list(_decoded(runs[first::threads], codec)), range(threads)))
    batches = [decoded[number % threads][number // threads] for number in range(len(runs))]
    for run, (before, after) in zip(runs[1:], pairwise(batches), strict=True):
        require_ascending(pa.concat_arrays([before["key"][-1:], after["key"][:1]]), run[0][0])
    return pa.Table.from_batches(batches, ENTRIES)


def _runs(blocks: Sequence[tuple[int, Bytes]]) -> Iterator[Sequence[tuple[int, Bytes]]]:
    start = size = 0
    for number, (_, block) in enumerate(blocks):
        size += int.from_bytes(block[12:16], "big")
        if size >= RUN_BYTES:
            yield blocks[start : number + 1]
            start, size = number + 1, 0
    if start < len(blocks):
        yield blocks[start:]


def _decoded(runs: Sequence[Sequence[tuple[int, Bytes]]], codec: Codec) -> Iterator[Any]:
    # One room for all runs: memory that is new to the process costs as much as copying what is put there.
    room = np.empty(RUN_BYTES * 2, np.uint8)
    for run in runs:
        packed = [parse_block(block, 0, (DATA, codec), place) for place, block in run]
        keys, values = decode_cells(unpack_blocks(packed, codec, room))
        require_ascending(keys, packed[0].place)
        yield pa.record_batch([keys, values], ENTRIES)
