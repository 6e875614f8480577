from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hudi_engine.contract import Action, IndexState, JobRequest, RunProgress, TableUnseen, UnseenReason
from hudi_operator.decision import Defaults
from hudi_operator.reconcile.store import Store
from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    Execution,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    Ref,
)
from hudi_operator.runs import RunKey, RunOrder, RunPhase, RunSeen
from hudi_operator.words import Kind
from tests.unit.operator.reconcile.around import seen

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
ORDERS, RECORDS = Ref(Kind.TABLE, "shop", "orders"), Ref(Kind.INDEX, "shop", "orders-records")
TABLE = HudiTable(Meta(ORDERS, "uid-1"), "s3://lake/orders", None, Concurrency(ConcurrencyMode.SINGLE_WRITER))
INDEX = MetadataIndex(Meta(RECORDS, "uid-2"), "orders", IndexType.RECORD_INDEX)
ORDER = RunOrder(
    name="orders-records-1",
    owner=RECORDS,
    owner_uid="uid-2",
    table="orders",
    trigger="build-1",
    attempt=1,
    request=JobRequest("s3://lake/orders", Action.BUILD, kinds=("record_index",)),
    execution=Execution(),
)


def filled() -> Store:
    store = Store()
    store.put(TABLE, {})
    store.put(INDEX, {"state": "Pending"})
    return store


def versioned(version: str) -> HudiTable:
    return replace(TABLE, meta=replace(TABLE.meta, resource_version=version))


def run_of(name: str, phase: RunPhase, created_at: datetime = NOW) -> RunSeen:
    return RunSeen(name, RECORDS, "uid-2", "orders", Action.BUILD, "build-1", 1, phase, created_at)


def test_a_new_version_of_the_same_wish_is_no_news() -> None:
    store = filled()

    assert not store.put(versioned("7"), {})
    assert store.resources[ORDERS].resource.meta.resource_version == "7"


def test_another_wish_or_a_status_that_somebody_else_wrote_is_news() -> None:
    store = filled()

    assert store.put(replace(TABLE, suspend=True), {})
    assert store.put(replace(TABLE, suspend=True), {"state": "Made up"})


def test_another_resource_of_the_same_name_has_nothing_of_the_first() -> None:
    store = filled()
    store.note_seen(ORDERS, TableUnseen(UnseenReason.NOT_FOUND, "gone", retry=True, observed_ms=1))

    store.put(replace(TABLE, meta=Meta(ORDERS, "uid-9"), base_path="s3://lake/other"), {})

    assert store.seen == {}
    assert store.of_table(ORDERS) == {ORDERS, RECORDS}


def test_the_world_has_own_runs_apart_from_those_of_the_tables_other_resources() -> None:
    store = filled()
    own = run_of("own", RunPhase.RUNNING)
    foreign = replace(own, name="foreign", owner_uid="uid-of-one-before")
    elsewhere = replace(own, name="elsewhere", table="customers", owner_uid="uid-7")
    store.replace_runs([own, foreign, elsewhere], NOW)

    world = store.world(store.resources[RECORDS], NOW, Defaults())

    assert world.runs == (own,)
    assert world.others == (foreign,)
    assert world.table == TABLE


def test_a_run_that_outlives_its_table_is_seen_by_the_next_table_in_its_place() -> None:
    store = filled()
    begun = replace(run_of("a", RunPhase.RUNNING), table="older", owner_uid="uid-7", base_path="s3a://lake/orders/")
    elsewhere = replace(begun, name="b", base_path="s3a://lake/customers")
    store.replace_runs([begun, elsewhere], NOW)

    assert store.world(store.resources[RECORDS], NOW, Defaults()).others == (begun,)

    store.replace_runs([replace(begun, phase=RunPhase.ENDED), elsewhere], NOW)
    assert store.world(store.resources[RECORDS], NOW, Defaults()).others == ()


def test_a_run_that_was_ordered_is_known_to_be_where_its_table_is() -> None:
    store = filled()
    store.note_ordered(ORDER, NOW)

    assert store.runs[ORDER.key].base_path == "s3://lake/orders"


