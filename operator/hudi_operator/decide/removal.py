"""The end of an index whose resource is deleted, with the index itself where it is to go, too."""

from dataclasses import replace

from hudi_engine.contract import Action, IndexState, TableUnseen, UnseenReason
from hudi_operator.decide.begin import begin
from hudi_operator.decide.case import Case, epoch_of
from hudi_operator.decide.gates import unusable
from hudi_operator.decide.guard import index_of
from hudi_operator.decide.need import Need, undone
from hudi_operator.decide.verdict import LATER, SOON, Verdict, doing, moving
from hudi_operator.decision import SetFinalizer, Stop
from hudi_operator.names import FINALIZER
from hudi_operator.resources.model import DeletionPolicy, IndexType, MetadataIndex
from hudi_operator.runs import RunSeen
from hudi_operator.words import Reason, State

_GONE = (UnseenReason.NOT_FOUND, UnseenReason.NOT_A_TABLE)
_LET_GO = "set deletionPolicy: Retain to let it go without"


def is_to_be_dropped(index: MetadataIndex) -> bool:
    """Whether the index goes with its resource. `files` never does: every other index needs it."""
    return index.deletion_policy is DeletionPolicy.DROP and index.index_type is not IndexType.FILES


def removed(index: MetadataIndex, case: Case) -> Verdict:
    """One step towards nothing being left."""
    if case.live:
        return _ending(index, case.live[0])
    if FINALIZER not in index.meta.finalizers:
        return _dropping("nothing is left to do")
    why = _why_let_go(index, case)
    if why is not None:
        return _dropping_act(SetFinalizer(is_wanted=False), why)
    if case.live_elsewhere:
        run = case.live_elsewhere[0]
        return _dropping(f"run {run.name} of {run.owner.kind} {run.owner.name} builds it, too: waiting for its end")
    return _refusal(case) or _dropped(index, case)


def _ending(index: MetadataIndex, run: RunSeen) -> Verdict:
    if run.action in (Action.DROP, Action.ABORT) and is_to_be_dropped(index):
        return _dropping(f"run {run.name} is at it")
    if run.is_stopping:
        return _dropping(f"run {run.name} is being stopped")
    return _dropping_act(Stop(run.key, "its resource is deleted"), f"run {run.name} is stopped first")


def _why_let_go(index: MetadataIndex, case: Case) -> str | None:
    """Why nothing is to be dropped, or can be."""
    world = case.world
    if not is_to_be_dropped(index):
        return "the index stays"
    if world.table is None:
        return f"HudiTable {index.table} is gone, and with it where the index is: nothing was dropped"
    if isinstance(world.seen, TableUnseen) and world.seen.reason in _GONE:
        return "there is no table any more"
    twin = next(
        (other for other in world.neighbours if is_twin(other, index) and other.meta.deleting_since is None), None
    )
    if twin is not None:
        return f"MetadataIndex {twin.meta.ref.name} wants the same index: it stays"
    return None


def is_twin(other: object, index: MetadataIndex) -> bool:
    """Another resource of the same index."""
    return (
        isinstance(other, MetadataIndex)
        and other.meta.uid != index.meta.uid
        and (other.table, other.engine_name, other.meta.ref.namespace)
        == (index.table, index.engine_name, index.meta.ref.namespace)
    )


def _refusal(case: Case) -> Verdict | None:
    """As for any other work, but that a table which is being deleted itself waits for this."""
    table = case.world.table
    refusal = None if table is None else unusable(table, case.world)
    if refusal is None:
        return None
    why = f"cannot be dropped now: {refusal.message}; {_LET_GO}"
    return Verdict(State.DROPPING, refusal.reason, why, is_moving=True, is_stuck=refusal.is_stuck, again=LATER)


def _dropped(index: MetadataIndex, case: Case) -> Verdict:
    last = case.newest(Action.DROP, Action.ABORT, Action.BUILD)
    if last is not None and not case.was_looked_at_since(last):
        return _dropping(f"run {last.name} ended; the table is looked at", SOON)
    found = index_of(index, case)
    if found.state in (IndexState.ABSENT, IndexState.DELETED):
        return _dropping_act(SetFinalizer(is_wanted=False), f"{found.name} is not there any more")
    if found.is_live:
        return _dropping(f"{found.name} is being built by {found.owner or 'somebody else'}: waiting for its end")
    trigger = f"{epoch_of(index, case.world.table)}-delete"
    need = Need(
        Action.DROP, trigger, State.DROPPING, Reason.DROPPING, f"{found.name} is dropped, since its resource is deleted"
    )
    verdict = replace(begin(case, undone(index, case, need)), state=State.DROPPING)
    if verdict.act is not None or verdict.is_moving:
        return verdict
    return replace(verdict, message=f"{verdict.message}; {_LET_GO}", is_stuck=True)


def _dropping(why: str, again: float = LATER) -> Verdict:
    return moving(State.DROPPING, Reason.DROPPING, why, again)


def _dropping_act(act: Stop | SetFinalizer, why: str) -> Verdict:
    return doing(State.DROPPING, Reason.DROPPING, why, act)
