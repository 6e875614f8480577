"""A cluster, a table and its runs in memory, which outlive the operators that work on them and die at any call."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hudi_engine.contract import (
    Action,
    IndexSeen,
    IndexState,
    JobReport,
    KindReport,
    Outcome,
    TableSeen,
    TimelineSeen,
)
from hudi_operator.launch.protocol import NameConflict
from hudi_operator.names import FINALIZER
from hudi_operator.reconcile.home import Event, Gone
from hudi_operator.resources.model import HudiTable, Ref, Resource
from hudi_operator.resources.unreadable import Stored
from hudi_operator.runs import RunKey, RunOrder, RunPhase, RunSeen

START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
# A run waits for a while, runs for a while, and has ended.
_RUNS_AFTER, _ENDS_AFTER = timedelta(seconds=2), timedelta(seconds=7)


class Killed(BaseException):
    """The operator is dead: none of its own handlers has a say."""


@dataclass(slots=True)
class Fate:
    """What happens at which call, by its number: death or an error, before the call has had its effect or after it."""

    at: int | None = None
    is_after: bool = False
    error: type[BaseException] = Killed
    calls: int = 0
    has_hit: bool = False

    def before(self) -> None:
        self.calls += 1
        if self.calls == self.at and not self.is_after:
            self._hit()

    def after(self) -> None:
        if self.calls == self.at and self.is_after:
            self._hit()

    def _hit(self) -> None:
        self.has_hit = True
        raise self.error("made up by a test")


@dataclass(slots=True)
class Ground:
    """What there is, whoever works on it. Time moves by `pass_time` alone. The first `failures` runs fail."""

    now: datetime = START
    resources: dict[Ref, tuple[Resource, Mapping[str, object]]] = field(default_factory=dict)
    runs: dict[str, RunSeen] = field(default_factory=dict)
    started: Counter[tuple[Ref, Action]] = field(default_factory=Counter)
    events: Counter[tuple[Ref, str]] = field(default_factory=Counter)
    most_live: int = 0
    complete: set[str] = field(default_factory=set)
    commits: int = 1
    failures: int = 0
    _version: int = 0

    def put(self, resource: Resource) -> None:
        self.resources[resource.meta.ref] = (self._renewed(resource), {})

    def delete(self, ref: Ref) -> None:
        resource, status = self.resources[ref]
        meta = replace(resource.meta, deleting_since=self.now, generation=resource.meta.generation + 1)
        self.keep(replace(resource, meta=meta), status)

    def pass_time(self, seconds: float) -> None:
        """Runs go on by themselves, and what they do to the table is done when they end."""
        self.now += timedelta(seconds=seconds)
        for run in list(self.runs.values()):
            age = self.now - run.created_at
            if run.is_live and age >= _ENDS_AFTER:
                self.runs[run.name] = self._ended(run)
            elif run.phase is RunPhase.WAITING and age >= _RUNS_AFTER:
                self.runs[run.name] = replace(run, phase=RunPhase.RUNNING, started_at=self.now)

    def seen(self) -> TableSeen:
        instant = f"202605011100{self.commits:05d}"
        indexes = [IndexSeen("files", IndexState.COMPLETE, caught_up_to=instant, head=instant)]
        for name in sorted(self.complete):
            indexes.append(IndexSeen(name, IndexState.COMPLETE, base=instant, caught_up_to=instant, head=instant))
        return TableSeen(
            fingerprint=f"{sorted(self.complete)}/{self.commits}",
            observed_ms=int(self.now.timestamp() * 1000),
            name="orders",
            type="COPY_ON_WRITE",
            version=9,
            layout=2,
            record_key_fields=("id",),
            partition_fields=(),
            indexes=tuple(indexes),
            timeline=TimelineSeen(
                latest_completed=instant,
                latest_completed_ms=int(START.timestamp() * 1000),
                latest_by_action={"commit": int(START.timestamp() * 1000)},
                active_instants=self.commits,
                counts={"commit/completed": self.commits},
            ),
        )

    def _ended(self, run: RunSeen) -> RunSeen:
        outcome = {Action.BUILD: Outcome.READY, Action.DROP: Outcome.DROPPED, Action.VALIDATE: Outcome.VALID}[
            run.action
        ]
        if self.failures:
            self.failures -= 1
            report = JobReport(Outcome.FAILED, 70, reason="made up by a test")
            return replace(run, phase=RunPhase.ENDED, ended_at=self.now, exit_code=70, report=report)
        if run.action is not Action.VALIDATE:
            self.complete = self.complete - {*run.kinds} | ({*run.kinds} if run.action is Action.BUILD else set())
            self.commits += 1
        report = JobReport(outcome, kinds=tuple(KindReport(name, outcome) for name in run.kinds))
        return replace(run, phase=RunPhase.ENDED, ended_at=self.now, exit_code=0, report=report)

    def keep(self, resource: Resource, status: Mapping[str, object]) -> None:
        ref = resource.meta.ref
        if resource.meta.deleting_since is not None and not resource.meta.finalizers:
            del self.resources[ref]
        else:
            self.resources[ref] = (self._renewed(resource), status)

    def _renewed(self, resource: Resource) -> Resource:
        self._version += 1
        return replace(resource, meta=replace(resource.meta, resource_version=str(self._version)))

    def resource(self, known: Stored) -> tuple[Resource, Mapping[str, object]]:
        """As it is now; `Gone` if it is not that one any more."""
        found = self.resources.get(known.meta.ref)
        if found is None or found[0].meta.uid != known.meta.uid:
            raise Gone(f"{known.meta.ref} is not there")
        return found


@dataclass(slots=True)
class MemoryHome:
    """A `Home` whose every write may be the operator's last."""

    ground: Ground
    fate: Fate

    async def write_status(self, resource: Stored, status: Mapping[str, object]) -> None:
        await self._call()
        now, _ = self.ground.resource(resource)
        self.ground.keep(now, dict(status))
        self.fate.after()

    async def set_finalizer(self, resource: Stored, is_wanted: bool) -> None:
        await self._call()
        now, status = self.ground.resource(resource)
        finalizers = (FINALIZER,) if is_wanted else ()
        self.ground.keep(replace(now, meta=replace(now.meta, finalizers=finalizers)), status)
        self.fate.after()

    async def remove_annotation(self, resource: Stored, name: str) -> None:
        await self._call()
        now, status = self.ground.resource(resource)
        annotations = {key: value for key, value in now.meta.annotations.items() if key != name}
        self.ground.keep(replace(now, meta=replace(now.meta, annotations=annotations)), status)
        self.fate.after()

    async def tell(self, resource: Stored, event: Event) -> None:
        await self._call()
        self.ground.events[resource.meta.ref, event.reason] += 1
        self.fate.after()

    async def write_writer_config(self, table: HudiTable, data: Mapping[str, str]) -> bool:
        await self._call()
        self.fate.after()
        return True

    async def secret_folder(self, namespace: str, names: Sequence[str]) -> tuple[Path, ...]:
        return ()

    async def _call(self) -> None:
        await asyncio.sleep(0)
        self.fate.before()


