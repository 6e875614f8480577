"""The block index: which block may hold a key. And the file info, which is found beside it."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.hfile.block import (
    FILE_INFO,
    HEADER,
    INTERMEDIATE_INDEX,
    LEAF_INDEX,
    ROOT_INDEX,
    parse_block,
)
from hudi_engine.format.hfile.trailer import Trailer
from hudi_engine.format.hfile.wire import Bytes, encode_field, encode_varint, encode_vint, fields, varint, vint

ENTRY = struct.Struct(">qi")
INFO_MAGIC = b"PBUF"
# What follows the row in a full key: no column family, the newest time, a put.
KEY_TAIL = b"\0\x7f" + b"\xff" * 7 + b"\x04"
# What HBase says about the middle key of a file with more than one level of index.
MIDDLE_KEY_BYTES = 16
LARGEST_TIME = b"MAX_MEMSTORE_TS_KEY"

Entry = tuple[bytes, int, int]
Integer = Callable[[Bytes, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class BlockIndex:
    """Blocks in file order: the smallest key each may hold, where it starts, and its bytes on disk."""

    keys: Any  # pa.LargeBinaryArray
    offsets: Any  # int64
    sizes: Any  # int64

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class LoadOnOpen:
    """What a reader needs before it can find anything: `meta` has offset and size of each meta block."""

    root: BlockIndex
    meta: dict[str, tuple[int, int]]
    info: dict[str, bytes]


def parse_load_on_open(data: Bytes, trailer: Trailer, origin: int) -> LoadOnOpen:
    """The root index, the places of the meta blocks and the file info; `data` starts at `origin` of the file.

    With more than one index level the root's entries are index blocks themselves: see `parse_child_index`.
    """
    codec, end = trailer.codec, trailer.load_on_open_offset
    root = parse_block(data, end - origin, (ROOT_INDEX, codec), origin)
    meta = parse_block(data, root.end, (ROOT_INDEX, codec), origin)
    info = parse_block(data, meta.end, (FILE_INFO, codec), origin)
    with _block_at(end):
        index = _index_of(_root_entries(root.unpack(codec), trailer), end)
    with _block_at(origin + root.end):
        places = dict(_meta_entries(meta.unpack(codec), trailer.meta_index_count, end))
    with _block_at(origin + meta.end):
        return LoadOnOpen(index, places, _file_info(info.unpack(codec)))


def parse_child_index(blocks: Iterable[Bytes], parent: BlockIndex, trailer: Trailer, level: int) -> BlockIndex:
    """The index one level below `parent`, whose blocks are given in order; level 1 points at data blocks."""
    kind = LEAF_INDEX if level == 1 else INTERMEDIATE_INDEX
    entries: list[Entry] = []
    most = trailer.load_on_open_offset // HEADER.size
    for block, at in zip(blocks, parent.offsets.tolist(), strict=True):
        payload = parse_block(block, 0, (kind, trailer.codec), at).unpack(trailer.codec)
        with _block_at(at):
            entries += _leaf_entries(payload, most - len(entries))
    with _block_at(trailer.load_on_open_offset):
        return _index_of(entries, trailer.load_on_open_offset)


@contextmanager
def _block_at(place: int) -> Iterator[None]:
    """Places inside of a payload, which may have been compressed, are told beside the block's own offset."""
    try:
        yield
    except CorruptFile as broken:
        raise CorruptFile(f"{broken.what} ({broken.offset} bytes into the payload)", place) from broken


def _root_entries(payload: Bytes, trailer: Trailer) -> list[Entry]:
    try:
        return _entries(payload, trailer, vint)
    except CorruptFile as broken:
        # Hudi 1.1 wrote protobuf varints here; they differ from what the format asks for above 127 only.
        try:
            return _entries(payload, trailer, varint)
        except CorruptFile:
            raise broken from None


def _entries(payload: Bytes, trailer: Trailer, integer: Integer) -> list[Entry]:
    at, entries = 0, []
    for _ in range(trailer.data_index_count):
        key, offset, size, at = _named_place(payload, at, integer)
        entries.append((_row(key, at), offset, size))
    # A count that is too small would hide blocks from a search.
    if len(payload) - at not in ((0,) if trailer.index_levels == 1 else (0, MIDDLE_KEY_BYTES)):
        raise CorruptFile(f"{len(payload) - at} bytes after the last of {len(entries)} index entries", at)
    return entries


def _named_place(payload: Bytes, at: int, integer: Integer) -> tuple[bytes, int, int, int]:
    if at + ENTRY.size > len(payload):
        raise CorruptFile("the index ends before its last entry", at)
    offset, size = ENTRY.unpack_from(payload, at)
    length, start = integer(payload, at + ENTRY.size)
    if start + length > len(payload):
        raise CorruptFile(f"an index key of {length} bytes reaches beyond the block", at)
    return bytes(payload[start : start + length]), offset, size, start + length


