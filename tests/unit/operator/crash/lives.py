"""Operators that work on a ground, one after the other or two at once, until what is wished for is there."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hudi_engine.contract import Action
from hudi_operator.decision import Defaults
from hudi_operator.reconcile.home import HomeError
from hudi_operator.reconcile.reconciler import Reconciler, Surroundings
from hudi_operator.reconcile.store import Store
from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    DeletionPolicy,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    Ref,
    ServiceType,
    TableService,
)
from hudi_operator.words import Kind
from tests.unit.operator.crash.ground import START, Fate, Ground, Killed, MemoryHome, MemoryLauncher

ORDERS = Ref(Kind.TABLE, "shop", "orders")
RECORDS = Ref(Kind.INDEX, "shop", "records")
CHECK = Ref(Kind.SERVICE, "shop", "check")
EXPECTED: Mapping[tuple[Ref, Action], int] = {
    (RECORDS, Action.BUILD): 1,
    (CHECK, Action.VALIDATE): 1,
    (RECORDS, Action.DROP): 1,
}
STATS, BLOOMS = Ref(Kind.INDEX, "shop", "stats"), Ref(Kind.INDEX, "shop", "blooms")
# A scenario takes about fifty rounds of a second; what has not arrived by then never will.
_MOST_ROUNDS = 400


def ground() -> Ground:
    """A table, an index that is to be dropped with its resource, and a validation that somebody asked for."""
    made = Ground()
    single = Concurrency(ConcurrencyMode.SINGLE_WRITER)
    made.put(HudiTable(Meta(ORDERS, "uid-1", created_at=START), "/lake/orders", None, single))
    drop = DeletionPolicy.DROP
    made.put(
        MetadataIndex(Meta(RECORDS, "uid-2", created_at=START), "orders", IndexType.RECORD_INDEX, deletion_policy=drop)
    )
    made.put(TableService(Meta(CHECK, "uid-3", created_at=START), "orders", ServiceType.VALIDATE, run_token="once"))
    return made


def ground_of_three(failures: int = 0) -> Ground:
    """A table and three indexes of it; so many runs fail before others do what they are for."""
    made = Ground(failures=failures)
    single = Concurrency(ConcurrencyMode.SINGLE_WRITER)
    made.put(HudiTable(Meta(ORDERS, "uid-1", created_at=START), "/lake/orders", None, single))
    made.put(MetadataIndex(Meta(RECORDS, "uid-2", created_at=START), "orders", IndexType.RECORD_INDEX))
    later = START + timedelta(seconds=1)
    made.put(MetadataIndex(Meta(STATS, "uid-4", created_at=later), "orders", IndexType.COLUMN_STATS))
    made.put(MetadataIndex(Meta(BLOOMS, "uid-5", created_at=later), "orders", IndexType.BLOOM_FILTERS))
    made.pass_time(2.0)
    return made


@dataclass(slots=True)
class Life:
    """An operator from its start to its death."""

    ground: Ground
    fate: Fate
    store: Store = field(default_factory=Store)
    reconciler: Reconciler = field(init=False)
    due: dict[Ref, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ground, fate = self.ground, self.fate
        around = Surroundings(MemoryHome(ground, fate), MemoryLauncher(ground, fate), lambda: ground.now, Defaults())
        self.reconciler = Reconciler(self.store, around)

    def see(self) -> None:
        """All that there is, as listings and watches would tell."""
        for resource, status in self.ground.resources.values():
            self.store.put(resource, status)
        for ref in set(self.store.resources) - set(self.ground.resources):
            self.store.remove(ref)
        self.store.replace_runs(tuple(self.ground.runs.values()), self.ground.now)
        self.store.note_seen(ORDERS, self.ground.seen())

    async def round(self) -> None:
        for ref in (ORDERS, RECORDS, STATS, BLOOMS, CHECK):
            self.see()
            try:
                await self.reconciler.reconcile(ref)
            except HomeError:
                continue  # the loop comes back to it


async def lived(ground: Ground, fates: list[Fate], at_once: int = 1) -> int:
    """Operators with these fates, the next one when one dies, then as many more as are needed; how many there were.

    It is over when all is ready, and the index that is to be dropped then has been.
    """
    waiting = iter([*fates, *(Fate() for _ in range(at_once))])
    lives = [Life(ground, next(waiting)) for _ in range(at_once)]
    count = len(lives)
    for _ in range(_MOST_ROUNDS):
        for number, died in enumerate(await asyncio.gather(*(_has_died(life) for life in lives))):
            if died:
                lives[number] = Life(ground, next(waiting, Fate()))
                count += 1
        if _go_on(ground):
            return count
        ground.pass_time(1.0)
    raise AssertionError(f"not at rest after {_MOST_ROUNDS} rounds: {ground}")


async def _has_died(life: Life) -> bool:
    try:
        await life.round()
    except Killed:
        return True
    return False


def _go_on(ground: Ground) -> bool:
    """Once all is ready the index is deleted; whether that is over, too."""
    found = ground.resources.get(RECORDS)
    if CHECK not in ground.resources:
        is_idle = not any(run.is_live for run in ground.runs.values())
        return is_idle and all(_holds(ground, ref, "Ready") for ref in ground.resources)
    if found is None:
        return not any(run.is_live for run in ground.runs.values()) and _holds(ground, ORDERS, "Ready")
    is_built = _holds(ground, RECORDS, "Ready") and _holds(ground, CHECK, "LastRunSucceeded")
    if is_built and found[0].meta.deleting_since is None:
        ground.delete(RECORDS)
    return False


def _holds(ground: Ground, ref: Ref, condition: str) -> bool:
    status: Any = ground.resources[ref][1]
    return any(each["type"] == condition and each["status"] == "True" for each in status.get("conditions", ()))


def play(
    fates: Callable[[], list[Fate]], at_once: int = 1, begin: Callable[[], Ground] = ground
) -> tuple[Ground, list[Fate], int]:
    made, given = begin(), fates()
    return made, given, asyncio.run(lived(made, given, at_once))