@dataclass(slots=True)
class MemoryLauncher:
    """A `Launcher` as the protocol promises it: a name is one run, whoever orders it and how often."""

    ground: Ground
    fate: Fate

    async def start(self, order: RunOrder) -> None:
        await self._call()
        known = self.ground.runs.get(order.name)
        if known is not None and known.owner_uid != order.owner_uid:
            raise NameConflict(order.name)
        if known is None:
            self._begin(order)
        self.fate.after()

    async def runs(self) -> Sequence[RunSeen]:
        return tuple(self.ground.runs.values())

    async def stop(self, run: RunKey) -> None:
        await self._call()
        if run.name in self.ground.runs:
            self.ground.runs[run.name] = replace(self.ground.runs[run.name], is_stopping=True)
        self.fate.after()

    async def forget(self, run: RunKey) -> None:
        await self._call()
        if run.name in self.ground.runs and not self.ground.runs[run.name].is_live:
            del self.ground.runs[run.name]
        self.fate.after()

    async def _call(self) -> None:
        await asyncio.sleep(0)
        self.fate.before()

    def _begin(self, order: RunOrder) -> None:
        ground, action = self.ground, order.request.action
        ground.started[order.owner, action] += 1
        ground.runs[order.name] = RunSeen(
            name=order.name,
            owner=order.owner,
            owner_uid=order.owner_uid,
            table=order.table,
            action=action,
            trigger=order.trigger,
            attempt=order.attempt,
            phase=RunPhase.WAITING,
            created_at=ground.now,
            kinds=order.request.kinds,
        )
        ground.most_live = max(ground.most_live, sum(run.is_live for run in ground.runs.values()))
