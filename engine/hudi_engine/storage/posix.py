"""Steps by which a file gets to its name on a POSIX file system, whole or not at all."""

import ctypes
import errno
import os
import shutil
from collections.abc import Iterable

from hudi_engine.errors import Unsupported

_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
_NO_SUCH_CALL = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS}
_NO_NAMELESS_FILES = {errno.EISDIR, *_NO_SUCH_CALL}


def write_flushed(name: str, parts: Iterable[bytes]) -> None:
    """A new file with its content on the disk. Where it can it has its name last, so that a death leaves nothing."""
    nameless = _open_nameless(os.path.dirname(name))
    descriptor = _open_new(name) if nameless is None else nameless
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
        if nameless is not None:
            _give_name(nameless, name)
    finally:
        os.close(descriptor)


def _open_new(name: str) -> int:
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)


def _open_nameless(folder: str) -> int | None:
    """A file of the folder that nobody sees, where the system and the file system have such files."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.open(folder, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in _NO_NAMELESS_FILES:
            raise
        return None


def _give_name(nameless: int, name: str) -> None:
    path = f"/proc/self/fd/{nameless}"
    try:
        os.link(path, name, src_dir_fd=nameless)  # a descriptor makes Python follow the link that this path is
    except OSError as error:
        if error.errno not in {*_NO_HARD_LINKS, errno.ENOENT}:  # without links, or without /proc
            raise
        os.lseek(nameless, 0, os.SEEK_SET)
        with open(nameless, "rb", closefd=False) as written, open(_open_new(name), "wb") as file:
            shutil.copyfileobj(written, file)
            file.flush()
            os.fsync(file.fileno())


def publish_new(temporary: str, name: str) -> None:
    try:
        os.link(temporary, name)
    except FileExistsError:
        # On NFS a link may land though its answer was lost, and the client's second try then finds it.
        if os.stat(temporary).st_nlink != 2:
            raise
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        rename_exclusively(temporary, name)


def rename_exclusively(temporary: str, name: str) -> None:
    at_working_folder, no_replace = -100, 1
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None or rename(
        at_working_folder, os.fsencode(temporary), at_working_folder, os.fsencode(name), no_replace
    ):
        code = ctypes.get_errno() if rename else errno.ENOSYS
        if code in _NO_SUCH_CALL:
            raise Unsupported(
                f"{name}: this file system has neither hard links nor an exclusive rename, so two writers could both "
                "believe that they created the file; put the table on another one"
            )
        raise OSError(code, os.strerror(code), name)


def remove_checksum_file(name: str) -> None:
    folder, base_name = os.path.split(name)
    try:
        os.unlink(os.path.join(folder, f".{base_name}.crc"))
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
            raise


def make_folders(folder: str) -> None:
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    make_folders(parent)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, "a part of the path is a file and no folder") from None
        return
    flush_folder(parent)


def flush_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:  # some network file systems cannot flush a folder, and need not
            raise
    finally:
        os.close(descriptor)
