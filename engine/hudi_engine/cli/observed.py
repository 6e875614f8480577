"""A table as the contract tells of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_engine.action.seen import look
from hudi_engine.action.status import KindStatus, status_of
from hudi_engine.cli.fingerprint import Leases
from hudi_engine.concurrency.heartbeat import Heartbeats
from hudi_engine.contract import (
    MAX_COLUMNS_SEEN,
    MAX_PENDING,
    MAX_SENTENCE,
    IndexSeen,
    IndexState,
    PendingSeen,
    TableSeen,
    TimelineSeen,
)
from hudi_engine.format.instant_names import Action, Instant, State, instant_file
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline
from hudi_engine.table.zone import to_ms


@dataclass(frozen=True, slots=True)
class Moment:
    """When a look was taken, which hearts beat then, and what that is called."""

    now_ms: int
    beats: Mapping[str, int]
    leases: Leases
    fingerprint: str


def look_at(table: Table, moment: Moment) -> TableSeen:
    """All of it. Archived instants are read only if the commit of an index is among them."""
    config = table.config
    heartbeats = Heartbeats(table.storage, table.clock, moment.leases.own)
    indexes = [_index(status_of(seen, moment.now_ms, table.zone)) for seen in look(table, heartbeats)]
    return TableSeen(
        fingerprint=moment.fingerprint,
        observed_ms=moment.now_ms,
        name=config.name,
        type=config.table_type.value,
        version=config.version,
        layout=config.layout,
        record_key_fields=config.record_key_fields,
        partition_fields=config.partition_fields,
        indexes=tuple(indexes),
        timeline=_timeline(table, table.timeline(), moment),
    )


def shortened(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_SENTENCE else f"{sentence[: MAX_SENTENCE - 1]}…"


def _index(status: KindStatus) -> IndexSeen:
    progress, runner = status.progress, status.runner
    return IndexSeen(
        name=status.name,
        state=IndexState(status.state.value),
        reason=shortened(status.reason),
        plan=status.plan,
        base=progress.base,
        caught_up_to=progress.caught_up_to,
        head=progress.head,
        lag_instants=progress.lag_instants,
        lag_seconds=round(progress.lag_seconds, 3),
        phase=progress.phase,
        attempt=None if runner is None else runner.attempt,
        owner=None if runner is None else shortened(runner.owner),
        heartbeat_age_seconds=None if runner is None else runner.heartbeat_age_seconds,
        is_live=runner is not None and runner.is_live,
        columns=_tellable(status.columns),
    )


def _tellable(columns: tuple[str, ...]) -> tuple[str, ...]:
    """All or none: of a part of them nobody could say which are lacking."""
    is_short = len(columns) <= MAX_COLUMNS_SEEN and all(len(column) <= MAX_SENTENCE for column in columns)
    return columns if is_short else ()


def _timeline(table: Table, timeline: Timeline, moment: Moment) -> TimelineSeen:
    completed = [(_completed_ms(table, timeline, instant), instant) for instant in timeline.completed()]
    latest_by_action: dict[str, int] = {}
    for at_ms, instant in completed:
        latest_by_action[instant.action.value] = max(at_ms, latest_by_action.get(instant.action.value, 0))
    latest_ms, latest = max(completed, key=lambda each: (each[0], each[1].requested_at), default=(None, None))
    pending = timeline.pending()
    beats = [beat for instant in pending if (beat := moment.beats.get(instant.requested_at)) is not None]
    return TimelineSeen(
        latest_completed=None if latest is None else latest.requested_at,
        latest_completed_ms=latest_ms,
        latest_by_action=latest_by_action,
        active_instants=len(timeline.instants),
        counts=dict(Counter(f"{instant.action}/{instant.state}" for instant in timeline.instants)),
        pending=tuple(_pending(table, timeline, instant, moment) for instant in pending[:MAX_PENDING]),
        oldest_heartbeat_ms=min(beats, default=None),
    )


def _pending(table: Table, timeline: Timeline, instant: Instant, moment: Moment) -> PendingSeen:
    beat = moment.beats.get(instant.requested_at)
    lease = moment.leases.own if instant.action is Action.INDEXING else moment.leases.writers
    return PendingSeen(
        instant=instant.requested_at,
        action=instant.action.value,
        state=instant.state.value,
        requested_ms=_requested_ms(table, timeline, instant),
        heartbeat_age_seconds=None if beat is None else (moment.now_ms - beat) / 1000,
        is_live=beat is not None and moment.now_ms - beat <= lease.lasts_ms,
    )


def _completed_ms(table: Table, timeline: Timeline, instant: Instant) -> int:
    """By the name; where that does not tell (layout 1, and what an upgrade left) by the file's own time."""
    named = None if instant.completed_at is None else to_ms(instant.completed_at, table.zone)
    return timeline.files[instant_file(instant)].modified_ms if named is None else named


def _requested_ms(table: Table, timeline: Timeline, instant: Instant) -> int:
    """By the file's own time: the name of a plan for an index is that of a moment before, which it takes on purpose."""
    names = _names_of(instant)
    return min(timeline.files[name].modified_ms for name in names if name in timeline.files)


def _names_of(instant: Instant) -> Iterable[str]:
    return (instant_file(instant.in_state(state)) for state in (State.REQUESTED, State.INFLIGHT))
