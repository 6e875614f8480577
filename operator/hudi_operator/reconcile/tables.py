"""Looks at every table in its interval, and more often while a run is at work on it."""

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from zlib import crc32

from hudi_engine.contract import MAX_SENTENCE, ObserveRequest, TableSeen, TableUnseen, UnseenReason
from hudi_operator.metrics.counts import Counts
from hudi_operator.observe import Observer, ObserverPair
from hudi_operator.orders import conf_of, secrets_of
from hudi_operator.policy import Policy
from hudi_operator.reconcile.home import Home, HomeError
from hudi_operator.reconcile.store import Store
from hudi_operator.resources.model import HudiTable, Ref

log = logging.getLogger(__name__)

# While a run is live its progress is looked at so often; so many tables are looked at at the same time.
BUSY_SECONDS, LOOKS = 2.0, 4
# At the start looks begin one after the other in such steps.
_STEP_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Sight:
    """What looking at tables needs, and who is told: `changed` of each table that is not as before."""

    home: Home
    observer: Observer | ObserverPair
    counts: Counts
    now: Callable[[], datetime]
    changed: Callable[[Ref], None]
    policy: Policy | None = None


@dataclass(slots=True)
class TableWatch:
    store: Store
    sight: Sight
    _due: dict[Ref, float] = field(default_factory=dict)
    _hurried: dict[Ref, float] = field(default_factory=dict)
    _looking: set[Ref] = field(default_factory=set)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def hurry(self, table: Ref, in_seconds: float = 0.0) -> None:
        """Have the table looked at then, and tell of it whatever it shows."""
        self._hurried[table] = self._due[table] = asyncio.get_running_loop().time() + in_seconds
        self._news.set()

    async def run(self) -> None:
        """Until cancelled."""
        places = asyncio.Semaphore(LOOKS)
        async with asyncio.TaskGroup() as looks:
            while True:
                self._news.clear()
                for table in self._take_due():
                    looks.create_task(self._look(table, places))
                await self._wait()

    def _take_due(self) -> list[HudiTable]:
        now = asyncio.get_running_loop().time()
        tables = {table.meta.ref: table for table in self.store.tables()}
        self._due = {ref: at for ref, at in self._due.items() if ref in tables}
        self._hurried = {ref: at for ref, at in self._hurried.items() if ref in tables}
        for ref, table in tables.items():
            self._due.setdefault(ref, now + _offset(ref, len(tables), table.observe_interval_seconds))
        live = self.store.live_tables()
        taken = []
        for ref, at in self._due.items():
            busy_at = at - tables[ref].observe_interval_seconds + BUSY_SECONDS if ref in live else at
            if min(at, busy_at) <= now and ref not in self._looking:
                taken.append(tables[ref])
                self._looking.add(ref)
        return taken

    async def _wait(self) -> None:
        # A second is short against every interval, and so no clock is kept for each table.
        try:
            async with asyncio.timeout(1.0):
                await self._news.wait()
        except TimeoutError:
            return

    async def _look(self, table: HudiTable, places: asyncio.Semaphore) -> None:
        ref = table.meta.ref
        clock = asyncio.get_running_loop().time
        is_told = self._hurried.get(ref, math.inf) <= clock()
        if is_told:
            del self._hurried[ref]
        try:
            async with places:
                seen = await self._seen(table)
            now = self.store.table(ref)
            if now is None or now.base_path != table.base_path:
                return
            before = self.store.seen.get(ref)
            self.store.note_seen(ref, seen)
            self.sight.counts.saw_table(ref, seen)
            if is_told or before is None or _shown(before) != _shown(seen):
                self.sight.changed(ref)
        except Exception:  # one table's bad luck must not end the looks at all the others
            log.exception("not looked at table=%s/%s", ref.namespace, ref.name)
        finally:
            self._looking.discard(ref)
            if ref not in self._hurried:
                self._due[ref] = clock() + table.observe_interval_seconds

    async def _seen(self, table: HudiTable) -> TableSeen | TableUnseen:
        ref, before, policy = table.meta.ref, self.store.seen.get(table.meta.ref), self.sight.policy
        grant = None if policy is None else policy.grant(ref.namespace, table.base_path)
        if policy is not None and grant is None:
            why = policy.why_closed(ref.namespace, table.base_path)
            return _unseen(UnseenReason.NOT_ALLOWED, why, self.sight.now(), retry=False)
        try:
            folders = await self.sight.home.secret_folder(ref.namespace, secrets_of(table))
        except HomeError as missing:
            return _unseen(UnseenReason.STORAGE_UNAVAILABLE, str(missing), self.sight.now(), retry=True)
        return await self.sight.observer.look(
            ObserveRequest(
                id=0,
                table=table.base_path,
                conf=conf_of(table),
                conf_from=tuple(str(folder) for folder in folders),
                known=before.fingerprint if isinstance(before, TableSeen) else None,
                grant=grant,
            )
        )


def _unseen(reason: UnseenReason, message: str, now: datetime, *, retry: bool) -> TableUnseen:
    return TableUnseen(reason, message[:MAX_SENTENCE], retry, int(now.timestamp() * 1000))


def _shown(seen: TableSeen | TableUnseen) -> tuple[object, ...]:
    """What a decision may turn on: not the time of the look, nor ages that grow by themselves."""
    if isinstance(seen, TableUnseen):
        return seen.reason, seen.message
    indexes = tuple((index.name, index.state, index.phase, index.is_live) for index in seen.indexes)
    pending = tuple((pending.instant, pending.state, pending.is_live) for pending in seen.timeline.pending)
    return seen.fingerprint, indexes, pending


def _offset(ref: Ref, tables: int, interval_seconds: int) -> float:
    """When the first look is due: spread by name, the same at every start."""
    share = crc32(f"{ref.namespace}/{ref.name}".encode()) / 2**32
    return share * min(interval_seconds, _STEP_SECONDS * (tables - 1))
