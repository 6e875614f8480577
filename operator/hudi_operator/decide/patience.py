"""No state lasts for ever without a word: what waits for longer than it should is called stalled."""

from dataclasses import replace
from datetime import datetime, timedelta

from hudi_operator.decide.verdict import Verdict
from hudi_operator.decision import World
from hudi_operator.status.times import parsed
from hudi_operator.status.whole import condition_of
from hudi_operator.words import Condition, Reason

_USUAL = timedelta(hours=1)
# These last as long as a run may; back-off has limits of its own.
_LONG = (Reason.TABLE_BUSY, Reason.BUILDING_ELSEWHERE)
_FOR_LONG = "for more than "
_COUNTED_ELSEWHERE = (Reason.BACKING_OFF,)


def with_patience(verdict: Verdict, world: World, idle_since: datetime | None) -> Verdict:
    """The verdict, stalled if nothing has come of the wait; `idle_since` is when a run last ended."""
    if not verdict.is_moving or verdict.is_stuck or verdict.act is not None or verdict.reason in _COUNTED_ELSEWHERE:
        return verdict
    is_long = verdict.is_long or verdict.reason in _LONG
    longest = timedelta(seconds=world.defaults.active_deadline_seconds) if is_long else _USUAL
    since = _since(verdict, world, longest)
    if since is None:
        return verdict
    since = since if idle_since is None else max(since, idle_since)
    if world.now <= since + longest:
        return verdict
    return replace(
        verdict, is_stuck=True, message=f"{_FOR_LONG}{int(longest.total_seconds() / 60)} minutes: {verdict.message}"
    )


def _since(verdict: Verdict, world: World, longest: timedelta) -> datetime | None:
    """Since when something is under way. A wait that was called stalled here, for the same reason, goes on."""
    moves = condition_of(world.previous, Condition.RECONCILING) or {}
    if moves.get("status") == "True":
        return parsed(moves.get("lastTransitionTime"))
    stalls = condition_of(world.previous, Condition.STALLED) or {}
    is_ours = str(stalls.get("message", "")).startswith(_FOR_LONG)
    if stalls.get("status") != "True" or stalls.get("reason") != verdict.reason or not is_ours:
        return None
    called = parsed(stalls.get("lastTransitionTime"))
    return None if called is None else called - longest
