"""What is next for a MetadataIndex: the first of these that holds."""

from collections.abc import Iterator

from hudi_engine.contract import Action, IndexState, TableSeen
from hudi_operator.decide.approval import approved, plan_for
from hudi_operator.decide.begin import begin
from hudi_operator.decide.case import Case, epoch_of
from hudi_operator.decide.columns import covered_of, lacks_columns
from hudi_operator.decide.dependency import lacking
from hudi_operator.decide.gates import table_refusal
from hudi_operator.decide.guard import finding_of, index_of
from hudi_operator.decide.need import is_token_handled, need_of
from hudi_operator.decide.removal import is_to_be_dropped, is_twin, removed
from hudi_operator.decide.running import built_elsewhere, running
from hudi_operator.decide.verdict import SOON, Verdict, doing, moving, stuck
from hudi_operator.decision import Decision, Said, SetFinalizer, World
from hudi_operator.names import FINALIZER
from hudi_operator.resources.model import Approval, IndexType, MetadataIndex, age_order
from hudi_operator.retry import Past
from hudi_operator.status.facts import duplicates_of
from hudi_operator.words import Condition, Reason, State

_THERE = (IndexState.COMPLETE, IndexState.STALE)


def propose_index(index: MetadataIndex, world: World) -> tuple[Case, Verdict]:
    """What the index would have done if it were alone on its table."""
    case = Case.of(index, world)
    return case, _verdict(index, case).with_facts(_facts(index, case))


def decision_of_index(index: MetadataIndex, case: Case, verdict: Verdict) -> Decision:
    said = (*verdict.said(), *_planned(index, case, verdict), *_truth(index, case))
    return Decision(verdict.state, said, verdict.act, verdict.again, verdict.facts)


def _verdict(index: MetadataIndex, case: Case) -> Verdict:
    if index.meta.deleting_since is not None:
        return removed(index, case)
    if is_to_be_dropped(index) is not (FINALIZER in index.meta.finalizers):
        act = SetFinalizer(is_to_be_dropped(index))
        return doing(State.PENDING, Reason.NOT_OBSERVED, "its deletionPolicy is noted on the resource", act)
    if case.live:
        return running(case, case.live[0])
    return _second(index, case) or built_elsewhere(index, case) or table_refusal(case) or _of_table(index, case)


def _of_table(index: MetadataIndex, case: Case) -> Verdict:
    last = case.newest(Action.BUILD, Action.DROP, Action.ABORT)
    if last is not None and not case.was_looked_at_since(last) and not _is_there_already(index, case, last):
        state = State.RECOVERING if last.action is not Action.BUILD else State.BUILDING
        why = f"run {last.name} ended with {last.reason}; the table is looked at"
        return moving(state, Reason.BUILDING, why, SOON)
    need = need_of(index, case)
    wanted = need if isinstance(need, Verdict) else lacking(index, case, need) or approved(index, case, need)
    if not isinstance(wanted, Verdict):
        return begin(case, wanted)
    return _suspended(wanted) if _is_suspended(case) and wanted.ready != "True" else wanted


def _is_there_already(index: MetadataIndex, case: Case, last: Past) -> bool:
    """Whether the index was seen to be complete before the run of another, which it was a part of, had ended."""
    found = index_of(index, case)
    return last in case.past_elsewhere and found.state is IndexState.COMPLETE and not lacks_columns(index, found)


def _is_suspended(case: Case) -> bool:
    return case.resource.suspend or (case.world.table is not None and case.world.table.suspend)


def _suspended(verdict: Verdict) -> Verdict:
    return Verdict(State.SUSPENDED, Reason.SUSPENDED, f"suspended: {verdict.message}", facts=verdict.facts)


def _second(index: MetadataIndex, case: Case) -> Verdict | None:
    """Of two resources of one index the older has it: nothing good would come of both."""
    twins = [other for other in case.world.neighbours if isinstance(other, MetadataIndex) and is_twin(other, index)]
    first = min(twins, key=lambda other: age_order(other.meta), default=None)
    if first is None or age_order(first.meta) > age_order(index.meta):
        return None
    name = first.meta.ref.name
    why = f"MetadataIndex {name} wants {index.engine_name} of the same table, too, and is older: delete one of the two"
    return stuck(State.FAILED, Reason.DUPLICATE_INDEX, why)


