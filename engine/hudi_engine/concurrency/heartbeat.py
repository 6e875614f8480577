"""Heartbeats: empty files whose times say that whoever works on an instant still lives (hudi-format 7.6)."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from enum import StrEnum

from hudi_engine.clock import Clock
from hudi_engine.concurrency.settings import whole_number
from hudi_engine.errors import EngineError, LockLost, NotFound
from hudi_engine.storage.protocol import Storage

FOLDER = ".hoodie/.heartbeat"
INTERVAL_KEY = "hoodie.client.heartbeat.interval_in_ms"
MISSES_KEY = "hoodie.client.heartbeat.tolerable.misses"

_LONGEST_STOP_SECONDS = 5.0
_FAILURES = (EngineError, OSError)
"""Of a store: what it says, and what the system says of it, such as too many open files."""

Pace = Callable[[float, Callable[[], None]], AbstractContextManager[None]]
"""Has a function called every so many seconds until the block ends."""


class Pulse(StrEnum):
    """What a heartbeat file says. Only SILENT is evidence of death, and none without a timeline read afterwards."""

    LIVE = "it beat within its lease"
    SILENT = "its last beat is older than its lease"
    UNKNOWN = "no file, a time that lies ahead, or a store that does not answer"


@dataclass(frozen=True, slots=True)
class Lease:
    """How often a heart beats, and how many intervals may pass without a beat before others take over."""

    interval_ms: int
    misses: int

    @property
    def lasts_ms(self) -> int:
        return self.interval_ms * self.misses


def own_lease(conf: Mapping[str, str]) -> Lease:
    """The lease of what this engine itself works on: by Hudi's properties, else 5 seconds and 4 misses."""
    return _lease(conf, Lease(5_000, 4))


def writers_lease(conf: Mapping[str, str]) -> Lease:
    """The lease by which Hudi's own writers are judged: by their properties, else by their defaults."""
    return _lease(conf, Lease(60_000, 2))


@contextmanager
def in_thread(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """A `Pace` that keeps to real time, whatever the block does."""
    has_ended = threading.Event()

    def repeat() -> None:
        while not has_ended.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join(_LONGEST_STOP_SECONDS)  # a call that hangs in the store is left behind


def by_hand(seconds: float, action: Callable[[], None]) -> AbstractContextManager[None]:
    """A `Pace` for clocks moved by hand: nothing beats but `Liveness.require_alive`, whenever it is asked."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """The hearts of one table, judged and beaten by one lease."""

    storage: Storage
    clock: Clock
    lease: Lease
    pace: Pace = in_thread

    def is_live(self, instant: str) -> bool:
        """Whether somebody works on this instant. A time that lies ahead counts: a clock is wrong, nobody is dead.

        Errors of the store are the caller's: without its answer nobody may be declared dead or alive.
        """
        age_ms = self.age_ms(instant)
        return age_ms is not None and age_ms <= self.lease.lasts_ms

    def age_ms(self, instant: str) -> int | None:
        """How long ago this instant's last beat was, by the store's time and ours; None without a file."""
        path = _path(instant)
        modified_ms = next((file.modified_ms for file in self.storage.list(FOLDER) if file.path == path), None)
        return None if modified_ms is None else self.clock.now_ms() - modified_ms

    def pulse(self, instant: str) -> Pulse:
        """What is certain about this instant's writer. On UNKNOWN read the timeline again, a lease later."""
        try:
            age_ms = self.age_ms(instant)
        except EngineError:
            return Pulse.UNKNOWN
        if age_ms is None or age_ms < -self.lease.lasts_ms:
            return Pulse.UNKNOWN
        return Pulse.LIVE if age_ms <= self.lease.lasts_ms else Pulse.SILENT

    @contextmanager
    def beating(self, instant: str) -> Iterator["Liveness"]:
        """Beats for this instant until the block ends, then removes the file, unless it may be another's by then.

        The first beat is there when the block begins, or the store's error is raised.
        """
        liveness = Liveness(self, instant)
        liveness.begin()
        try:
            with self.pace(self.lease.interval_ms / 1000, liveness.beat):
                yield liveness
        finally:
            liveness.stop()

    def write(self, instant: str) -> None:
        """The first beat. It is on the disk when this returns: whoever comes next looks for it."""
        self.storage.replace(_path(instant), b"")

    def renew(self, instant: str) -> None:
        """A further beat, which a power cut may undo, since it ends whoever beats as well.

        To flush each one took seconds on a busy disk, and so much of the lease.
        """
        try:
            self.storage.touch(_path(instant))
        except NotFound:  # somebody removed the file of a live runner
            self.write(instant)

    def remove(self, instant: str) -> None:
        self.storage.delete(_path(instant))


class Liveness:
    """One heart. Any thread may ask whether it is alive."""

    def __init__(self, heartbeats: Heartbeats, instant: str) -> None:
        self._heartbeats = heartbeats
        self._instant = instant
        self._writing = threading.Lock()
        self._last_ms = heartbeats.clock.now_ms()
        self._is_lost = False
        self._has_stopped = False
        self._failure: EngineError | OSError | None = None

    def require_alive(self) -> None:
        """Returns if no lease has passed without a beat, ever; else `LockLost`: others may have taken over by now."""
        if self._silence_ms() >= self._heartbeats.lease.interval_ms:
            self.beat()
        if self._notice_loss():
            raise self._lost()

    def begin(self) -> None:
        self._heartbeats.write(self._instant)

    def beat(self) -> None:
        """One beat, unless one is under way. A store that fails is asked again next time: only the lease counts."""
        if not self._writing.acquire(blocking=False):
            return
        try:
            self._beat()
            self._failure = None
        except _FAILURES as failure:  # anything that got out would end the thread, and with it the beating, for good
            self._failure = failure
        finally:
            self._writing.release()

    def stop(self) -> None:
        self._has_stopped = True
        if not self._notice_loss():
            # A file that stays because the store fails now falls silent by itself, and must not hide why we end.
            with suppress(*_FAILURES):
                self._heartbeats.remove(self._instant)

    def _beat(self) -> None:
        if self._has_stopped or self._notice_loss():
            return  # a beat could be taken for that of whoever took over
        began_ms = self._heartbeats.clock.now_ms()
        self._heartbeats.renew(self._instant)
        # Seen from outside the last beat was when it began, at the earliest, and this one now, at the latest.
        self._notice_loss()
        self._last_ms = began_ms
        if self._has_stopped and not self._is_lost:
            self._heartbeats.remove(self._instant)

    def _notice_loss(self) -> bool:
        self._is_lost = self._is_lost or self._silence_ms() > self._heartbeats.lease.lasts_ms
        return self._is_lost

    def _silence_ms(self) -> int:
        return self._heartbeats.clock.now_ms() - self._last_ms

    def _lost(self) -> LockLost:
        why = f" The store said: {self._failure}." if self._failure else ""
        return LockLost(
            f"{self._heartbeats.storage.location}: the heartbeat of {self._instant} was not renewed for its whole "
            f"lease of {self._heartbeats.lease.lasts_ms} ms, so another runner may have taken over.{why} Nothing was "
            f"published since; run the same request again. If it happens often, raise {INTERVAL_KEY} or {MISSES_KEY}."
        )


def _path(instant: str) -> str:
    return f"{FOLDER}/{instant}"


def _lease(conf: Mapping[str, str], default: Lease) -> Lease:
    return Lease(
        whole_number(conf, INTERVAL_KEY, default.interval_ms, least=1_000),
        whole_number(conf, MISSES_KEY, default.misses, least=1),
    )
