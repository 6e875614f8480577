"""What a failed test is reported with, besides the files below its `tmp_path`.

Fixtures that start a process call `watch` with its log. Helpers whose files are gone when the test has failed call
`keep` with their text. `tests/gate/failure_block.py` prints both, and forgets what was kept when the next test begins.
"""

from collections import deque
from pathlib import Path
from typing import Final

_MOST_KEPT: Final = 6
_WATCHED: Final[dict[Path, str]] = {}
_KEPT: Final[deque[tuple[str, str]]] = deque(maxlen=_MOST_KEPT)


def watch(name: str, log: Path) -> None:
    """A log, or a folder of logs. A log that is removed later is simply not printed."""
    _WATCHED[log] = name


def keep(name: str, text: str) -> None:
    """The latest few texts of a test are kept."""
    _KEPT.append((name, text))


def forget_kept() -> None:
    _KEPT.clear()


def kept() -> list[tuple[str, str]]:
    return list(_KEPT)


def watched() -> list[tuple[str, Path]]:
    """Each log that is there now, with its name."""
    return [
        (name, log)
        for path, name in _WATCHED.items()
        for log in (sorted(path.glob("*.log")) if path.is_dir() else [path])
        if log.exists()
    ]
