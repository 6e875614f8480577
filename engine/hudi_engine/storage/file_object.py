"""A stored file as Python's readers want one: seekable, read in ranges."""

import io

from hudi_engine.storage.protocol import Storage


class StoredFile(io.RawIOBase):
    """Reads a file of known size through its storage; one range a read, nothing kept."""

    def __init__(self, storage: Storage, path: str, size_bytes: int) -> None:
        self._storage = storage
        self._path = path
        self._size_bytes = size_bytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size_bytes}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size_bytes - self._at)
        length = left if size is None or size < 0 else min(size, left)
        if not length:
            return b""
        data = self._storage.read_range(self._path, self._at, length)
        self._at += length
        return data
