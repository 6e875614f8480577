"""What other programs left of an index: a plan that Hudi's own indexer began, or a flag that no plan explains."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from hudi_engine.action.attempts import attempts_of
from hudi_engine.action.deletion import delete_unowned
from hudi_engine.action.keepings import can_be_built
from hudi_engine.action.metadata_instants import INDEXER, SOLO
from hudi_engine.action.plans import IndexPlan, PlannedIndex, pending_plans, plan_path
from hudi_engine.action.site import Site
from hudi_engine.action.undo import take_back
from hudi_engine.concurrency.heartbeat import FOLDER as HEARTBEATS
from hudi_engine.concurrency.heartbeat import writers_lease
from hudi_engine.errors import Busy
from hudi_engine.format.instant_names import Instant, InstantTime, State, instant_file
from hudi_engine.index.metadata_table import MetadataTable

_NO_PLAN = InstantTime("")


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A plan, or a flag without one. `sign_ms` is when it last gave a sign of life."""

    plan: IndexPlan
    sign_ms: int

    def __str__(self) -> str:
        names = ", ".join(index.name for index in self.plan.indexes)
        plan = self.plan.requested_at
        return f"the plan {plan} for {names}, not ours," if plan else f"the flag of {names}, which no plan explains,"


def undo_foreign(site: Site, names: Collection[str]) -> None:
    """Take back what another program began and no longer works on; `Busy` while it may be at work.

    Hudi's indexer has no heartbeat for its plan, and one for its commit to the metadata table only once it has begun
    that. It is taken for dead once nothing of what it writes has changed for the lease that Hudi's writers have;
    nothing of it could be resumed, by Hudi least of all.
    """
    for found in _found(site.metadata(), names):
        _await_quiet(site, found, names)
        with site.transaction() as transaction:
            still = [each for each in _found(transaction.metadata, names) if each == found]
            files = tuple(path for each in still for path in take_back(transaction, each.plan).files)
        delete_unowned(site, files)
        site.watch.say(f"undone: {found} had given no sign of life")


def _await_quiet(site: Site, foreign: _Foreign, names: Collection[str]) -> None:
    lease_ms = writers_lease(site.conf).lasts_ms
    left_ms = foreign.sign_ms + lease_ms - site.clock.now_ms()
    if left_ms > 0:
        site.watch.say(f"{foreign} gave a sign of life {(lease_ms - left_ms) / 1000:.0f} s ago: waiting for the next")
    while foreign.sign_ms + lease_ms > site.clock.now_ms():
        site.clock.sleep(1)
        if foreign not in _found(site.metadata(), names):
            raise Busy(
                f"{site.storage.location}: {foreign} is being worked on by another program. Let it finish and run the "
                "same request again, or end that program first."
            )


def _found(metadata: MetadataTable, names: Collection[str]) -> tuple[_Foreign, ...]:
    plans = pending_plans(metadata.data, metadata.data_timeline)
    planned = {index.name for plan in plans.values() for index in plan.indexes}
    loose = [name for name in metadata.data.config.inflight_indexes if name in names and name not in planned]
    flags = (IndexPlan(_NO_PLAN, (PlannedIndex(name, ""),)) for name in loose)
    others = (
        plan
        for instant, plan in plans.items()
        if any(index.name in names for index in plan.indexes) and not _is_ours(metadata, instant, plan)
    )
    return tuple(_Foreign(plan, max(_signs(metadata, plan), default=0)) for plan in (*others, *flags))


def _is_ours(metadata: MetadataTable, instant: Instant, plan: IndexPlan) -> bool:
    """Whether we began it, or may: one that nobody began, at a time which is safe to complete (hudi-format 3.7)."""
    table, timeline = metadata.data, metadata.data_timeline
    if attempts_of(table.storage, instant.requested_at):
        return True
    if plan_path(table, timeline, instant) != table.path_of(instant.in_state(State.REQUESTED)):
        return False  # Hudi's, and where ours would do harm
    newest = max((each.requested_at for each in timeline.completed()), default="")
    is_unbegun = instant.state is State.REQUESTED and instant.requested_at < newest
    return is_unbegun and can_be_built(plan)


def _signs(metadata: MetadataTable, plan: IndexPlan) -> Iterator[int]:
    """When files of this plan were last written, or its heart beat."""
    for instant in metadata.data_timeline.instants:
        if instant.requested_at == plan.requested_at:
            yield metadata.data_timeline.files[instant_file(instant)].modified_ms
    for index in plan.indexes:
        yield from (file.modified_ms for file in metadata.table.storage.list(index.name))
    for instant in metadata.timeline.pending():
        if _may_be_of(plan, instant.requested_at):
            yield metadata.timeline.files[instant_file(instant)].modified_ms
    heartbeats = metadata.table.storage.list(HEARTBEATS)
    yield from (file.modified_ms for file in heartbeats if _may_be_of(plan, file.name))


def _may_be_of(plan: IndexPlan, time: str) -> bool:
    """Whether Hudi commits this plan's indexes to the metadata table at this time (hudi-format 3.7)."""
    uptos = [index.upto + INDEXER for index in plan.indexes if index.upto]
    return time in (plan.requested_at, *uptos) or time.startswith(SOLO)
