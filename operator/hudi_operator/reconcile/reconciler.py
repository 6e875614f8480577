"""Observe, decide, say, act: the same for every event, for none, and after every crash."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from hudi_operator.decide import decide, leftover
from hudi_operator.decision import (
    Act,
    Decision,
    Defaults,
    Forget,
    RemoveAnnotation,
    Said,
    SetFinalizer,
    Start,
    Stop,
    World,
)
from hudi_operator.launch.protocol import Launcher, NameConflict, NotStarted
from hudi_operator.names import FINALIZER
from hudi_operator.orders import writer_properties
from hudi_operator.reconcile.home import Event, Gone, Home
from hudi_operator.reconcile.refuse import refuse
from hudi_operator.reconcile.store import Held, Store, waiting_run
from hudi_operator.reconcile.tellings import told_of_act, told_of_conditions
from hudi_operator.resources.model import HudiTable, Meta, MetadataIndex, Ref, table_ref
from hudi_operator.runs import RunSeen
from hudi_operator.status import status_of
from hudi_operator.words import Condition, Reason

log = logging.getLogger(__name__)

# After an act its effect is looked at at once; what stands in a run's way goes only by somebody's hand.
_AT_ONCE_SECONDS, _HINDERED_SECONDS, _ORPHANS_SECONDS = 0.0, 30.0, 5.0
# A table's first look tells of itself; this is for one of which nothing is heard.
_FIRST_LOOK_SECONDS = 10.0
# Somebody may have removed it.
_ADVICE_LASTS = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that a reconciler reaches: where resources live, what starts runs, and the time."""

    home: Home
    launcher: Launcher
    now: Callable[[], datetime]
    defaults: Defaults


@dataclass(frozen=True, slots=True)
class _Hindrance:
    """Why a run could not be started when it was last tried."""

    run: str
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class _Advice:
    """What a table's writers were told, and when."""

    data: Mapping[str, str]
    at: datetime


