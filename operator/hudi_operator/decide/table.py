"""What is said of a HudiTable; nothing is run for itself."""

from collections.abc import Iterator
from datetime import timedelta

from hudi_engine.contract import IndexState, PendingSeen, TableSeen, TableUnseen
from hudi_operator.decide.case import Case, world_of
from hudi_operator.decide.gates import UNSEEN, elder_of_path, is_outdated, named_rival
from hudi_operator.decide.guard import PENDING, Finding, finding_of
from hudi_operator.decide.lock import lock_available
from hudi_operator.decide.patience import with_patience
from hudi_operator.decide.removal import is_to_be_dropped
from hudi_operator.decide.verdict import LATEST, Verdict, doing, idle, moving, ready, stuck
from hudi_operator.decision import Decision, Said, SetFinalizer, World
from hudi_operator.names import FINALIZER
from hudi_operator.resources.model import Guard, HudiTable, MetadataIndex
from hudi_operator.words import Condition, Reason, State

# A plan that waits so long is one that nobody carries out.
_STALE_AFTER = timedelta(hours=6)
_SHOWN = 3


def decide_table(table: HudiTable, world: World) -> Decision:
    reachable, unique, lock = _reachable(table, world), _unique(table, world), lock_available(table, world)
    consistent, healthy = _consistent(table, world), _healthy(table, world)
    verdict = with_patience(_verdict(table, world, (reachable, unique, lock, consistent, healthy)), world, None)
    said = (*verdict.said(), reachable, lock, consistent, healthy, unique)
    again = min(LATEST, verdict.again, max(5.0, float(table.observe_interval_seconds)))
    return Decision(verdict.state, said, verdict.act, again, verdict.facts)


def _verdict(table: HudiTable, world: World, claims: tuple[Said, Said, Said, Said, Said]) -> Verdict:
    reachable, unique, *health = claims
    dependents = [index.meta.ref.name for index in _indexes(table, world) if is_to_be_dropped(index)]
    has_finalizer = FINALIZER in table.meta.finalizers
    if table.meta.deleting_since is not None:
        return _deleted(dependents, has_finalizer=has_finalizer)
    if bool(dependents) is not has_finalizer:
        why = "its location is kept for the indexes that are to be dropped with their resources"
        return doing(State.PENDING, Reason.NOT_OBSERVED, why, SetFinalizer(bool(dependents)))
    if unique.status == "False":
        return stuck(State.FAILED, unique.reason, unique.message)
    if reachable.status != "True":
        return _unreached(reachable, world)
    return _reached(table, health)


def _reached(table: HudiTable, health: list[Said]) -> Verdict:
    if table.suspend:
        return ready(Reason.SUSPENDED, "nothing is run on it; it is still looked at", State.SUSPENDED)
    lock, *_ = health
    if lock.status == "False":
        return moving(State.DEGRADED, lock.reason, lock.message)
    wrong = next((claim for claim in health if claim.status == "False"), None)
    return ready(Reason.OBSERVED) if wrong is None else ready(wrong.reason, wrong.message, State.DEGRADED)


def _deleted(dependents: list[str], *, has_finalizer: bool) -> Verdict:
    if dependents:
        names = ", ".join(sorted(dependents))
        why = f"waits for MetadataIndex {names} with deletionPolicy Drop: delete them, or set Retain"
        return moving(State.DROPPING, Reason.DROPPING, why)
    if has_finalizer:
        return doing(
            State.DROPPING, Reason.DROPPING, "no index needs its location any more", SetFinalizer(is_wanted=False)
        )
    return idle(State.DROPPING, Reason.DROPPING, "nothing is left to do")


def _unreached(reachable: Said, world: World) -> Verdict:
    if reachable.status == "Unknown":
        return Verdict(State.PENDING, reachable.reason, reachable.message, "Unknown", is_moving=True, again=15)
    is_passing = isinstance(world.seen, TableUnseen) and world.seen.retry
    said = moving if is_passing else stuck
    return said(State.FAILED, reachable.reason, reachable.message)


