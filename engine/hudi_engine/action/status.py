"""What there is of an index and how far it is: a value from what was read, without a lock."""

from dataclasses import dataclass, field
from enum import StrEnum
from zoneinfo import ZoneInfo

from hudi_engine.format.instant_names import Instant, State
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.table.zone import to_ms

_RECORD_INDEX = (
    "hoodie.metadata.global.record.level.index.enable=true, up to Hudi 1.0 hoodie.metadata.record.index.enable=true,"
)
_ENABLED_BY = {
    IndexKind.BLOOM_FILTERS: "hoodie.metadata.index.bloom.filter.enable=true",
    IndexKind.COLUMN_STATS: "hoodie.metadata.index.column.stats.enable=true",
    IndexKind.PARTITION_STATS: "hoodie.metadata.index.partition.stats.enable=true",
    IndexKind.RECORD_INDEX: _RECORD_INDEX,
    IndexKind.SECONDARY_INDEX: _RECORD_INDEX,
}


class KindState(StrEnum):
    ABSENT = "absent"
    SCHEDULED = "scheduled"
    IN_FLIGHT = "in flight"
    COMPLETE = "complete"
    STALE = "stale"  # listed, and what it was made of is no longer so
    DELETED = "deleted by a writer"


@dataclass(frozen=True, slots=True)
class Runner:
    """Who runs a plan, as its newest attempt and its heartbeat say; without a heartbeat it may never have begun one."""

    attempt: int
    owner: str
    heartbeat_age_seconds: float | None = None
    is_live: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """All that was read of one index. `writes` are the completed commits of the data, oldest first.

    `upto` is the last commit that its base is made of, or is to be made of; `held` are those beyond that the base has,
    `lacking` those that the index may not have yet, both only once the base is published. `gone` are commits that it
    has and that were undone since. `columns` are those that are defined, `adds` those that the plan
    adds to them. `ended` is its newest completed plan, `trouble` why not all of this could be read.
    """

    name: str
    writes: tuple[str, ...] = ()
    is_listed: bool = False
    is_flagged: bool = False
    has_files: bool = False
    plan: Instant | None = None
    adds: tuple[str, ...] = ()
    ended: Instant | None = None
    runner: Runner | None = None
    upto: str | None = None
    is_published: bool = False
    lacking: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    restored: str = ""
    columns: tuple[str, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index is. `lag_seconds`: for how long the oldest write that it lacks has been waiting."""

    base: str | None = None
    caught_up_to: str | None = None
    head: str | None = None
    lag_instants: int = 0
    lag_seconds: float = 0.0
    phase: str = ""


@dataclass(frozen=True, slots=True)
class KindStatus:
    """One index as a person asks for it; `reason` says what happened and what to do where that is not plain."""

    name: str
    state: KindState
    reason: str = ""
    plan: str | None = None
    progress: Progress = field(default_factory=Progress)
    runner: Runner | None = None
    columns: tuple[str, ...] = ()


def status_of(seen: Seen, now_ms: int, zone: ZoneInfo) -> KindStatus:
    """What there is of this index."""
    state, reason = _state(seen)
    plan = seen.plan or (seen.ended if state is KindState.COMPLETE else None)
    progress = _progress(seen, state, _Now(now_ms, zone))
    reason = "; ".join(filter(None, (reason, seen.trouble)))
    return KindStatus(
        seen.name, state, reason, None if plan is None else plan.requested_at, progress, seen.runner, seen.columns
    )


def _state(seen: Seen) -> tuple[KindState, str]:
    if seen.gone and (seen.is_listed or seen.is_flagged):
        undone = f"{seen.gone[0]}{f' and {len(seen.gone) - 1} more' if len(seen.gone) > 1 else ''}"
        return KindState.STALE, f"made of {undone}, undone since by a restore or rollback: drop it and build it again"
    if seen.is_listed:
        return _state_listed(seen)
    if seen.plan is not None:
        return (KindState.IN_FLIGHT if _has_begun(seen) else KindState.SCHEDULED), _how_it_runs(seen)
    if seen.is_flagged:
        return KindState.IN_FLIGHT, "flagged, and no plan says by whom: build it, which takes it over, or drop it"
    return _state_unlisted(seen)


def _state_listed(seen: Seen) -> tuple[KindState, str]:
    if not seen.has_files:
        why = "listed, and it has no file: a restore to before it was built deletes them. Drop it and build it again"
        return KindState.STALE, why
    if seen.restored:
        why = (
            f"the restore {seen.restored} went to before it was ready, and took commits of it: drop and build it again"
        )
        return KindState.STALE, why
    if seen.plan is not None:
        return KindState.COMPLETE, _why_planned(seen, seen.plan)
    return KindState.COMPLETE, ""


def _why_planned(seen: Seen, plan: Instant) -> str:
    """An index that is complete has a plan if that adds to it, or was cut off before its own end."""
    if not seen.adds:
        return f"run the plan {plan.requested_at} again to complete it, too"
    how = _how_it_runs(seen)
    return f"the plan {plan.requested_at} adds to it: {', '.join(seen.adds)}{f'; {how}' if how else ''}"


def _state_unlisted(seen: Seen) -> tuple[KindState, str]:
    if seen.ended is not None:
        return (
            KindState.DELETED,
            f"built by the plan {seen.ended.requested_at} and not listed any more: {_lost(seen.name)}",
        )
    if seen.has_files:
        return KindState.ABSENT, "the properties do not list it, though it has files: build it, or `metadata repair`"
    return KindState.ABSENT, ""


def _lost(name: str) -> str:
    enabled_by = _ENABLED_BY.get(kind_of(name), "the property that enables it")
    return (
        f"a writer that does not have this kind enabled has deleted it: set {enabled_by} on every writer or, from Hudi "
        "1.2 on, hoodie.metadata.auto.delete.partitions=false, and build it again"
    )


def _has_begun(seen: Seen) -> bool:
    return seen.is_flagged or (seen.plan is not None and seen.plan.state is State.INFLIGHT)


def _how_it_runs(seen: Seen) -> str:
    if not _has_begun(seen):
        return "nobody has begun to run it"
    if seen.runner is not None and seen.runner.is_live:
        return ""
    return "nobody runs it now: run or build it again to go on, or abort it"


@dataclass(frozen=True, slots=True)
class _Now:
    ms: int
    zone: ZoneInfo

    def seconds_since(self, instant: str) -> float:
        at_ms = to_ms(instant, self.zone)
        return 0.0 if at_ms is None else max(0.0, (self.ms - at_ms) / 1000)


def _progress(seen: Seen, state: KindState, now: _Now) -> Progress:
    head = seen.writes[-1] if seen.writes else None
    match state:
        case KindState.COMPLETE:
            # Since it was flagged every writer keeps it up with its own commits: there is nothing to catch up with.
            return Progress(seen.upto, head, head)
        case KindState.SCHEDULED | KindState.IN_FLIGHT | KindState.STALE if seen.upto is not None:
            return _towards(head, seen, now)
        case _:
            return Progress(head=head)


def _towards(head: str | None, seen: Seen, now: _Now) -> Progress:
    beyond = [each for each in seen.writes if each > (seen.upto or "")]
    lacking = seen.lacking if seen.is_published else tuple(beyond)
    reached = [each for each in beyond if not lacking or each < lacking[0]]
    return Progress(
        base=seen.upto,
        caught_up_to=(reached[-1] if reached else seen.upto) if seen.is_published else None,
        head=head,
        lag_instants=len(lacking),
        lag_seconds=now.seconds_since(lacking[0]) if lacking else 0.0,
        phase=_phase(seen, len(beyond), len(lacking)),
    )


def _phase(seen: Seen, beyond: int, lacking: int) -> str:
    if not _has_begun(seen):
        return ""
    return f"catch-up, {beyond - min(lacking, beyond)} of {beyond} commits" if seen.is_published else "base"
