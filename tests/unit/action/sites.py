"""A place to work in around a store of a test, whose lock lets others act just before it is given."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir

from hudi_engine.action.site import Site
from hudi_engine.clock import HandClock
from hudi_engine.compute.local import LocalCompute
from hudi_engine.concurrency.heartbeat import Heartbeats, Lease, by_hand
from hudi_engine.concurrency.in_process import InProcessLock, InProcessLocks
from hudi_engine.concurrency.owner import Owner
from hudi_engine.storage.protocol import Storage
from hudi_engine.watch import Unwatched
from tests.unit.action.metadata_tables import LATER_MS

_OWNER = Owner("engine", "host", "1")


@dataclass(slots=True)
class OvertakenLock:
    """A lock that others had before: `acts` happen one by one, each just before the lock is given once more."""

    acts: list[Callable[[], None]] = field(default_factory=list)
    inner: InProcessLock = field(default_factory=lambda: InProcessLocks().of("memory:table", _OWNER))

    def acquire(self, wait_seconds: float) -> None:
        if self.acts:
            self.acts.pop(0)()
        self.inner.acquire(wait_seconds)

    def release(self) -> None:
        self.inner.release()

    def require_held(self) -> None:
        self.inner.require_held()


def site_of(storage: Storage, *acts: Callable[[], None]) -> Site:
    """A site on a clock that stands an hour after the table was copied."""
    clock = HandClock(LATER_MS)
    return Site(
        storage=storage,
        clock=clock,
        conf={},
        lock=OvertakenLock(list(acts)),
        heartbeats=Heartbeats(storage, clock, Lease(5_000, 4), by_hand),
        owner=_OWNER,
        compute=LocalCompute(1, 64 << 20, Path(gettempdir())),
        watch=Unwatched(),
    )
