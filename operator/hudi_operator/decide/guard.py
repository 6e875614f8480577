"""What is wrong with an index that ought to be there: found by looking, whoever did it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from hudi_engine.contract import Action, IndexSeen, IndexState, Outcome, TableSeen
from hudi_operator.decide.case import Case
from hudi_operator.names import digest
from hudi_operator.resources.model import MetadataIndex
from hudi_operator.runs import RunSeen
from hudi_operator.status.facts import seen_index
from hudi_operator.status.times import shown
from hudi_operator.status.whole import condition_of
from hudi_operator.words import Condition, Reason

# A plan without a runner may be one that somebody is about to begin, or another indexer's, who has no heartbeat.
_BEGINNING = timedelta(minutes=2)
PENDING = (IndexState.SCHEDULED, IndexState.IN_FLIGHT)
_INSTANT = re.compile(r"\b[0-9]{14,20}\b")


@dataclass(frozen=True, slots=True)
class Finding:
    """`evidence` names this very damage: the same on every look, another when it happens again."""

    reason: Reason
    message: str
    evidence: str


def index_of(index: MetadataIndex, case: Case) -> IndexSeen:
    """As the table has it; only to be asked of a table that was seen."""
    name = index.engine_name
    return seen_index(case.world.seen, name) or IndexSeen(name, IndexState.ABSENT)


def finding_of(index: MetadataIndex, case: Case) -> Finding | None:
    """What is wrong with the index, whether or not anything is to be done about it."""
    found = index_of(index, case)
    match found.state:
        case IndexState.STALE:
            return Finding(Reason.INDEX_STALE, f"{found.name} is stale: {found.reason}", _evidence(found))
        case IndexState.DELETED if was_built(case):
            return Finding(Reason.DROPPED_BY_WRITER, f"{found.name}: {found.reason}", _evidence(found))
        case IndexState.COMPLETE:
            return _invalid(found, case)
        case IndexState.SCHEDULED | IndexState.IN_FLIGHT if is_orphan(found, case):
            return Finding(Reason.ORPHANED_PLAN, f"nobody works on the plan {found.plan or 'of ' + found.name}", "")
    return None


def was_built(case: Case) -> bool:
    """Whether the index was there for this resource: only then can somebody have taken it away from it."""
    if any(past.action is Action.BUILD and past.has_succeeded for past in case.ended):
        return True
    built = condition_of(case.world.previous, Condition.BUILT)
    if built is None:
        return False
    # Said of it while it is gone: it was there before.
    return built.get("status") == "True" or built.get("reason") == Reason.DROPPED_BY_WRITER


def is_orphan(found: IndexSeen, case: Case) -> bool:
    """Nobody works on the plan that is pending. One that nobody has begun yet is given time to begin."""
    if found.is_live:
        return False
    # A runner that ended in order has taken its heartbeat with it: its name stays.
    if found.owner is not None or found.heartbeat_age_seconds is not None or has_failed_build(case):
        return True
    seen = case.world.seen
    pending = seen.timeline.pending if isinstance(seen, TableSeen) else ()
    requested = [each.requested_ms for each in pending if each.instant == found.plan]
    begun_by = (case.world.now - _BEGINNING).timestamp() * 1000
    return all(requested_ms <= begun_by for requested_ms in requested)


def has_failed_build(case: Case) -> bool:
    """Whether the last build was ours to finish: what is pending is what it has left."""
    last = case.newest(Action.BUILD)
    return last is not None and not last.has_succeeded and last.reason is not Reason.PLAN_CHANGED


def has_pending_plan(found: IndexSeen, case: Case) -> bool:
    """Whether a plan for the index stands on the timeline: nothing can be dropped under it."""
    seen = case.world.seen
    pending = seen.timeline.pending if isinstance(seen, TableSeen) else ()
    return found.plan is not None and any(each.instant == found.plan for each in pending)


def is_for_several(found: IndexSeen, case: Case) -> bool:
    """Whether the plan that the index waits for is that of others, too, which are not complete either."""
    seen = case.world.seen
    if not isinstance(seen, TableSeen) or found.plan is None or found.state not in PENDING:
        return False
    return sum(each.plan == found.plan and each.state in PENDING for each in seen.indexes) > 1


def _evidence(found: IndexSeen) -> str:
    """By the instants that the engine names, which stay, and not by its words."""
    named = _INSTANT.findall(found.reason)
    return digest("/".join((found.state, found.base or "", *named[:1])))


def _invalid(found: IndexSeen, case: Case) -> Finding | None:
    """By the newest validation that looked at this index since it was last built."""
    built = case.newest(Action.BUILD, Action.DROP)
    since = built.ended_at if built is not None and built.has_succeeded else None
    verdicts = sorted(
        (
            (run.ended_at, run.name, state)
            for run in (*case.world.others, *case.world.runs)
            if run.ended_at is not None and (since is None or run.ended_at > since)
            for state in _verdicts(run, found.name)
        ),
        key=lambda verdict: verdict[:2],
    )
    if not verdicts:
        return _remembered(found, case)
    ended_at, name, state = verdicts[-1]
    if state is Outcome.VALID:
        return None
    message = f"{found.name} differs from the data, as run {name} found at {shown(ended_at)}"
    return Finding(Reason.INDEX_INVALID, message, digest(message))


def _verdicts(run: RunSeen, name: str) -> list[Outcome]:
    if run.action is not Action.VALIDATE or run.is_live or run.report is None:
        return []
    told = [kind.state for kind in run.report.kinds if kind.kind == name]
    return [state for state in told if state in (Outcome.VALID, Outcome.INVALID)]


def _remembered(found: IndexSeen, case: Case) -> Finding | None:
    """The status tells on when the validation's record is gone, until the index is another."""
    told = condition_of(case.world.previous, Condition.BUILT)
    instants = case.world.previous.get("instants")
    base = instants.get("base") if isinstance(instants, Mapping) else None
    is_another = found.base is not None and base != found.base
    if told is None or told.get("reason") != Reason.INDEX_INVALID or is_another:
        return None
    message = str(told.get("message", ""))
    return Finding(Reason.INDEX_INVALID, message, digest(message))