@dataclass(frozen=True, slots=True)
class Reconciler:
    store: Store
    around: Surroundings
    _hindered: dict[Ref, _Hindrance] = field(default_factory=dict)
    _advised: dict[Ref, _Advice] = field(default_factory=dict)

    async def reconcile(self, ref: Ref) -> float | None:
        """One step towards what the resource wishes for; the seconds until another look, None if it is gone.

        What stands in the status is written before the act that it announces, and again with the step after it, so
        that a crash between the two is seen. Repeating a step does nothing twice: runs are named by what they are for.
        """
        held = self.store.resources.get(ref)
        orphans = self.store.leftovers(ref)
        if orphans:
            return await self._clear(ref, orphans)
        if held is None:
            self._hindered.pop(ref, None)
            self._advised.pop(ref, None)
            return await refuse(ref, self.store, self.around.home, self.around.now())
        if self.store.awaits_first_look(held):
            return _FIRST_LOOK_SECONDS
        world = self.store.world(held, self.around.now(), self.around.defaults)
        decision = decide(held.resource, world)
        try:
            await self._say(held, world, decision)
            if decision.act is not None:
                return await self._act(held, world, decision, decision.act)
            if isinstance(held.resource, HudiTable):
                await self._advise_writers(held.resource, world)
            return decision.again_in_seconds
        except Gone:
            # Another may have its name by now.
            if self.store.resources.get(ref) is held:
                self.store.remove(ref)
            return None

    async def _advise_writers(self, table: HudiTable, world: World) -> None:
        """What the table's own writers must have set stands where they can take it from; somebody else's stays."""
        if table.meta.deleting_since is not None or world.seen is None:
            return
        ref = table.meta.ref
        indexes = [one for one in world.neighbours if isinstance(one, MetadataIndex) and table_ref(one) == ref]
        advice = _Advice(writer_properties(table, indexes, world.seen), world.now)
        before = self._advised.get(ref)
        if before is not None and before.data == advice.data and before.at + _ADVICE_LASTS > advice.at:
            return
        if not await self.around.home.write_writer_config(table, advice.data):
            message = f"{ref.name}-writer is somebody else's and stays: what the table's writers need stands nowhere"
            await self.around.home.tell(table, Event("Warning", Reason.NAME_CONFLICT, message))
        self._advised[ref] = advice

    async def _clear(self, ref: Ref, orphans: list[RunSeen]) -> float:
        """Runs whose resource is gone are ended, and then forgotten."""
        act = leftover(orphans)
        if act is None:
            return _ORPHANS_SECONDS
        log.info("%s orphans of resource=%s/%s/%s", _shown(act), ref.kind, ref.namespace, ref.name)
        await self._launch(act)
        return _AT_ONCE_SECONDS

    async def _say(self, held: Held, world: World, decision: Decision) -> None:
        """Writes the status unless it stands there. Events come first: told twice they are counted, not lost."""
        ref = held.resource.meta.ref
        hindrance = self._hindered.get(ref)
        decision = _as_hindered(decision, hindrance)
        if isinstance(decision.act, Start) and hindrance is None:
            world = replace(world, runs=(*world.runs, waiting_run(decision.act.order, world.now)))
        status = status_of(held.resource, world, decision)
        if status == held.status:
            return
        for event in told_of_conditions(held.status, status):
            await self.around.home.tell(held.resource, event)
        await self.around.home.write_status(held.resource, status)
        # A newer resource that came meanwhile has the newer status, too.
        if self.store.resources.get(ref) is held:
            self.store.put(held.resource, status)

    async def _act(self, held: Held, world: World, decision: Decision, act: Act) -> float:
        ref = held.resource.meta.ref
        log.info("%s resource=%s/%s/%s", _shown(act), ref.kind, ref.namespace, ref.name)
        try:
            await self._carry_out(held, act)
        except (NameConflict, NotStarted) as hindrance:
            reason = Reason.NAME_CONFLICT if isinstance(hindrance, NameConflict) else Reason.INFRASTRUCTURE
            log.warning("not started resource=%s/%s/%s: %s", ref.kind, ref.namespace, ref.name, hindrance)
            self._hindered[ref] = _Hindrance(_run_of(act), reason, str(hindrance))
            await self._say(self.store.resources.get(ref, held), world, decision)
            return _HINDERED_SECONDS
        self._hindered.pop(ref, None)
        told = told_of_act(act)
        if told is not None:
            await self.around.home.tell(held.resource, told)
        return _AT_ONCE_SECONDS

    async def _carry_out(self, held: Held, act: Act) -> None:
        match act:
            case SetFinalizer(is_wanted):
                await self.around.home.set_finalizer(held.resource, is_wanted)
                self._note(held, replace(held.resource.meta, finalizers=(FINALIZER,) if is_wanted else ()))
            case RemoveAnnotation(name):
                await self.around.home.remove_annotation(held.resource, name)
                others = {key: value for key, value in held.resource.meta.annotations.items() if key != name}
                self._note(held, replace(held.resource.meta, annotations=others))
            case _:
                await self._launch(act)

    def _note(self, before: Held, meta: Meta) -> None:
        """So that it is not done again until news of it comes; what came meanwhile is newer."""
        now = self.store.resources.get(meta.ref)
        if now is not None and now.resource is before.resource:
            self.store.put(replace(before.resource, meta=meta), now.status)

    async def _launch(self, act: Start | Stop | Forget) -> None:
        launcher = self.around.launcher
        match act:
            case Start(order):
                await launcher.start(order)
                # By now it is in whatever listing is begun: one that was begun before, and lacks it, is passed by.
                self.store.note_ordered(order, self.around.now())
            case Stop(run):
                await launcher.stop(run)
                self.store.note_stopping(run)
            case Forget(runs):
                for run in runs:
                    await launcher.forget(run)
                    self.store.note_forgotten(run)


def _as_hindered(decision: Decision, hindrance: _Hindrance | None) -> Decision:
    """What is said while the run that is due cannot be started: the same before every try and after it."""
    if hindrance is None or decision.act is None or _run_of(decision.act) != hindrance.run:
        return decision
    said = (
        Said(Condition.READY, "False", hindrance.reason, hindrance.message),
        Said(Condition.RECONCILING, "False", hindrance.reason, hindrance.message),
        Said(Condition.STALLED, "True", hindrance.reason, hindrance.message),
    )
    others = tuple(entry for entry in decision.said if entry.condition not in {one.condition for one in said})
    return replace(decision, said=said + others)


def _run_of(act: Act) -> str:
    return act.order.name if isinstance(act, Start) else ""


def _shown(act: Act) -> str:
    match act:
        case Start(order):
            return f"act=start run={order.name} action={order.request.action} attempt={order.attempt}"
        case Stop(run, why):
            return f"act=stop run={run.name} why={why!r}"
        case Forget(runs):
            return f"act=forget runs={','.join(run.name for run in runs)}"
        case SetFinalizer(is_wanted):
            return f"act=set_finalizer is_wanted={is_wanted}"
        case RemoveAnnotation(name):
            return f"act=remove_annotation name={name}"
