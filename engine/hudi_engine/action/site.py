"""What a verb works with, and the only way to change what others see: a transaction under the table's lock."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from hudi_engine.clock import Clock
from hudi_engine.compute.order import Compute
from hudi_engine.concurrency.heartbeat import Heartbeats
from hudi_engine.concurrency.instant_times import DEFAULT_SKEW_MS, SKEW_KEY, next_time
from hudi_engine.concurrency.lock import Lock
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.settings import whole_number
from hudi_engine.errors import NotFound
from hudi_engine.format.instant_names import Instant, InstantTime
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.index.zone_of_entries import zone_settled
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.table import Table, open_table
from hudi_engine.table.timeline import Timeline
from hudi_engine.watch import Watch

WAIT_KEY = "hoodie.write.lock.wait_time_ms"
_WAIT_MS = 60_000
_CACHE_BYTES = 64 << 20
_INSTANT_DIGITS = 17
_LOOKS = 4
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Site:
    """A table's files, and all that is uncertain: time, lock, liveness, identity, workers, and who looks on.

    `holds_ms` collects how long each transaction held the lock, `waits_ms` how long it waited for it, if in vain too.
    """

    storage: Storage
    clock: Clock
    conf: Mapping[str, str]
    lock: Lock
    heartbeats: Heartbeats
    owner: Owner
    compute: Compute
    watch: Watch
    cache: BlockCache = field(default_factory=lambda: BlockCache(_CACHE_BYTES))
    holds_ms: list[int] = field(default_factory=list)
    waits_ms: list[int] = field(default_factory=list)

    def table(self) -> Table:
        """The table as its properties are now; refused if its time zone is not certain."""
        table = zone_settled(open_table(self.storage, self.clock, self.conf), self.cache)
        table.require_certain_zone()
        return table

    def metadata(self) -> MetadataTable:
        """The table with its metadata table and one reading of both timelines."""
        return open_metadata_table(self.table(), self.cache)

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """The lock, with a fresh reading of everything."""
        with self.locked():
            yield Transaction(self, self.metadata())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The lock alone, for a table that may have no metadata table; it is let go at the end, whatever happens."""
        wait_seconds = whole_number(self.conf, WAIT_KEY, _WAIT_MS) / 1000
        asked_at = self.clock.now_ms()
        try:
            self.lock.acquire(wait_seconds)
        finally:
            self.waits_ms.append(max(0, self.clock.now_ms() - asked_at))
        held_from = self.clock.now_ms()
        try:
            yield
        finally:
            self.lock.release()
            self.holds_ms.append(self.clock.now_ms() - held_from)


@dataclass(frozen=True, slots=True)
class Transaction:
    """What was read after the lock was taken. Nobody who takes the same lock changes it while this lasts."""

    site: Site
    metadata: MetadataTable

    @property
    def table(self) -> Table:
        return self.metadata.data

    @property
    def data_timeline(self) -> Timeline:
        return self.metadata.data_timeline

    def require_held(self) -> None:
        """Ask last, right before the one write that matters: the session may have ended since the lock was taken."""
        self.site.lock.require_held()

    def next_time(self) -> InstantTime:
        """An instant time that nobody has used and that is above all that are known."""
        site = self.site
        skew_ms = whole_number(site.conf, SKEW_KEY, DEFAULT_SKEW_MS)
        return next_time(site.clock, skew_ms, self.table.zone, self.known_times())

    def known_times(self) -> frozenset[str]:
        """Every instant time on the two timelines, of requests and of completions."""
        instants = (*self.data_timeline.instants, *self.metadata.timeline.instants)
        return frozenset(time[:_INSTANT_DIGITS] for instant in instants for time in _times(instant))


def look_again(look: Callable[[], _Found]) -> _Found:
    """What a look finds: a few times anew if what it lists is archived, cleaned or restored away while it reads."""
    for _ in range(_LOOKS - 1):
        with suppress(NotFound):
            return look()
    return look()


def _times(instant: Instant) -> tuple[str, ...]:
    if instant.completed_at is None:
        return (instant.requested_at,)
    return (instant.requested_at, instant.completed_at)
