"""Properties in folders, as Kubernetes mounts a Secret: the name of a file is the property, its content the value."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from hudi_engine.errors import Contradiction

# Kubernetes keeps the files in hidden folders, and puts a new one in the place of the old by a link `..data`.
_ITS_OWN = ".."
_LINK = "..data"
_ROUNDS = 3
_MOST_BYTES = 100_000
# How to reach the store and the lock's service. What is to be done, and under which lock, is no secret; other names
# are files, as of keys and certificates, that a property may name.
_OF_SECRETS = ("fs.", "hadoop.", "hudi.engine.zookeeper.")
_NO_SECRETS = ("hoodie.", "hudi.", "spark.")
_MOST_FILES = 1_000

_Found = TypeVar("_Found")
Signature = tuple[tuple[str, int, int, int], ...]


def read_mounted(folders: tuple[str, ...]) -> Mapping[str, str]:
    """The properties of all folders, each as it was at one moment. No message of an error has a value in it."""
    found: dict[str, str] = {}
    origin: dict[str, str] = {}
    for folder in folders:
        for key, value in _settled(folder, _read).items():
            if found.setdefault(key, value) != value:
                raise Contradiction(
                    f"conf_from: {key!r} is in {origin[key]} and, with another value, in {folder}. "
                    "Remove it from one of the two."
                )
            origin.setdefault(key, folder)
    return found


def signature_of(folders: tuple[str, ...]) -> Signature:
    """What changes as soon as a file of these folders does; nothing of their content is in it."""
    return tuple(
        (str(path), each.st_ino, each.st_size, each.st_mtime_ns)
        for folder in folders
        for path, each in _settled(folder, _files)
    )


def _settled(folder: str, look: Callable[[str], _Found]) -> _Found:
    """What the look finds once no new content is put in while it lasts."""
    for _ in range(_ROUNDS):
        before = _link(folder)
        try:
            found = look(folder)
        except FileNotFoundError:
            continue
        except OSError as refused:
            raise Contradiction(
                f"conf_from: {refused.filename or folder}: {refused.strerror}; expected a folder of readable files"
            ) from None
        if _link(folder) == before:
            return found
    raise Contradiction(f"conf_from: {folder}: no such folder, or its files vanish while they are read")


def _link(folder: str) -> str:
    try:
        return os.readlink(Path(folder, _LINK))
    except OSError:
        return ""


def _files(folder: str) -> list[tuple[Path, os.stat_result]]:
    names = sorted(name for name in os.listdir(folder) if not name.startswith(_ITS_OWN))
    if len(names) > _MOST_FILES:
        raise Contradiction(f"conf_from: {folder}: {len(names):,} files, expected at most {_MOST_FILES:,}")
    found = [(Path(folder, name), os.stat(Path(folder, name))) for name in names]
    for path, each in found:
        if path.name.startswith(_NO_SECRETS) and not path.name.startswith(_OF_SECRETS):
            raise Contradiction(
                f"conf_from: {path}: {path.name!r} is no property for a secret; "
                f"expected names that begin with {', '.join(_OF_SECRETS)}"
            )
        if not stat.S_ISREG(each.st_mode):
            raise Contradiction(f"conf_from: {path}: a folder or a device, expected a file for each property")
        if each.st_size > _MOST_BYTES:
            raise Contradiction(f"conf_from: {path}: {each.st_size:,} bytes, expected at most {_MOST_BYTES:,}")
    return found


def _read(folder: str) -> dict[str, str]:
    return {path.name: _text(path) for path, _ in _files(folder) if path.name.startswith(_OF_SECRETS)}


def _text(path: Path) -> str:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise Contradiction(f"conf_from: {path}: no text in UTF-8") from None
    # An editor or `--from-file` ends a file with a line end that is no part of a password.
    return text.removesuffix("\n").removesuffix("\r")
