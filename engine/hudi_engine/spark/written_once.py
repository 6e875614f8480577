"""Files that a task may write again when an earlier try at it has written them already, or another is writing them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hudi_engine.errors import AlreadyExists
from hudi_engine.storage.protocol import FileStat, Storage


@dataclass(frozen=True, slots=True)
class WrittenOnce:
    """`Storage` in which the first of several equal files stays.

    Every try of a task writes the same entries under the same name, so that it does not matter whose stay, and there
    is never a second file: not even of a try that Spark has given up and that goes on. Their bytes may differ if
    executors are of different kinds, since compression goes by the processor: `kept_bytes` has the size of what stays
    of another try.
    """

    storage: Storage
    kept_bytes: dict[str, int] = field(default_factory=dict)

    @property
    def location(self) -> str:
        return self.storage.location

    def read(self, path: str) -> bytes:
        return self.storage.read(path)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        return self.storage.read_range(path, start, length)

    def list(self, folder: str) -> tuple[FileStat, ...]:
        return self.storage.list(folder)

    def create(self, path: str, data: bytes) -> None:
        self.create_in_parts(path, [data])

    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None:
        try:
            self.storage.create_in_parts(path, parts)
        except AlreadyExists:
            self.kept_bytes[path] = len(self.storage.read(path))

    def replace(self, path: str, data: bytes) -> None:
        self.storage.replace(path, data)

    def touch(self, path: str) -> None:
        self.storage.touch(path)

    def delete(self, path: str) -> None:
        self.storage.delete(path)
