"""A `Watch` for people: a bar for each phase on a terminal, a line now and then elsewhere; all on standard error.

For programs the same is in a file, if a request names one.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from hudi_engine.cli import screen
from hudi_engine.cli.progress_file import ProgressFile
from hudi_engine.cli.veil import NOTHING_HIDDEN, Veil
from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.heartbeat import in_thread
from hudi_engine.contract import MAX_SAID, RunProgress

_PATIENCE_SECONDS = 2.0
_LINE_EVERY_SECONDS = 10.0
_FILE_EVERY_SECONDS = 1.0
_LONGEST_PHASE = 48
_BEGIN = "plan"
# The steps of the workers, by the words of RFC-45.
_WRITING = "write shards"
_STAGES = {"list": "plan", "read record keys": "base", _WRITING: "base"}


@dataclass(slots=True)
class Phases:
    """Shows what goes on, and keeps how many seconds each phase took: one that comes back adds to what it had."""

    bar: Progress
    veil: Veil = NOTHING_HIDDEN
    file: ProgressFile | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    phase: str = ""
    total: int | None = None
    done: int = 0
    rows: int = 0
    # Of all phases together, each row once.
    rows_read: int = 0
    said: str = ""
    task: TaskID | None = None
    has_bar: bool = False
    began: float = field(default_factory=time.monotonic)
    started: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)

    def begin(self, phase: str, total: int | None = None) -> None:
        self.end()
        self.phase, self.total, self.done, self.rows, self.task = phase, total, 0, 0, None
        self.began = time.monotonic()
        self.said = phase
        self.write()

    def advance(self, steps: int, rows: int = 0) -> None:
        self.done += steps
        self.rows += rows
        self.rows_read += 0 if self.phase == _WRITING else rows
        now = time.monotonic()
        if now - self.started < _PATIENCE_SECONDS:
            return
        if self.bar.console.is_terminal:
            self._move()
        elif now - self.told >= _LINE_EVERY_SECONDS:
            self.told = now
            self._print(self._line(now - self.began))

    def say(self, what: str) -> None:
        self.said = what
        self._print(what)

    def write(self) -> None:
        """What there is to say goes to the file, if there is one."""
        if self.file is not None:
            self.file.write(self.progress(SystemClock().now_ms()))

    def progress(self, now_ms: int) -> RunProgress:
        """How far the job is, for programs."""
        done, total = self.done, self.total
        return RunProgress(
            phase=screen.safe(_STAGES.get(self.phase, self.phase) or _BEGIN)[:_LONGEST_PHASE],
            done=done,
            total=total,
            rows=self.rows,
            said=screen.safe(self.veil.over(self.said))[:MAX_SAID],
            updated_ms=now_ms,
            percent=None if not total else min(100.0, round(100 * done / total, 1)),
        )

    def end(self) -> None:
        """The phase that goes on, if any, is done."""
        if not self.phase:
            return
        self.write()
        if self.task is not None:
            self.bar.update(self.task, total=max(self.done, 1), completed=max(self.done, 1), description=self._name())
        self.seconds[self.phase] = self.seconds.get(self.phase, 0.0) + time.monotonic() - self.began
        self.phase = ""

    def _move(self) -> None:
        if self.task is None:
            self.bar.start()
            self.has_bar = True
            self.task = self.bar.add_task("", total=self.total)
        self.bar.update(self.task, completed=self.done, description=self._name())

    def _name(self) -> str:
        rate = self.rows / max(time.monotonic() - self.began, 0.001)
        return f"{screen.safe(self.phase)}{f', {rate:,.0f} rows/s' if self.rows else ''}"

    def _line(self, seconds: float) -> str:
        steps = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        left = "" if not self.total or not self.done else f", {self._left(seconds)} left"
        return f"{self._name()}: {steps}{left}"

    def _left(self, seconds: float) -> str:
        assert self.total is not None
        return screen.age(max(0, self.total - self.done) * seconds / self.done)

    def _print(self, line: str) -> None:
        self.bar.console.print(screen.safe(self.veil.over(line)), markup=False, soft_wrap=True)


@contextmanager
def watching(progress_path: str | None = None, veil: Veil = NOTHING_HIDDEN) -> Iterator[Phases]:
    """One for the time of a job. What the veil hides is in none of its texts."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=screen.err(), redirect_stdout=False, redirect_stderr=False)
    file = None if progress_path is None else ProgressFile(Path(progress_path))
    phases = Phases(bar, veil, file)
    phases.write()
    try:
        with nullcontext() if file is None else in_thread(_FILE_EVERY_SECONDS, phases.write):
            yield phases
    finally:
        phases.end()
        if phases.has_bar:
            bar.stop()
