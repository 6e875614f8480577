"""One HFile inside of a stored file, of which only what is asked for is read."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.block import DATA, Block, parse_block
from hudi_engine.format.hfile.cells import Payloads
from hudi_engine.format.hfile.find import (
    ENTRIES,
    Cells,
    Narrowing,
    Prefixes,
    cells_of,
    find_keys,
    find_prefixes,
    prefixes_of,
)
from hudi_engine.format.hfile.index import BlockIndex
from hudi_engine.format.hfile.order import is_ascending, require_ascending
from hudi_engine.format.hfile.probe import probe
from hudi_engine.format.hfile.read import entries_of
from hudi_engine.format.hfile.touched import Touched, blocks_of_keys, blocks_of_prefixes, require_own_keys
from hudi_engine.format.hfile.wire import Bytes
from hudi_engine.index.block_cache import BlockCache, Place
from hudi_engine.index.hfile_head import Head, read_head
from hudi_engine.index.ranges import ALONE, BlockReader, Effort, RangeReader, Region, in_order, inside, read_blocks

__all__ = ["Region", "StoredHFile"]

# Blocks are unpacked and searched in runs of so many bytes: few enough to stay near the processor.
RUN_BYTES = 2 << 20
# Where there is no more than a key in so many bytes, each is looked for on its own: that takes some 15 microseconds,
# in which all cells of as many bytes are found.
BYTES_PER_KEY = 16384
MARGIN = bytes(8)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A block's number in the index, where it is in the region, and its payload."""

    number: int
    place: int
    data: Bytes


class Search(Protocol):
    """What is looked for."""

    @property
    def blocks(self) -> Any:
        """The numbers of the blocks to look at, ascending."""
        ...

    def is_for_few(self, blocks: Sequence[Unpacked]) -> bool:
        """Whether so little is looked for in these blocks that most of their cells are of no concern."""
        ...

    def among(self, blocks: Sequence[Unpacked], index: BlockIndex) -> Any:
        """What is found in some of these blocks, as a batch of entries."""
        ...


@dataclass(frozen=True, slots=True)
class KeySearch:
    keys: Any
    touched: Touched
    may_probe: bool

    @property
    def blocks(self) -> Any:
        return np.unique(self.touched.blocks)

    def is_for_few(self, blocks: Sequence[Unpacked]) -> bool:
        start, end = self._range_of(blocks[0].number, blocks[-1].number)
        return _is_for_few(end - start, blocks)

    def among(self, blocks: Sequence[Unpacked], index: BlockIndex) -> Any:
        if self.may_probe and self.is_for_few(blocks):
            probed = [self._probed(block, index) for block in blocks]
            if None not in probed:
                pairs = [pair for found in probed for pair in found or ()]
                return pa.record_batch([pa.array(column, pa.large_binary()) for column in _columns(pairs)], ENTRIES)
        cells, narrowing = _all_cells(blocks, index)
        return find_keys(cells, self._keys_of(blocks[0].number, blocks[-1].number), narrowing)

    def _probed(self, block: Unpacked, index: BlockIndex) -> list[tuple[bytes, bytes]] | None:
        keys = self._keys_of(block.number, block.number).to_pylist()
        return probe(bytes(block.data), keys, index.keys[block.number].as_py(), block.place)

    def _keys_of(self, first: int, last: int) -> Any:
        start, end = self._range_of(first, last)
        return self.keys.take(pa.array(self.touched.keys[start:end]))

    def _range_of(self, first: int, last: int) -> tuple[int, int]:
        start, end = np.searchsorted(self.touched.blocks, [first, last + 1]).tolist()
        return start, end


@dataclass(frozen=True, slots=True)
class PrefixSearch:
    prefixes: Prefixes
    blocks: Any

    def is_for_few(self, blocks: Sequence[Unpacked]) -> bool:
        return _is_for_few(len(self.prefixes.starts), blocks)

    def among(self, blocks: Sequence[Unpacked], index: BlockIndex) -> Any:
        cells, narrowing = _all_cells(blocks, index)
        return find_prefixes(cells, self.prefixes, narrowing)


def _is_for_few(count: int, blocks: Sequence[Unpacked]) -> bool:
    return (count - 1) * BYTES_PER_KEY <= sum(len(block.data) for block in blocks)


def _columns(pairs: Sequence[tuple[bytes, bytes]]) -> tuple[list[bytes], list[bytes]]:
    return [key for key, _ in pairs], [value for _, value in pairs]


def _all_cells(blocks: Sequence[Unpacked], index: BlockIndex) -> tuple[Cells, Narrowing | None]:
    borders = np.array([0, *accumulate(len(block.data) for block in blocks)])
    data = np.frombuffer(b"".join([*(block.data for block in blocks), MARGIN]), np.uint8)
    cells, narrowing = cells_of(Payloads(data, borders, [block.place for block in blocks]))
    require_own_keys(index, np.array([block.number for block in blocks]), cells, borders)
    return cells, narrowing


