"""A table on a file system of this machine."""

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from hudi_engine.errors import (
    AccessDenied,
    AlreadyExists,
    EngineError,
    NoSpaceLeft,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    UnsafePath,
)
from hudi_engine.storage.paths import require_file_path, require_folder_path, require_range
from hudi_engine.storage.posix import (
    flush_folder,
    make_folders,
    publish_new,
    remove_checksum_file,
    write_flushed,
)
from hudi_engine.storage.protocol import FileStat

_TEMPORARY = ".hudi-engine-"
_READ_BYTES = 1 << 24
_ERRORS: dict[int, type[EngineError]] = {
    errno.ENOENT: NotFound,
    errno.ENOTDIR: NotFound,
    errno.EISDIR: NotFound,
    errno.EACCES: AccessDenied,
    errno.EPERM: AccessDenied,
    errno.EROFS: AccessDenied,
    errno.ENOSPC: NoSpaceLeft,
    errno.EDQUOT: NoSpaceLeft,
    errno.EFBIG: NoSpaceLeft,
    errno.EEXIST: AlreadyExists,
    errno.ELOOP: UnsafePath,
    errno.ENAMETOOLONG: UnsafePath,
}


class LocalStorage:
    """`Storage` below one folder.

    Links are followed as long as they stay inside the base (the base itself may be one). A link that leads outside
    is listed as a file of its own size and refused with `UnsafePath` as soon as it is read, written or entered.

    `create` writes a hidden file beside the name, flushes it and links it to the name: the link is exclusive, so
    there is no moment between looking and publishing, and no reader sees half a file. Where hard links do not exist
    the exclusive rename of Linux takes their place; a file system with neither is refused, since a file opened
    exclusively under its final name can be read, or left behind by a crash, half written.

    The hidden file has no name before its content is on the disk (not on network file systems): of a process that is
    killed nothing is left. Where it is, it is never listed, and no Hudi reader takes it for anything.

    Hadoop's local file system keeps a checksum file `.name.crc` beside each `name` that Java wrote. It is not part of
    the table and is not listed; whoever changes `name` must remove it, or Java finds the new content damaged.
    """

    def __init__(self, base: str) -> None:
        self._base = os.path.abspath(base)

    @property
    def location(self) -> str:
        return self._base

    def read(self, path: str) -> bytes:
        with self._errors(path), self._open(path) as (descriptor, _):
            pieces = []
            while piece := os.read(descriptor, _READ_BYTES):
                pieces.append(piece)
            return b"".join(pieces)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        with self._errors(path), self._open(path) as (descriptor, size_bytes):
            require_range(path, start, length, size_bytes)
            pieces = []
            while length and (piece := os.pread(descriptor, min(length, _READ_BYTES), start)):
                pieces.append(piece)
                start, length = start + len(piece), length - len(piece)
            require_range(path, start, length, start)  # it was cut while we read
            return b"".join(pieces)

    def list(self, folder: str) -> tuple[FileStat, ...]:
        require_folder_path(folder)
        try:
            with self._errors(folder), os.scandir(self._resolve(folder)) as entries:
                children = [self._child(folder, entry) for entry in entries if not _is_hidden(entry.name)]
        except NotFound:
            return ()
        return tuple(sorted((child for child in children if child), key=lambda child: child.path))

    def create(self, path: str, data: bytes) -> None:
        self.create_in_parts(path, [data])

    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None:
        require_file_path(path)
        with self._errors(path):
            # Of what is there nothing is touched: Java fails to take a lock whose checksum file goes as it sets the
            # file's rights, and leaves the lock file behind for ever.
            if os.path.lexists(self._resolve_name(path)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        self._write(path, parts, publish_new)

    def replace(self, path: str, data: bytes) -> None:
        self._write(path, [data], os.replace)

    def touch(self, path: str) -> None:
        require_file_path(path)
        with self._errors(path):
            os.utime(self._resolve_name(path), follow_symlinks=False)

    def delete(self, path: str) -> None:
        require_file_path(path)
        with self._errors(path):
            name = self._resolve_name(path)
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(name)
            remove_checksum_file(name)

    def _write(self, path: str, parts: Iterable[bytes], publish: Callable[[str, str], None]) -> None:
        require_file_path(path)
        with self._errors(path):
            name = self._resolve_name(path)
            folder = os.path.dirname(name)
            make_folders(folder)
            temporary = os.path.join(folder, f"{_TEMPORARY}{secrets.token_hex(8)}.tmp")
            try:
                write_flushed(temporary, parts)
                # Before the content changes: Java reads a file without a checksum file unchecked, and one with a
                # stale checksum file not at all.
                remove_checksum_file(name)
                publish(temporary, name)
            finally:
                with suppress(OSError):
                    os.unlink(temporary)
            try:
                flush_folder(folder)
            except OSError as lost:
                what = f"{self._shown(path)}: written, but the folder could not be flushed ({lost.strerror})"
                raise OutcomeUnknown(f"{what}; read it again before going on") from lost

    @contextmanager
    def _open(self, path: str) -> Iterator[tuple[int, int]]:
        require_file_path(path)
        # Not blocking, since a pipe would wait for a writer for ever; no link, since the path is resolved already.
        descriptor = os.open(self._resolve(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise NotFound(f"{self._shown(path)}: expected a file, found a folder or a device")
            yield descriptor, found.st_size
        finally:
            os.close(descriptor)

    def _resolve(self, path: str) -> str:
        """Where `path` really is, with every link followed."""
        base = os.path.realpath(self._base)
        real = os.path.realpath(os.path.join(base, path)) if path else base
        if real != base and not real.startswith(base.rstrip("/") + "/"):
            raise UnsafePath(f"{self._shown(path)}: leads to {real}, outside of the table")
        return real

    def _resolve_name(self, path: str) -> str:
        """The name to change: its folder with every link followed, its last part as it is."""
        self._resolve(path)
        folder, _, name = path.rpartition("/")
        return os.path.join(self._resolve(folder), name)

    def _child(self, folder: str, entry: "os.DirEntry[str]") -> FileStat | None:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            found = entry.stat(follow_symlinks=not entry.is_symlink() or self._stays_inside(path))
        except FileNotFoundError:
            return None  # gone since the folder was read, or a link to nothing
        is_folder = stat.S_ISDIR(found.st_mode)
        return FileStat(path, 0 if is_folder else found.st_size, found.st_mtime_ns // 1_000_000, is_folder)

    def _stays_inside(self, path: str) -> bool:
        try:
            self._resolve(path)
        except UnsafePath:
            return False
        return True

    def _shown(self, path: str) -> str:
        return f"{self._base}/{path}" if path else self._base

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kind = _ERRORS.get(error.errno or 0, StorageUnavailable)
            raise kind(f"{self._shown(path)}: {error.strerror or error}") from error


def _is_hidden(name: str) -> bool:
    return name.startswith(_TEMPORARY) or (name.startswith(".") and name.endswith(".crc"))
