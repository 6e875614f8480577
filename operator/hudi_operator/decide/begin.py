"""Whether a piece of work is begun now, and if not, what it waits for."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hudi_engine.contract import Action
from hudi_operator.decide.case import Case
from hudi_operator.decide.gates import busy, refused_by_policy
from hudi_operator.decide.need import Need
from hudi_operator.decide.verdict import Verdict, doing, idle, stuck
from hudi_operator.decision import Start
from hudi_operator.orders import Wanted, order_of
from hudi_operator.retry import BackOff, GiveUp, Go, Past, is_tried_for_ever, next_attempt
from hudi_operator.words import Reason, State

_CALM = timedelta(hours=1)


def begin(case: Case, need: Need) -> Verdict:
    """The start of the next attempt, or why not."""
    table = case.world.table
    if table is None:
        return idle(State.PENDING, Reason.TABLE_MISSING, "its HudiTable is gone")
    if case.resource.suspend or table.suspend:
        return idle(State.SUSPENDED, Reason.SUSPENDED, f"suspended by {suspended_by(case)}: {need.message}")
    tried = case.tried(need.action, need.trigger)
    following = next_attempt(tried, case.limits, case.world.now)
    if need.is_for_damage and _is_no_help(case, tried) and not isinstance(following, BackOff):
        why = f"{tried[-1].attempt} runs did not help: {need.message}"
        following = GiveUp(Reason.RETRIES_EXHAUSTED, why)
    match following:
        case GiveUp(reason, message):
            return stuck(State.FAILED, reason, message)
        case BackOff(until, failed, failures, is_stalled):
            said = f"{failed.reason} ({failures} in a row): {failed.message}; tried again after {until:%H:%M:%S}"
            return _waiting(case, need, said, until, stuck_by=failed.reason if is_stalled else None)
        case Go(attempt):
            return _go(case, need, attempt)


def _is_no_help(case: Case, tried: Sequence[Past]) -> bool:
    """Whether the damage is there still after all runs that it may take; one that failed with others is no proof."""
    if not tried or (tried[-1].is_shared and not tried[-1].has_succeeded):
        return False
    return tried[-1].attempt > case.limits.limit


def suspended_by(case: Case) -> str:
    """Which resource says so."""
    return "its own spec" if case.resource.suspend else f"HudiTable {case.resource.table}"


def hampered_by(case: Case, action: Action, trigger: str) -> Reason | None:
    """What has been in the way so often that somebody should know; None if nothing has."""
    tried = case.tried(action, trigger)
    if not tried or not is_tried_for_ever(tried[-1].reason):
        return None
    done = max((past.attempt for past in tried if past.has_succeeded), default=0)
    return tried[-1].reason if tried[-1].attempt - done > case.limits.limit else None


def _go(case: Case, need: Need, attempt: int) -> Verdict:
    table = case.world.table
    assert table is not None, "asked before"
    calm_at = _calm_at(case, need)
    if calm_at is not None and case.world.now < calm_at:
        why = f"done already within the hour, and needed again: {need.message}; begun after {calm_at:%H:%M:%S}"
        return _waiting(case, need, why, calm_at)
    refused = refused_by_policy(case)
    if refused is not None:
        return refused
    waiting = busy(case)
    if waiting is not None:
        return waiting
    wanted = Wanted(need.action, need.trigger, attempt, need.plan_hash)
    order = order_of(case.resource, table, wanted, case.world.defaults)
    verdict = doing(need.state, need.reason, need.message, Start(order, need.message))
    hampered = hampered_by(case, need.action, need.trigger)
    return verdict if hampered is None else replace(verdict, reason=hampered, is_stuck=True)


def _waiting(case: Case, need: Need, why: str, until: datetime, *, stuck_by: Reason | None = None) -> Verdict:
    again = max(1.0, (until - case.world.now).total_seconds())
    is_stuck = stuck_by is not None
    return Verdict(need.state, stuck_by or Reason.BACKING_OFF, why, is_moving=True, is_stuck=is_stuck, again=again)


def _calm_at(case: Case, need: Need) -> datetime | None:
    """What was done again and again within an hour is done ever more slowly: somebody undoes it each time."""
    if need.action is Action.VALIDATE:
        return None
    since = case.world.now - _CALM
    done = [past for past in case.ended if past.action is need.action and past.has_succeeded and past.ended_at > since]
    if len(done) < 2:
        return None
    return done[-1].ended_at + case.limits.delay(len(done) - 1, done[-1].name)
