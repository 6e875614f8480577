"""Engine and Java writers in one order and no other: what each writer does while the engine stands at a named step.

`conduct` plays a score: the engine's pauses in their order, each with its acts. A `LedCommit` goes from point to point
as acts say. So commits overlap with steps of the engine and with each other, the same way each time.
"""

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from tests.java.live_writers import Step, Writer
from tests.kit.engine import Ended, Engine, Pause
from tests.kit.wait import wait_until

Act = Callable[[], object]

# Its instant is in flight, and it is about to create its first file of data.
BEGUN: Final = "begun"
# Its rows are written, and it is about to ask for the lock under which it commits.
BEFORE_THE_LOCK: Final = "before the lock"
# It holds the lock, the metadata table has its commit, and it is about to complete its instant.
BEFORE_ITS_END: Final = "before its end"
_STEPS: Final = {
    BEGUN: r"^create (?!.*/\.hoodie/).*\.(parquet|log\.\d+_[-\d]+)$",
    BEFORE_THE_LOCK: r"^lock$",
    BEFORE_ITS_END: r"^create (?!.*/metadata/).*/\.hoodie/(timeline/)?\d+(_\d+)?\.(delta)?commit(\.[-\da-f]{36})?$",
}
_POINTS: Final = tuple(_STEPS)
_REQUESTED: Final = re.compile(r"^create (?!.*/metadata/).*/\.hoodie/(?:timeline/)?(\d+)\.\w+\.requested")


@dataclass(frozen=True, slots=True)
class Said:
    """A moment at which the engine does not pause: it has said these words, and waits for somebody."""

    words: str


Scene = tuple[Pause | Said, Sequence[Act]]
Score = Sequence[Scene]


def conduct(engine: Engine, score: Score) -> Ended:
    """Has everybody act as the score says, and the engine end. The engine was made with `pauses_of` the score."""
    for moment, acts in score:
        has_come = engine.pauses(moment.name) if isinstance(moment, Pause) else engine.says(moment.words)
        assert has_come, f"the engine ended before {moment}: {engine.end()}; its steps: {engine.steps[-20:]}"
        for act in acts:
            act()
        if isinstance(moment, Pause):
            engine.go_on(moment.name)
    return engine.end()


def pauses_of(score: Score) -> list[Pause]:
    return [moment for moment, _ in score if isinstance(moment, Pause)]


class LedCommit:
    """One commit of a Java writer. Its methods are acts, or make them."""

    def __init__(self, writer: Writer, threads: ThreadPoolExecutor, step: Step | None) -> None:
        self._writer = writer
        self._holds = writer.jvm.holds
        self._threads = threads
        self._step = step
        self._steps_before = 0
        self._attempt: Future[bool] | None = None
        self._at = ""

    def to(self, point: str) -> Act:
        """It goes on to that point, by way of those before it, and is held there."""
        return lambda: self._go_on_to(point)

    def set_out(self) -> None:
        """It begins, and comes to ask for the lock, which somebody else holds."""
        self._start()
        self._await("its question for the lock", lambda: "lock" in self._holds.steps[self._steps_before :])

    def end(self) -> None:
        """It is held no more, and is completed."""
        assert self._ended(), f"a commit overlapped with one of the same file group: {self._holds.steps[-20:]}"

    def end_second(self) -> None:
        """It fails, as another commit of the same file group was first, and is made once more.

        What is left of it has a heartbeat as old as if its lease had run out.
        """
        assert not self._ended(), f"two commits changed one file group at a time: {self._holds.steps[-20:]}"
        with suppress(FileNotFoundError):
            os.utime(self._writer.table.heartbeats / self._instant, (0, 0))
        self._writer.commit(self._step)

    def give_up(self) -> None:
        """Nobody holds it any more, whatever becomes of it."""
        for point in _POINTS:
            self._holds.let_go(point)

    def _go_on_to(self, point: str) -> None:
        if self._attempt is None:
            self._start()
        for each in _POINTS[_POINTS.index(self._at) + 1 if self._at else 0 : _POINTS.index(point) + 1]:
            if self._at:
                self._holds.put_on(each, _STEPS[each])
                self._holds.let_go(self._at)
            self._at = each
            self._await(each, lambda: self._holds.has(self._at))

    def _start(self) -> None:
        self._step = step = self._step or self._writer.author.next_step()
        self._steps_before = len(self._holds.steps)
        self._holds.put_on(_POINTS[0], _STEPS[_POINTS[0]])
        self._attempt = self._threads.submit(lambda: self._writer.attempt(step))

    def _await(self, what: str, holds: Callable[[], bool]) -> None:
        attempt = self._attempt
        assert attempt is not None, "a commit that never began"
        wait_until(lambda: holds() or attempt.done(), what=f"a commit: {what}", found=self._found)
        assert holds(), f"a commit ended before {what!r}: {attempt.result()}\n{self._found()}"

    def _ended(self) -> bool:
        self.give_up()
        assert self._attempt is not None, "a commit that never began"
        wait_until(self._attempt.done, what="a commit: its end", found=self._found)
        return self._attempt.result()

    @property
    def _instant(self) -> str:
        requested = map(_REQUESTED.search, self._holds.steps[self._steps_before :])
        return next(found[1] for found in requested if found)

    def _found(self) -> str:
        return "\n".join(("its last steps:", *self._holds.steps[-20:]))


class Lead:
    """Makes commits that are led. None is left held at the end of the block."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor()
        self._led: list[LedCommit] = []

    def __call__(self, writer: Writer, step: Step | None = None) -> LedCommit:
        self._led.append(LedCommit(writer, self._threads, step))
        return self._led[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._led:
            each.give_up()
        self._threads.shutdown()
