"""A control group of a node's own in each hierarchy of this machine."""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tools.harness import HarnessError

_ROOT: Final = Path("/sys/fs/cgroup")
_SECONDS_TO_END: Final = 30.0


@contextmanager
def own_cgroup() -> Iterator[str]:
    """Its name from the root of each hierarchy. It is removed, with all below, once everything in it has ended."""
    name = f"hudi-tests-{secrets.token_hex(4)}"
    folders = [hierarchy / name for hierarchy in _hierarchies()]
    try:
        for folder in folders:
            folder.mkdir()
        yield f"/{name}"
    finally:
        for folder in folders:
            _remove(folder)


def _hierarchies() -> list[Path]:
    """Version 2 has one. Version 1 has one for each controller, or for several."""
    if (_ROOT / "cgroup.procs").exists():
        return [_ROOT]
    return [each for each in _ROOT.iterdir() if (each / "cgroup.procs").exists() and not each.is_symlink()]


def _remove(folder: Path) -> None:
    """The kernel takes a moment to let go of processes that were killed."""
    end = time.monotonic() + _SECONDS_TO_END
    while folder.exists():
        for each in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
            with suppress(OSError):
                each.rmdir()
        try:
            folder.rmdir()
        except OSError as busy:
            if time.monotonic() > end:
                raise HarnessError(f"the control group {folder} is not empty after {_SECONDS_TO_END} s") from busy
            time.sleep(0.1)
