"""A table's lock among the threads of this process, as Hudi's InProcessLockProvider is one within a JVM."""

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import Contradiction, LockLost, LockUnavailable


@dataclass(slots=True)
class _Queue:
    """Who holds and who waits for one table, in the order they came."""

    waiting: deque["InProcessLock"] = field(default_factory=deque)
    changed: threading.Condition = field(default_factory=threading.Condition)


class InProcessLock:
    """`Lock` of one base path, for this process only: first come, first served."""

    def __init__(self, queue: _Queue, location: str, owner: Owner) -> None:
        self._queue = queue
        self._location = location
        self._owner = owner

    def acquire(self, wait_seconds: float) -> None:
        waiting, changed = self._queue.waiting, self._queue.changed
        with changed:
            if self in waiting:
                raise Contradiction(f"{self._location}: {self._owner} holds or awaits this lock already")
            waiting.append(self)
            if not changed.wait_for(lambda: waiting[0] is self, wait_seconds):
                waiting.remove(self)
                raise LockUnavailable(
                    f"{self._location}: {waiting[0]._owner} held the lock of this process for all of the "
                    f"{wait_seconds:g} seconds that {self._owner} waited; try again later"
                )

    def release(self) -> None:
        with self._queue.changed:
            if self._queue.waiting and self._queue.waiting[0] is self:
                self._queue.waiting.popleft()
                self._queue.changed.notify_all()

    def require_held(self) -> None:
        with self._queue.changed:
            if not (self._queue.waiting and self._queue.waiting[0] is self):
                raise LockLost(f"{self._location}: {self._owner} does not hold the lock of this process")


class InProcessLocks:
    """The locks of tables by their locations. A process has one, `PROCESS`; a test makes its own."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}
        self._guard = threading.Lock()

    def of(self, location: str, owner: Owner) -> InProcessLock:
        with self._guard:
            return InProcessLock(self._queues.setdefault(location, _Queue()), location, owner)


PROCESS: Final = InProcessLocks()
"""What the threads of this process have in common, as it must be for them to exclude each other."""
