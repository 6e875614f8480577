"""The loop closed: decisions carried out in a small world of runs that end as they like, with restarts in between.

Time is moved by hand. Whatever happens in the beginning, nothing goes wrong any more after a while: then an index gets
ready or says that it is stalled, and one change by hand makes it ready.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

import pytest

from hudi_engine.contract import Action, IndexSeen, IndexState, JobReport, KindReport, Outcome, PendingSeen, TableSeen
from hudi_operator.decide import decide
from hudi_operator.decision import Decision, Forget, RemoveAnnotation, SetFinalizer, Start, Stop, World
from hudi_operator.names import Annotation
from hudi_operator.resources.model import (
    Approval,
    DeletionPolicy,
    Guard,
    HudiTable,
    IndexType,
    MetadataIndex,
    Ref,
    Resource,
)
from hudi_operator.runs import RunOrder, RunPhase, RunSeen
from hudi_operator.status import status_of
from hudi_operator.status.past import past_of
from hudi_operator.words import Condition
from tests.kit.soak import is_soak, new_seeds
from tests.unit.operator.decide.worlds import (
    NAME,
    NOW,
    a_service,
    a_table,
    an_index,
    built_before,
    failed,
    found,
    report,
    seen,
)

STEPS, WILD_STEPS = 1_200, 60
HASH = "abcdef0123"
DAMAGED = (NAME, "column_stats", "secondary_index_by_customer")
CODES = (13, 13, 13, 14, 16, 18, 21, 22, 22, 22, 23, 24, 25, 70, 137, 143, 143)


@dataclass(slots=True)
class Small:
    """A table, its resources, their runs, and what stands in their statuses."""

    chance: Random
    table: HudiTable
    resources: dict[Ref, Resource]
    now: datetime = NOW
    state: dict[str, IndexState] = field(default_factory=dict)
    beats: dict[str, datetime] = field(default_factory=dict)
    runs: dict[str, RunSeen] = field(default_factory=dict)
    orders: dict[str, RunOrder] = field(default_factory=dict)
    statuses: dict[Ref, dict[str, object]] = field(default_factory=dict)
    looked: TableSeen | None = None
    counts: Counter[str] = field(default_factory=Counter)
    plans: dict[str, str] = field(default_factory=dict)
    bad: str = ""
    bad_code: int = 0

    def look(self) -> TableSeen:
        indexes, pending = [], []
        for run in self.runs.values():
            if run.phase is RunPhase.RUNNING and run.action is Action.BUILD:
                self.beats |= dict.fromkeys(self.covered(self.orders[run.name]), self.now)
        for name, state in sorted(self.state.items()):
            age = (self.now - self.beats[name]).total_seconds() if name in self.beats else None
            is_pending = state is IndexState.IN_FLIGHT
            plan = self.plans[name] if is_pending else None
            reason = "built by the plan 20260504115000000" if state is IndexState.DELETED else ""
            is_live = is_pending and age is not None and age <= 20
            indexes.append(
                IndexSeen(name, state, reason, plan, heartbeat_age_seconds=age if is_pending else None, is_live=is_live)
            )
            if plan is not None:
                pending.append(PendingSeen(plan, "indexing", "inflight", 0, age, is_live))
        return seen(*indexes, at=self.now, pending=tuple(pending), version=9)

    def world(self, resource: Resource) -> World:
        uid = resource.meta.uid
        return World(
            self.now,
            table=self.table,
            seen=self.looked,
            runs=tuple(run for run in self.runs.values() if run.owner_uid == uid),
            others=tuple(run for run in self.runs.values() if run.owner_uid != uid),
            neighbours=tuple(each for each in self.resources.values() if each.meta.uid != uid),
            previous=self.statuses.get(resource.meta.ref, {}),
            statuses={ref: status for ref, status in self.statuses.items() if ref != resource.meta.ref},
        )

    def reconcile(self, resource: Resource) -> Decision:
        world = self.world(resource)
        decision = decide(resource, world)
        self.require_no_run_by_stale_records(resource, world, decision)
        self.statuses[resource.meta.ref] = status_of(resource, world, decision)
        self.carry_out(resource, decision)
        return decision

    def require_no_run_by_stale_records(self, resource: Resource, world: World, decision: Decision) -> None:
        """Who knows fewer of the runs than there are orders for the same need no other run than there is already."""
        known = world.runs[: self.chance.randrange(len(world.runs) + 1)]
        act = decide(resource, replace(world, runs=known)).act
        if not isinstance(act, Start) or act == decision.act:
            return
        self.counts["runs ordered again by a world of stale records"] += act.order.name in self.orders
        need = act.order.request.action, act.order.trigger
        told = {past.name for past in past_of(replace(world, runs=known))}
        unknown = [run for run in world.runs if run.name not in told and (run.action, run.trigger) == need]
        assert not unknown or act.order.name in self.orders

    def carry_out(self, resource: Resource, decision: Decision) -> None:
        match decision.act:
            case Start(order) if order.name not in self.runs:
                self.start(order)
            case Stop(run):
                self.runs[run.name] = replace(self.runs[run.name], is_stopping=True)
                self.counts["stops"] += 1
            case Forget(runs):
                for run in runs:
                    assert not self.runs.pop(run.name).is_live
                self.counts["forgotten"] += len(runs)
            case SetFinalizer(is_wanted):
                self.change(resource, finalizers=("hudi-operator.dev/drop",) if is_wanted else ())
            case RemoveAnnotation(name):
                kept = {key: value for key, value in resource.meta.annotations.items() if key != name}
                self.change(resource, annotations=kept)

    def change(self, resource: Resource, **about: object) -> None:
        changed = replace(resource, meta=replace(resource.meta, **about))  # type: ignore[arg-type]  # fields of its meta
        self.resources[resource.meta.ref] = changed
        if isinstance(changed, HudiTable):
            self.table = changed

    def start(self, order: RunOrder) -> None:
        assert not any(run.is_live for run in self.runs.values()), "two live runs on one table"
        self.counts["runs"] += 1
        self.counts["shared runs"] += len(order.request.kinds) > 1 and order.request.action is Action.BUILD
        self.orders[order.name] = order
        self.runs[order.name] = RunSeen(
            name=order.name,
            owner=order.owner,
            owner_uid=order.owner_uid,
            table=order.table,
            action=order.request.action,
            trigger=order.trigger,
            attempt=order.attempt,
            phase=RunPhase.WAITING,
            created_at=self.now,
            kinds=order.request.kinds,
        )

    def go_on(self, *, is_wild: bool) -> None:
        """Live runs begin, beat, or end."""
        for run in [run for run in self.runs.values() if run.is_live]:
            order = self.orders[run.name]
            if run.phase is RunPhase.WAITING and not run.is_stopping:
                if not is_wild or self.chance.random() < 0.7:
                    self.runs[run.name] = replace(run, phase=RunPhase.RUNNING, started_at=self.now)
                    self._begin(order)
            elif run.is_stopping or self.chance.random() < 0.4:
                self.runs[run.name] = self._ended(run, order, is_wild=is_wild)
            else:
                self._begin(order)

    def _begin(self, order: RunOrder) -> None:
        if order.request.action is not Action.BUILD:
            return
        for name in self.covered(order):
            if self.state.get(name) not in (IndexState.COMPLETE, IndexState.IN_FLIGHT):
                self.state[name], self.plans[name] = IndexState.IN_FLIGHT, f"20260504{self.counts['runs']:09d}"
            self.beats[name] = self.now

    def covered(self, order: RunOrder) -> list[str]:
        """What is asked for, and what else is in a plan that is pending for one of it: the engine goes on with it."""
        names = [*order.request.kinds]
        pending = [name for name, state in self.state.items() if state is IndexState.IN_FLIGHT]
        plans = {self.plans[name] for name in pending if name in names}
        return [*names, *(name for name in pending if name not in names and self.plans[name] in plans)]

    def _ended(self, run: RunSeen, order: RunOrder, *, is_wild: bool) -> RunSeen:
        ended = replace(run, phase=RunPhase.ENDED, ended_at=self.now)
        if run.is_stopping:
            return replace(ended, exit_code=143, report=report(Outcome.INTERRUPTED, 143))
        if run.action is Action.BUILD and self.bad in self.covered(order):
            if self.bad_code != 143 and self.chance.random() < 0.5:
                self._take_back(order)
            return replace(ended, exit_code=self.bad_code, report=failed(self.bad_code))
        if is_wild and self.chance.random() < 0.6:
            self.counts["failures"] += 1
            if self.chance.random() < 0.3:
                return replace(ended, phase=RunPhase.LOST, trouble_reason="Evicted")
            code = self.chance.choice(CODES)
            return replace(ended, exit_code=code, report=failed(code) if self.chance.random() < 0.8 else None)
        if is_wild and self.chance.random() < 0.1 and run.action is Action.BUILD:
            # It was done, and could not say so.
            self._do(order)
            return replace(ended, phase=RunPhase.LOST)
        return replace(ended, exit_code=0, report=self._do(order))

    def _do(self, order: RunOrder) -> JobReport:
        name = order.request.kinds[0] if order.request.kinds else ""
        match order.request.action:
            case Action.PLAN:
                return report(Outcome.PLANNED, plan_hash=HASH)
            case Action.BUILD:
                self.state |= dict.fromkeys(self.covered(order), IndexState.COMPLETE)
                return report(Outcome.READY)
            case Action.DROP:
                self.state.pop(name, None)
                return report(Outcome.DROPPED)
            case Action.ABORT:
                undone = tuple(KindReport(name, Outcome.UNDONE) for name in self.covered(order))
                self._take_back(order)
                return report(Outcome.UNDONE, kinds=undone)
        return report(Outcome.VALID)

    def _take_back(self, order: RunOrder) -> None:
        self.counts["plans taken back"] += 1
        for name in self.covered(order):
            if self.state.get(name) is not IndexState.COMPLETE:
                self.state.pop(name, None)

    def harm(self) -> None:
        """What others do to the table and to the operator."""
        match self.chance.randrange(12):
            case 0 if damaged := [name for name in DAMAGED if self.state.get(name) is IndexState.COMPLETE]:
                name = self.chance.choice(damaged)
                self.state[name] = self.chance.choice([IndexState.DELETED, IndexState.STALE, IndexState.ABSENT])
                self.counts["damages"] += 1
            case 1:
                self.statuses.clear()
                self.counts["restarts with nothing remembered"] += 1
            case 2:
                self.looked = self.looked or self.look()
                return
        self.looked = self.look()


def _small(seed: int) -> Small:
    chance = Random(seed)
    table = a_table(metadata_guard=chance.choice([Guard.REBUILD, Guard.REBUILD, Guard.WARN]), created_at=NOW)
    approval = chance.choice([Approval.AUTOMATIC, Approval.AUTOMATIC, Approval.MANUAL])
    policy = chance.choice(list(DeletionPolicy))
    index = an_index(approval=approval, deletion_policy=policy, created_at=NOW)
    listing = an_index("listing", index_type=IndexType.FILES, created_at=NOW)
    service = a_service(schedule="*/10 * * * *", created_at=NOW)
    everybody: list[Resource] = [table, index, listing, service, *_others(chance)]
    return Small(chance, table, {each.meta.ref: each for each in everybody})


def _others(chance: Random) -> list[MetadataIndex]:
    """Indexes that stand on another, and what they stand on, if that is not there in any case."""
    by_customer = an_index("by-customer", index_type=IndexType.SECONDARY_INDEX, columns=("customer",), created_at=NOW)
    partitions = an_index("partitions", index_type=IndexType.PARTITION_STATS, created_at=NOW)
    stats = an_index("stats", index_type=IndexType.COLUMN_STATS, created_at=NOW)
    return chance.choice([[], [by_customer], [partitions, stats], [by_customer, partitions, stats]])


def _claims(small: Small, ref: Ref) -> dict[Condition, str]:
    resource = small.resources[ref]
    return {said.condition: said.status for said in decide(resource, small.world(resource)).said}


def _step(small: Small, *, is_wild: bool) -> None:
    for ref in small.chance.sample(list(small.resources), len(small.resources)):
        resource = small.resources[ref]
        decision = small.reconcile(resource)
        if isinstance(resource, MetadataIndex) and decision.state == "AwaitingApproval":
            small.change(small.resources[ref], annotations={Annotation.APPROVE: HASH})
    small.go_on(is_wild=is_wild)
    small.now += timedelta(seconds=small.chance.choice([2, 5, 15, 60]))
    if is_wild:
        small.harm()
    else:
        small.looked = small.look()


def _until(small: Small, is_enough: Callable[[dict[Condition, str]], bool]) -> int:
    """The steps it took until that was so of every index."""
    refs = [ref for ref, resource in small.resources.items() if isinstance(resource, MetadataIndex)]
    for step in range(STEPS):
        if all(is_enough(_claims(small, ref)) for ref in refs):
            return step
        _step(small, is_wild=False)
    raise AssertionError(f"not settled: {small.state} {[small.statuses[ref]['conditions'] for ref in refs]}")


def _is_settled(said: dict[Condition, str]) -> bool:
    return "True" in (said[Condition.READY], said[Condition.STALLED])


def _is_ready(said: dict[Condition, str]) -> bool:
    return said[Condition.READY] == "True"


def _run(seed: int) -> Small:
    small = _small(seed)
    for _ in range(WILD_STEPS):
        _step(small, is_wild=True)
    small.counts["steps until settled"] += _until(small, _is_settled)
    small.counts["settled"] += 1
    indexes = [each for each in small.resources.values() if isinstance(each, MetadataIndex)]
    stalled = [index for index in indexes if not _is_ready(_claims(small, index.meta.ref))]
    for index in stalled:
        # What a user does who has mended whatever it was.
        changed = replace(index, rebuild_token="again", meta=replace(index.meta, generation=2))
        small.resources[index.meta.ref] = changed
    small.counts["ready without a hand"] += not stalled
    small.counts["steps until ready"] += _until(small, _is_ready)
    return small


def _require_settled(seeds: range) -> None:
    counts: Counter[str] = Counter()

    for seed in seeds:
        counts += _run(seed).counts

    print(dict(counts))
    assert counts["settled"] == len(seeds)
    assert counts["ready without a hand"] > len(seeds) // 4
    assert counts["failures"] > len(seeds)
    assert counts["restarts with nothing remembered"] > len(seeds)
    assert counts["shared runs"] > len(seeds) // 4


@pytest.mark.parametrize("code", [13, 18, 20, 22, 70, 137, 143])
@pytest.mark.parametrize("bad", [NAME, "column_stats", "bloom_filters"])
def test_an_index_that_can_never_be_built_keeps_no_other_from_being_built(bad: str, code: int) -> None:
    table = a_table(created_at=NOW)
    types = (IndexType.RECORD_INDEX, IndexType.COLUMN_STATS, IndexType.BLOOM_FILTERS)
    indexes = [an_index(kind.lower(), index_type=kind, created_at=NOW) for kind in types]
    everybody: list[Resource] = [table, *indexes]
    small = Small(Random(code), table, {each.meta.ref: each for each in everybody}, bad=bad, bad_code=code)
    small.looked = small.look()
    others = [index.meta.ref for index in indexes if index.engine_name != bad]

    for _ in range(STEPS):
        if all(_is_ready(_claims(small, ref)) for ref in others):
            break
        _step(small, is_wild=False)

    assert all(_is_ready(_claims(small, ref)) for ref in others)
    assert small.counts["shared runs"] == 1
    assert small.counts["runs"] <= 8


@pytest.mark.thorough
def test_whatever_happens_an_index_gets_ready_or_says_that_it_is_stalled() -> None:
    _require_settled(range(5))


@pytest.mark.thorough
@pytest.mark.parametrize("part", new_seeds(100) if is_soak() else range(5))
def test_so_it_does_in_many_more_lives(part: int) -> None:
    _require_settled(range(15 * part, 15 * part + 15))


@pytest.mark.parametrize(
    "state", [None, IndexState.COMPLETE, IndexState.IN_FLIGHT, IndexState.STALE, IndexState.DELETED]
)
@pytest.mark.parametrize("seed", range(4))
def test_a_deleted_index_leaves_nothing_behind(seed: int, state: IndexState | None) -> None:
    small = _small(seed)
    index = next(
        each for each in small.resources.values() if isinstance(each, MetadataIndex) and each.engine_name == NAME
    )
    ref = index.meta.ref
    small.resources[ref] = replace(index, deletion_policy=DeletionPolicy.DROP)
    for _ in range(small.chance.randrange(40)):
        _step(small, is_wild=True)
    if state is not None and not any(run.is_live for run in small.runs.values()):
        small.state[NAME] = state
    small.looked = small.look()
    small.change(small.resources[ref], finalizers=("hudi-operator.dev/drop",), deleting_since=small.now)
    small.change(small.resources[ref], generation=2)

    for _ in range(STEPS):
        if not small.resources[ref].meta.finalizers:
            break
        _step(small, is_wild=False)

    assert not small.resources[ref].meta.finalizers
    assert small.state.get(NAME) in (None, IndexState.ABSENT, IndexState.DELETED)
    assert not any(run.is_live and run.owner == ref for run in small.runs.values())


def test_a_status_that_tells_the_index_was_built_is_what_the_table_of_cases_takes_it_for() -> None:
    small = _small(0)
    small.state[NAME] = IndexState.COMPLETE
    small.looked = small.look()
    index = next(each for each in small.resources.values() if isinstance(each, MetadataIndex))
    small.reconcile(index)
    decision = small.reconcile(small.resources[index.meta.ref])

    built = next(said for said in decision.said if said.condition is Condition.BUILT)

    assert built.status == "True"
    told = built_before()["conditions"]
    assert isinstance(told, list)
    assert (told[0]["status"], told[0]["reason"]) == (built.status, built.reason)
    assert found(IndexState.COMPLETE).state is IndexState.COMPLETE
