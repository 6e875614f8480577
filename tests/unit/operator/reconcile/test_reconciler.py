import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from hudi_engine.contract import Action, IndexState
from hudi_operator.launch.protocol import NameConflict, NotStarted
from hudi_operator.names import FINALIZER
from hudi_operator.reconcile import Gone, HomeError
from hudi_operator.resources.model import DeletionPolicy, IndexType, Meta, Ref
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Kind
from tests.unit.operator.reconcile.around import INDEX, NOW, ORDERS, RECORDS, TABLE, Scene, seen


def step(scene: Scene, ref: Ref) -> float | None:
    return asyncio.run(scene.reconciler.reconcile(ref))


def ready_to_build() -> Scene:
    """The table was reconciled, and the build of its index is what comes next."""
    scene = Scene.of(TABLE, INDEX)
    step(scene, ORDERS)
    scene.around.said.clear()
    return scene


def test_what_is_about_to_be_started_is_in_the_status_before_it_is_started() -> None:
    scene = ready_to_build()

    again = step(scene, RECORDS)

    assert scene.around.said == ["status of orders-records", "start build"]
    assert scene.around.statuses[RECORDS]["activeRuns"][0]["name"] == scene.around.ordered[0].name
    assert again == 0


def test_a_run_that_was_ordered_is_not_ordered_again_before_it_is_seen() -> None:
    scene = ready_to_build()

    step(scene, RECORDS)
    step(scene, RECORDS)

    assert scene.around.said.count("start build") == 1


def test_a_run_whose_record_is_removed_at_once_is_not_ordered_again_at_once() -> None:
    scene = ready_to_build()
    starts = []

    for seconds in range(120):
        scene.around.now = NOW + timedelta(seconds=seconds)
        scene.store.note_seen(ORDERS, seen(IndexState.ABSENT, scene.around.now))
        step(scene, RECORDS)
        step(scene, RECORDS)
        scene.store.replace_runs([], scene.around.now + timedelta(microseconds=1))
        starts = [order.attempt for order in scene.around.ordered]

    assert starts == [1, 2, 3, 4]
    history = scene.around.statuses[RECORDS]["history"]
    assert [entry["phase"] for entry in history] == ["Lost"] * 4


def test_a_run_that_was_announced_and_never_ordered_is_the_first_attempt_still() -> None:
    scene = ready_to_build()
    scene.around.start_fails = HomeError("no answer")
    with pytest.raises(HomeError):
        step(scene, RECORDS)

    scene.around.start_fails = None
    step(scene, RECORDS)

    assert [order.attempt for order in scene.around.ordered] == [1]


def test_a_status_that_stands_there_is_not_written_again() -> None:
    scene = ready_to_build()

    step(scene, ORDERS)
    step(scene, ORDERS)

    assert scene.around.said == []


def test_a_name_that_is_taken_is_said_and_said_no_more_often_than_once() -> None:
    scene = ready_to_build()
    scene.around.start_fails = NameConflict("the Job orders-records-1 is somebody else's")

    again = step(scene, RECORDS)

    assert again == 30
    assert scene.conditions(RECORDS)["Stalled"] == ("True", "NameConflict")
    assert scene.conditions(RECORDS)["Reconciling"] == ("False", "NameConflict")
    told = len(scene.around.events)
    scene.around.said.clear()
    step(scene, RECORDS)
    assert scene.around.said == ["start build"]
    assert len(scene.around.events) == told


def test_what_cannot_be_started_holds_up_no_other_resource_of_its_table() -> None:
    listing = replace(INDEX, meta=Meta(Ref(Kind.INDEX, "shop", "listing"), "uid-3"), index_type=IndexType.FILES)
    scene = Scene.of(TABLE, listing, INDEX)
    scene.store.note_seen(ORDERS, replace(seen(IndexState.ABSENT), indexes=()))
    step(scene, ORDERS)
    scene.around.start_fails = NotStarted("exceeded quota")
    step(scene, listing.meta.ref)

    scene.around.start_fails = None
    step(scene, RECORDS)
    assert [order.owner for order in scene.around.ordered] == [RECORDS]

    step(scene, listing.meta.ref)
    assert scene.conditions(listing.meta.ref)["Ready"] == ("False", "TableBusy")


def test_what_could_not_be_started_is_started_once_it_can_be() -> None:
    scene = ready_to_build()
    scene.around.start_fails = NotStarted("the Secret shop/keys does not exist")
    step(scene, RECORDS)
    assert scene.conditions(RECORDS)["Stalled"] == ("True", "Infrastructure")

    scene.around.start_fails = None
    step(scene, RECORDS)
    step(scene, RECORDS)

    assert scene.conditions(RECORDS)["Stalled"] == ("False", "NotStalled")
    assert len(scene.around.ordered) == 1