def _meta_entries(payload: Bytes, count: int, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    at = begin = 0
    for _ in range(count):
        name, offset, size, after = _named_place(payload, at, vint)
        if not begin <= offset <= offset + size <= end:
            raise CorruptFile(f"a meta block of {size} bytes at {offset}", at)
        try:
            yield name.decode(), (offset, size)
        except UnicodeDecodeError as broken:
            raise CorruptFile(f"{name!r} names a meta block", at) from broken
        at, begin = after, offset + size


def _leaf_entries(payload: Bytes, most: int) -> list[Entry]:
    count = int.from_bytes(payload[:4], "big")
    start = 4 * (count + 2)
    if count > most or start > len(payload):
        raise CorruptFile(f"an index block of {count} entries in {len(payload)} bytes", 0)
    ends = (np.frombuffer(payload, ">i4", count + 1, 4) + start).tolist()
    if ends[0] != start or ends[-1] > len(payload):
        raise CorruptFile("index entries beyond their block", 4)
    entries = []
    for at, end in pairwise(ends):
        if at + ENTRY.size > end:
            raise CorruptFile("an index entry too short for a place", at)
        offset, size = ENTRY.unpack_from(payload, at)
        entries.append((_row(bytes(payload[at + ENTRY.size : end]), at), offset, size))
    return entries


def _row(key: bytes, at: int) -> bytes:
    """The row of a key, which is the full key or, by Hudi 1.1 and 1.2, only the row and its length."""
    length = int.from_bytes(key[:2], "big")
    if len(key) not in (2 + length, 2 + length + len(KEY_TAIL)):
        raise CorruptFile(f"an index key of {len(key)} bytes whose row has {length}", at)
    return key[2 : 2 + length]


def _index_of(entries: list[Entry], end: int) -> BlockIndex:
    keys, offsets, sizes = zip(*entries, strict=True) if entries else ((), (), ())
    index = BlockIndex(pa.array(keys, pa.large_binary()), np.array(offsets, np.int64), np.array(sizes, np.int64))
    # In order, apart, and before the index: no block is then read twice, however the index was forged.
    borders = np.append(index.offsets, end)
    wrong = (index.sizes < HEADER.size) | (borders[:-1] < 0) | (borders[1:] - borders[:-1] < index.sizes)
    if wrong.any():
        at = int(wrong.argmax())
        raise CorruptFile(f"index entry {at} points at {sizes[at]} bytes at {offsets[at]}", 0)
    return index


def locate(index: BlockIndex, keys: Any) -> Any:
    """For each key the number of the one block that may hold it, -1 for keys before the first block."""
    if pc.any(pc.less(index.keys[1:], index.keys[:-1])).as_py():
        raise Unsupported("an HFile whose blocks are not in the byte order of their keys: scan it instead")
    count = len(index)
    # Sorted stably, a block's first key comes before an equal key that is looked for.
    order = pc.sort_indices(pa.concat_arrays([index.keys, keys])).to_numpy()
    is_block = order < count
    numbers = np.empty(len(keys), np.int64)
    numbers[order[~is_block] - count] = np.cumsum(is_block)[~is_block] - 1
    return numbers


def _file_info(payload: Bytes) -> dict[str, bytes]:
    if payload[:4] != INFO_MAGIC:
        raise CorruptFile(f"file info begins with {bytes(payload[:4])!r}", 0)
    length, at = varint(payload, 4)
    info = {}
    for number, pair in fields(payload, at, at + length):
        if number == 1 and isinstance(pair, bytes):
            parts = dict(fields(pair, 0, len(pair)))
            name, value = parts.get(1, b""), parts.get(2, b"")
            if isinstance(name, int) or isinstance(value, int):
                raise CorruptFile("a number where file info has names and bytes", at)
            info[name.decode(errors="backslashreplace")] = value
    if any(info.get(LARGEST_TIME.decode(), b"")):
        raise Unsupported("an HFile whose cells have times of their own: Hudi never writes them")
    return info


def encode_root_index(entries: Iterable[Entry]) -> bytes:
    """A root index with full keys, which HBase needs and every Hudi release accepts."""
    return b"".join(_encode_entry(_full_key(row), offset, size) for row, offset, size in entries)


def encode_meta_index(entries: Iterable[Entry]) -> bytes:
    """The places of the meta blocks, by bare name."""
    return b"".join(_encode_entry(*entry) for entry in entries)


def _encode_entry(key: bytes, offset: int, size: int) -> bytes:
    return ENTRY.pack(offset, size) + encode_vint(len(key)) + key


def _full_key(row: bytes) -> bytes:
    return len(row).to_bytes(2, "big") + row + KEY_TAIL


def encode_file_info(info: Mapping[str, bytes], last_row: bytes | None) -> bytes:
    """The file info block's payload; an empty file has no last row."""
    last = {} if last_row is None else {"hfile.LASTKEY": _full_key(last_row)}
    pairs = sorted({**info, **last}.items())
    message = b"".join(
        encode_field(1, encode_field(1, name.encode()) + encode_field(2, value)) for name, value in pairs
    )
    return INFO_MAGIC + encode_varint(len(message)) + message
