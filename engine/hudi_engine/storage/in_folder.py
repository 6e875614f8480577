"""A folder of a store as a store of its own: how the metadata table, which lies in its data table, is opened."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hudi_engine.storage.paths import require_file_path, require_folder_path
from hudi_engine.storage.protocol import FileStat, Storage


@dataclass(frozen=True, slots=True)
class InFolder:
    """`Storage` whose base is `folder` of another. Paths are checked before they are joined."""

    whole: Storage
    folder: str

    @property
    def location(self) -> str:
        return f"{self.whole.location}/{self.folder}"

    def read(self, path: str) -> bytes:
        return self.whole.read(self._file(path))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        return self.whole.read_range(self._file(path), start, length)

    def list(self, folder: str) -> tuple[FileStat, ...]:
        require_folder_path(folder)
        inside = len(self.folder) + 1
        listing = self.whole.list(f"{self.folder}/{folder}" if folder else self.folder)
        return tuple(replace(file, path=file.path[inside:]) for file in listing)

    def create(self, path: str, data: bytes) -> None:
        self.whole.create(self._file(path), data)

    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None:
        self.whole.create_in_parts(self._file(path), parts)

    def replace(self, path: str, data: bytes) -> None:
        self.whole.replace(self._file(path), data)

    def touch(self, path: str) -> None:
        self.whole.touch(self._file(path))

    def delete(self, path: str) -> None:
        self.whole.delete(self._file(path))

    def _file(self, path: str) -> str:
        require_file_path(path)
        return f"{self.folder}/{path}"
