"""What `kubectl hudi status` and `plan` print."""

from hudi_operator.plugin.documents import Document, grouped
from hudi_operator.plugin.picture import plan_lines, status_lines
from tests.unit.operator.plugin.documents_of_tests import AWAITING, NOW, PLAN, condition, index, service, table


def _status(*documents: Document) -> str:
    return "\n".join(status_lines(grouped(documents), NOW))


def test_a_table_that_is_well_takes_one_line_and_its_path() -> None:
    timeline = {"latestCompletedTime": "2026-01-31T11:59:48Z", "pendingInstants": 2}

    lines = _status(table(table={"type": "MERGE_ON_READ", "version": 9}, timeline=timeline)).splitlines()

    assert lines == [
        "lake/orders   Ready · MERGE_ON_READ, version 9 · last commit 12 s ago · 2 pending",
        "  s3a://lake/orders",
    ]


def test_a_build_shows_its_progress_attempt_and_lag() -> None:
    shown = _status(
        table(),
        index(
            state="Building",
            conditions=[condition("Ready", "False", "Building", "a run is at it")],
            activeRuns=[{"name": "orders-by-key-0123456789", "action": "build", "attempt": 2}],
            progress={"phase": "base", "percent": 60, "summary": "base 3 of 5"},
            instants={"lagInstants": 3, "lagSeconds": 72},
        ),
    )

    assert "index  orders-by-key  RecordIndex  Building  ████████████░░░░░░░░ 60% base 3 of 5 attempt 2" in shown
    assert "3 instants behind, 1 min 12 s" in shown
    assert "!" not in shown


def test_an_index_of_columns_shows_the_first_three_of_them() -> None:
    secondary = index({"indexType": "SecondaryIndex", "columns": ["customer"]})
    stats = index({"indexType": "ColumnStats", "columns": ["a", "b", "c", "d"]})

    assert "index  orders-by-key  SecondaryIndex(customer)  Ready" in _status(table(), secondary)
    assert "index  orders-by-key  ColumnStats(a, b, c, …)  Ready" in _status(table(), stats)


def test_an_index_that_waits_for_another_is_shown_with_what_to_do() -> None:
    why = "secondary_index_by_customer needs record_index to be complete, and that is absent"
    waiting = condition("Ready", "False", "DependencyNotReady", why)

    shown = _status(table(), index(state="Pending", conditions=[waiting]))

    assert f"! orders-by-key: Ready=False, DependencyNotReady: {why}" in shown
    assert "→ the index that the message names must be complete first" in shown


def test_an_index_that_a_writer_dropped_is_shown_with_what_to_do() -> None:
    dropped = condition("Ready", "False", "DroppedByWriter", "deleted after 20260131115900000")

    shown = _status(table(), index(state="Degraded", conditions=[dropped]))

    assert "! orders-by-key: Ready=False, DroppedByWriter: deleted after 20260131115900000" in shown
    assert "→ set the properties of the ConfigMap orders-writer on every writer of the table" in shown


def test_one_reason_in_several_conditions_is_told_once() -> None:
    claims = [condition("Ready", "False", "RetriesExhausted"), condition("Stalled", "True", "RetriesExhausted")]

    assert _status(table(), index(conditions=claims)).count("RetriesExhausted") == 1


def test_a_service_shows_its_last_and_its_next_run() -> None:
    last = {"name": "orders-check-0123456789", "outcome": "valid", "completionTime": "2026-01-31T11:00:00Z"}

    shown = _status(table(), service(lastRun=last, nextScheduleTime="2026-01-31T14:30:00Z", missedRuns=1))

    assert "service  orders-check  Validate  Idle  last valid 1 h ago, next in 2 h 30 min, 1 missed" in shown


def test_what_nobody_has_looked_at_yet_says_so() -> None:
    shown = _status(table(state=""), index(state=""))

    assert "lake/orders   not looked at yet" in shown


def test_an_index_of_a_table_that_is_not_there_is_shown_below_its_name() -> None:
    shown = _status(index())

    assert shown.splitlines()[0] == "lake/orders   there is no such HudiTable"
    assert "orders-by-key" in shown


def test_a_plan_that_waits_shows_its_figures_its_hash_and_how_to_approve_it() -> None:
    shown = "\n".join(plan_lines(index({"approval": "Manual"}, plan=PLAN, conditions=AWAITING), NOW))

    assert "keys      5,000,000 in 10 shards" in shown
    assert "bytes     535.0 MiB to read, 93.0 MiB to write, 2.0 GiB of memory" in shown
    assert "time      about 1 min 15 s" in shown
    assert "planned   2 min ago" in shown
    assert "waits for: kubectl hudi approve orders-by-key --hash 3f9a1c0b2d" in shown


def test_an_index_without_a_plan_says_so() -> None:
    shown = "\n".join(plan_lines(index(), NOW))

    assert "no plan" in shown
    assert "approve" not in shown


def test_a_status_of_other_types_than_ours_is_shown_as_if_it_were_not_there() -> None:
    odd = table(table="x", timeline=[1], conditions={"type": "Ready"})

    assert _status(odd).startswith("lake/orders   Ready\n")
