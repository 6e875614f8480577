"""What an index needs done, by what the table shows alone: nothing is asked here of what was tried."""

from dataclasses import dataclass, replace

from hudi_engine.contract import Action, IndexSeen, IndexState
from hudi_operator.decide.case import Case, epoch_of
from hudi_operator.decide.columns import covered_of, lacks_columns
from hudi_operator.decide.guard import (
    Finding,
    finding_of,
    has_failed_build,
    has_pending_plan,
    index_of,
    is_for_several,
)
from hudi_operator.decide.verdict import LATER, Verdict, idle, moving, ready, stuck
from hudi_operator.names import digest
from hudi_operator.resources.model import Guard, IndexType, MetadataIndex
from hudi_operator.retry import FailureClass, class_of
from hudi_operator.words import Reason, State

_LISTED = (IndexState.COMPLETE, IndexState.STALE)
_HEEDING = (Action.DROP, Action.BUILD)
_NO_FAULT_OF_AN_INDEX = (FailureClass.CONTENTION, FailureClass.INFRASTRUCTURE, FailureClass.DISRUPTION)
_ADVICE = "set rebuildToken to another value, or metadataGuard: Rebuild on the HudiTable, to have it built again"


@dataclass(frozen=True, slots=True)
class Need:
    """A piece of work, named by what it is for: two that see the same need name it alike.

    `is_for_damage`: every attempt counts, done or not, since the damage is still there after each.
    """

    action: Action
    trigger: str
    state: State
    reason: Reason
    message: str
    plan_hash: str | None = None
    is_for_damage: bool = False


def need_of(index: MetadataIndex, case: Case) -> Need | Verdict:
    """The next piece of work, or why there is none."""
    found, epoch = index_of(index, case), epoch_of(index, case.world.table)
    if not is_token_handled(index, case) and not found.is_live:
        return _by_token(index, case, found)
    finding = finding_of(index, case)
    if finding is not None and finding.reason is not Reason.ORPHANED_PLAN:
        return _by_guard(index, case, finding)
    match found.state:
        case IndexState.COMPLETE:
            return _complete(index, case, found, epoch)
        case IndexState.SCHEDULED | IndexState.IN_FLIGHT:
            return _pending(case, found, finding, epoch)
        case _:
            return Need(Action.BUILD, epoch, State.PENDING, Reason.NOT_BUILT, f"{found.name} is not built yet")


def is_token_handled(index: MetadataIndex, case: Case) -> bool:
    """Whether the rebuild that the token asks for was done, or none is asked for.

    A token that is seen for the first time on an index that is fine asks for nothing. Losing the status can so cost a
    rebuild that was asked for just then, and never an index that was fine.
    """
    token = index.rebuild_token
    if not token or index.index_type is IndexType.FILES:
        return True
    mark = token_mark(token)
    heeded = [past.has_succeeded for past in case.past if past.action in _HEEDING and past.trigger.endswith(mark)]
    if any(heeded):
        return True
    handled = case.world.previous.get("lastHandledRebuildToken")
    if handled is not None or heeded or any(run.trigger.endswith(mark) for run in case.live):
        return handled == token
    return index_of(index, case).state is IndexState.COMPLETE and finding_of(index, case) is None


def token_mark(token: str) -> str:
    return f"-token-{digest(token)}"


def undone(index: MetadataIndex, case: Case, need: Need) -> Need:
    """The need, or the end of a plan that stands in its way."""
    if has_pending_plan(index_of(index, case), case):
        return Need(
            Action.ABORT, need.trigger, need.state, need.reason, f"{need.message}; its plan is taken back first"
        )
    return need


def _by_token(index: MetadataIndex, case: Case, found: IndexSeen) -> Need:
    trigger = epoch_of(index, case.world.table) + token_mark(index.rebuild_token or "")
    why = f"rebuildToken {index.rebuild_token!r} asks for another"
    if found.state in _LISTED:
        need = Need(Action.DROP, trigger, State.RECOVERING, Reason.REBUILDING, f"{found.name} is dropped: {why}")
        return undone(index, case, need)
    need = Need(Action.BUILD, trigger, State.PENDING, Reason.REBUILDING, f"{found.name} is built: {why}")
    return _parted(case, found, need)


