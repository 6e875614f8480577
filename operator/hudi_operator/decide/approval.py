"""Plan, approve, build: what a build waits for where somebody wants to see its plan first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hudi_engine.contract import Action, IndexState
from hudi_operator.decide.case import Case
from hudi_operator.decide.guard import has_failed_build, index_of
from hudi_operator.decide.need import Need
from hudi_operator.decide.verdict import Verdict, idle
from hudi_operator.names import Annotation, approved_hash, digest
from hudi_operator.resources.model import Approval, MetadataIndex
from hudi_operator.retry import Past
from hudi_operator.status.times import shown
from hudi_operator.words import Reason, State


@dataclass(frozen=True, slots=True)
class Plan:
    """What a build would take. `facts` are as the status has them."""

    hash: str
    facts: Mapping[str, object]


def approved(index: MetadataIndex, case: Case, need: Need) -> Need | Verdict:
    """The build with the hash of the approved plan; without approval the planning, or the wait for it."""
    if need.action is not Action.BUILD or index.approval is Approval.AUTOMATIC or _is_begun(index, case):
        return need
    plan = plan_for(need.trigger, case)
    if plan is None:
        return replace(need, action=Action.PLAN, state=State.PLANNING, reason=Reason.PLANNING)
    if approved_hash(index.meta.annotations) == plan.hash:
        return replace(need, trigger=f"{need.trigger}-plan-{digest(plan.hash)}", plan_hash=plan.hash)
    why = f"look at status.plan, then annotate with {Annotation.APPROVE}={plan.hash} (kubectl hudi approve)"
    return idle(State.AWAITING_APPROVAL, Reason.AWAITING_APPROVAL, why).with_facts({"plan": plan.facts})


def plan_for(trigger: str, case: Case) -> Plan | None:
    """The newest plan for the need, unless something was built or dropped since, or the build found it changed."""
    planned = [past for past in case.tried(Action.PLAN, trigger) if past.has_succeeded]
    if not planned:
        return None
    newest = planned[-1]
    ended = (
        past for past in case.past if past.action in (Action.BUILD, Action.DROP) and past.ended_at >= newest.ended_at
    )
    if any(past.has_succeeded or past.reason is Reason.PLAN_CHANGED for past in ended):
        return None
    return _of_record(newest, case) or _of_status(newest, case)


def _is_begun(index: MetadataIndex, case: Case) -> bool:
    """What was approved once, and has begun, is finished without asking again."""
    is_pending = index_of(index, case).state in (IndexState.SCHEDULED, IndexState.IN_FLIGHT)
    return is_pending and has_failed_build(case)


def _of_record(past: Past, case: Case) -> Plan | None:
    report = next((run.report for run in case.world.runs if run.name == past.name), None)
    if report is None or report.plan_hash is None:
        return None
    facts: dict[str, object] = {
        "hash": report.plan_hash,
        "keys": sum(kind.keys for kind in report.kinds),
        "shards": sum(kind.shards for kind in report.kinds),
        "readBytes": report.read_bytes,
        "writeBytes": report.write_bytes,
        "memoryBytes": report.memory_bytes,
        "expectedDurationSeconds": int(report.seconds_expected),
        "plannedTime": shown(past.ended_at),
    }
    return Plan(report.plan_hash, facts)


def _of_status(past: Past, case: Case) -> Plan | None:
    """While its record is gone the status still tells of it."""
    told = case.world.previous.get("plan")
    if not isinstance(told, Mapping) or told.get("plannedTime") != shown(past.ended_at):
        return None
    hash_ = told.get("hash")
    return Plan(hash_, dict(told)) if isinstance(hash_, str) and hash_ else None
