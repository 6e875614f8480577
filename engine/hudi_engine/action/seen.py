"""A look, without a lock, at what there is of each index: properties, plans, attempts, heartbeats and commits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hudi_engine.action.attempts import attempts_of
from hudi_engine.action.coverage import Base, completed_writes, find_base, moves_records, undone, unproven
from hudi_engine.action.dropped import CompletedPlans, completed_plans, dropped_plans
from hudi_engine.action.evidence import Records
from hudi_engine.action.keepings import keeping_of
from hudi_engine.action.plans import ADDS, IndexPlan, pending_plans
from hudi_engine.action.published import published_base
from hudi_engine.action.reading import Reading, read
from hudi_engine.action.status import Runner, Seen
from hudi_engine.concurrency.heartbeat import Heartbeats
from hudi_engine.errors import Contradiction, CorruptFile, NotFound, Unsupported
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.table.health import index_health
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_CACHE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class _Look:
    """One reading of the timelines. There may be no metadata table."""

    table: Table
    metadata: MetadataTable | None
    timeline: Timeline
    pending: Mapping[Instant, IndexPlan]
    completed: CompletedPlans
    with_files: frozenset[str]
    heartbeats: Heartbeats

    def names(self) -> list[str]:
        config = self.table.config
        planned = {index.name for plan in self.pending.values() for index in plan.indexes}
        built = {name for names in self.completed.built.values() for name in names}
        listed = {*config.readable_indexes, *config.inflight_indexes}
        return sorted(listed | planned | built | self.with_files) or [IndexKind.FILES, IndexKind.RECORD_INDEX]


def look(table: Table, heartbeats: Heartbeats, names: tuple[str, ...] = ()) -> tuple[Seen, ...]:
    """What there is of these indexes, or of all that there is anything of."""
    metadata = _metadata(table)
    timeline = table.timeline() if metadata is None else metadata.data_timeline
    now = _Look(
        table=table,
        metadata=metadata,
        timeline=timeline,
        pending=pending_plans(table, timeline),
        completed=completed_plans(table, timeline),
        with_files=frozenset(index.name for index in index_health(table) if index.shards),
        heartbeats=heartbeats,
    )
    seen = tuple(_seen(now, name) for name in names or now.names())
    seems_dead = any(each.runner is not None and not each.runner.is_live for each in seen)
    # A heart that stopped after the timeline was read may be that of a build which is complete by now.
    if seems_dead and pending_plans(table, table.timeline()).keys() != now.pending.keys():
        return look(table.reopened(), heartbeats, names)
    return seen


def _metadata(table: Table) -> MetadataTable | None:
    try:
        return open_metadata_table(table, BlockCache(_CACHE_BYTES))
    except NotFound:
        return None


def _seen(now: _Look, name: str) -> Seen:
    config = now.table.config
    instant, plan = next(((i, p) for i, p in now.pending.items() if p.of(name)), (None, None))
    seen = Seen(
        name=name,
        writes=tuple(sorted(write.requested_at for write in completed_writes(now.timeline))),
        is_listed=name in config.readable_indexes,
        is_flagged=name in config.inflight_indexes,
        has_files=name in now.with_files,
        plan=instant,
        adds=() if plan is None else _adds(plan, name),
        ended=_ended(now, name),
        runner=None if instant is None else _runner(now, instant),
        upto=None if plan is None else _upto(plan, name),
    )
    if now.metadata is None:
        return seen
    defined = now.metadata.definitions.get(name)
    if seen.is_listed and defined is not None:
        seen = replace(seen, columns=defined.source_fields)
    try:
        return _with_base(now, now.metadata, plan, seen)
    except (Contradiction, CorruptFile, NotFound, Unsupported) as broken:
        return replace(seen, trouble=str(broken))


def _ended(now: _Look, name: str) -> Instant | None:
    """The newest completed plan that has built it, unless that was dropped since."""
    dropped = dropped_plans(now.table.storage, name)
    return _newest(i for i, names in now.completed.built.items() if name in names and i.requested_at not in dropped)


def _added(now: _Look, seen: Seen) -> Instant | None:
    """The newest completed plan that has added to what stands there now."""
    dropped = dropped_plans(now.table.storage, seen.name)
    added = (i for i, names in now.completed.added.items() if seen.name in names and i.requested_at not in dropped)
    newest = _newest(added)
    return newest if newest is not None and _newest((newest, *filter(None, [seen.ended]))) is newest else None


def _newest(instants: Iterable[Instant]) -> Instant | None:
    return max(instants, key=lambda instant: instant.completed_at or instant.requested_at, default=None)


def _upto(plan: IndexPlan, name: str) -> str | None:
    planned = plan.of(name)
    return None if planned is None else planned.upto


def _adds(plan: IndexPlan, name: str) -> tuple[str, ...]:
    """The new columns or, of an index that lacks entries of those it has, all of them."""
    planned = plan.of(name)
    if planned is None or not planned.is_addition:
        return ()
    return tuple(filter(None, planned.options[ADDS].split(","))) or planned.columns


def _runner(now: _Look, instant: Instant) -> Runner | None:
    attempts = attempts_of(now.table.storage, instant.requested_at)
    if not attempts:
        return None
    age_ms = now.heartbeats.age_ms(instant.requested_at)
    age = None if age_ms is None else age_ms / 1000
    return Runner(attempts[-1].number, str(attempts[-1].owner), age, now.heartbeats.is_live(instant.requested_at))


def _with_base(now: _Look, metadata: MetadataTable, plan: IndexPlan | None, seen: Seen) -> Seen:
    """What the commit of the base says, and what became of those that it was made of."""
    if not (seen.is_listed or seen.is_flagged):
        return seen
    if seen.is_listed:
        seen = replace(seen, restored=_restored_below(metadata, _added(now, seen)))
    base = _base(metadata, None if seen.adds else plan, seen)
    if base is None:
        return seen
    records, reading = Records(), _reading(metadata, base, plan, seen)
    gone = undone(base, metadata.data_timeline, records.targets(reading))
    lacking = () if seen.is_listed else _lacking(plan, records, reading)
    return replace(
        seen,
        upto=base.upto,
        is_published=True,
        lacking=tuple(instant.requested_at for instant in lacking),
        gone=gone,
        restored=seen.restored or _restored_below(metadata, seen.ended),
    )


def _restored_below(metadata: MetadataTable, ended: Instant | None) -> str:
    """The restore, if any, that took commits of ours from the metadata table with those of the data.

    In layout 2 a restore undoes what completed after the commit that it restores to, in the metadata table as well;
    in layout 1 it goes by the time at which commits began, and leaves those of an index in place.
    """
    table = metadata.data
    completed_at = metadata.data.view(metadata.data_timeline).completions.completed_at
    if table.config.layout == 1 or ended is None or ended.completed_at is None:
        return ""
    for restore in metadata.data_timeline.of(Action.RESTORE):
        if restore.is_completed and completed_at[restore.requested_at] > ended.completed_at:
            left = [
                write for write in completed_writes(metadata.data_timeline) if write.requested_at < restore.requested_at
            ]
            if all(completed_at[write.requested_at] < ended.completed_at for write in left):
                return restore.requested_at
    return ""


def _base(metadata: MetadataTable, plan: IndexPlan | None, seen: Seen) -> Base | None:
    if plan is not None:
        return published_base(metadata, plan, seen.name)
    return None if seen.ended is None else find_base(metadata, seen.ended.requested_at, seen.name)


def _lacking(plan: IndexPlan | None, records: Records, reading: Reading) -> tuple[Instant, ...]:
    index = None if plan is None else plan.of(reading.base.index)
    concerns = moves_records if index is None else keeping_of(index, {}).concerns
    return unproven(records.evidence(reading), concerns)


def _reading(metadata: MetadataTable, base: Base, plan: IndexPlan | None, seen: Seen) -> Reading:
    if not seen.is_listed:
        planned = None if plan is None else plan.of(seen.name)
        return read(metadata, base, None if planned is None else keeping_of(planned, {}).definition(metadata))
    view = metadata.data.view(metadata.data_timeline)
    index, files = metadata.index(seen.name), metadata.index(IndexKind.FILES)
    return Reading(metadata, base, view, index, files, (), frozenset())
