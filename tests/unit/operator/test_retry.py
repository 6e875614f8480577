"""How runs ended, and when they are tried again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hudi_engine import errors
from hudi_engine.contract import Action, JobReport, Outcome
from hudi_operator.decision import Defaults
from hudi_operator.resources.model import Execution, Ref, Retry
from hudi_operator.retry import BackOff, FailureClass, GiveUp, Go, Limits, Past, class_of, ending_of, next_attempt
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Kind, Reason

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
RUN = RunSeen(
    name="x",
    owner=Ref(Kind.INDEX, "lake", "by-key"),
    owner_uid="u",
    table="orders",
    action=Action.BUILD,
    trigger="g1.1",
    attempt=1,
    phase=RunPhase.ENDED,
    created_at=NOW,
    ended_at=NOW,
)
LIMITS = Limits(5, 10, 600)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (replace(RUN, exit_code=0), Reason.SUCCEEDED),
        (replace(RUN, exit_code=3), Reason.SUCCEEDED),
        (replace(RUN, exit_code=0, action=Action.PLAN), Reason.INTERNAL),
        (replace(RUN, exit_code=0, action=Action.VALIDATE), Reason.INTERNAL),
        (replace(RUN, report=JobReport(Outcome.READY)), Reason.SUCCEEDED),
        (replace(RUN, report=JobReport(Outcome.UNCHANGED)), Reason.SUCCEEDED),
        (replace(RUN, report=JobReport(Outcome.UNCHANGED), action=Action.PLAN), Reason.SUCCEEDED),
        (replace(RUN, report=JobReport(Outcome.SKIPPED, 3)), Reason.SUCCEEDED),
        (replace(RUN, report=JobReport(Outcome.DROPPED)), Reason.SUCCEEDED),
        (replace(RUN, report=JobReport(Outcome.UNDONE)), Reason.SUCCEEDED),
        (replace(RUN, report=JobReport(Outcome.UNDONE, 24)), Reason.CONTENTION),
        (replace(RUN, report=JobReport(Outcome.INVALID, 1)), Reason.INVALID),
        (replace(RUN, report=JobReport(Outcome.PLAN_CHANGED, 26)), Reason.PLAN_CHANGED),
        (replace(RUN, exit_code=26), Reason.PLAN_CHANGED),
        (replace(RUN, report=JobReport(Outcome.READY), trouble_reason="DeadlineExceeded"), Reason.SUCCEEDED),
        (
            replace(RUN, report=JobReport(Outcome.INTERRUPTED, 143), trouble_reason="DeadlineExceeded"),
            Reason.DEADLINE_EXCEEDED,
        ),
        (replace(RUN, report=JobReport(Outcome.INTERRUPTED, 143)), Reason.INFRASTRUCTURE),
        (replace(RUN, report=JobReport(Outcome.BUSY, 21)), Reason.CONTENTION),
        (replace(RUN, report=JobReport(Outcome.TIMED_OUT, 25)), Reason.CONTENTION),
        (replace(RUN, report=JobReport(Outcome.FAILED, 70)), Reason.INTERNAL),
        (replace(RUN, exit_code=1), Reason.INTERNAL),
        (replace(RUN, exit_code=137), Reason.INFRASTRUCTURE),
        (replace(RUN, exit_code=137, trouble_reason="OOMKilled"), Reason.OUT_OF_MEMORY),
        (replace(RUN, exit_code=137, trouble_reason="Killed"), Reason.OUT_OF_MEMORY),
        (replace(RUN, exit_code=137, is_stopping=True), Reason.INFRASTRUCTURE),
        (replace(RUN, exit_code=137, trouble_reason="DeadlineExceeded"), Reason.DEADLINE_EXCEEDED),
        (replace(RUN, phase=RunPhase.LOST), Reason.INFRASTRUCTURE),
        (replace(RUN, phase=RunPhase.LOST, trouble_reason="Evicted"), Reason.EVICTED),
        (replace(RUN, phase=RunPhase.LOST, trouble_reason="NodeLost"), Reason.NODE_LOST),
        (replace(RUN, report=JobReport(Outcome.INTERRUPTED, 143), trouble_reason="Preempted"), Reason.PREEMPTED),
        (replace(RUN, phase=RunPhase.LOST, trouble_reason="OutOfDisk"), Reason.OUT_OF_DISK),
        (replace(RUN, phase=RunPhase.LOST, trouble_reason="ErrImagePull"), Reason.IMAGE_PULL_FAILED),
        (replace(RUN, phase=RunPhase.LOST, trouble_reason="Unschedulable"), Reason.UNSCHEDULABLE),
        (replace(RUN, phase=RunPhase.LOST, trouble_reason="OOMKilled"), Reason.OUT_OF_MEMORY),
    ],
    ids=str,
)
def test_how_a_run_ended_is_one_word(run: RunSeen, reason: Reason) -> None:
    assert ending_of(run)[0] is reason


def _leaves(root: type[errors.EngineError]) -> list[type[errors.EngineError]]:
    return [leaf for child in root.__subclasses__() for leaf in _leaves(child)] or [root]


@pytest.mark.parametrize("error", _leaves(errors.EngineError), ids=lambda error: error.__name__)
def test_what_the_engine_calls_worth_another_try_is_tried_again(error: type[errors.EngineError]) -> None:
    reason, _ = ending_of(replace(RUN, exit_code=error.exit_code))
    is_given_up = class_of(reason) in (FailureClass.CONFIGURATION, FailureClass.INTERNAL)

    assert not (error.retry and is_given_up)
    assert class_of(reason) is not FailureClass.INTERNAL


def past(attempt: int, reason: Reason, ended_at: datetime = NOW) -> Past:
    return Past(f"run-{attempt}", Action.BUILD, "g1.1", attempt, reason, "said", None, ended_at)


def test_the_time_to_wait_doubles_and_has_an_end() -> None:
    waits = [LIMITS.delay(failures, "same").total_seconds() for failures in range(1, 12)]

    assert 7.5 <= waits[0] <= 10
    assert waits[3] == pytest.approx(8 * waits[0])
    assert max(waits) <= 600
    assert waits[-1] == waits[-2]


def test_the_time_to_wait_is_the_same_for_a_run_and_not_for_all_runs() -> None:
    waits = {LIMITS.delay(4, f"run-{number}") for number in range(50)}

    assert LIMITS.delay(4, "run-1") in waits
    assert len(waits) > 40


def test_no_limit_is_exceeded_by_huge_counts() -> None:
    assert LIMITS.delay(10**9, "x") <= timedelta(seconds=600)


def test_the_nearer_limit_counts() -> None:
    execution = Execution(retry=Retry(limit=0, max_backoff_seconds=7))

    assert Limits.of(execution, Defaults()) == Limits(0, Defaults().backoff_seconds, 7)


def test_an_attempt_begins_exactly_when_the_time_is_over() -> None:
    failed = past(1, Reason.INFRASTRUCTURE)
    until = failed.ended_at + LIMITS.delay(1, failed.name)

    before = next_attempt([failed], LIMITS, until - timedelta(milliseconds=1))
    then = next_attempt([failed], LIMITS, until)

    assert (type(before).__name__, type(then).__name__) == ("BackOff", "Go")


@pytest.mark.parametrize("reason", [Reason.BAD_CONFIGURATION, Reason.OUT_OF_MEMORY, Reason.INTERNAL])
def test_what_failed_with_others_is_tried_alone_and_counts_for_nothing_then(reason: Reason) -> None:
    strict, later = Limits(0, 10, 600), NOW + timedelta(hours=1)
    together = replace(past(1, reason), is_shared=True)
    alone = past(2, Reason.INFRASTRUCTURE)

    follows = [next_attempt(tried, strict, later) for tried in ([together], [together, alone])]
    waits = next_attempt([together], strict, NOW)

    assert follows[0] == Go(2)
    assert follows[1] == GiveUp(Reason.RETRIES_EXHAUSTED, "1 failures, the last one Infrastructure: said")
    assert isinstance(waits, BackOff)
    assert waits.failures == 1


def test_a_run_that_ended_in_the_future_is_waited_for() -> None:
    failed = past(1, Reason.INFRASTRUCTURE, NOW + timedelta(hours=1))

    assert type(next_attempt([failed], LIMITS, NOW)).__name__ == "BackOff"


@pytest.mark.parametrize("reason", [Reason.EVICTED, Reason.PREEMPTED, Reason.NODE_LOST])
def test_what_the_cluster_ends_is_tried_for_ever_and_reported_after_the_limit(reason: Reason) -> None:
    strict, many = Limits(3, 10, 600), [past(number, reason) for number in range(1, 21)]

    waits = [next_attempt(many[:count], strict, NOW) for count in (3, 4, 20)]
    goes = next_attempt(many, strict, NOW + timedelta(hours=1))

    assert [wait.is_stalled for wait in waits if isinstance(wait, BackOff)] == [False, True, True]
    assert goes == Go(21)


def test_what_the_cluster_ends_does_not_count_as_a_failure_of_the_run() -> None:
    strict, later = Limits(1, 10, 600), NOW + timedelta(hours=1)
    tried = [past(1, Reason.INTERNAL), past(2, Reason.EVICTED), past(3, Reason.INTERNAL)]

    assert next_attempt(tried, strict, later) == Go(4)


@pytest.mark.parametrize("reason", [Reason.OUT_OF_MEMORY, Reason.OUT_OF_DISK])
def test_a_run_that_is_short_of_room_is_tried_once_more(reason: Reason) -> None:
    later = NOW + timedelta(hours=1)

    follows = [
        next_attempt([past(number, reason) for number in range(1, count + 1)], LIMITS, later) for count in (1, 2)
    ]

    assert follows[0] == Go(2)
    assert isinstance(follows[1], GiveUp)
    assert follows[1].reason is reason


def test_an_eviction_between_two_failures_for_memory_lets_the_run_be_tried_again() -> None:
    tried = [past(1, Reason.OUT_OF_MEMORY), past(2, Reason.EVICTED), past(3, Reason.OUT_OF_MEMORY)]

    assert next_attempt(tried, LIMITS, NOW + timedelta(hours=1)) == Go(4)
