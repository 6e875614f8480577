"""RFC-45, scheduling: what is asked for becomes a plan on the timeline, under the lock and with nothing else.

The RFC creates file groups here, and Java's writers log to an index only once it is flagged as in flight. We do both
together with the base files, when these are made (docs/decisions/0020): Java compacts a shard that has only logs, and
base files that come later would lie below what it made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hudi_engine.action.additions import ADDED_TO, lacks_entries, plan_addition
from hudi_engine.action.asked_again import refuse_other_definition, refuse_other_plan, refuse_stale
from hudi_engine.action.attempts import forget_over
from hudi_engine.action.keep_secondary_index import beside_partitioned
from hudi_engine.action.keeping import STANDS_ON
from hudi_engine.action.keepings import keeping_of
from hudi_engine.action.plans import (
    COLUMNS,
    IS_PARTITIONED,
    IndexPlan,
    PlannedIndex,
    pending_plans,
    plan_bytes,
)
from hudi_engine.action.site import Site, Transaction, look_again
from hudi_engine.compute.key_texts import refuse_mixed_keys
from hudi_engine.concurrency.instant_times import just_below
from hudi_engine.errors import Contradiction
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.index.zone_of_entries import refuse_entries_elsewhere
from hudi_engine.table.table import Table

_OF_KEYS = (IndexKind.RECORD_INDEX, IndexKind.SECONDARY_INDEX)


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What a person asks for: indexes by name, some of certain columns; whether a record index is by partition."""

    names: tuple[str, ...]
    is_partitioned: bool = False
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def index(self, name: str, upto: str) -> PlannedIndex:
        """One of them as a plan has it."""
        options = {}
        if name == IndexKind.RECORD_INDEX and self.is_partitioned:
            options[IS_PARTITIONED] = "true"
        if columns := self.columns.get(name):
            options[COLUMNS] = ",".join(columns)
        return PlannedIndex(name, upto, options)

    def indexes(self) -> tuple[PlannedIndex, ...]:
        """All of them as a plan would have them that does not know yet which commits it is made of."""
        return tuple(self.index(name, "") for name in self.names)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing to plan, and for each index why. `plan` is the pending plan, if any, that has one of them."""

    reasons: Mapping[str, str]
    plan: str | None = None


def schedule(site: Site, request: IndexRequest) -> IndexPlan | Skipped:
    """The plan for what is neither complete nor in flight, saved; or why there is none."""
    # These read files, so before the lock is taken.
    look_again(lambda: refuse_stale(site.table(), site.heartbeats, request.names))
    look_again(lambda: refuse_mixed(site.table(), request))
    look_again(lambda: refuse_entries_of_another_zone(site))
    asked = request.columns.get(ADDED_TO)
    is_lacking = asked is not None and look_again(lambda: lacks_entries(site.metadata(), asked))
    with site.transaction() as transaction:  # step 2, and 3 on leaving
        forget_over(transaction)
        planned = plan_index(transaction, request, is_lacking=is_lacking)
        if isinstance(planned, IndexPlan):
            instant = Instant(planned.requested_at, Action.INDEXING, State.REQUESTED)
            transaction.require_held()
            path = transaction.table.path_of(instant)
            site.storage.create(path, plan_bytes(planned, transaction.table.config.version))  # 2.c
    return planned


def plan_index(transaction: Transaction, request: IndexRequest, *, is_lacking: bool = False) -> IndexPlan | Skipped:
    """RFC-45, schedule, steps 1 to 2.c, without the writing; `is_lacking` as `plan_addition` has it."""
    table, timeline = transaction.table, transaction.data_timeline
    refuse_unbuildable(table, request, transaction.site.conf)
    plans = pending_plans(table, timeline)
    for plan in plans.values():
        refuse_other_plan(table.storage.location, plan, request.indexes())
    running = {index.name: instant for instant, plan in plans.items() for index in plan.indexes}
    reasons = {name: reason for name in request.names if (reason := _why_not(table, running, name))}
    added = {} if ADDED_TO in running else additions(transaction.metadata, request, is_lacking=is_lacking)
    reasons = {name: reason for name, reason in reasons.items() if name not in added}
    # A secondary index leads to record keys: the index that finds those is complete first.
    ordered = sorted(request.names, key=lambda name: name != IndexKind.RECORD_INDEX)
    names = [name for name in ordered if name not in reasons]
    if not names:
        return Skipped(reasons, next((running[name].requested_at for name in request.names if name in running), None))
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
    indexes = (added.get(name) or request.index(name, "") for name in names)
    return IndexPlan(requested_at, tuple(replace(index, upto=base.requested_at) for index in indexes))


def refuse_unbuildable(table: Table, request: IndexRequest, conf: Mapping[str, str]) -> None:
    """Step 1: what cannot be built correctly is refused before anything is written."""
    complete = table.config.readable_indexes
    for index in request.indexes():
        keeping_of(index, conf).refuse(table, (*complete, *request.names))
        is_secondary = kind_of(index.name) is IndexKind.SECONDARY_INDEX
        if is_secondary and request.is_partitioned and IndexKind.RECORD_INDEX not in complete:
            raise beside_partitioned(table, index.name)
        if index.name in complete:
            refuse_other_definition(table, index)


def refuse_mixed(table: Table, request: IndexRequest) -> None:
    """Of keys that are there in two texts an index would find one only."""
    wanted = (name for name in request.names if name not in table.config.readable_indexes)
    if any(kind_of(name) in _OF_KEYS for name in wanted):
        refuse_mixed_keys(table)


def refuse_entries_of_another_zone(site: Site) -> None:
    """A record index whose instants are of another zone says that one of the two zones is wrong."""
    table = site.table()
    if IndexKind.RECORD_INDEX in table.config.readable_indexes:
        refuse_entries_elsewhere(site.metadata())


def additions(metadata: MetadataTable, request: IndexRequest, *, is_lacking: bool) -> dict[str, PlannedIndex]:
    """By name what is complete and gets more columns, or entries of those it has; refused as a plan for it would be."""
    index = plan_addition(metadata, request.columns.get(ADDED_TO, ()), is_lacking=is_lacking)
    if index is None:
        return {}
    keeping_of(index, {}).refuse(metadata.data, metadata.data.config.readable_indexes)
    return {index.name: index}


def _why_not(table: Table, running: Mapping[str, Instant], name: str) -> str | None:
    first = STANDS_ON.get(kind_of(name))
    if name in table.config.readable_indexes:
        return "complete already"
    if instant := running.get(name):
        return f"in flight by the plan {instant.requested_at}, {instant.state}: run that one"
    if first is not None and first not in table.config.readable_indexes:
        return f"has a plan of its own, once {first} is complete"
    return None
