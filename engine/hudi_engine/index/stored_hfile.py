"""One HFile inside of a stored file, of which only what is asked for is read."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.block import DATA, Block, parse_block
from hudi_engine.format.hfile.cells import unpack_blocks
from hudi_engine.format.hfile.find import (
    ENTRIES,
    Cells,
    Narrowing,
    Prefixes,
    cells_of,
    cells_of_blocks,
    find_keys,
    find_one_by_one,
    find_prefixes,
    joined,
    prefixes_of,
)
from hudi_engine.format.hfile.order import Order, require_ascending
from hudi_engine.format.hfile.read import entries_of
from hudi_engine.format.hfile.touched import Touched, blocks_of_keys, blocks_of_prefixes, require_own_keys
from hudi_engine.format.hfile.wire import Bytes
from hudi_engine.index.block_cache import BlockCache, Place
from hudi_engine.index.hfile_head import Head, read_head
from hudi_engine.index.ranges import RangeReader, Region, in_order, inside, read_blocks

__all__ = ["Region", "StoredHFile"]

THREADS = 2
# Blocks are unpacked and searched in runs of so many bytes: few enough to stay near the processor.
RUN_BYTES = 4 << 20
# Where there is no more than a key in so many bytes, each is looked for on its own.
BYTES_PER_KEY = 65536
NO_ROOM = np.empty(0, np.uint8)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Run:
    """Unpacked blocks: the number of the first and of the last, and all their cells."""

    first: int
    last: int
    cells: Cells
    narrowing: Narrowing | None = None


class Search(Protocol):
    """What is looked for."""

    @property
    def blocks(self) -> Any:
        """The numbers of the blocks to look at, ascending."""
        ...

    def in_run(self, run: Run) -> Any:
        """What is found in blocks that follow each other in `blocks`, as a batch of entries."""
        ...

    def in_few_places(self, runs: Sequence[Run]) -> Any | None:
        """The same in several runs, if so little is looked for that these are better not gone through."""
        ...


@dataclass(frozen=True, slots=True)
class KeySearch:
    keys: Any
    touched: Touched

    @property
    def blocks(self) -> Any:
        return np.unique(self.touched.blocks)

    def in_run(self, run: Run) -> Any:
        return self.in_few_places([run]) or find_keys(run.cells, self._keys_of(run), run.narrowing)

    def in_few_places(self, runs: Sequence[Run]) -> Any | None:
        start, end = np.searchsorted(self.touched.blocks, [runs[0].first, runs[-1].last + 1]).tolist()
        bytes_at_hand = sum(len(run.cells.data) for run in runs)
        if (end - start - 1) * BYTES_PER_KEY > bytes_at_hand or not all(run.cells.is_strict for run in runs):
            return None
        pairs = [pair for run in runs for pair in find_one_by_one(run.cells, self._keys_of(run).to_pylist())]
        return pa.record_batch([pa.array([pair[at] for pair in pairs], pa.large_binary()) for at in (0, 1)], ENTRIES)

    def _keys_of(self, run: Run) -> Any:
        start, end = np.searchsorted(self.touched.blocks, [run.first, run.last + 1]).tolist()
        return self.keys.take(pa.array(self.touched.keys[start:end]))


@dataclass(frozen=True, slots=True)
class PrefixSearch:
    prefixes: Prefixes
    blocks: Any

    def in_run(self, run: Run) -> Any:
        return find_prefixes(run.cells, self.prefixes, run.narrowing)

    def in_few_places(self, runs: Sequence[Run]) -> Any | None:
        return None


class StoredHFile:
    """An HFile that is opened when it is first asked for something. Safe to share between threads.

    A search takes memory for what it finds, for the requests under way and for a few blocks, however many it touches.
    """

    def __init__(self, storage: RangeReader, region: Region, cache: BlockCache) -> None:
        self._storage = storage
        self._region = region
        self._cache = cache
        self._opening = threading.Lock()

    def info(self) -> Mapping[str, bytes]:
        """The file info; `schema` is the Avro schema of the values."""
        return self._head().info

    def find(self, keys: Any) -> Any:
        """The entries whose key is among the keys, large binaries that ascend and are unique, in key order."""
        head = self._head()
        return self._search(head, KeySearch(keys, blocks_of_keys(head.index, head.orders, keys)))

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
        stored = read_blocks(self._storage, self._region, head.index, range(len(head.index)))
        blocks = (Sized((block.offset, block.data), _claimed_bytes(block.data)) for block in stored)
        count, last = 0, pa.array([], pa.large_binary())
        with inside(self._region):
            for piece in in_order(lambda run: entries_of(run, codec, 1), _runs(blocks), THREADS, THREADS):
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
                    head = read_head(self._storage, self._region)
                self._cache.put(place, head, head.size_bytes)
        return head

    def _place(self, offset: int) -> Place:
        return Place(self._region.path, self._region.modified_ms, self._region.start + offset)

    def _search(self, head: Head, search: Search) -> Any:
        numbers = search.blocks.tolist()
        kept = self._kept(head, numbers)
        found: list[tuple[int, Any]] = []
        with inside(self._region):
            for is_kept, some in groupby(numbers, kept.__contains__):
                if is_kept:
                    found += _search_kept([Run(number, number, kept[number]) for number in some], head, search)
            found += self._search_stored(head, [number for number in numbers if number not in kept], search)
        found.sort(key=lambda one: one[0])
        table = pa.Table.from_batches([batch for _, batch in found], ENTRIES)
        return table if head.orders == (Order.BYTES,) else table.sort_by("key")

    def _kept(self, head: Head, numbers: Sequence[int]) -> dict[int, Cells]:
        places = [self._place(offset) for offset in head.index.offsets[numbers].tolist()]
        found = zip(numbers, map(self._cache.get, places), strict=True)
        return {number: cells for number, cells in found if isinstance(cells, Cells)}

    def _search_stored(self, head: Head, numbers: Sequence[int], search: Search) -> list[tuple[int, Any]]:
        # More than the cache can hold would only drive out what is wanted again.
        is_kept = int(head.index.sizes[numbers].sum()) <= self._cache.limit_bytes

        def find(blocks: Sequence[tuple[int, Block]]) -> tuple[int, Any]:
            run = self._unpack(head, blocks, is_kept=is_kept)
            return run.first, search.in_run(run)

        stored = read_blocks(self._storage, self._region, head.index, numbers)
        kind = (DATA, head.trailer.codec)
        parsed = ((number, parse_block(data, 0, kind, offset)) for number, offset, data in stored)
        runs = _runs(Sized(one, one[1].raw_bytes) for one in parsed)
        return list(in_order(find, runs, THREADS, 2 * THREADS) if len(numbers) > 1 else map(find, runs))

    def _unpack(self, head: Head, blocks: Sequence[tuple[int, Block]], *, is_kept: bool) -> Run:
        numbers = [number for number, _ in blocks]
        payloads = unpack_blocks([block for _, block in blocks], head.trailer.codec, NO_ROOM)
        cells, narrowing = cells_of(payloads)
        require_own_keys(head.index, np.array(numbers), cells, payloads.borders)
        if is_kept:
            for (_, block), own in zip(blocks, cells_of_blocks(cells, payloads.borders), strict=True):
                self._cache.put(self._place(block.place), own, own.size_bytes)
        return Run(numbers[0], numbers[-1], cells, narrowing)


def _search_kept(blocks: Sequence[Run], head: Head, search: Search) -> Iterator[tuple[int, Any]]:
    """What is found in cached blocks that follow each other in what is searched."""
    found = search.in_few_places(blocks)
    if found is not None:
        yield blocks[0].first, found
        return
    for run in _runs(Sized(block, len(block.cells.data)) for block in blocks):
        if len(run) > 1:
            place = int(head.index.offsets[run[0].first])
            whole = Run(run[0].first, run[-1].last, *joined([block.cells for block in run], place))
        else:
            whole = run[0]
        yield whole.first, search.in_run(whole)


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
