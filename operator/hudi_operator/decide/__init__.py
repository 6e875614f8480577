"""What is next: the resource and what is seen of the world in, one decision with its reasons out."""

from collections.abc import Iterable
from dataclasses import replace

from hudi_operator.decide.index import decision_of_index
from hudi_operator.decide.patience import with_patience
from hudi_operator.decide.service import decision_of_service
from hudi_operator.decide.table import decide_table
from hudi_operator.decide.tidying import tidied
from hudi_operator.decide.turn import in_turn, propose
from hudi_operator.decide.verdict import LATEST, SOON, stuck
from hudi_operator.decision import Decision, Forget, Said, SetFinalizer, Stop, World
from hudi_operator.names import FINALIZER, is_paused
from hudi_operator.resources.model import HudiTable, MetadataIndex, Resource
from hudi_operator.resources.unreadable import Unreadable
from hudi_operator.runs import RunSeen
from hudi_operator.words import Condition, Reason, State

__all__ = ["decide", "leftover", "refused"]


def decide(resource: Resource, world: World) -> Decision:
    """What to do next and what to say of it: nothing but a function of the two, whatever they are.

    The same need is always met by a run of the same name, so that two who decide by worlds of different age order
    the same run, and never is one ordered on a table on which a run is seen to be live.
    """
    decision = _decided(resource, world)
    if is_paused(resource.meta.annotations):
        decision = _paused(decision)
    return replace(decision, again_in_seconds=min(LATEST, max(0.5, decision.again_in_seconds)))


def leftover(runs: Iterable[RunSeen]) -> Stop | Forget | None:
    """What to do about runs whose resource is gone: they are stopped, and forgotten once they have ended."""
    ended = []
    for run in sorted(runs, key=lambda run: run.key):
        if not run.is_live:
            ended.append(run.key)
        elif not run.is_stopping:
            return Stop(run.key, "its resource is gone")
    return Forget(tuple(ended)) if ended else None


def refused(found: Unreadable) -> Decision:
    """What is said of what cannot be read; nobody waits for it to go, though it keeps nothing that was promised."""
    verdict = stuck(State.FAILED, Reason.INVALID_SPEC, found.message)
    has_to_go = found.meta.deleting_since is not None and FINALIZER in found.meta.finalizers
    return Decision(verdict.state, verdict.said(), SetFinalizer(is_wanted=False) if has_to_go else None)


def _decided(resource: Resource, world: World) -> Decision:
    if isinstance(resource, HudiTable):
        return decide_table(resource, replace(world, table=resource))
    case, proposed = propose(resource, world)
    verdict = in_turn(case, proposed)
    if not case.live:
        verdict = with_patience(verdict, world, case.ended[-1].ended_at if case.ended else None)
    if verdict.act is None and resource.meta.deleting_since is None:
        act = tidied(case, verdict)
        verdict = replace(verdict, act=act, again=SOON if act is not None else verdict.again)
    if isinstance(resource, MetadataIndex):
        return decision_of_index(resource, case, verdict)
    return decision_of_service(case, verdict)


def _paused(decision: Decision) -> Decision:
    """What is seen is still said; nothing is done."""
    said = [each for each in decision.said if each.condition is not Condition.RECONCILING]
    why = "the annotation pause-reconciliation is true: nothing is done"
    return replace(decision, act=None, said=(*said, Said(Condition.RECONCILING, "False", Reason.PAUSED, why)))
