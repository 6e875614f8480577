"""What must be so before anything is begun on a table."""

from datetime import datetime, timedelta

from hudi_engine.contract import TableSeen, TableUnseen, UnseenReason, place_of
from hudi_operator.decide.case import Case
from hudi_operator.decide.verdict import LATER, Verdict, moving, stuck
from hudi_operator.decision import Stop, World
from hudi_operator.resources.model import HudiTable, age_order
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Reason, State

# Besides its own deadline, which whoever runs it keeps, a run has so long to be gone.
_SLACK_SECONDS = 60
_OLDEST_LOOK = timedelta(minutes=5)

UNSEEN = {
    UnseenReason.NOT_FOUND: Reason.NOT_FOUND,
    UnseenReason.NOT_A_TABLE: Reason.NOT_A_HUDI_TABLE,
    UnseenReason.ACCESS_DENIED: Reason.ACCESS_DENIED,
    UnseenReason.NOT_ALLOWED: Reason.NOT_ALLOWED,
    UnseenReason.UNSUPPORTED: Reason.TABLE_UNSUPPORTED,
    UnseenReason.STORAGE_UNAVAILABLE: Reason.STORAGE_UNAVAILABLE,
    UnseenReason.TIMED_OUT: Reason.TIMED_OUT,
    UnseenReason.CORRUPT: Reason.TABLE_CORRUPT,
    UnseenReason.CONTRADICTION: Reason.BAD_CONFIGURATION,
    UnseenReason.INTERNAL: Reason.INTERNAL,
}


def table_refusal(case: Case) -> Verdict | None:
    """Why nothing can be done on the resource's table now; None if it is there, is itself and was seen."""
    world, table = case.world, case.world.table
    if table is None:
        name = case.resource.table
        why = f"there is no HudiTable {name} in {case.resource.meta.ref.namespace}: create it"
        return moving(State.PENDING, Reason.TABLE_MISSING, why, again=60)
    if table.meta.deleting_since is not None:
        why = f"HudiTable {table.meta.ref.name} is being deleted"
        return moving(State.PENDING, Reason.TABLE_NOT_READY, why, again=60)
    return unusable(table, world)


def unusable(table: HudiTable, world: World) -> Verdict | None:
    """Why nothing can be done on this table as it is."""
    rival = elder_of_path(table, world)
    if rival is not None:
        why = f"{named_rival(rival, table)} has the same basePath and is older: nothing is run for this one"
        return stuck(State.PENDING, Reason.DUPLICATE_BASE_PATH, why)
    match world.seen:
        case None:
            return moving(State.PENDING, Reason.NOT_OBSERVED, f"HudiTable {table.meta.ref.name} was not looked at yet")
        case TableUnseen(reason=reason, message=message, retry=retry):
            why = f"the table cannot be read: {UNSEEN[reason]}: {message}"
            unseen = moving if retry else stuck
            return unseen(State.PENDING, Reason.TABLE_NOT_READY, why)
        case TableSeen() as seen:
            if table.table_name is not None and table.table_name != seen.name:
                why = (
                    f"hoodie.table.name is {seen.name!r}, expected {table.table_name!r}: correct basePath or tableName"
                )
                return stuck(State.PENDING, Reason.TABLE_NAME_DIFFERS, why)
            if is_outdated(seen, table, world.now):
                why = "the table was last seen too long ago to go by it"
                return moving(State.PENDING, Reason.NOT_OBSERVED, why)
    return None


def is_outdated(seen: TableSeen, table: HudiTable, now: datetime) -> bool:
    oldest = max(_OLDEST_LOOK, 10 * timedelta(seconds=table.observe_interval_seconds))
    return seen.observed_ms < (now - oldest).timestamp() * 1000


def elder_of_path(table: HudiTable, world: World) -> HudiTable | None:
    """The table of the same base path that has the right to it, if that is another."""
    rivals = [
        other
        for other in world.neighbours
        if isinstance(other, HudiTable)
        and other.meta.ref != table.meta.ref
        and place_of(other.base_path) == place_of(table.base_path)
    ]
    first = min(rivals, key=lambda other: age_order(other.meta), default=None)
    return first if first is not None and age_order(first.meta) < age_order(table.meta) else None


def overdue(run: RunSeen, case: Case) -> Stop | None:
    """The end of a run that took longer to start, or to run, than it may."""
    if run.is_stopping:
        return None
    now = case.world.now
    if run.phase is RunPhase.WAITING and now >= run.created_at + timedelta(seconds=case.start_timeout_seconds):
        why = run.trouble or run.trouble_reason or "nothing says why"
        return Stop(run.key, f"not started within {case.start_timeout_seconds} seconds: {why}")
    begun = run.started_at or run.created_at
    allowed = case.deadline_seconds + case.grace_seconds + _SLACK_SECONDS
    if now >= begun + timedelta(seconds=allowed):
        return Stop(run.key, f"still running after {allowed} seconds, its deadline and grace period")
    return None


def named_rival(rival: HudiTable, table: HudiTable) -> str:
    """What other namespaces have is named to nobody."""
    theirs, own = rival.meta.ref, table.meta.ref
    if theirs.namespace != own.namespace:
        return "a HudiTable of another namespace"
    return f"HudiTable {theirs.namespace}/{theirs.name}"


def refused_by_policy(case: Case) -> Verdict | None:
    """The policy does not let the resource's namespace run this image, or as one of these accounts."""
    policy, namespace = case.world.defaults.policy, case.resource.meta.ref.namespace
    if policy is None:
        return None
    execution = case.execution
    why = (
        policy.refused_image(namespace, execution.image)
        or policy.refused_account(namespace, execution.service_account_name)
        or policy.refused_account(namespace, execution.executor_service_account_name, "execution.executor")
    )
    return stuck(State.FAILED, Reason.NOT_ALLOWED, why) if why else None


def busy(case: Case) -> Verdict | None:
    """Another run of ours is at work on the table."""
    namespace = case.resource.meta.ref.namespace
    live = [run for run in case.world.others if run.is_live]
    if not live:
        return None
    # What another namespace runs is named to nobody else.
    ours = sorted((run for run in live if run.owner.namespace == namespace), key=lambda run: run.name)
    why = "a run of another namespace is at work on the table"
    if ours:
        why = f"{ours[0].owner.kind} {ours[0].owner.name} is at work on the table: run {ours[0].name}"
    return moving(State.PENDING, Reason.TABLE_BUSY, why, LATER)