def test_a_resource_that_is_gone_is_forgotten() -> None:
    scene = ready_to_build()
    scene.around.status_fails = Gone("it is gone")

    assert step(scene, RECORDS) is None
    assert RECORDS not in scene.store.resources
    assert step(scene, RECORDS) is None


def test_another_resource_that_has_its_name_by_then_is_not_forgotten_with_it() -> None:
    scene = ready_to_build()
    other = replace(INDEX, meta=Meta(RECORDS, "uid-9"))

    async def meanwhile() -> None:
        scene.around.status_fails = Gone("it is gone")
        # While its status is written the resource is deleted and made anew.
        scene.around.meanwhile = lambda: scene.store.put(other, {})
        await scene.reconciler.reconcile(RECORDS)

    asyncio.run(meanwhile())
    assert scene.store.resources[RECORDS].resource == other


def test_the_finalizer_that_was_set_is_known_before_any_event_tells_of_it() -> None:
    scene = Scene.of(TABLE, replace(INDEX, deletion_policy=DeletionPolicy.DROP))

    for _ in range(3):
        step(scene, RECORDS)

    assert scene.around.said.count("finalizer of orders-records: True") == 1
    assert scene.store.resources[RECORDS].resource.meta.finalizers == (FINALIZER,)


def test_nothing_is_begun_while_a_run_of_a_deleted_table_is_at_work_in_the_same_place() -> None:
    scene = ready_to_build()
    older = Ref(Kind.INDEX, "shop", "older-records")
    run = RunSeen("old", older, "uid-7", "older", Action.BUILD, "g1.1", 1, RunPhase.RUNNING, NOW, "s3a://lake/orders")
    scene.store.replace_runs([run], NOW)

    step(scene, RECORDS)
    assert scene.conditions(RECORDS)["Ready"] == ("False", "TableBusy")
    assert scene.around.ordered == []

    scene.store.replace_runs([replace(run, phase=RunPhase.ENDED, ended_at=NOW, exit_code=0)], NOW)
    step(scene, RECORDS)
    assert len(scene.around.ordered) == 1


def test_runs_of_a_resource_that_is_gone_are_stopped_and_then_forgotten() -> None:
    scene = Scene.of(TABLE)
    run = RunSeen("old", RECORDS, "uid-2", "orders", Action.BUILD, "g1.1", 1, RunPhase.RUNNING, NOW)
    scene.store.replace_runs([run], NOW)

    step(scene, RECORDS)
    assert scene.around.said == ["stop old"]
    assert step(scene, RECORDS) == 5

    scene.store.replace_runs([replace(run, phase=RunPhase.ENDED, ended_at=NOW, exit_code=143)], NOW)
    step(scene, RECORDS)
    assert scene.around.said == ["stop old", "forget old"]
    assert step(scene, RECORDS) is None


def test_the_writers_are_advised_once_and_again_when_the_advice_changes() -> None:
    scene = Scene.of(TABLE)
    step(scene, ORDERS)
    step(scene, ORDERS)
    assert scene.around.said.count("writers are advised") == 1

    scene.store.put(INDEX, {})
    step(scene, ORDERS)
    assert scene.around.said.count("writers are advised") == 2


def test_advice_that_has_no_place_is_told() -> None:
    scene = Scene.of(TABLE)
    scene.around.has_foreign_config = True

    step(scene, ORDERS)

    (event,) = [event for event in scene.around.events if event.reason == "NameConflict"]
    assert "orders-writer" in event.message


def test_becoming_ready_is_told() -> None:
    scene = Scene.of(TABLE, INDEX, index=IndexState.COMPLETE)
    step(scene, ORDERS)

    step(scene, RECORDS)

    assert [event.reason for event in scene.around.events if event.type == "Normal"].count("IndexInSync") == 1


def test_a_new_operator_leaves_a_status_as_it_stands_until_it_has_seen_the_table() -> None:
    scene = Scene.of(TABLE, INDEX, index=IndexState.COMPLETE)
    step(scene, ORDERS)
    step(scene, RECORDS)
    before = dict(scene.store.resources)
    restarted = Scene.of(TABLE, INDEX, index=IndexState.COMPLETE)
    for held in before.values():
        restarted.store.put(held.resource, held.status)
    known = restarted.store.seen.pop(ORDERS)

    for ref in (ORDERS, RECORDS):
        step(restarted, ref)
    assert restarted.around.said == []

    restarted.store.note_seen(ORDERS, known)
    step(restarted, RECORDS)
    assert restarted.store.resources[RECORDS].status == before[RECORDS].status
