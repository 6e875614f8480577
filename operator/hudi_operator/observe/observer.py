"""Asks what tables look like, of a process that is started anew whenever it dies, hangs or grows."""

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hudi_engine.contract import MAX_SENTENCE, Grant, ObserveRequest, TableSeen, TableUnseen, UnseenReason
from hudi_operator.observe.connection import Connection, Gone

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "hudi_engine.cli.main", "observe")


@dataclass(frozen=True, slots=True)
class Limits:
    """A question is answered in time or the process is killed; so much memory may it take, so long are its pauses."""

    answer_seconds: float = 60.0
    memory_bytes: int = 512 << 20
    first_pause_seconds: float = 1.0
    longest_pause_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class _Subject:
    """A look at one table with the same properties: what was seen of it is of use to the next."""

    table: str
    conf: tuple[tuple[str, str], ...]
    conf_from: tuple[str, ...]
    grant: Grant | None

    @staticmethod
    def of(request: ObserveRequest) -> "_Subject":
        return _Subject(request.table, tuple(sorted(request.conf.items())), request.conf_from, request.grant)


@dataclass(frozen=True, slots=True)
class _Pause:
    """After failures in a row: until when nothing is tried, by the monotonic clock, and what is said meanwhile."""

    failures: int
    until: float
    unseen: TableUnseen

    @property
    def left_seconds(self) -> float:
        return max(self.until - time.monotonic(), 0.0)


@dataclass(slots=True)
class Observer:
    """`look` always answers, with a `TableUnseen` that may be retried where the process failed; it never raises.

    The process answers one question after the other, and is given one at a time: whom it fails is who it failed over.
    It is killed and started anew; the table that it hung or died over has to pause, longer each time, and the others
    have not. So has a table whose store is silent for now; and tables that failed so are given half of the time at
    most, for the others wait while a store is silent. If a process dies before its first answer, starting one pauses,
    too. What was seen is kept by table, so that an unchanged table costs the process a listing and us nothing. Number
    and `known` of a request are set here. Without an `environment` the process has ours.
    """

    limits: Limits = Limits()
    command: tuple[str, ...] = COMMAND
    clock: Callable[[], float] = time.time
    environment: Mapping[str, str] | None = None
    _seen: dict[_Subject, TableSeen] = field(default_factory=dict)
    _pauses: dict[_Subject, _Pause] = field(default_factory=dict)
    _start_pause: _Pause | None = None
    _patient_until: float = 0.0
    _connection: Connection | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _asked: int = 0

    async def look(self, request: ObserveRequest) -> TableSeen | TableUnseen:
        subject = _Subject.of(request)
        async with self._turn:
            pause = self._pauses.get(subject) or self._start_pause
            began = time.monotonic()
            if pause is not None and (pause.left_seconds or began < self._patient_until):
                return replace(pause.unseen, observed_ms=self._now_ms())
            try:
                connection = await self._connected()
                found = await self._answer(connection, request, subject)
            except _Failed as failed:
                return self._paused(subject, failed)
            self._note(subject, found, began)
            self._start_pause = None
            await self._watch_memory(connection)
            return found

    def forget(self, table: str) -> None:
        """What was seen of the table is needed no more."""
        self._seen = {subject: seen for subject, seen in self._seen.items() if subject.table != table}
        self._pauses = {subject: pause for subject, pause in self._pauses.items() if subject.table != table}

    @property
    def resident_bytes(self) -> int:
        """The process's memory; 0 while there is none."""
        return 0 if self._connection is None or self._connection.is_over else self._connection.resident_bytes

    async def close(self) -> None:
        """The process has ended."""
        async with self._turn:
            await self._close()

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connected(self) -> Connection:
        """The living process, started if need be."""
        if self._connection is not None and not self._connection.is_over:
            return self._connection
        await self._close()
        try:
            self._connection = await Connection.opened(self.command, self.environment)
        except OSError as refused:
            told = f"the observer cannot be started: {self.command[0]}: {refused.strerror}"
            raise _Failed(UnseenReason.INTERNAL, told) from refused
        return self._connection

    async def _answer(
        self, connection: Connection, request: ObserveRequest, subject: _Subject
    ) -> TableSeen | TableUnseen:
        known = self._seen.get(subject)
        self._asked += 1
        question = replace(request, id=self._asked, known=known.fingerprint if known else None)
        try:
            async with asyncio.timeout(self.limits.answer_seconds):
                found = (await connection.ask(question)).found
        except TimeoutError as late:
            await connection.kill()
            told = f"no answer about {request.table} within {self.limits.answer_seconds:g} s"
            raise _Failed(UnseenReason.TIMED_OUT, told) from late
        except Gone as gone:
            await connection.kill()
            raise _Failed(UnseenReason.INTERNAL, f"the observer ended over {request.table}: {gone}") from gone
        if found is None:
            # Of what was not asked with a fingerprint nothing can be called unchanged.
            if known is None:
                return TableUnseen(UnseenReason.INTERNAL, "called unchanged, but never seen", True, self._now_ms())
            found = replace(known, observed_ms=self._now_ms())
        if isinstance(found, TableSeen):
            self._seen[subject] = found
        return found

    async def _watch_memory(self, connection: Connection) -> None:
        """A process that has grown is ended between two questions; the next one starts another."""
        resident = connection.resident_bytes
        if resident > self.limits.memory_bytes:
            log.warning("observer restarted: memory_bytes=%d limit=%d", resident, self.limits.memory_bytes)
            await self._close()

    def _note(self, subject: _Subject, found: TableSeen | TableUnseen, began: float) -> None:
        if isinstance(found, TableSeen) or not found.retry:
            self._pauses.pop(subject, None)
            return
        self._pauses[subject] = self._longer(self._pauses.get(subject), found)
        now = time.monotonic()
        self._patient_until = now + (now - began)

    def _paused(self, subject: _Subject, failed: "_Failed") -> TableUnseen:
        connection, self._connection = self._connection, None
        unseen = TableUnseen(failed.reason, str(failed)[:MAX_SENTENCE], retry=True, observed_ms=self._now_ms())
        self._pauses[subject] = self._longer(self._pauses.get(subject), unseen)
        if connection is None or not connection.has_answered:
            self._start_pause = self._longer(self._start_pause, unseen)
        log.warning("observer failed: pause_seconds=%.0f: %s", self._pauses[subject].left_seconds, failed)
        return unseen

    def _longer(self, before: _Pause | None, unseen: TableUnseen) -> _Pause:
        failures = before.failures if before else 0
        seconds = min(self.limits.first_pause_seconds * 2 ** min(failures, 16), self.limits.longest_pause_seconds)
        return _Pause(failures + 1, time.monotonic() + seconds, unseen)

    def _now_ms(self) -> int:
        return int(self.clock() * 1000)


class _Failed(Exception):
    """The process did not answer."""

    def __init__(self, reason: UnseenReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
