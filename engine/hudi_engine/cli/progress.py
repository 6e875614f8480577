"""Progress of anything that takes longer than two seconds, on standard error."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from hudi_engine.cli import screen

_PATIENCE_SECONDS = 2.0
_LINE_EVERY_SECONDS = 10.0


@dataclass(slots=True)
class Counting:
    """Counts slices and rows: a bar on a terminal, a line now and then elsewhere, nothing for quick work."""

    noun: str
    total: int
    bar: Progress
    task: TaskID | None = None

    def each(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        started = told = time.monotonic()
        rows = 0
        for done, table in enumerate(tables, start=1):
            yield table
            rows += table.num_rows
            now = time.monotonic()
            if now - started < _PATIENCE_SECONDS:
                continue
            if self.bar.console.is_terminal:
                self._move(done, rows)
            elif now - told >= _LINE_EVERY_SECONDS:
                told = now
                self.bar.console.print(f"{done} of {self.total} file slices, {rows} {self.noun}")

    def _move(self, done: int, rows: int) -> None:
        if self.task is None:
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total)
        self.bar.update(self.task, completed=done, description=f"{rows:,} {self.noun}")


@contextmanager
def counting(noun: str, total: int) -> Iterator[Counting]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=screen.err(), transient=True)
    try:
        yield Counting(noun, total, bar)
    finally:
        bar.stop()
