"""Whose turn it is where several resources of a table have something to be done at the same time."""

from collections.abc import Mapping
from dataclasses import replace

from hudi_engine.contract import Action
from hudi_operator.decide.case import Case, world_of
from hudi_operator.decide.index import propose_index
from hudi_operator.decide.service import propose_service
from hudi_operator.decide.sharing import Proposal, shared
from hudi_operator.decide.verdict import SOON, Verdict, moving
from hudi_operator.decision import Start, World
from hudi_operator.names import is_paused
from hudi_operator.resources.model import IndexType, MetadataIndex, Resource, TableService, age_order
from hudi_operator.status.whole import condition_of
from hudi_operator.words import Condition, Reason, State

# What takes away goes before what adds, and looking comes last.
_RANKS = {Action.ABORT: 0, Action.DROP: 1, Action.PLAN: 2, Action.BUILD: 3}
_HINDRANCES = (Reason.NAME_CONFLICT, Reason.INFRASTRUCTURE)


def propose(resource: MetadataIndex | TableService, world: World) -> tuple[Case, Verdict]:
    if isinstance(resource, MetadataIndex):
        return propose_index(resource, world)
    return propose_service(resource, world)


def in_turn(case: Case, verdict: Verdict) -> Verdict:
    """The verdict, or the wait for a neighbour that would begin something too and goes first.

    Everybody who sees the same world comes to the same order. Neighbours of which nothing is known are not waited for,
    nor are those that cannot begin: their turn comes once they can. Builds of neighbours that come later are begun
    with ours where one run can do them all.
    """
    if not isinstance(verdict.act, Start):
        return verdict
    resource, world, later = case.resource, case.world, []
    ours = _order(resource, verdict.act)
    for neighbour in world.neighbours:
        if not isinstance(neighbour, MetadataIndex | TableService) or neighbour.meta.ref not in world.statuses:
            continue
        if is_paused(neighbour.meta.annotations) or _is_hindered(world.statuses[neighbour.meta.ref]):
            continue
        theirs, proposed = propose(neighbour, world_of(neighbour, resource, world))
        if not isinstance(proposed.act, Start):
            continue
        if _order(neighbour, proposed.act) < ours:
            ref = neighbour.meta.ref
            why = f"{ref.kind} {ref.name} goes first with {proposed.act.order.request.action}"
            return replace(moving(State.PENDING, Reason.TABLE_BUSY, why, SOON), facts=verdict.facts)
        later.append(Proposal(theirs, proposed.act))
    return replace(verdict, act=shared(Proposal(case, verdict.act), later))


def _is_hindered(status: Mapping[str, object]) -> bool:
    """Whether its run could not be started when that was last tried: its name is taken, or the cluster refuses it."""
    stalled = condition_of(status, Condition.STALLED)
    return stalled is not None and stalled.get("status") == "True" and stalled.get("reason") in _HINDRANCES


def _order(resource: Resource, start: Start) -> tuple[object, ...]:
    is_files = isinstance(resource, MetadataIndex) and resource.index_type is IndexType.FILES
    return _RANKS.get(start.order.request.action, 9), not is_files, *age_order(resource.meta), resource.meta.ref.kind
