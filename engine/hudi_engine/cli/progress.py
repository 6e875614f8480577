"""Progress of anything that takes longer than two seconds, on standard error."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from hudi_engine.cli import screen

_PATIENCE_SECONDS = 2.0
_LINE_EVERY_SECONDS = 10.0


@dataclass(slots=True)
class Counting:
    """Counts steps, and the items they had: a bar on a terminal, a line now and then elsewhere, nothing for quick work.

    `items` and `steps` are what they are called; `total` is the number of steps, None where nobody knows it.
    """

    items: str
    steps: str
    total: int | None
    bar: Progress
    task: TaskID | None = None
    step: str = ""
    done: int = 0
    count: int = 0
    started: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)
    # When the step that goes on began, and with how many items counted: of these the rate is.
    step_started: float = field(default_factory=time.monotonic)
    step_count: int = 0

    def each(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The tables: each is a step, its rows are the items."""
        for table in tables:
            yield table
            self.done += 1
            self.advance(table.num_rows)

    def begin(self, step: str) -> None:
        """A step with a name begins; the one before, if any, is done."""
        self.done += bool(self.step)
        self.step, self.step_started, self.step_count = step, time.monotonic(), self.count

    def advance(self, count: int) -> None:
        """`count` more items."""
        self.count += count
        now = time.monotonic()
        if now - self.started < _PATIENCE_SECONDS:
            return
        if self.bar.console.is_terminal:
            self._move(now)
        elif now - self.told >= _LINE_EVERY_SECONDS:
            self.told = now
            steps = "" if self.total is None else f"{self.done} of {self.total} {self.steps}, "
            self.bar.console.print(f"{steps}{self._counted(now)}", markup=False)

    def say(self, text: str) -> None:
        """Whole lines on standard output, above the bar if that is on the same terminal."""
        if self.task is not None and sys.stdout.isatty():
            self.bar.console.print(text, end="", markup=False, soft_wrap=True)
        else:
            sys.stdout.write(text)
            sys.stdout.flush()

    def end(self) -> None:
        if self.task is not None:
            self.bar.stop()

    def _move(self, now: float) -> None:
        if self.task is None:
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total)
        self.bar.update(self.task, completed=self.done, description=self._counted(now))

    def _counted(self, now: float) -> str:
        count, seconds = self.count - self.step_count, now - self.step_started
        name = f"{screen.safe(self.step)}: " if self.step else ""
        return f"{name}{count:,} {self.items}, {count / max(seconds, 0.001):,.0f}/s"


@contextmanager
def counting(items: str, steps: str = "", total: int | None = None) -> Iterator[Counting]:
    known = () if total is None else (BarColumn(), MofNCompleteColumn())
    # Standard output stays what it is: rich would lead it, too, to where the bar is.
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        *known,
        TimeElapsedColumn(),
        console=screen.err(),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    progress = Counting(items, steps, total, bar)
    try:
        yield progress
    finally:
        progress.end()
