"""What is counted: each thing once, however often it is seen, and nothing of before the operator's start."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hudi_engine.contract import Action, IndexState, JobReport, Outcome, TableUnseen, UnseenReason
from hudi_operator.metrics.counts import Counts, Reconciled
from hudi_operator.metrics.page import Spread
from hudi_operator.metrics.results import Result, result_of
from hudi_operator.names import digest
from hudi_operator.resources.model import IndexType
from hudi_operator.runs import RunPhase
from hudi_operator.words import Kind
from tests.unit.operator.metrics.observed import (
    INDEX,
    NOW,
    ORDERS,
    RECORDS,
    SERVICE,
    building,
    built,
    orders,
    run,
    validated,
)


def number(counts: Counts, name: str, *labels: str) -> float | Spread | None:
    """Of the series whose labels end so."""
    found = [
        value
        for family, series in counts.values().items()
        if family.name == name
        for of_series, value in series.items()
        if of_series[len(of_series) - len(labels) :] == labels
    ]
    assert len(found) <= 1
    return found[0] if found else None


def builds(counts: Counts, result: Result = Result.SUCCEEDED) -> float | Spread | None:
    return number(counts, "hudi_index_builds_total", "RecordIndex", result)


def test_a_run_is_counted_once_however_often_it_is_seen() -> None:
    counts = Counts(started_at=NOW)

    for _ in range(3):
        counts.saw_runs(INDEX, [built()])

    assert builds(counts) == 1
    assert number(counts, "hudi_index_build_rows_total", "RecordIndex") == 100_000


def test_a_new_operator_does_not_count_what_ended_before_it_started() -> None:
    counts = Counts(started_at=NOW + timedelta(seconds=1))

    counts.saw_runs(INDEX, [built()])

    assert builds(counts) is None


def test_a_run_that_a_new_operator_finds_live_is_counted_when_it_ends() -> None:
    counts = Counts(started_at=NOW + timedelta(seconds=1))
    counts.saw_runs(INDEX, [building()])

    counts.saw_runs(INDEX, [built()])

    assert builds(counts) == 1


def test_a_run_that_was_lost_without_a_word_is_counted_if_it_was_seen_live() -> None:
    counts = Counts(started_at=NOW)
    lost = replace(building(), phase=RunPhase.LOST, progress=None)
    counts.saw_runs(INDEX, [building(), replace(lost, name="older")])

    counts.saw_runs(INDEX, [lost])

    assert builds(counts, Result.INFRASTRUCTURE) == 1


def test_a_run_is_not_counted_again_when_its_record_is_forgotten_late() -> None:
    counts = Counts(started_at=NOW)
    counts.saw_runs(INDEX, [built()])
    counts.forget([ORDERS], [built().key])

    counts.saw_runs(INDEX, [built()])

    assert builds(counts) == 1


def test_a_build_that_succeeded_tells_its_stages_and_the_lock() -> None:
    counts = Counts(started_at=NOW)

    counts.saw_runs(INDEX, [built()])

    base = number(counts, "hudi_index_build_duration_seconds", "RecordIndex", "base")
    waits = number(counts, "hudi_table_lock_wait_seconds")
    assert isinstance(base, Spread)
    assert isinstance(waits, Spread)
    assert (base.count, base.sum) == (1, 40.0)
    assert (waits.count, waits.sum) == (4, 1.5)
    assert number(counts, "hudi_table_lock_wait_max_seconds") == 0.9
    assert number(counts, "hudi_table_lock_hold_max_seconds") == 0.09


def test_a_build_that_failed_tells_no_stages() -> None:
    counts = Counts(started_at=NOW)
    failed = JobReport(Outcome.FAILED, exit_code=13, seconds={"base": 3.0})

    counts.saw_runs(INDEX, [replace(built(), report=failed, exit_code=13)])

    assert builds(counts, Result.INFRASTRUCTURE) == 1
    assert number(counts, "hudi_index_build_duration_seconds", "base") is None


def test_a_plan_or_a_drop_is_no_build() -> None:
    counts = Counts(started_at=NOW)

    counts.saw_runs(INDEX, [replace(built(), action=Action.PLAN), replace(built("d"), action=Action.DROP)])

    assert builds(counts) is None


def test_a_run_of_a_service_tells_its_delay_and_its_duration() -> None:
    counts = Counts(started_at=NOW)

    counts.saw_runs(SERVICE, [validated()])

    delay = number(counts, "hudi_service_start_delay_seconds", "Validate")
    took = number(counts, "hudi_service_run_duration_seconds", "Validate")
    assert isinstance(delay, Spread)
    assert isinstance(took, Spread)
    assert (delay.sum, took.sum) == (2.0, 30.0)
    assert number(counts, "hudi_service_runs_total", "Validate", "succeeded", "schedule") == 1
    assert number(counts, "hudi_operator_run_retries_total", "validate") == 1


def test_a_run_for_a_token_is_counted_as_one() -> None:
    counts = Counts(started_at=NOW)

    counts.saw_runs(SERVICE, [replace(validated(), trigger=f"token-{digest('once')}")])

    assert number(counts, "hudi_service_runs_total", "Validate", "succeeded", "token") == 1
    assert number(counts, "hudi_service_runs_total", "Validate", "succeeded", "schedule") is None


def test_a_drop_is_counted_when_it_is_first_seen_and_again_after_the_index_was_back() -> None:
    counts = Counts(started_at=NOW)

    for state in (IndexState.COMPLETE, IndexState.DELETED, IndexState.DELETED, IndexState.COMPLETE, IndexState.DELETED):
        counts.saw_table(ORDERS, orders(state))

    assert number(counts, "hudi_table_metadata_partition_drops_total", "record_index") == 2
    assert number(counts, "hudi_table_metadata_partition_drops_total", "files") == 0


def test_the_drops_of_each_secondary_index_are_counted_by_its_own_name_from_nought() -> None:
    counts = Counts(started_at=NOW)
    by_customer = replace(INDEX, index_type=IndexType.SECONDARY_INDEX, columns=("customer",), index_name="by_customer")

    counts.prepare(by_customer)
    counts.prepare(replace(by_customer, index_name="by_date"))

    for name in ("secondary_index_by_customer", "secondary_index_by_date"):
        assert number(counts, "hudi_table_metadata_partition_drops_total", name) == 0
    assert number(counts, "hudi_index_builds_total", "SecondaryIndex", Result.SUCCEEDED) == 0


def test_a_drop_that_the_first_look_finds_is_not_counted() -> None:
    counts = Counts(started_at=NOW)

    counts.saw_table(ORDERS, orders(IndexState.DELETED))

    assert number(counts, "hudi_table_metadata_partition_drops_total", "record_index") == 0


def test_a_drop_is_seen_across_a_look_that_failed() -> None:
    counts = Counts(started_at=NOW)
    counts.saw_table(ORDERS, orders(IndexState.COMPLETE))

    counts.saw_table(ORDERS, TableUnseen(UnseenReason.TIMED_OUT, "", retry=True, observed_ms=1))
    counts.saw_table(ORDERS, orders(IndexState.DELETED))

    assert number(counts, "hudi_table_metadata_partition_drops_total", "record_index") == 1
    assert number(counts, "hudi_table_observe_failures_total", "timed_out") == 1
    assert number(counts, "hudi_table_observations_total") == 3


def test_a_histogram_counts_a_value_at_a_bound_below_it() -> None:
    counts = Counts(started_at=NOW)

    for seconds in (0.005, 0.006, 99.0):
        counts.reconciled(Kind.TABLE, Reconciled.REQUEUE, seconds, NOW)

    spread = number(counts, "hudi_operator_reconcile_duration_seconds", "HudiTable")
    assert isinstance(spread, Spread)
    assert spread.in_buckets == [1, 1, 0, 0, 0, 0, 0, 0, 1]


def test_a_watch_is_a_request_without_a_duration() -> None:
    counts = Counts(started_at=NOW)

    counts.requested("watch", "jobs", "200", None)

    assert number(counts, "hudi_operator_api_requests_total", "watch", "jobs", "200") == 1
    assert number(counts, "hudi_operator_api_request_duration_seconds", "watch", "jobs") is None


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_result(outcome: Outcome) -> None:
    ended = run("r", RECORDS, Action.BUILD, report=JobReport(outcome), exit_code=0)

    assert result_of(ended) in set(Result)


@pytest.mark.parametrize(
    ("exit_code", "result"),
    [
        (0, Result.SUCCEEDED),
        (1, Result.INTERNAL),
        (12, Result.CONFIGURATION),
        (21, Result.CONTENTION),
        (137, Result.INFRASTRUCTURE),
        (143, Result.INFRASTRUCTURE),
        (None, Result.INFRASTRUCTURE),
    ],
)
def test_without_a_report_the_exit_code_tells(exit_code: int | None, result: Result) -> None:
    assert result_of(run("r", RECORDS, Action.BUILD, exit_code=exit_code)) is result