def _by_guard(index: MetadataIndex, case: Case, finding: Finding) -> Need | Verdict:
    table = case.world.table
    guard = Guard.WARN if table is None else table.metadata_guard
    is_listed = finding.reason is not Reason.DROPPED_BY_WRITER
    if guard is Guard.IGNORE:
        if finding.reason is Reason.INDEX_INVALID:
            return ready(Reason.INDEX_IN_SYNC, f"{finding.message}; metadataGuard is Ignore")
        return idle(State.DEGRADED, finding.reason, f"{finding.message}; metadataGuard is Ignore")
    if guard is Guard.WARN or (is_listed and index.index_type is IndexType.FILES):
        return stuck(State.DEGRADED, finding.reason, f"{finding.message}; {_ADVICE}")
    trigger = f"{epoch_of(index, table)}-{finding.evidence}"
    if is_listed:
        why = f"{finding.message}; it is dropped to be built again"
        need = Need(Action.DROP, trigger, State.RECOVERING, finding.reason, why, is_for_damage=True)
        return undone(index, case, need)
    why = f"{finding.message}; it is built again"
    return Need(Action.BUILD, trigger, State.RECOVERING, finding.reason, why, is_for_damage=True)


def _complete(index: MetadataIndex, case: Case, found: IndexSeen, epoch: str) -> Need | Verdict:
    """Columns that it lacks are added, once for each time that somebody asks: the table may have no such column."""
    if index.index_type is IndexType.SECONDARY_INDEX and found.columns and found.columns != index.columns:
        of, wanted = ", ".join(found.columns), ", ".join(index.columns)
        why = f"{found.name} is there already, of {of} and not of {wanted}: give this index another name, or {_ADVICE}"
        return stuck(State.FAILED, Reason.INVALID_SPEC, why)
    lacking = lacks_columns(index, found)
    if not lacking:
        return _unsure(index, case, found, epoch) or ready(Reason.INDEX_IN_SYNC, _told_ready(case, found))
    named, trigger = ", ".join(lacking), f"{epoch}-columns"
    if any(past.has_succeeded for past in case.past if past.trigger == trigger and past.action is Action.BUILD):
        why = f"{found.name} is complete, and has no {named}: no such column that could have statistics, or a writer "
        return ready(Reason.INDEX_IN_SYNC, f"{why}left it out of hoodie.metadata.index.column.stats.column.list")
    return Need(Action.BUILD, trigger, State.PENDING, Reason.NOT_BUILT, f"{found.name} gets columns: {named}")


def _unsure(index: MetadataIndex, case: Case, found: IndexSeen, epoch: str) -> Need | None:
    """Columns that are named, and were not when a run of ours last asked for them: older files may have no entries."""
    covered = covered_of(index, case)
    unsure = ", ".join(sorted({*index.columns} - {*covered.names}))
    if index.index_type is not IndexType.COLUMN_STATS or not found.columns or not unsure:
        return None
    why = f"{found.name} is asked whether files from before lack entries of {unsure}, which a writer has named"
    trigger = f"{epoch}-columns-{digest(covered.run)}"
    return Need(Action.BUILD, trigger, State.PENDING, Reason.NOT_BUILT, why)


def _pending(case: Case, found: IndexSeen, finding: Finding | None, epoch: str) -> Need | Verdict:
    table = case.world.table
    plan = found.plan or "unknown"
    if finding is None:
        state = State.CATCHING_UP if found.phase.startswith("catch-up") else State.BUILDING
        by = f" by {found.owner}" if found.owner else ""
        why = f"the plan {plan} is worked on{by}, and by no run of this resource that is known; waiting for its end"
        return moving(state, Reason.BUILDING_ELSEWHERE, why, LATER)
    if table is not None and table.metadata_guard is Guard.IGNORE and not has_failed_build(case):
        return idle(State.DEGRADED, Reason.ORPHANED_PLAN, f"{finding.message}; metadataGuard is Ignore")
    why = f"{finding.message}: it is taken over"
    return _parted(case, found, Need(Action.BUILD, epoch, State.RECOVERING, Reason.ORPHANED_PLAN, why))


def _parted(case: Case, found: IndexSeen, need: Need) -> Need:
    """The need, or the end of a plan for several that has failed: which of them it failed by is not known.

    What ended by no fault of an index is gone on with once, by whoever comes first.
    """
    last = case.newest(Action.BUILD)
    if last is None or not has_failed_build(case) or not is_for_several(found, case):
        return need
    if last.is_shared and class_of(last.reason) in _NO_FAULT_OF_AN_INDEX:
        return need
    why = f"the plan {found.plan} is for several indexes, and failed: it is taken back, and each is built by itself"
    return replace(need, action=Action.ABORT, message=f"{found.name}: {why}")


def _told_ready(case: Case, found: IndexSeen) -> str:
    last = case.newest(Action.BUILD)
    if last is not None and not last.has_succeeded:
        return f"{found.name} is complete, though run {last.name} ended with {last.reason}: {last.message}"
    return f"{found.name} is complete and kept up by the table's writers"