def _facts(index: MetadataIndex, case: Case) -> dict[str, object]:
    """While a token is not heeded the status has the one before; none if there was none, not even an empty one."""
    handled = index.rebuild_token or "" if is_token_handled(index, case) else _token_before(case)
    plan = _newest_plan(index, case)
    columns = covered_of(index, case) if index.index_type is IndexType.COLUMN_STATS and index.columns else None
    return (
        ({} if columns is None else {"columns": columns.facts})
        | ({} if handled is None else {"lastHandledRebuildToken": handled})
        | ({"plan": plan} if plan else {})
    )


def _token_before(case: Case) -> object:
    return case.world.previous.get("lastHandledRebuildToken")


def _newest_plan(index: MetadataIndex, case: Case) -> dict[str, object] | None:
    """That which is waiting for approval, or being carried out."""
    if index.approval is Approval.AUTOMATIC:
        return None
    triggers = dict.fromkeys((*(past.trigger for past in reversed(case.past) if past.action is Action.PLAN),))
    epoch = epoch_of(index, case.world.table)
    plans = (plan_for(trigger, case) for trigger in triggers if trigger.startswith(epoch))
    return next((dict(plan.facts) for plan in plans if plan is not None), None)


def _planned(index: MetadataIndex, case: Case, verdict: Verdict) -> Iterator[Said]:
    if index.approval is Approval.AUTOMATIC:
        yield Said(Condition.PLANNED, "True", Reason.NOT_NEEDED, "approval is Automatic")
        yield Said(Condition.APPROVED, "True", Reason.NOT_NEEDED, "approval is Automatic")
        return
    plan = verdict.facts.get("plan")
    is_there = isinstance(case.world.seen, TableSeen) and index_of(index, case).state in _THERE
    if verdict.state is State.AWAITING_APPROVAL:
        yield Said(Condition.PLANNED, "True", Reason.PLANNED, f"plan {_hash(plan)}")
        yield Said(Condition.APPROVED, "False", Reason.AWAITING_APPROVAL, verdict.message)
    elif is_there or verdict.state in (State.BUILDING, State.CATCHING_UP):
        yield Said(Condition.PLANNED, "True", Reason.PLANNED, f"plan {_hash(plan)}" if plan else "")
        yield Said(Condition.APPROVED, "True", Reason.APPROVED)
    else:
        changed = case.newest(Action.BUILD)
        is_changed = changed is not None and changed.reason is Reason.PLAN_CHANGED
        reason = Reason.PLAN_CHANGED if is_changed else Reason.PLANNING
        yield Said(Condition.PLANNED, "True" if plan else "False", Reason.PLANNED if plan else reason)
        yield Said(Condition.APPROVED, "False", reason)


def _hash(plan: object) -> str:
    return str(plan.get("hash", "")) if isinstance(plan, dict) else ""


def _truth(index: MetadataIndex, case: Case) -> tuple[Said, Said]:
    """What the table says of the index, whatever is being done."""
    if not isinstance(case.world.seen, TableSeen):
        why = "the table is not seen"
        return Said(Condition.BUILT, "Unknown", Reason.NOT_OBSERVED, why), Said(
            Condition.CAUGHT_UP, "Unknown", Reason.NOT_OBSERVED, why
        )
    found, finding = index_of(index, case), finding_of(index, case)
    if finding is not None:
        built = Said(Condition.BUILT, "False", finding.reason, finding.message)
    elif found.state is IndexState.COMPLETE:
        built = Said(Condition.BUILT, "True", Reason.BUILT, _duplicates(index, case))
    elif found.state is IndexState.IN_FLIGHT:
        built = Said(Condition.BUILT, "False", Reason.BUILDING, found.phase)
    else:
        built = Said(Condition.BUILT, "False", Reason.NOT_BUILT, found.reason)
    return built, _caught_up(found.state, found.phase, found.lag_instants)


def _duplicates(index: MetadataIndex, case: Case) -> str:
    count = duplicates_of(index, case.world)
    return f"duplicates: {count:,} record keys had several rows, of each the newest is indexed" if count else ""


def _caught_up(state: IndexState, phase: str, lag_instants: int) -> Said:
    if state is IndexState.COMPLETE:
        return Said(Condition.CAUGHT_UP, "True", Reason.CAUGHT_UP)
    if phase.startswith("catch-up"):
        return Said(Condition.CAUGHT_UP, "False", Reason.CATCHING_UP, f"{lag_instants} commits behind at most")
    return Said(Condition.CAUGHT_UP, "False", Reason.NOT_BUILT)
