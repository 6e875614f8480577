"""`hudi-engine index build`, or another of its verbs, as a process that a test pauses, kills and lets go on."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.kit import evidence
from tests.kit.sessions import Session
from tests.kit.wait import wait_until

_ROOT = Path(__file__).parents[2]
_LONGEST_SECONDS = 240.0
_MOST_RUNS = 6
_LAST_STEPS = 20
_LAST_CHARACTERS = 3000
RECORD_INDEX = ("--type", "record_index")


@dataclass(frozen=True, slots=True)
class Pause:
    """Before the step of that number among those that fit; `how` is `hold`, the heart beats on, or `stop`.

    With `after` steps count from the first that fits that.
    """

    name: str
    on: str
    at: int = 1
    how: str = "hold"
    after: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended. `report` is the JobReport."""

    code: int
    report: Mapping[str, Any]
    said: str


class Engine:
    """One process, on a table in a folder or at a URL.

    It is killed at the end of the block, and with the thread that made it.
    """

    def __init__(
        self,
        table: Path | str,
        options: Mapping[str, str],
        pauses: Sequence[Pause] = (),
        *arguments: str,
        asked: Sequence[str] = RECORD_INDEX,
        root: bool = True,
        verb: str = "build",
        program: str = "tests.kit.paused_engine",
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="engine-")
        self.folder = Path(self._folder.name)
        (self.folder / "pauses.json").write_text(json.dumps([asdict(pause) for pause in pauses]))
        (self.folder / "engine.properties").write_text("".join(f"{key}={value}\n" for key, value in options.items()))
        (self.folder / "ends with parent").touch()
        if not root:
            (self.folder / "unprivileged").touch()
        self._pauses = {pause.name: pause for pause in pauses}
        command: list[str | Path] = [
            *(sys.executable, "-m", program, self.folder),
            *("index", verb, table),
            *asked,
            *("--props", self.folder / "engine.properties"),
            *(*arguments, "--json"),
        ]
        with (self.folder / "out").open("w") as out, (self.folder / "err").open("w") as err:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=err, cwd=_ROOT, env={**os.environ, "TZ": "UTC"}
            )

    @property
    def process_id(self) -> int:
        return self._process.pid

    def pauses(self, name: str) -> bool:
        """Waits until it pauses there; False if it ended before."""
        return self.pauses_first(name) == name

    def pauses_first(self, *names: str) -> str:
        """Where it pauses of these; nowhere if it ended before."""
        wanted = " or ".join(f"{self._pauses[name]}" for name in names)
        self._wait_until(lambda: any(map(self._is_paused, names)), f"its pause at {wanted}, or its end")
        return next(filter(self._is_paused, names), "")

    def says(self, words: str) -> bool:
        """Waits until it has said so; False if it ended without."""
        self._wait_until(lambda: words in self._said(), f"the words {words!r}, or its end")
        return words in self._said()

    def go_on(self, name: str) -> None:
        if self._pauses[name].how == "stop":
            self._process.send_signal(signal.SIGCONT)
        else:
            (self.folder / f"{name}.go").touch()

    def kill(self) -> None:
        """As by `kill -9`, whether it is stopped or not; fine if it has ended."""
        self._process.kill()
        self._process.wait()

    def end(self) -> Ended:
        """Waits for its end."""
        self._wait_until(lambda: False, "its end")
        out = (self.folder / "out").read_text()
        assert out, f"the engine ended without a report:\n{self.state()}"
        return Ended(self._process.wait(), json.loads(out), self._said())

    @property
    def session(self) -> Session | None:
        """The newest session of ZooKeeper that it opened, whether it has closed it or not."""
        with suppress(FileNotFoundError):
            number, password = json.loads((self.folder / "session").read_text())
            return Session(number, bytes.fromhex(password))
        return None

    @property
    def steps(self) -> list[str]:
        """What it has done so far."""
        with suppress(FileNotFoundError):
            return (self.folder / "steps").read_text().splitlines()
        return []

    def _wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Until that holds, or the engine has ended."""
        wait_until(
            lambda: holds() or self._process.poll() is not None,
            _LONGEST_SECONDS,
            what=f"the engine: {what}",
            found=self.state,
        )

    def state(self) -> str:
        """What a person needs who looks into a failure."""
        ended = self._process.poll()
        steps, said = self.steps, self._said()
        out = (self.folder / "out").read_text()
        return "\n".join(
            (
                f"process {self._process.pid} {'runs' if ended is None else f'ended with {ended}'};"
                f" its last {min(_LAST_STEPS, len(steps))} of {len(steps)} steps:",
                *(f"    {step}" for step in steps[-_LAST_STEPS:]),
                f"standard output: {out[-_LAST_CHARACTERS:]}",
                f"standard error: {said[-_LAST_CHARACTERS:]}",
            )
        )

    def _said(self) -> str:
        return (self.folder / "err").read_text()

    def _is_paused(self, name: str) -> bool:
        if not (self.folder / name).exists():
            return False
        if self._pauses[name].how == "stop":
            return _letter_of(self._process.pid) == "T"
        return not (self.folder / f"{name}.go").exists()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        for name in ("steps", "out", "err"):
            with suppress(FileNotFoundError):
                evidence.keep(f"engine's {name}", (self.folder / name).read_text(errors="replace"))
        self._folder.cleanup()


def build(table: Path, options: Mapping[str, str], *arguments: str, asked: Sequence[str] = RECORD_INDEX) -> Ended:
    """The command from its beginning to its end."""
    with Engine(table, options, (), *arguments, asked=asked) as engine:
        return engine.end()


def build_until_ready(table: Path, options: Mapping[str, str], asked: Sequence[str] = RECORD_INDEX) -> None:
    """The same command again and again, as a person or a scheduler would give it who knows nothing but exit codes."""
    ends = []
    for _ in range(_MOST_RUNS):
        ends.append(build(table, options, asked=asked))
        if ends[-1].code == 0:
            return
        assert ends[-1].report["retry"], ends
    raise AssertionError(f"not ready after {len(ends)} runs: {ends}")


def _letter_of(process: int) -> str:
    """As `ps` shows it; T is stopped."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    return ""
