"""Builds that an operator starts and a test stops: each stands still before a step until the test lets it go on."""

import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tests.kit.engine import Pause
from tests.kit.eventually import eventually

BEGINNING: Final = "."
"""Before the first file is written."""
MIDDLE: Final = "catch up"
"""The index is in flight, and nobody holds the table's lock."""
_NAME: Final = "stopped"
_LONG_AGO: Final = 0.0


class Builds:
    """Those of operators that are begun with `tests.kit.paused_operator` and this folder.

    `engines` are the engines' processes that are at work on a table now.
    """

    def __init__(self, folder: Path, engines: Callable[[Path], Iterable[int]]) -> None:
        folder.mkdir()
        self.folder = folder
        self._engines = engines
        self._pause()

    def stop_the_next(self, before: str = MIDDLE) -> None:
        """Every build that begins from now on stops before its first step that fits, until one has been `stopped`."""
        (self.folder / _NAME).unlink(missing_ok=True)
        self._pause(Pause(_NAME, on=before, how="stop"))

    @contextmanager
    def stopped(self, table: Path) -> Iterator[int]:
        """The process of that table's build, which stands still until the end of the block."""
        (build,) = eventually(
            f"a build of {table} to stop",
            lambda: [each for each in self._engines(table) if self._is_stopped(each)],
            told=lambda: f"engines: {[*self._engines(table)]}, their last steps: {self._last_steps()}",
        )
        self._pause()
        try:
            yield build
        finally:
            with suppress(ProcessLookupError):
                os.kill(build, signal.SIGCONT)

    def give_a_long_lease(self) -> None:
        """To operators that begin from now on: they outlive whatever happens to the API server."""
        (self.folder / "long-lease").touch()

    def _pause(self, *pauses: Pause) -> None:
        (self.folder / "pauses.json").write_text(json.dumps([asdict(pause) for pause in pauses]))

    def _is_stopped(self, engine: int) -> bool:
        if not (self.folder / _NAME).exists():
            return False
        with suppress(FileNotFoundError, ProcessLookupError):
            return Path(f"/proc/{engine}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        return False

    def _last_steps(self) -> list[str]:
        with suppress(FileNotFoundError):
            return (self.folder / "steps").read_text().splitlines()[-20:]
        return []


def is_asked_to_end(stopped: int) -> bool:
    """A signal to end waits for that process, which stands still."""
    status = Path(f"/proc/{stopped}/status").read_text()
    waiting = next(line.split()[1] for line in status.splitlines() if line.startswith("ShdPnd:"))
    return bool(int(waiting, 16) >> (signal.SIGTERM - 1) & 1)


def silence_hearts(table: Path) -> None:
    """As if what was killed had been dead for long: everybody judges a heart by its file's time."""
    for heart in (table / ".hoodie" / ".heartbeat").iterdir():
        os.utime(heart, (_LONG_AGO, _LONG_AGO))
