"""HFiles with blocks as a test wants them, and a storage that counts what is read."""

import struct
import threading
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

from hudi_engine.clock import HandClock
from hudi_engine.format.hfile.block import DATA, FILE_INFO, ROOT_INDEX, Codec, encode_block, pack
from hudi_engine.format.hfile.index import encode_file_info, encode_root_index
from hudi_engine.format.hfile.trailer import Trailer, encode_trailer
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.stored_hfile import Region, StoredHFile
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import Storage

PATH = "record_index/shard.hfile"
TAIL = b"\0\x7f" + b"\xff" * 7 + b"\x04"
Pair = tuple[bytes, bytes]


def cells_of_pairs(pairs: Iterable[Pair]) -> bytes:
    """The payload of a data block."""
    return b"".join(
        struct.pack(">iiH", len(row) + 12, len(value), len(row)) + row + TAIL + value + b"\0" for row, value in pairs
    )


def block_of(pairs: Iterable[Pair], kind: bytes = DATA, codec: Codec = Codec.NONE) -> bytes:
    return packed(cells_of_pairs(pairs), kind, codec)


def packed(raw: bytes, kind: bytes, codec: Codec) -> bytes:
    return b"".join(encode_block(kind, len(raw), pack(raw, codec)))


def hfile_of(
    blocks: Sequence[Sequence[Pair]], codec: Codec = Codec.NONE, first_keys: Sequence[bytes] | None = None
) -> bytes:
    """A whole file of these blocks, in this order; the index tells of their first keys if not of others."""
    stored = [block_of(pairs, DATA, codec) for pairs in blocks]
    starts = accumulate(map(len, stored), initial=0)
    keys = first_keys or [pairs[0][0] for pairs in blocks]
    index = [(key, start, len(block)) for key, start, block in zip(keys, starts, stored, strict=False)]
    data = b"".join(stored)
    root = packed(encode_root_index(index), ROOT_INDEX, codec) + packed(b"", ROOT_INDEX, codec)
    info = packed(encode_file_info({"schema": b"{}"}, None), FILE_INFO, codec)
    at, entries = len(data), sum(map(len, blocks))
    trailer = Trailer(at + len(root), at, 0, 0, len(blocks), 0, entries, 1, 0, 0, codec)
    return data + root + info + encode_trailer(trailer)


def spread(pairs: Sequence[Pair], size: int) -> list[Sequence[Pair]]:
    """The pairs over blocks of so many each."""
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


class CountingStorage:
    """Reads from another storage and remembers each range."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self.ranges: list[tuple[int, int]] = []

    @property
    def bytes_read(self) -> int:
        return sum(length for _, length in self.ranges)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        with self._lock:
            self.ranges.append((start, length))
        return self._storage.read_range(path, start, length)


def stored(data: bytes, path: str = PATH) -> CountingStorage:
    storage = MemoryStorage(HandClock())
    storage.create(path, data)
    return CountingStorage(storage)


def opened(data: bytes, limit_bytes: int = 1 << 30) -> StoredHFile:
    return StoredHFile(stored(data), Region(PATH, 0, len(data), 1), BlockCache(limit_bytes))


def keys_of(keys: Iterable[bytes]) -> Any:
    return pa.array(sorted(set(keys)), pa.large_binary())


def pairs_of(table: Any) -> list[Pair]:
    return list(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))