def test_the_neighbours_are_the_tables_others_and_the_tables_in_the_same_place_with_their_statuses() -> None:
    store = filled()
    twin = HudiTable(Meta(Ref(Kind.TABLE, "else", "twin"), "uid-8"), "s3://lake/orders/", None, TABLE.concurrency)
    store.put(twin, {"state": "Ready"})
    for ref in (ORDERS, twin.meta.ref):
        store.note_seen(ref, seen(IndexState.ABSENT))

    world = store.world(store.resources[RECORDS], NOW, Defaults())

    assert world.neighbours == (TABLE, twin)
    assert world.statuses == {ORDERS: {}, twin.meta.ref: {"state": "Ready"}}


@pytest.mark.parametrize("path", ["s3://lake/orders", "s3a://lake/orders", "s3n://lake//orders/"])
def test_a_table_in_the_same_place_is_told_of_a_change_of_its_twin_however_it_spells_it(path: str) -> None:
    store = filled()
    twin = HudiTable(Meta(Ref(Kind.TABLE, "else", "twin"), "uid-8"), path, None, TABLE.concurrency)
    store.put(twin, {})
    for ref in (ORDERS, twin.meta.ref):
        store.note_seen(ref, seen(IndexState.ABSENT))

    assert store.related(twin.meta.ref) == {twin.meta.ref, ORDERS, RECORDS}
    assert store.exclusion_key(twin.meta.ref) == store.exclusion_key(RECORDS)
    assert store.world(store.resources[ORDERS], NOW, Defaults()).neighbours == (INDEX, twin)


def test_a_run_that_was_ordered_after_a_listing_began_is_not_lost_by_it() -> None:
    store = filled()
    store.note_ordered(ORDER, NOW)

    store.replace_runs([], listed_at=NOW - timedelta(seconds=1))

    assert store.live_tables() == {ORDERS}


def test_a_run_that_is_in_no_later_listing_is_gone() -> None:
    store = filled()
    store.note_ordered(ORDER, NOW)

    changed = store.replace_runs([], listed_at=NOW + timedelta(seconds=1))

    assert store.live_tables() == frozenset()
    assert changed == {ORDERS}


def test_a_listing_that_says_what_is_known_changes_nothing() -> None:
    store = filled()
    store.replace_runs([run_of("a", RunPhase.RUNNING)], NOW)

    assert store.replace_runs([run_of("a", RunPhase.RUNNING)], NOW) == frozenset()


def test_runs_of_a_resource_that_was_replaced_are_left_over() -> None:
    store = filled()
    old = replace(run_of("old", RunPhase.RUNNING), owner_uid="uid-of-one-before")
    store.replace_runs([old, run_of("new", RunPhase.RUNNING)], NOW)

    assert store.leftovers(RECORDS) == [old]

    store.remove(RECORDS)
    assert {run.name for run in store.leftovers(RECORDS)} == {"old", "new"}


def test_a_removed_table_leaves_its_indexes_and_nothing_that_was_seen_of_it() -> None:
    store = filled()
    store.note_seen(ORDERS, TableUnseen(UnseenReason.NOT_FOUND, "gone", retry=True, observed_ms=1))

    store.remove(ORDERS)

    assert store.of_table(ORDERS) == {RECORDS}
    assert store.seen == {}
    assert store.world(store.resources[RECORDS], NOW, Defaults()).table is None


def test_a_run_that_was_told_to_stop_is_stopping_before_any_listing_says_so() -> None:
    store = filled()
    store.replace_runs([run_of("a", RunPhase.RUNNING)], NOW)

    store.note_stopping(RunKey("shop", "a", "uid-2"))

    assert store.runs[RunKey("shop", "a", "uid-2")].is_stopping


def test_a_run_that_only_went_on_is_not_another() -> None:
    store = filled()
    store.replace_runs([run_of("a", RunPhase.RUNNING)], NOW)
    progress = RunProgress(phase="base", done=1, total=2, rows=3, said="", updated_ms=4, percent=50.0)

    changed = store.replace_runs([replace(run_of("a", RunPhase.RUNNING), progress=progress)], NOW)

    assert changed == frozenset()
    assert store.runs[RunKey("shop", "a", "uid-2")].progress == progress
