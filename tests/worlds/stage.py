"""A store and a clock between whose operations a test can act: how two processes are interleaved in one."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from hudi_engine.clock import HandClock
from hudi_engine.concurrency.lock import Lock
from hudi_engine.storage.memory import Crash, MemoryStorage
from hudi_engine.storage.protocol import FileStat

Act = Callable[[], object]
_Answer = TypeVar("_Answer")
_TICK_MS = 1000
_WRITES = frozenset({"create", "replace", "touch", "delete"})


@dataclass(slots=True)
class Cue:
    """Before the first operation that fits, after `passes` others that do, `act` is done once."""

    fits: Callable[[str, str], bool]
    act: Act
    passes: int = 0
    is_done: bool = False


@dataclass(slots=True)
class StagedStorage:
    """The store as one process uses it: it writes down what that process does, acts on cues, and knows death.

    After a crash it does nothing for its process any more, whatever handlers still try: a heartbeat stays. While one of
    its threads acts on a cue the others go on without acting or, if `is_still_meanwhile`, wait: writers of these worlds
    take no lock, so that an act that finds it free must be over before anybody takes it.
    """

    inner: MemoryStorage
    cues: list[Cue] = field(default_factory=list)
    journal: list[tuple[str, str]] = field(default_factory=list)
    is_dead: bool = False
    is_asleep: bool = False
    is_still_meanwhile: bool = False
    _turn: threading.RLock = field(default_factory=threading.RLock)

    @property
    def location(self) -> str:
        return self.inner.location

    @property
    def writes(self) -> list[tuple[str, str]]:
        """What was changed: of operation and path each, in order."""
        return [each for each in self.journal if each[0] in _WRITES]

    def before(self, operation: str, text: str, act: Act, passes: int = 0) -> None:
        """Let `act` happen before the operation on a path that holds `text`."""
        self.cues.append(Cue(lambda name, path: name == operation and text in path, act, passes))

    def once(self, is_so: Callable[[], bool], act: Act) -> None:
        """Let `act` happen before the first operation after which, or before which, this is so."""
        self.cues.append(Cue(lambda *_: is_so(), act))

    def die(self) -> NoReturn:
        """For a cue: the process ends here."""
        self.is_dead = True
        raise Crash("killed by the test")

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """For a cue: meanwhile the process does nothing, and its heart does not beat."""
        self.is_asleep = True
        try:
            yield
        finally:
            self.is_asleep = False

    def read(self, path: str) -> bytes:
        return self._do("read", path, lambda: self.inner.read(path))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        return self._do("read", path, lambda: self.inner.read_range(path, start, length))

    def list(self, folder: str) -> tuple[FileStat, ...]:
        return self._do("list", folder, lambda: self.inner.list(folder))

    def create(self, path: str, data: bytes) -> None:
        self._do("create", path, lambda: self.inner.create(path, data))

    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None:
        self.create(path, b"".join(parts))

    def replace(self, path: str, data: bytes) -> None:
        self._do("replace", path, lambda: self.inner.replace(path, data))

    def touch(self, path: str) -> None:
        self._do("touch", path, lambda: self.inner.touch(path))

    def delete(self, path: str) -> None:
        self._do("delete", path, lambda: self.inner.delete(path))

    def _do(self, operation: str, path: str, run: Callable[[], _Answer]) -> _Answer:
        if self._turn.acquire(blocking=self.is_still_meanwhile):
            try:
                if not self.is_dead:
                    self._act(operation, path)
            finally:
                self._turn.release()
        if self.is_dead:  # it may have died while this thread waited for its turn
            raise Crash("dead already")
        self.journal.append((operation, path))
        try:
            return run()
        except Crash:
            self.is_dead = True
            raise

    def _act(self, operation: str, path: str) -> None:
        for cue in self.cues:
            if not cue.is_done and cue.fits(operation, path):
                if cue.passes:
                    cue.passes -= 1
                    continue
                cue.is_done = True
                cue.act()


@dataclass(slots=True)
class StagedLock:
    """The lock as one process uses it: before it is asked for once more, a cue that fits is acted upon."""

    inner: Lock
    cues: list[Cue]

    def acquire(self, wait_seconds: float) -> None:
        for cue in self.cues:
            if not cue.is_done and cue.fits("lock", ""):
                cue.is_done = True
                cue.act()
        self.inner.acquire(wait_seconds)

    def release(self) -> None:
        self.inner.release()

    def require_held(self) -> None:
        self.inner.require_held()


class Sleeper:
    """A process in a thread of its own that never runs beside another: it sleeps, or whoever woke it waits."""

    def __init__(self, run: Act) -> None:
        self._run = run
        self._is_woken = threading.Semaphore(0)
        self._is_done = threading.Semaphore(0)
        self._error: BaseException | None = None
        self._has_ended = False
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def wake(self) -> bool:
        """Let it go on until it sleeps again or ends; whether it sleeps. What it raises is raised here."""
        assert not self._has_ended, "it ended before, and nobody can wake it"
        self._is_woken.release()
        self._is_done.acquire()
        if self._error is not None:
            raise self._error
        return not self._has_ended

    def sleep(self) -> None:
        """For its own cues: nothing of it happens until it is woken."""
        self._is_done.release()
        self._is_woken.acquire()

    def _live(self) -> None:
        self._is_woken.acquire()
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 raised again in the thread of the test
            self._error = error
        finally:
            self._has_ended = True
            self._is_done.release()


class StagedClock(HandClock):
    """A hand clock on which others live on while somebody sleeps."""

    def __init__(self, now_ms: int = 0) -> None:
        super().__init__(now_ms)
        self._due: list[tuple[int, Act]] = []
        self._each_second: list[Act] = []
        self._is_acting = False

    def later(self, seconds: float, act: Act) -> None:
        """Let `act` happen when that much time has passed."""
        self._due.append((self.now_ms() + round(seconds * 1000), act))

    def each_second(self, act: Act) -> None:
        """Let `act` happen again and again as time passes, about once a second."""
        self._each_second.append(act)

    @contextmanager
    def beating(self, stage: StagedStorage, seconds: float, act: Act) -> Iterator[None]:
        """Let `act` happen every so many seconds while the block lasts and its process lives and is awake."""
        last_ms = self.now_ms()

        def beat() -> None:
            nonlocal last_ms
            if self.now_ms() - last_ms >= seconds * 1000 and not stage.is_dead and not stage.is_asleep:
                last_ms = self.now_ms()
                act()

        self._each_second.append(beat)
        try:
            yield
        finally:
            self._each_second.remove(beat)

    def sleep(self, seconds: float) -> None:
        end = self.now_ms() + round(seconds * 1000)
        while self.now_ms() < end:
            self.advance(min(_TICK_MS, end - self.now_ms()))

    def advance(self, milliseconds: int) -> None:
        super().advance(milliseconds)
        if self._is_acting:
            return  # what is due waits until whoever acts now is done
        self._is_acting = True
        try:
            for act in list(self._each_second):
                act()
        finally:
            self._is_acting = False
        self._act_if_due()

    def _act_if_due(self) -> None:
        for pair in sorted(self._due, key=lambda pair: pair[0]):
            if pair[0] <= self.now_ms() and pair in self._due:
                self._due.remove(pair)
                pair[1]()
