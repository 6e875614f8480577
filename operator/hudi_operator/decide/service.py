"""What is next for a TableService."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hudi_engine.contract import Action
from hudi_operator.decide.begin import begin, suspended_by
from hudi_operator.decide.case import Case
from hudi_operator.decide.gates import table_refusal
from hudi_operator.decide.need import Need
from hudi_operator.decide.running import running
from hudi_operator.decide.verdict import LATEST, SOON, Verdict, doing, idle, ready, stuck
from hudi_operator.decision import Decision, Said, Stop, World
from hudi_operator.names import digest
from hudi_operator.resources.model import ConcurrencyPolicy, TableService
from hudi_operator.retry import GiveUp, Past, class_of, next_attempt
from hudi_operator.schedule import BadSchedule, Due, Schedule
from hudi_operator.status.times import parsed, shown
from hudi_operator.words import Condition, Reason, State

_AT = "at-%Y%m%dT%H%MZ"
_SCHEDULED = "at-"
# A service that has something to do is as ready as one that waits for its time.
_WORKING = (Reason.SCHEDULED, Reason.RUNNING, Reason.TABLE_BUSY)


@dataclass(frozen=True, slots=True)
class Times:
    """What the schedule says now: the scheduled minute to run for, if any, those missed, and the next."""

    last: datetime | None = None
    due: datetime | None = None
    next: datetime | None = None
    missed: int = 0


def propose_service(service: TableService, world: World) -> tuple[Case, Verdict]:
    """What the service would have done if it were alone on its table."""
    case = Case.of(service, world)
    try:
        times = _times(service, case)
    except BadSchedule as bad:
        return case, stuck(State.FAILED, Reason.INVALID_SPEC, str(bad)).with_facts(_facts(service, case, Times()))
    verdict = _verdict(service, case, times)
    return case, verdict.with_facts(_facts(service, case, times))


def decision_of_service(case: Case, verdict: Verdict) -> Decision:
    is_working = verdict.is_moving and not verdict.is_stuck and verdict.reason in _WORKING
    verdict = replace(verdict, ready="True") if is_working else verdict
    said = (*verdict.said(), _last_run(case))
    return Decision(verdict.state, said, verdict.act, verdict.again, verdict.facts)


def _verdict(service: TableService, case: Case, times: Times) -> Verdict:
    if case.live:
        return _with_live(service, case, times)
    if service.meta.deleting_since is not None:
        return idle(State.DROPPING, Reason.DROPPING, "nothing is left to do")
    if service.suspend or (case.world.table is not None and case.world.table.suspend):
        return idle(State.SUSPENDED, Reason.SUSPENDED, f"suspended by {suspended_by(case)}")
    return table_refusal(case) or _next(service, case, times)


def _with_live(service: TableService, case: Case, times: Times) -> Verdict:
    run = case.live[0]
    if service.meta.deleting_since is not None:
        act = None if run.is_stopping else Stop(run.key, "its resource is deleted")
        return Verdict(
            State.DROPPING, Reason.DROPPING, f"run {run.name} is stopped", is_moving=True, act=act, again=SOON
        )
    verdict = running(case, run)
    is_replaced = service.concurrency_policy is ConcurrencyPolicy.REPLACE and times.due is not None
    if verdict.act is None and is_replaced and not run.is_stopping and not service.suspend:
        return doing(
            State.RUNNING, Reason.RUNNING, verdict.message, Stop(run.key, "the next is due, and it is to be replaced")
        )
    return verdict


def _next(service: TableService, case: Case, times: Times) -> Verdict:
    """The first need that can be met; one that cannot be stands back for the next."""
    verdicts = []
    for need in _needs(service, case, times):
        verdict = begin(case, need)
        if not verdict.is_stuck or verdict.act is not None or verdict.is_moving:
            return verdict
        verdicts.append(verdict)
    if verdicts:
        return Verdict(State.FAILED, verdicts[0].reason, verdicts[0].message, is_stuck=True, again=_until(times, case))
    last = case.newest(Action.VALIDATE)
    if last is not None and class_of(last.reason) is not None:
        return _failed(case, last, times)
    state = State.DEGRADED if last is not None and last.reason is Reason.INVALID else State.IDLE
    if times.next is None:
        return ready(Reason.IDLE, "it has no schedule: set runToken to another value to have it run", state)
    rested = ready(Reason.SCHEDULED, f"next at {shown(times.next)}", state)
    return Verdict(rested.state, rested.reason, rested.message, "True", again=_until(times, case))


def _failed(case: Case, last: Past, times: Times) -> Verdict:
    """The last run failed, and nothing more is tried before the next is due or asked for."""
    following = next_attempt(case.tried(last.action, last.trigger), case.limits, case.world.now)
    reason, why = (
        (following.reason, following.message) if isinstance(following, GiveUp) else (last.reason, last.message)
    )
    return Verdict(State.FAILED, reason, why, is_stuck=True, again=_until(times, case))


def _needs(service: TableService, case: Case, times: Times) -> list[Need]:
    needs = []
    if service.run_token and not _is_token_handled(service, case):
        needs.append(_need(_token_trigger(service), f"runToken {service.run_token!r} asks for it"))
    if times.due is not None:
        said = f"due at {shown(times.due)}" + (f"; {times.missed} earlier times were missed" if times.missed else "")
        needs.append(_need(times.due.strftime(_AT), said))
    elif times.last is not None:
        needs.extend(_again(case, times.last))
    return needs


def _again(case: Case, last: datetime) -> list[Need]:
    """The newest scheduled run once more, if it failed and the next is not due yet."""
    tried = case.tried(Action.VALIDATE, last.strftime(_AT))
    if not tried or tried[-1].has_succeeded:
        return []
    return [_need(tried[-1].trigger, f"due at {shown(last)}, and run {tried[-1].name} failed")]


def _need(trigger: str, message: str) -> Need:
    return Need(Action.VALIDATE, trigger, State.PENDING, Reason.SCHEDULED, message)


def _token_trigger(service: TableService) -> str:
    return f"token-{digest(service.run_token or '')}"


def _is_token_handled(service: TableService, case: Case) -> bool:
    """Heeded once: a run for it has succeeded, or nothing more is tried."""
    if case.world.previous.get("lastHandledRunToken") == service.run_token:
        return True
    tried = case.tried(Action.VALIDATE, _token_trigger(service))
    return bool(tried) and (
        tried[-1].has_succeeded or isinstance(next_attempt(tried, case.limits, case.world.now), GiveUp)
    )


def _times(service: TableService, case: Case) -> Times:
    if service.schedule is None:
        return Times()
    schedule, now = Schedule.of(service.schedule, service.time_zone), case.world.now
    last = _last_scheduled(case)
    # A resource that does not say since when it is there has been there for this minute.
    created = service.meta.created_at or now - timedelta(minutes=1)
    found = schedule.due(max(created, last) if last is not None else created, now)
    next_at = schedule.next_after(now)
    if found is None:
        return Times(last, None, next_at)
    if _is_too_late(service, found, now):
        return Times(last, None, next_at, found.earlier + 1)
    return Times(last, found.newest, next_at, found.earlier)


def _is_too_late(service: TableService, due: Due, now: datetime) -> bool:
    deadline = service.starting_deadline_seconds
    return deadline is not None and now > due.newest + timedelta(seconds=deadline)


def _last_scheduled(case: Case) -> datetime | None:
    """The newest minute that a run was started for."""
    triggers = (*(past.trigger for past in case.past), *(run.trigger for run in case.live))
    times = [_minute_of(trigger) for trigger in triggers if trigger.startswith(_SCHEDULED)]
    times.append(parsed(case.world.previous.get("lastScheduleTime")))
    return max((at for at in times if at is not None), default=None)


def _minute_of(trigger: str) -> datetime | None:
    try:
        return datetime.strptime(trigger, _AT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _until(times: Times, case: Case) -> float:
    if times.next is None:
        return LATEST
    return min(LATEST, max(1.0, (times.next - case.world.now).total_seconds()))


def _facts(service: TableService, case: Case, times: Times) -> dict[str, object]:
    previous = case.world.previous
    handled = service.run_token if service.run_token and _is_token_handled(service, case) else None
    succeeded = [past.ended_at for past in case.past if past.reason is Reason.SUCCEEDED]
    remembered = parsed(previous.get("lastSuccessfulTime"))
    newest = max([*succeeded, *([remembered] if remembered else [])], default=None)
    facts: dict[str, object] = {
        "missedRuns": times.missed,
        "lastHandledRunToken": handled or previous.get("lastHandledRunToken", ""),
    }
    known = {"lastScheduleTime": times.last, "nextScheduleTime": times.next, "lastSuccessfulTime": newest}
    return facts | {name: shown(at) for name, at in known.items() if at is not None}


def _last_run(case: Case) -> Said:
    last = case.newest(Action.VALIDATE)
    if last is None:
        return Said(Condition.LAST_RUN_SUCCEEDED, "Unknown", Reason.NEVER_RAN, "no run has ended yet")
    status = "True" if last.reason is Reason.SUCCEEDED else "False"
    return Said(Condition.LAST_RUN_SUCCEEDED, "True" if status == "True" else "False", last.reason, last.message)
