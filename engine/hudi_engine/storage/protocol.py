"""What the engine asks of a store."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileStat:
    """One child of a folder. `path` is relative to the storage's base, `/`-separated, without a trailing slash."""

    path: str
    size_bytes: int
    modified_ms: int
    is_folder: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Storage(Protocol):
    """A table's files. Every path is relative to the base path and is refused if it leads outside of it.

    `create` is the one atomic promise: of any number of creators of a name one wins, the others get
    `AlreadyExists`, and no reader ever sees part of the content. `create_in_parts` promises the same of what the
    parts make together; a store of this machine holds one of them at a time. `replace` is last-writer-wins and whole:
    a reader sees the old content or the new. `touch` makes the time of an empty file now: a power cut may undo it, so
    that it waits for no disk; `NotFound` where there is no file, but for stores that only know whole objects, which
    make one. `delete` of what is gone already is fine. `list` gives the children
    of one folder, in name order; a folder that is not there has none.
    """

    @property
    def location(self) -> str:
        """The base path as a person would write it: for messages, and for readers that take a whole path."""
        ...

    def read(self, path: str) -> bytes: ...
    def read_range(self, path: str, start: int, length: int) -> bytes: ...
    def list(self, folder: str) -> tuple[FileStat, ...]: ...
    def create(self, path: str, data: bytes) -> None: ...
    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None: ...
    def replace(self, path: str, data: bytes) -> None: ...
    def touch(self, path: str) -> None: ...
    def delete(self, path: str) -> None: ...


def is_remote(storage: Storage) -> bool:
    """Whether each request takes its time. Such stores are also the ones that never show half a file."""
    return "://" in storage.location
