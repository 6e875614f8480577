"""A table in memory, which dies where a test says."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from hudi_engine.clock import Clock
from hudi_engine.errors import AlreadyExists, NotFound
from hudi_engine.storage.paths import require_file_path, require_folder_path, require_range
from hudi_engine.storage.protocol import FileStat


class Crash(BaseException):
    """The process died here. Not an `Exception`: a dead process runs no handler and retries nothing."""


class Way(StrEnum):
    """How far a write got."""

    BEFORE = "nothing of it was applied"
    AFTER = "it was applied, and the answer was lost"
    TORN = "a part of it was applied"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one write: the `at_write`th, counted from 1.

    `signal` is what the writer gets: `Crash`, or an error of the engine to play a store that fails while the process
    lives on. `torn_bytes` is how much of the content a torn replace leaves.
    """

    at_write: int
    way: Way
    signal: BaseException
    torn_bytes: int = 0


class MemoryStorage:
    """`Storage` in a dictionary.

    Every create, replace, touch and delete is a write, and `writes` counts them. A torn *replace* leaves the first
    bytes of the new content under the name: worse than our own stores, which replace whole, but what a store of another
    writer (HDFS, Java's local files) can leave for us to read. A torn *create* leaves nothing under the name, since
    `create` promises it, on every store that we have; a torn *delete* deletes nothing.
    """

    def __init__(self, clock: Clock, fault: Fault | None = None) -> None:
        self._clock = clock
        self._fault = fault
        self._files: dict[str, tuple[bytes, int]] = {}
        self._lock = threading.Lock()
        self.writes = 0

    @property
    def location(self) -> str:
        return "memory:table"

    def restarted(self, fault: Fault | None = None) -> "MemoryStorage":
        """The same files as a new process finds them; what either writes the other sees."""
        other = MemoryStorage(self._clock, fault)
        other._files, other._lock = self._files, self._lock
        return other

    def read(self, path: str) -> bytes:
        require_file_path(path)
        if path not in self._files:
            raise NotFound(f"{self.location}/{path}: no such file")
        return self._files[path][0]

    def read_range(self, path: str, start: int, length: int) -> bytes:
        data = self.read(path)
        require_range(path, start, length, len(data))
        return data[start : start + length]

    def list(self, folder: str) -> tuple[FileStat, ...]:
        require_folder_path(folder)
        prefix = f"{folder}/" if folder else ""
        children = {}
        for path, (data, modified_ms) in [each for each in list(self._files.items()) if each[0].startswith(prefix)]:
            name, slash, _ = path.removeprefix(prefix).partition("/")
            children[prefix + name] = (0 if slash else len(data), modified_ms, bool(slash))
        return tuple(FileStat(path, *children[path]) for path in sorted(children))

    def create(self, path: str, data: bytes) -> None:
        require_file_path(path)
        with self._lock:
            if path in self._files:
                raise AlreadyExists(f"{self.location}/{path}: exists already")
            self._write(path, data, can_tear=False)

    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None:
        self.create(path, b"".join(parts))

    def replace(self, path: str, data: bytes) -> None:
        require_file_path(path)
        with self._lock:
            self._write(path, data, can_tear=True)

    def touch(self, path: str) -> None:
        require_file_path(path)
        with self._lock:
            if path not in self._files:
                raise NotFound(f"{self.location}/{path}: no such file")
            self._write(path, self._files[path][0], can_tear=False)

    def delete(self, path: str) -> None:
        require_file_path(path)
        with self._lock:
            self._write(path, None, can_tear=False)

    def _write(self, path: str, data: bytes | None, *, can_tear: bool) -> None:
        self.writes += 1
        fault = self._fault
        if fault is None or fault.at_write != self.writes:
            self._apply(path, data)
            return
        if fault.way is Way.AFTER:
            self._apply(path, data)
        elif fault.way is Way.TORN and can_tear and data is not None:
            self._apply(path, data[: fault.torn_bytes])
        raise fault.signal

    def _apply(self, path: str, data: bytes | None) -> None:
        if data is None:
            self._files.pop(path, None)
        else:
            self._files[path] = (bytes(data), self._clock.now_ms())
