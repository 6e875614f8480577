"""Downloads and builds that go on in the background while parts that do not need them run."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.gate.parts import ROOT, program
from tests.gate.processes import end, start

_LAST_LINES: Final = 15


class Downloads:
    """Each is a process. What one wrote is in `FOLDER/download-NAME.log`."""

    def __init__(self, commands: Mapping[str, str], folder: Path, environment: Mapping[str, str]) -> None:
        self._logs = {name: folder / f"download-{name}.log" for name in commands}
        self._processes = {
            name: start(["nice", "-n", "19", *program(command)], self._logs[name], ROOT, environment)
            for name, command in commands.items()
        }
        self._reported: set[str] = set()

    def wait_for(self, names: Iterable[str]) -> float:
        """Returns the seconds for which the caller had to wait."""
        began = time.monotonic()
        for name in names:
            if self._processes[name].poll() is None:
                print(f"waiting for {name}, which is still downloaded or built: {self._logs[name]}", flush=True)
            self._processes[name].wait()
        return time.monotonic() - began

    def failed(self, names: Iterable[str]) -> list[str]:
        """Those that ended without what they should bring. The words of each are printed once."""
        missing = [name for name in names if self._processes[name].returncode != 0]
        for name in missing:
            if name not in self._reported:
                self._reported.add(name)
                print(self._words(name), flush=True)
        return missing

    def end(self) -> None:
        for process in self._processes.values():
            if process.poll() is None:
                end(process)

    def _words(self, name: str) -> str:
        said = self._logs[name].read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return "\n".join([f"download {name} failed with exit code {self._processes[name].returncode}:", *said])


@contextmanager
def downloads(commands: Mapping[str, str], folder: Path, environment: Mapping[str, str]) -> Iterator[Downloads]:
    """They end with the block; what is then half made is made again by the next run."""
    running = Downloads(commands, folder, environment)
    try:
        yield running
    finally:
        running.end()
