"""The page of metrics: only what is known, and nothing of what is gone."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_open
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse

from hudi_engine.contract import Action, IndexState, TableUnseen, UnseenReason
from hudi_operator.metrics import Counts, Reconciled, TableCollector
from hudi_operator.metrics.families import FAMILIES, Family
from hudi_operator.runs import RunPhase
from hudi_operator.words import Kind
from tests.unit.operator.metrics import observed
from tests.unit.operator.metrics.observed import (
    INDEX,
    NOW,
    ORDERS,
    RECORDS,
    SERVICE,
    Store,
    built,
    everything,
    keyed,
    run,
)

ORDERS_LABELS = {"resource_namespace": "shop", "table": "orders"}
INDEX_LABELS = ORDERS_LABELS | {"index": "orders-records", "index_type": "RecordIndex"}
SERVICE_LABELS = ORDERS_LABELS | {"service": "Validate", "name": "orders-nightly"}
DOCUMENT = Path(__file__).parents[4] / "docs" / "metrics.md"


def text_of(store: Store, counts: Counts) -> str:
    return generate_latest(_registry(store, counts)).decode()


def _registry(store: Store, counts: Counts) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(TableCollector(store, counts))
    return registry


def value(text: str, name: str, labels: Mapping[str, str]) -> float | None:
    """Of the one series that has these labels among its own; None if there is no such series."""
    found = [
        sample.value
        for family in parse(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    assert len(found) <= 1
    return found[0] if found else None


def names(text: str) -> set[str]:
    return {sample.name for family in parse(text) for sample in family.samples}


def busy() -> Counts:
    """An operator in whose life everything that is counted has happened."""
    counts = Counts(started_at=NOW)
    counts.leads(is_leader=True)
    counts.reconciled(Kind.INDEX, Reconciled.SUCCESS, 0.01, NOW)
    counts.waited(Kind.INDEX, 0.2)
    counts.queue_is({Kind.INDEX: 1})
    counts.requested("patch", "metadataindexes", "200", 0.004)
    counts.watch_heard("jobs", NOW)
    counts.watch_restarted("jobs", "410")
    counts.saw_table(ORDERS, TableUnseen(UnseenReason.TIMED_OUT, "", retry=True, observed_ms=1))
    counts.saw_runs(INDEX, [built("b-0")])
    counts.saw_runs(SERVICE, [observed.validated()])
    return counts


def test_a_page_of_everything_has_every_family_that_is_declared_and_no_other() -> None:
    store, counts = everything(), busy()
    text_of(store, counts)

    text = text_of(store, counts)

    assert {family.name for family in _registry(store, counts).collect()} == {
        family.name.removesuffix("_total") for family in FAMILIES
    }
    assert {name for name, _ in re.findall(r"# TYPE (\S+) (\w+)", text)} == {family.name for family in FAMILIES}


def test_the_document_lists_every_family_with_its_type_and_labels() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", DOCUMENT.read_text(), re.MULTILINE)

    listed = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}

    assert listed == {family.name: (family.type, family.labels) for family in FAMILIES}
    assert len(rows) == len(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_name_follows_the_rules_of_prometheus(family: Family) -> None:
    assert re.fullmatch(r"hudi_(operator|table|index|service)(_[a-z]+)+", family.name)
    assert (family.type == "counter") == family.name.endswith("_total")
    assert not re.search(r"_(count|sum|bucket|ms|minutes|gauge|counter|histogram)$", family.name)
    assert (family.type == "histogram") == bool(family.buckets)
    assert "timestamp" not in family.name or family.name.endswith("_timestamp_seconds")
    assert family.says.endswith(".")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_no_label_is_one_without_bound_or_one_that_a_scrape_sets(family: Family) -> None:
    unfit = {
        "run",
        "instant",
        "path",
        "base_path",
        "uid",
        "message",
        "reason_text",
        "namespace",
        "job",
        "instance",
        "le",
    }

    assert not unfit & set(family.labels)


def test_both_formats_are_parsed_and_no_series_is_there_twice() -> None:
    registry = _registry(everything(), busy())

    plain = list(parse(generate_latest(registry).decode()))
    opened = list(parse_open(generate_open(registry).decode()))  # type: ignore[no-untyped-call]  # theirs has no types

    for families in (plain, opened):
        series = [(s.name, tuple(sorted(s.labels.items()))) for family in families for s in family.samples]
        assert len(series) == len(set(series)) > 100


def test_what_was_seen_of_a_table_is_shown() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    info = ORDERS_LABELS | {"type": "MERGE_ON_READ", "version": "9", "layout_version": "2"}
    assert value(text, "hudi_table_info", info) == 1
    assert value(text, "hudi_table_last_observed_timestamp_seconds", ORDERS_LABELS) == NOW.timestamp()
    assert value(text, "hudi_table_last_commit_timestamp_seconds", {"action": "clean"}) == 1_777_630_000
    assert value(text, "hudi_table_instants", {"action": "commit", "instant_state": "requested"}) == 1
    assert value(text, "hudi_table_oldest_heartbeat_timestamp_seconds", ORDERS_LABELS) == 1_777_636_790


def test_of_several_pending_instants_of_an_action_the_oldest_is_shown() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    assert value(text, "hudi_table_oldest_pending_instant_timestamp_seconds", {"action": "commit"}) == 1_777_626_000
    assert value(text, "hudi_table_oldest_pending_instant_timestamp_seconds", {"action": "indexing"}) == 1_777_629_600


def test_a_metadata_partition_is_in_exactly_one_state() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    states = {
        state: value(text, "hudi_table_metadata_partition", {"partition": "record_index", "partition_state": state})
        for state in IndexState
    }
    assert states == {state: 1 if state is IndexState.IN_FLIGHT else None for state in IndexState}


def test_how_far_a_build_is_and_how_far_behind_the_index_is_shown() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    assert value(text, "hudi_index_ready", INDEX_LABELS) == 0
    assert value(text, "hudi_index_build_progress_ratio", INDEX_LABELS) == 0.25
    assert value(text, "hudi_index_build_phase", INDEX_LABELS | {"phase": "base"}) == 1
    assert value(text, "hudi_index_build_phase_rows", INDEX_LABELS) == 40_000
    assert value(text, "hudi_index_lag_instants", INDEX_LABELS) == 3
    assert value(text, "hudi_index_lag_seconds", INDEX_LABELS) == 1740.5


def test_a_build_that_tells_no_progress_has_the_phase_that_the_status_tells() -> None:
    store = everything()
    store.runs = keyed(replace(observed.building(), progress=None))
    for phase in ("catch-up", "made up"):
        store.put(INDEX, "Building", "False", progress={"phase": phase})
        found = text_of(store, Counts(started_at=NOW))
        assert ('phase="catch-up"' in found) is (phase == "catch-up")
        assert 'phase="made up"' not in found
        assert "hudi_index_build_progress_ratio" not in names(found)


def test_an_index_without_a_build_has_no_progress() -> None:
    store = everything()
    store.runs = keyed(built())

    text = text_of(store, Counts(started_at=NOW))

    assert not {name for name in names(text) if name.startswith("hudi_index_build_p")}


def test_an_index_that_is_absent_has_no_lag() -> None:
    store = everything()
    store.seen[ORDERS] = observed.orders(IndexState.ABSENT)

    assert "hudi_index_lag_seconds" not in names(text_of(store, Counts(started_at=NOW)))


def test_a_table_that_could_not_be_seen_has_no_figures_of_before() -> None:
    store = everything()
    store.seen[ORDERS] = TableUnseen(UnseenReason.STORAGE_UNAVAILABLE, "", retry=True, observed_ms=1)

    shown = names(text_of(store, Counts(started_at=NOW)))

    assert not {"hudi_table_info", "hudi_table_instants", "hudi_index_lag_seconds"} & shown
    assert "hudi_index_ready" in shown


def test_a_service_shows_its_last_success_and_when_it_runs_next() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    assert value(text, "hudi_service_active_runs", SERVICE_LABELS) == 0
    assert value(text, "hudi_service_last_run_timestamp_seconds", SERVICE_LABELS) == NOW.timestamp()
    assert value(text, "hudi_service_last_success_timestamp_seconds", SERVICE_LABELS) == 1_777_604_400
    assert value(text, "hudi_service_next_schedule_timestamp_seconds", SERVICE_LABELS) == 1_777_690_800


def test_a_service_that_never_succeeded_has_no_time_of_success() -> None:
    store = everything()
    store.put(SERVICE, "Idle", "True")

    assert "hudi_service_last_success_timestamp_seconds" not in names(text_of(store, Counts(started_at=NOW)))


def test_each_condition_has_one_status() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    labels = {"kind": "MetadataIndex", "name": "orders-records", "condition": "Ready"}
    statuses = [
        value(text, "hudi_operator_resource_condition", labels | {"status": s}) for s in ("True", "False", "Unknown")
    ]
    assert statuses == [None, 1, None]


def test_states_are_counted_and_those_without_a_resource_are_0() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    labels = {"resource_namespace": "shop", "kind": "MetadataIndex"}
    assert value(text, "hudi_operator_resources", labels | {"state": "Building"}) == 1
    assert value(text, "hudi_operator_resources", labels | {"state": "Failed"}) == 0


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"state": 7, "conditions": "none"},
        {"state": "Asleep", "conditions": [7, {"type": ["Ready"], "status": {}}, {"type": "Ready", "status": "Maybe"}]},
        {"nextScheduleTime": "soon", "lastSuccessfulTime": "2026-05-01T03:00:00"},
    ],
)
def test_a_status_that_somebody_else_wrote_breaks_no_page(status: Mapping[str, object]) -> None:
    store = everything()
    for ref in (ORDERS, RECORDS, SERVICE.meta.ref):
        store.resources[ref] = observed.Held(store.resources[ref].resource, status)

    shown = names(text_of(store, Counts(started_at=NOW)))

    assert "hudi_index_ready" not in shown
    assert "hudi_service_next_schedule_timestamp_seconds" not in shown
    assert "hudi_table_info" in shown


def test_the_series_of_a_table_go_with_its_resource() -> None:
    store, counts = everything(), busy()
    text_of(store, counts)
    del store.resources[ORDERS]

    text = text_of(store, counts)

    gone = {"hudi_table_info", "hudi_table_observe_failures_total", "hudi_table_lock_wait_seconds_sum"}
    assert not gone & names(text)
    assert "hudi_index_builds_total" not in names(text)
    assert value(text, "hudi_operator_reconciles_total", {"kind": "MetadataIndex", "result": "success"}) == 1


def test_a_page_shows_no_value_of_a_secret_and_no_path() -> None:
    text = text_of(everything(), busy())

    assert "s3://" not in text
    assert "uid" not in text


def test_counters_are_there_at_0_before_anything_is_counted() -> None:
    text = text_of(everything(), Counts(started_at=NOW))

    assert value(text, "hudi_table_metadata_partition_drops_total", {"partition": "record_index"}) == 0
    assert value(text, "hudi_index_builds_total", {"result": "internal"}) == 0
    assert value(text, "hudi_service_runs_total", {"result": "invalid", "trigger": "schedule"}) == 0
    assert value(text, "hudi_operator_reconciles_total", {"kind": "HudiTable", "result": "error"}) == 0


def test_a_run_of_an_action_that_is_no_build_shows_no_progress_of_one() -> None:
    store = everything()
    dropping = run("d-1", RECORDS, Action.DROP, phase=RunPhase.RUNNING, progress=observed.building().progress)
    store.runs = keyed(dropping)

    assert "hudi_index_build_phase" not in names(text_of(store, Counts(started_at=NOW)))
