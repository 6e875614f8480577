"""The files that local mode was given, read again when they change."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hudi_operator.local.manifests import Found, add_text

ENDINGS = (".yaml", ".yml", ".json")
MAX_FILE_BYTES = 4 << 20

Signature = tuple[tuple[str, int, int, int], ...]


class NoSource(Exception):
    """What was named with -f is not there."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Files, and folders of which every file that ends in .yaml, .yml or .json is one; not the folders in them."""

    paths: tuple[Path, ...] = field()

    @staticmethod
    def of(given: Sequence[Path]) -> "Sources":
        """`NoSource` if one of them is not there."""
        for path in given:
            if not path.exists():
                raise NoSource(f"{path}: no such file or folder; -f names manifests, or a folder of them")
        return Sources(tuple(path.resolve() for path in given))

    def signature(self) -> Signature | None:
        """Another one whenever a file may hold something else; None while a folder itself cannot be listed.

        A folder that is gone, as that of a disk taken out, says nothing about what its files hold.
        """
        try:
            return tuple(_signed(file) for file in self._files())
        except OSError:
            return None

    def read(self) -> Found:
        """What all of them hold now, with every fault."""
        found = Found()
        for file in self._files():
            try:
                if file.stat().st_size > MAX_FILE_BYTES:
                    found.add_fault(file, str(file), f"larger than {MAX_FILE_BYTES:,} bytes, no manifest is")
                else:
                    add_text(found, file, file.read_text("utf-8"))
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as unreadable:
                found.add_fault(file, str(file), f"cannot be read: {unreadable}")
        return found

    def covers(self, file: Path) -> bool:
        """Whether the file would be read if it were there."""
        return file in self.paths or file.parent in self.paths

    def _files(self) -> list[Path]:
        files: list[Path] = []
        for path in self.paths:
            if path.suffix in ENDINGS and not path.is_dir():
                files.append(path)
            else:
                names = sorted(name for name in os.listdir(path) if name.endswith(ENDINGS) and name[0] != ".")
                files += [path / name for name in names]
        return list(dict.fromkeys(files))


def _signed(file: Path) -> tuple[str, int, int, int]:
    try:
        state = file.stat()
    except FileNotFoundError:
        return str(file), 0, 0, 0
    return str(file), state.st_mtime_ns, state.st_size, state.st_ino
