"""Parts of a stored file, read as few and as parallel as the store likes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.hfile.index import BlockIndex

# An object store answers in some 50 ms, in which a connection brings a few megabytes: less than the gap is not worth
# another request. Eight requests of this size under way bring more than two cores unpack, and are all the memory that
# reading takes, be the file small or large.
GAP_BYTES = 64 << 10
REQUEST_BYTES = 2 << 20
REMOTE_READERS = 8

Item = TypeVar("Item")
Result = TypeVar("Result")


class RangeReader(Protocol):
    """What is asked of whoever has the files: `Storage`, or bytes of a file that are in memory already."""

    def read_range(self, path: str, start: int, length: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Region:
    """`length` bytes from `start` of a stored file, as it was modified last: a base file, or a log block's content."""

    path: str
    start: int
    length: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class Effort:
    """How many requests are under way at a time, and how many threads unpack what comes.

    `may_probe` says whether a few keys may be found without a look at all cells: not where values can hold bytes of
    users, which could be made to look like cells.
    """

    readers: int
    threads: int
    may_probe: bool = True


ALONE = Effort(REMOTE_READERS, 2)
"""For a file that is read while no other is, wherever it is."""


@dataclass(frozen=True, slots=True)
class BlockReader:
    """What reads the blocks of one HFile."""

    storage: RangeReader
    region: Region
    readers: int


class StoredBlock(NamedTuple):
    """A block's number in the index, its offset in the region, and its bytes as stored."""

    number: int
    offset: int
    data: memoryview


@contextmanager
def inside(region: Region) -> Iterator[None]:
    """Errors about bytes of the region say where in which file these are."""
    try:
        yield
    except CorruptFile as broken:
        if broken.path:
            raise
        raise CorruptFile(broken.what, region.start + broken.offset, region.path) from broken
    except Unsupported as refused:
        raise Unsupported(f"{region.path}: {refused}") from refused


def read_part(storage: RangeReader, region: Region, start: int, length: int) -> bytes:
    """So many bytes of the region, all of them."""
    data = storage.read_range(region.path, region.start + start, length)
    if len(data) != length:
        raise CorruptFile(f"{len(data)} bytes came back where {length} were asked for", start)
    return data


def read_blocks(reader: BlockReader, index: BlockIndex, numbers: Sequence[int]) -> Iterator[StoredBlock]:
    """The blocks so numbered, ascending; neighbours come by one request, several requests are under way at a time."""
    offsets, sizes = index.offsets.tolist(), index.sizes.tolist()

    def read(run: Sequence[int]) -> list[StoredBlock]:
        start, end = offsets[run[0]], offsets[run[-1]] + sizes[run[-1]]
        data = memoryview(read_part(reader.storage, reader.region, start, end - start))
        return [
            StoredBlock(number, offsets[number], data[offsets[number] - start :][: sizes[number]]) for number in run
        ]

    for blocks in in_order(read, _neighbours(numbers, offsets, sizes), reader.readers, reader.readers):
        yield from blocks


def _neighbours(numbers: Sequence[int], offsets: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for number in numbers:
        end = offsets[number] + sizes[number]
        if run and (offsets[number] - _end(run, offsets, sizes) > GAP_BYTES or end - offsets[run[0]] > REQUEST_BYTES):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _end(run: Sequence[int], offsets: Sequence[int], sizes: Sequence[int]) -> int:
    return offsets[run[-1]] + sizes[run[-1]]


def in_order(function: Callable[[Item], Result], items: Iterable[Item], threads: int, ahead: int) -> Iterator[Result]:
    """What the function makes of each item, in order; so many items at most are taken before their turn."""
    if threads <= 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # Not waited for: this may be the garbage collector's doing, inside of a lock of `threading` that the
        # threads need in order to end.
        pool.shutdown(wait=False, cancel_futures=True)
