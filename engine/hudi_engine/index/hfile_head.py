"""What has to be read of an HFile before anything can be found in it."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.index import BlockIndex, LoadOnOpen, parse_child_index, parse_load_on_open
from hudi_engine.format.hfile.order import Order, orders_of
from hudi_engine.format.hfile.trailer import Trailer, parse_trailer
from hudi_engine.index.ranges import REMOTE_READERS, BlockReader, RangeReader, Region, read_blocks, read_part

# The first read of a file: the trailer and what is loaded with it, which grows with the file. Blocks of 64 KiB that
# hold UUIDs take 0.3% of the file for their index.
TAIL_BYTES = 64 << 10
TAIL_SHARE = 256
MAX_TAIL_BYTES = 8 << 20
# An index is far smaller even for the largest file that Hudi writes, which has 10 GiB; a forged one shall not be read.
MAX_HEAD_BYTES = 128 << 20
# What Python takes for an entry of a dictionary, about.
INFO_ENTRY_BYTES = 200


@dataclass(frozen=True, slots=True)
class Head:
    """A file's trailer, where its data blocks are, what their keys are ordered by, and its file info."""

    trailer: Trailer
    index: BlockIndex
    orders: tuple[Order, ...]
    info: Mapping[str, bytes]

    @property
    def size_bytes(self) -> int:
        index = int(self.index.keys.nbytes + self.index.offsets.nbytes + self.index.sizes.nbytes)
        return index + sum(INFO_ENTRY_BYTES + len(name) + len(value) for name, value in self.info.items())


def read_head(storage: RangeReader, region: Region) -> Head:
    """The head by one read of the region's end, by two if there is more of it than was guessed.

    Lower levels of the index, which only HBase's writer makes, are read as well.
    """
    guess = min(region.length, max(TAIL_BYTES, min(region.length // TAIL_SHARE, MAX_TAIL_BYTES)))
    tail = read_part(storage, region, region.length - guess, guess)
    trailer = parse_trailer(tail, region.length)
    load_on_open = _load_on_open(storage, region, trailer, tail)
    index = load_on_open.root
    for level in range(trailer.index_levels - 1, 0, -1):
        reader = BlockReader(storage, region, REMOTE_READERS)
        children = [block.data for block in read_blocks(reader, index, range(len(index)))]
        index = parse_child_index(children, index, trailer, level)
    return Head(trailer, index, orders_of(index.keys, trailer.load_on_open_offset), load_on_open.info)


def _load_on_open(storage: RangeReader, region: Region, trailer: Trailer, tail: bytes) -> LoadOnOpen:
    start, tail_start = trailer.load_on_open_offset, region.length - len(tail)
    if region.length - start > MAX_HEAD_BYTES:
        raise CorruptFile(f"{region.length - start} bytes of index and trailer; {MAX_HEAD_BYTES} is the most", start)
    if start < tail_start:
        tail = read_part(storage, region, start, tail_start - start) + tail
    return parse_load_on_open(tail, trailer, min(start, tail_start))