def _reachable(table: HudiTable, world: World) -> Said:
    match world.seen:
        case None:
            return Said(Condition.REACHABLE, "Unknown", Reason.NOT_OBSERVED, "not looked at yet")
        case TableUnseen(reason=reason, message=message):
            return Said(Condition.REACHABLE, "False", UNSEEN[reason], message)
        case TableSeen() as seen:
            if table.table_name is not None and table.table_name != seen.name:
                why = (
                    f"hoodie.table.name is {seen.name!r}, expected {table.table_name!r}: correct basePath or tableName"
                )
                return Said(Condition.REACHABLE, "False", Reason.TABLE_NAME_DIFFERS, why)
            if is_outdated(seen, table, world.now):
                return Said(Condition.REACHABLE, "Unknown", Reason.NOT_OBSERVED, "not looked at for too long")
    return Said(Condition.REACHABLE, "True", Reason.OBSERVED)


def _unique(table: HudiTable, world: World) -> Said:
    elder = elder_of_path(table, world)
    if elder is None:
        return Said(Condition.UNIQUE, "True", Reason.UNIQUE)
    why = f"{named_rival(elder, table)} has the same basePath and is older: delete one"
    return Said(Condition.UNIQUE, "False", Reason.DUPLICATE_BASE_PATH, why)


def _consistent(table: HudiTable, world: World) -> Said:
    if not isinstance(world.seen, TableSeen):
        return Said(Condition.METADATA_CONSISTENT, "Unknown", Reason.NOT_OBSERVED, "the table is not seen")
    if table.metadata_guard is Guard.IGNORE:
        return Said(Condition.METADATA_CONSISTENT, "True", Reason.CONSISTENT, "metadataGuard is Ignore: not looked for")
    findings = list(_findings(table, world, world.seen))
    if not findings:
        return Said(Condition.METADATA_CONSISTENT, "True", Reason.CONSISTENT)
    first = findings[0].reason
    reason = Reason.PARTITION_DROPPED if first is Reason.DROPPED_BY_WRITER else first
    return Said(Condition.METADATA_CONSISTENT, "False", reason, "; ".join(each.message for each in findings[:_SHOWN]))


def _findings(table: HudiTable, world: World, seen: TableSeen) -> Iterator[Finding]:
    """Of all indexes that somebody wants, and of those that readers use though nobody here wants them."""
    wanted = set()
    for index in _indexes(table, world):
        wanted.add(index.engine_name)
        finding = finding_of(index, Case.of(index, world_of(index, table, world)))
        if finding is not None and index.meta.deleting_since is None:
            yield finding
    for found in seen.indexes:
        if found.name not in wanted and found.state is IndexState.STALE:
            yield Finding(Reason.INDEX_STALE, f"{found.name} is stale: {found.reason}", "")
        elif found.name not in wanted and found.state in PENDING and found.owner and not found.is_live:
            # One of the engine's that was stopped; a plan of somebody else's without a heartbeat may be worked on.
            why = (
                f"nobody works on the plan {found.plan or 'of ' + found.name}, and no MetadataIndex wants {found.name}"
            )
            yield Finding(Reason.ORPHANED_PLAN, why, "")


def _indexes(table: HudiTable, world: World) -> list[MetadataIndex]:
    found = (
        other
        for other in world.neighbours
        if isinstance(other, MetadataIndex)
        and (other.table, other.meta.ref.namespace) == (table.meta.ref.name, table.meta.ref.namespace)
    )
    return sorted(found, key=lambda index: index.meta.ref)


def _healthy(table: HudiTable, world: World) -> Said:
    if not isinstance(world.seen, TableSeen):
        return Said(Condition.TIMELINE_HEALTHY, "Unknown", Reason.NOT_OBSERVED, "the table is not seen")
    pending = world.seen.timeline.pending
    dead = [each for each in pending if each.heartbeat_age_seconds is not None and not each.is_live]
    if dead:
        return Said(
            Condition.TIMELINE_HEALTHY, "False", Reason.HEARTBEAT_EXPIRED, _told(dead, "without a living owner")
        )
    old_ms = (world.now - _STALE_AFTER).timestamp() * 1000
    old = [each for each in pending if each.requested_ms < old_ms and not each.is_live]
    if old:
        return Said(Condition.TIMELINE_HEALTHY, "False", Reason.STALE_PENDING, _told(old, "pending for over six hours"))
    return Said(Condition.TIMELINE_HEALTHY, "True", Reason.HEALTHY)


def _told(pending: list[PendingSeen], what: str) -> str:
    named = ", ".join(f"{each.instant} ({each.action}, {each.state})" for each in pending[:_SHOWN])
    more = f" and {len(pending) - _SHOWN} more" if len(pending) > _SHOWN else ""
    return f"{named}{more}: {what}"
