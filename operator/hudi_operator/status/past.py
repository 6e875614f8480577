"""Runs that have ended: from their records, and from the status where a record is gone already."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hudi_engine.contract import Action
from hudi_operator.decision import World
from hudi_operator.retry import Past, ending_of
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.status.times import parsed, shown
from hudi_operator.words import Reason

MAX_HISTORY = 10

MOST_INDEXES = 16
"""So many of a run's a status has room for."""

_LONGEST_WORD = 253


def past_of(world: World) -> tuple[Past, ...]:
    """The resource's ended runs, oldest first. A record wins over what the status says of it.

    A run that was under way, and of which there is no record by now, has ended: as far as is known, just now.
    """
    remembered = (_remembered(entry) for entry in _told(world))
    by_name = {past.name: past for past in remembered if past is not None}
    by_name |= {run.name: of_run(run) for run in world.runs if not run.is_live}
    live = {run.name for run in world.runs if run.is_live}
    return tuple(sorted((past for past in by_name.values() if past.name not in live), key=order_of_past))


def of_run(run: RunSeen) -> Past:
    reason, message = ending_of(run)
    ended_at = run.ended_at or run.started_at or run.created_at
    return Past(
        run.name, run.action, run.trigger, run.attempt, reason, message, run.started_at, ended_at, run.is_shared
    )


def order_of_past(past: Past) -> tuple[object, ...]:
    return past.ended_at, past.attempt, past.name


def entries_of(previous: Mapping[str, object]) -> Iterable[Mapping[str, object]]:
    """What the status has of ended runs, as it was written."""
    history = previous.get("history")
    entries = history if isinstance(history, list | tuple) else ()
    return (entry for entry in entries if isinstance(entry, Mapping))


def _told(world: World) -> Iterator[Mapping[str, object]]:
    """What the status has of ended runs, and of those that must have ended since; the former is the last word."""
    active = world.previous.get("activeRuns")
    for entry in active if isinstance(active, list | tuple) else ():
        if isinstance(entry, Mapping) and _was_there(entry):
            yield {
                **entry,
                "phase": RunPhase.LOST.value,
                "reason": Reason.INFRASTRUCTURE.value,
                "message": "its record was removed before it was seen to end",
                "completionTime": shown(world.now),
            }
    yield from entries_of(world.previous)


def _was_there(entry: Mapping[str, object]) -> bool:
    """The status announces a run before it is ordered; there is more to say of one that exists."""
    return entry.get("phase") == RunPhase.RUNNING or bool(entry.get("message"))


def _remembered(entry: Mapping[str, object]) -> Past | None:
    name, action, trigger = entry.get("name"), entry.get("action"), entry.get("trigger")
    attempt, reason, ended_at = entry.get("attempt"), entry.get("reason"), parsed(entry.get("completionTime"))
    if not (isinstance(name, str) and isinstance(trigger, str) and isinstance(attempt, int) and ended_at):
        return None
    if action not in set(Action) or reason not in set(Reason):
        return None
    message = str(entry.get("message", ""))
    started_at = parsed(entry.get("startTime"))
    indexes = entry.get("indexes")
    is_shared = action == Action.BUILD and isinstance(indexes, list | tuple) and len(indexes) > 1
    return Past(
        name, Action(str(action)), trigger, attempt, Reason(str(reason)), message, started_at, ended_at, is_shared
    )


@dataclass(frozen=True, slots=True)
class History:
    """The newest ended runs as a status has them, the newest first."""

    entries: tuple[Mapping[str, object], ...]

    @staticmethod
    def of(world: World, most: int = MAX_HISTORY) -> "History":
        runs = {run.name: run for run in world.runs if not run.is_live}
        before = {str(entry.get("name")): entry for entry in _told(world)}
        newest = reversed(past_of(world)[-most:])
        return History(
            tuple(entry_of(runs[past.name]) if past.name in runs else dict(before[past.name]) for past in newest)
        )


def entry_of(run: RunSeen) -> dict[str, object]:
    """One run; of a live one what is known so far."""
    entry: dict[str, object] = {
        "name": run.name,
        "action": run.action.value,
        "trigger": run.trigger[:_LONGEST_WORD],
        "attempt": run.attempt,
        "phase": run.phase.value,
        "startTime": shown(run.created_at),
    }
    if run.is_shared:
        entry["indexes"] = [{"name": kind[:_LONGEST_WORD]} for kind in run.kinds[:MOST_INDEXES]]
    if run.is_live:
        return entry | _given({"message": run.trouble[:1_000], "reason": run.trouble_reason[:_LONGEST_WORD]})
    past, report = of_run(run), run.report
    entry |= {"reason": past.reason.value, "completionTime": shown(past.ended_at)}
    entry |= _given({"message": past.message, "exitCode": run.exit_code})
    entry["durationSeconds"] = max(0, int((past.ended_at - (run.started_at or run.created_at)).total_seconds()))
    if report is not None:
        indexes = [
            {"name": kind.kind[:_LONGEST_WORD], "state": kind.state.value} for kind in report.kinds[:MOST_INDEXES]
        ]
        entry |= {"outcome": report.outcome.value, "exitCode": report.exit_code}
        entry |= _given({"instant": report.instant, "rows": report.rows or None, "indexes": indexes})
    return entry


def _given(fields: Mapping[str, object]) -> dict[str, object]:
    """Without what is not known."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [])}
