"""What a status has beside its conditions: nothing but what was seen."""

from collections.abc import Iterable, Mapping

from hudi_engine.contract import (
    Action,
    IndexSeen,
    IndexState,
    KindReport,
    Outcome,
    RunProgress,
    TableSeen,
    TimelineSeen,
)
from hudi_operator.decision import World
from hudi_operator.resources.model import HudiTable, MetadataIndex
from hudi_operator.runs import RunSeen
from hudi_operator.status.past import History, entry_of
from hudi_operator.status.times import shown, shown_ms

_MOST_ACTIVE = 16
_LONGEST_WORD = 253
_READABLE = (IndexState.COMPLETE, IndexState.STALE)


def table_facts(table: HudiTable, world: World) -> dict[str, object]:
    """Of a table that is not seen now, what was known of it last."""
    runs = (run for run in (*world.runs, *world.others) if run.owner.namespace == table.meta.ref.namespace)
    live = sorted((run for run in runs if run.is_live), key=lambda run: run.name)
    facts: dict[str, object] = {"activeRuns": [_active(run) for run in live[:_MOST_ACTIVE]]}
    if isinstance(world.seen, TableSeen):
        facts |= {"table": _table(world.seen), "timeline": _timeline(world.seen.timeline)}
        observed = shown_ms(world.seen.observed_ms)
        return facts | ({"lastObservedTime": observed} if observed else {})
    kept = ("table", "timeline", "lastObservedTime")
    return facts | {name: world.previous[name] for name in kept if name in world.previous}


def index_facts(index: MetadataIndex, world: World) -> dict[str, object]:
    facts: dict[str, object] = {"history": list(History.of(world).entries)}
    found = seen_index(world.seen, index.engine_name)
    if found is not None:
        facts["instants"] = _instants(found) | _known({"base": found.base or _base_built(found, world)})
    elif not isinstance(world.seen, TableSeen) and "instants" in world.previous:
        facts["instants"] = world.previous["instants"]
    if duplicates := duplicates_of(index, world):
        facts["duplicates"] = duplicates
    live = live_of(world.runs)
    if live:
        facts["activeRuns"] = [entry_of(live[0])]
        if live[0].progress is not None:
            facts["progress"] = _progress(live[0].progress)
        elif live[0].action is Action.BUILD and found is not None and found.phase:
            # A run in a pod tells nobody but its table how far it is.
            facts["progress"] = {"phase": found.phase.partition(",")[0], "summary": found.phase[:_LONGEST_WORD]}
    elif found is not None and found.state is IndexState.COMPLETE:
        facts["progress"] = {"phase": "complete", "percent": 100}
    return facts


def duplicates_of(index: MetadataIndex, world: World) -> int:
    """How many record keys had several rows when a complete index was built: by the record of our newest build of it.

    Once there is no such record any more, what the status says of it.
    """
    found = seen_index(world.seen, index.engine_name)
    if isinstance(world.seen, TableSeen) and (found is None or found.state is not IndexState.COMPLETE):
        return 0
    built = _newest_build(index.engine_name, world)
    told = world.previous.get("duplicates", 0) if built is None else built.duplicates
    return told if isinstance(told, int) else 0


def _base_built(found: IndexSeen, world: World) -> str | None:
    """Of a complete index the table may not tell it any more; the record of our newest build does."""
    built = _newest_build(found.name, world) if found.state is IndexState.COMPLETE else None
    return None if built is None else built.base


def _newest_build(name: str, world: World) -> KindReport | None:
    """The report of our newest build of the index."""
    built = [
        (run.ended_at, kind)
        for run in world.runs
        if run.ended_at is not None and run.report is not None
        for kind in run.report.kinds
        if (kind.kind, kind.state) == (name, Outcome.READY)
    ]
    return max(built, key=lambda each: each[0])[1] if built else None


def service_facts(world: World) -> dict[str, object]:
    history = list(History.of(world).entries)
    facts: dict[str, object] = {"history": history}
    if history:
        facts["lastRun"] = history[0]
    facts["activeRuns"] = [entry_of(run) for run in live_of(world.runs)[:_MOST_ACTIVE]]
    return facts


def live_of(runs: Iterable[RunSeen]) -> list[RunSeen]:
    """Oldest first."""
    return sorted((run for run in runs if run.is_live), key=lambda run: (run.created_at, run.name))


def seen_index(seen: object, name: str) -> IndexSeen | None:
    """The index of that name; None if the table was not seen, or has nothing of it."""
    if not isinstance(seen, TableSeen):
        return None
    return next((index for index in seen.indexes if index.name == name), None)


def _active(run: RunSeen) -> dict[str, object]:
    return {
        "name": run.name,
        "action": run.action.value,
        "kind": run.owner.kind.value,
        "resource": run.owner.name,
        "startTime": shown(run.created_at),
    }


def _table(seen: TableSeen) -> dict[str, object]:
    return {
        "name": seen.name,
        "type": seen.type[:_LONGEST_WORD],
        "version": seen.version,
        "timelineLayoutVersion": seen.layout,
        "recordKeyFields": list(seen.record_key_fields),
        "partitionFields": list(seen.partition_fields),
        "metadataPartitions": [index.name for index in seen.indexes if index.state in _READABLE][:64],
        "metadataPartitionsInflight": [index.name for index in seen.indexes if index.state is IndexState.IN_FLIGHT][
            :64
        ],
    }


def _timeline(timeline: TimelineSeen) -> dict[str, object]:
    oldest = timeline.pending[0] if timeline.pending else None
    pending = [
        {
            "instant": each.instant,
            "action": each.action[:_LONGEST_WORD],
            "state": each.state[:_LONGEST_WORD],
            **_known({"requestedTime": shown_ms(each.requested_ms)}),
            "live": each.is_live,
        }
        for each in timeline.pending
    ]
    latest_ms = timeline.latest_completed_ms
    unfinished = sum(count for name, count in timeline.counts.items() if not name.endswith("/completed"))
    return {
        **_known({"latestCompletedInstant": timeline.latest_completed}),
        **_known({"latestCompletedTime": None if latest_ms is None else shown_ms(latest_ms)}),
        **_known({"oldestPendingInstant": oldest and oldest.instant}),
        **_known({"oldestPendingTime": oldest and shown_ms(oldest.requested_ms)}),
        "activeInstants": timeline.active_instants,
        "pendingInstants": max(unfinished, len(pending)),
        "pending": pending,
    }


def _instants(found: IndexSeen) -> dict[str, object]:
    return {
        **_known({"plan": found.plan, "base": found.base, "caughtUpTo": found.caught_up_to, "head": found.head}),
        "lagInstants": found.lag_instants,
        "lagSeconds": int(found.lag_seconds),
    }


def _progress(progress: RunProgress) -> dict[str, object]:
    return {
        "phase": progress.phase[:_LONGEST_WORD],
        "done": progress.done,
        "rows": progress.rows,
        **_known(
            {"total": progress.total, "percent": _whole(progress.percent), "summary": progress.said[:_LONGEST_WORD]}
        ),
        **_known({"updatedTime": shown_ms(progress.updated_ms)}),
    }


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _known(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