class StoredHFile:
    """An HFile that is opened when it is first asked for something. Safe to share between threads.

    A search takes memory for what it finds, for the requests under way and for a few blocks, however many it touches.
    """

    def __init__(self, storage: RangeReader, region: Region, cache: BlockCache, effort: Effort = ALONE) -> None:
        self._region = region
        self._cache = cache
        self._threads = effort.threads
        self._may_probe = effort.may_probe
        self._blocks = BlockReader(storage, region, effort.readers)
        self._opening = threading.Lock()

    def info(self) -> Mapping[str, bytes]:
        """The file info; `schema` is the Avro schema of the values."""
        return self._head().info

    def entry_count(self) -> int:
        """How many entries there are, by the trailer."""
        return self._head().trailer.entry_count

    def find(self, keys: Any) -> Any:
        """The entries whose key is among the keys, large binaries that ascend and are unique, in key order."""
        head = self._head()
        return self._search(head, KeySearch(keys, blocks_of_keys(head.index, head.orders, keys), self._may_probe))

    def find_prefixes(self, prefixes: Any) -> Any:
        """The entries whose key begins with one of the prefixes, large binaries, in key order and each once."""
        head = self._head()
        wanted = prefixes.to_pylist()
        blocks = blocks_of_prefixes(head.index, head.orders, wanted)
        return self._search(head, PrefixSearch(prefixes_of(wanted), blocks))

    def scan(self) -> Iterator[Any]:
        """All entries in file order, in tables of some megabytes; refuses a file that has not what its trailer counts.

        Reads past the cache.
        """
        head = self._head()
        codec = head.trailer.codec
        stored = read_blocks(self._blocks, head.index, range(len(head.index)))
        blocks = (Sized((block.offset, block.data), _claimed_bytes(block.data)) for block in stored)
        count, last = 0, pa.array([], pa.large_binary())
        with inside(self._region):
            for piece in in_order(lambda run: entries_of(run, codec, 1), _runs(blocks), self._threads, self._threads):
                if len(piece):
                    require_ascending(pa.concat_arrays([last, piece["key"].chunk(0)[:1]]), 0)
                    last = piece["key"].chunk(piece["key"].num_chunks - 1)[-1:]
                    count += len(piece)
                    yield piece
            if count != head.trailer.entry_count:
                what = f"{count} entries where the trailer counts {head.trailer.entry_count}"
                raise CorruptFile(what, self._region.length)

    def _head(self) -> Head:
        # No block begins before the region does.
        place = self._place(-1)
        with self._opening:
            head = self._cache.get(place)
            if not isinstance(head, Head):
                with inside(self._region):
                    head = read_head(self._blocks.storage, self._region)
                self._cache.put(place, head, head.size_bytes)
        return head

    def _place(self, offset: int) -> Place:
        return Place(self._region.path, self._region.modified_ms, self._region.start + offset)

    def _search(self, head: Head, search: Search) -> Any:
        numbers = search.blocks.tolist()
        kept = self._kept(head, numbers)
        missing = [number for number in numbers if number not in kept]
        with inside(self._region):
            found = [
                (run[0].number, search.among(run, head.index))
                for run in _runs(Sized(block, len(block.data)) for block in kept.values())
            ]
            found += self._search_stored(head, missing, search)
        found.sort(key=lambda one: one[0])
        table = pa.Table.from_batches([batch for _, batch in found], ENTRIES)
        return table if is_ascending(table["key"]) else table.sort_by("key")

    def _kept(self, head: Head, numbers: Sequence[int]) -> dict[int, Unpacked]:
        offsets = head.index.offsets[numbers].tolist()
        found = [
            (number, offset, self._cache.get(self._place(offset)))
            for number, offset in zip(numbers, offsets, strict=True)
        ]
        return {number: Unpacked(number, offset, data) for number, offset, data in found if isinstance(data, bytes)}

    def _search_stored(self, head: Head, numbers: Sequence[int], search: Search) -> list[tuple[int, Any]]:
        # A search for many keys, or one of more than the cache can hold, would only drive out what is wanted again.
        has_room = int(head.index.sizes[numbers].sum()) <= self._cache.limit_bytes

        def find(run: Sequence[tuple[int, Block]]) -> tuple[int, Any]:
            blocks = [Unpacked(number, block.place, block.unpack(head.trailer.codec)) for number, block in run]
            if has_room and search.is_for_few(blocks):
                for block in blocks:
                    self._cache.put(self._place(block.place), bytes(block.data), len(block.data))
            return blocks[0].number, search.among(blocks, head.index)

        stored = read_blocks(self._blocks, head.index, numbers)
        kind = (DATA, head.trailer.codec)
        parsed = ((number, parse_block(data, 0, kind, offset)) for number, offset, data in stored)
        runs = _runs(Sized(one, one[1].raw_bytes) for one in parsed)
        threads = self._threads if len(numbers) > 1 else 1
        return list(in_order(find, runs, threads, 2 * threads))


@dataclass(frozen=True, slots=True)
class Sized(Generic[Item]):
    item: Item
    raw_bytes: int


def _claimed_bytes(block: Bytes) -> int:
    return int.from_bytes(block[12:16], "big")


def _runs(items: Iterable[Sized[Item]]) -> Iterator[list[Item]]:
    run: list[Item] = []
    size = 0
    for one in items:
        run.append(one.item)
        size += one.raw_bytes
        if size >= RUN_BYTES:
            yield run
            run, size = [], 0
    if run:
        yield run
