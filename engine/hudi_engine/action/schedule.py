"""RFC-45, scheduling: what is asked for becomes a plan on the timeline, under the lock and with nothing else.

The RFC creates file groups here, and Java's writers log to an index only once it is flagged as in flight. We do both
together with the base files, when these are made (README, Decisions): Java compacts a shard that has only logs, and
base files that come later would lie below what it made.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_engine.action.attempts import forget_over
from hudi_engine.action.plans import IndexPlan, PlannedIndex, pending_plans, plan_bytes
from hudi_engine.action.site import Site, Transaction
from hudi_engine.compute.key_texts import refuse_mixed_keys
from hudi_engine.concurrency.instant_times import just_below
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.index.kinds import IndexKind
from hudi_engine.table.table import Table

IS_PARTITIONED = "isPartitioned"
_BUILDABLE = (IndexKind.RECORD_INDEX,)
_PARTITIONED_SINCE = 9


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What a person asks for."""

    kinds: tuple[IndexKind, ...]
    is_partitioned: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing to plan, and for each index why."""

    reasons: Mapping[str, str]


def schedule(site: Site, request: IndexRequest) -> IndexPlan | Skipped:
    """The plan for what is neither complete nor in flight, saved; or why there is none."""
    table = site.table()
    if any(kind.value not in table.config.readable_indexes for kind in request.kinds):
        refuse_mixed_keys(table)  # reads files, so before the lock is taken
    with site.transaction() as transaction:  # step 2, and 3 on leaving
        forget_over(transaction)
        planned = plan_index(transaction, request)
        if isinstance(planned, IndexPlan):
            instant = Instant(planned.requested_at, Action.INDEXING, State.REQUESTED)
            transaction.require_held()
            path = transaction.table.path_of(instant)
            site.storage.create(path, plan_bytes(planned, transaction.table.config.version))  # 2.c
    return planned


def plan_index(transaction: Transaction, request: IndexRequest) -> IndexPlan | Skipped:
    """RFC-45, schedule, steps 1 to 2.c, without the writing."""
    table, timeline = transaction.table, transaction.data_timeline
    refuse_unbuildable(table, request)
    running = {
        index.name: instant for instant, plan in pending_plans(table, timeline).items() for index in plan.indexes
    }
    reasons = {kind.value: reason for kind in request.kinds if (reason := _why_not(table, running, kind))}
    names = [kind.value for kind in request.kinds if kind.value not in reasons]
    if not names:
        return Skipped(reasons)
    base = timeline.last_without_holes()  # 2.a
    completed = timeline.completed()
    if base is None:
        raise Contradiction(
            f"{table.storage.location}: no write has completed before the earliest pending one, so there is nothing "
            "to index yet. Let a writer commit once, or roll the oldest pending commit back."
        )
    # Java takes the time of the newest completed instant for further indexes if that is an indexing instant, and they
    # then wipe each other. So ours is never the newest: it stands right before a commit that is there already.
    requested_at = just_below(completed[-1].requested_at, transaction.known_times(), table.zone)
    options = {IS_PARTITIONED: "true"} if request.is_partitioned else {}
    return IndexPlan(requested_at, tuple(PlannedIndex(name, base.requested_at, options) for name in names))


def refuse_unbuildable(table: Table, request: IndexRequest) -> None:
    """Step 1: what cannot be built correctly is refused before anything is written."""
    where = table.storage.location
    for kind in request.kinds:
        if kind not in _BUILDABLE:
            known = ", ".join(_BUILDABLE)
            raise Unsupported(f"{where}: no index of the kind {kind} can be built yet; those that can: {known}")
    if not table.config.has_meta_columns:
        raise Unsupported(
            f"{where}: hoodie.populate.meta.fields=false, so rows do not say their record key, which a record index "
            "is made of. Use the index of Hudi's own writers for this table."
        )
    if request.is_partitioned and table.config.version < _PARTITIONED_SINCE:
        raise Unsupported(
            f"{where}: a record index by partition needs table version {_PARTITIONED_SINCE}, this table has "
            f"{table.config.version}. Ask for a global one, or upgrade the table with a Hudi writer."
        )


def _why_not(table: Table, running: Mapping[str, Instant], kind: IndexKind) -> str | None:
    if kind.value in table.config.readable_indexes:
        return "complete already"
    if instant := running.get(kind.value):
        return f"in flight by the plan {instant.requested_at}, {instant.state}: run that one"
    return None
