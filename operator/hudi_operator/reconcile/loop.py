"""All that goes on for as long as the operator runs: workers, listings of runs, looks at tables, the full pass."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from hudi_operator.metrics.counts import Counts, Reconciled
from hudi_operator.observe import Observer, ObserverPair
from hudi_operator.reconcile.home import HomeError
from hudi_operator.reconcile.queue import Queue, Schedule
from hudi_operator.reconcile.reconciler import Reconciler
from hudi_operator.reconcile.store import Store
from hudi_operator.reconcile.tables import BUSY_SECONDS, Sight, TableWatch
from hudi_operator.resources.model import Ref
from hudi_operator.resources.unreadable import Stored, Unreadable
from hudi_operator.runs import RunSeen
from hudi_operator.words import Kind

log = logging.getLogger(__name__)

WORKERS = 4
# A reconciliation writes a few things; one that takes longer waits for an answer that will not come.
_STUCK_SECONDS = 120.0
# After an error, doubled at every further one in a row.
_BACK_OFF_SECONDS, _MAX_BACK_OFF_SECONDS = 1.0, 300.0
# After a run's end a table is looked at so much later: what is seen then is sure to be from after it.
_SETTLED_SECONDS = 1.1
# Progress is shown so often; ends are at once.
_PROGRESS_SECONDS = 4.0
# Runs are listed so often without news of them.
_IDLE_SECONDS = 30.0


@dataclass(slots=True)
class Loop:
    """Tell it what changed, and `run` it until it is cancelled.

    `fill` the store first: nothing is begun by what has not been seen whole.
    """

    reconciler: Reconciler
    observer: Observer | ObserverPair
    counts: Counts
    tables: TableWatch = field(init=False)
    queue: Queue = field(init=False)
    _failures: Counter[Ref] = field(default_factory=Counter)
    _runs_changed: asyncio.Event = field(default_factory=asyncio.Event)
    _at_work: dict[Ref, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        around = self.reconciler.around
        self.tables = TableWatch(
            self.store,
            Sight(around.home, self.observer, self.counts, around.now, self.table_changed, around.defaults.policy),
        )
        self.queue = Queue(Schedule(self.store.exclusion_key))

    @property
    def store(self) -> Store:
        return self.reconciler.store

    # What there is to be told.

    def put(self, resource: Stored, status: Mapping[str, object]) -> None:
        """A resource was seen as it is now; what has not changed costs nothing."""
        if isinstance(resource, Unreadable):
            self._put_unreadable(resource, status)
            return
        before = self.store.resources.get(resource.meta.ref)
        is_new = before is None or before.resource.meta.uid != resource.meta.uid
        if not self.store.put(resource, status):
            return
        if is_new:
            self.counts.prepare(resource)
        ref = resource.meta.ref
        self._add_all(self.store.related(ref))
        if ref.kind is Kind.TABLE and is_new:
            self.tables.hurry(ref)

    def _put_unreadable(self, found: Unreadable, status: Mapping[str, object]) -> None:
        related = self.store.related(found.meta.ref)
        if self.store.put_unreadable(found, status):
            self._add_all({*related, found.meta.ref})

    def removed(self, ref: Ref) -> None:
        """A resource is gone."""
        related = self.store.related(ref)
        self.store.remove(ref)
        self.queue.schedule.forget(ref)
        self._add_all(related - {ref})
        if self.store.leftovers(ref):
            self.queue.add(ref)

    def table_changed(self, table: Ref) -> None:
        self._add_all(self.store.of_table(table) | self.store.related(table))

    def runs_changed(self) -> None:
        """Runs are listed soon."""
        self._runs_changed.set()

    def oldest_work_seconds(self) -> float:
        """How long the reconciliation that was begun first is at work."""
        now = asyncio.get_running_loop().time()
        return max((now - began for began in self._at_work.values()), default=0.0)

    # What goes on.

    async def fill(self, resources: Iterable[tuple[Stored, Mapping[str, object]]]) -> None:
        """The first listing: all resources, and all runs."""
        for resource, status in resources:
            if isinstance(resource, Unreadable):
                self.store.put_unreadable(resource, status)
                continue
            self.store.put(resource, status)
            self.counts.prepare(resource)
        await self._list_runs()
        self._add_all({*self.store.resources, *self.store.unreadable})

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WORKERS):
                tasks.create_task(self._work())
            tasks.create_task(self._watch_runs())
            tasks.create_task(self.tables.run())

    async def _work(self) -> None:
        while True:
            ref, waited = await self.queue.take()
            self.counts.waited(ref.kind, waited)
            try:
                again = await self._reconciled(ref)
            finally:
                self.queue.done(ref)
            if again is not None:
                self.queue.add(ref, again)

    async def _reconciled(self, ref: Ref) -> float | None:
        clock = asyncio.get_running_loop().time
        began = self._at_work[ref] = clock()
        result = Reconciled.ERROR
        try:
            async with asyncio.timeout(_STUCK_SECONDS):
                again = await self.reconciler.reconcile(ref)
            if again == 0:
                # An act was done, perhaps one that began a run, and nobody else tells of what processes do.
                self._runs_changed.set()
            result = Reconciled.REQUEUE if again == 0 else Reconciled.SUCCESS
            self._failures.pop(ref, None)
            return again if again is None or again == 0 else _jittered(ref, again)
        except (HomeError, TimeoutError) as failed:
            log.warning("reconcile failed resource=%s error=%s", _named(ref), failed or type(failed).__name__)
        except Exception:  # one resource's bad luck, or a bug that it meets, must not end the work on all the others
            log.exception("reconcile failed resource=%s", _named(ref))
        finally:
            del self._at_work[ref]
            self.counts.reconciled(ref.kind, result, clock() - began, self.reconciler.around.now())
        self._failures[ref] += 1
        return min(_BACK_OFF_SECONDS * 2.0 ** (self._failures[ref] - 1), _MAX_BACK_OFF_SECONDS)

    async def _watch_runs(self) -> None:
        while True:
            self._runs_changed.clear()
            try:
                await self._list_runs()
            except (HomeError, OSError, TimeoutError) as failed:
                log.warning("runs not listed error=%s", failed or type(failed).__name__)
            except Exception:  # a record that nobody can read must not hide all the others for good
                log.exception("runs not listed")
            live = self.store.live_tables()
            await asyncio.sleep(BUSY_SECONDS if live else 1.0)
            try:
                async with asyncio.timeout(0 if live else _IDLE_SECONDS):
                    await self._runs_changed.wait()
            except TimeoutError:
                continue

    async def _list_runs(self) -> None:
        listed_at = self.reconciler.around.now()
        runs = await self.reconciler.around.launcher.runs()
        live = self.store.live_tables()
        for table in self.store.replace_runs(runs, listed_at):
            self.table_changed(table)
        for owner in {run.owner for run in runs if run.is_live}:
            self.queue.add(owner, _PROGRESS_SECONDS)
        self._add_all(ref for ref in {run.owner for run in self.store.runs.values()} if self.store.meta(ref) is None)
        for table in live - self.store.live_tables():
            self.tables.hurry(table, _SETTLED_SECONDS)
        by_owner: dict[tuple[str, str], list[RunSeen]] = defaultdict(list)
        for run in runs:
            by_owner[run.owner.namespace, run.owner_uid].append(run)
        for held in self.store.resources.values():
            meta = held.resource.meta
            self.counts.saw_runs(held.resource, by_owner[meta.ref.namespace, meta.uid])
        now = asyncio.get_running_loop().time()
        self.counts.queue_is(Counter(ref.kind for ref in self.queue.schedule.waiting(now)))
        self.queue.schedule.tidy(now)

    def _add_all(self, refs: Iterable[Ref]) -> None:
        for ref in refs:
            self.queue.add(ref)


def _jittered(ref: Ref, seconds: float) -> float:
    """Up to a tenth later, by name: what was begun at once does not stay together."""
    return seconds * (1 + crc32(f"{ref.kind}/{ref.namespace}/{ref.name}".encode()) / 2**32 / 10)


def _named(ref: Ref) -> str:
    return f"{ref.kind}/{ref.namespace}/{ref.name}"
