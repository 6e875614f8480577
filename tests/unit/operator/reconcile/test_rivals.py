"""Two tables with one path: which of them has it, and what is said of it to the other."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from hudi_engine.contract import IndexState, TableSeen, TableUnseen, UnseenReason
from hudi_operator.decision import Defaults
from hudi_operator.resources.model import HudiTable, Meta, Ref
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Kind
from tests.unit.operator.launch.jobs import DRIVER_ONLY
from tests.unit.operator.reconcile.around import INDEX, NOW, ORDERS, RECORDS, TABLE, Scene, seen

SQUATTER = Ref(Kind.TABLE, "evil", "taken-by-evil")
TWIN = Ref(Kind.TABLE, "shop", "twin")


def older(ref: Ref) -> HudiTable:
    meta = Meta(ref, f"uid-{ref.name}", created_at=NOW - timedelta(days=9))
    return HudiTable(meta, "s3://lake//orders/", None, TABLE.concurrency)


def at_store(name: str) -> TableSeen:
    return replace(seen(IndexState.ABSENT), store=name)


def scene_with(ref: Ref, sight: TableSeen | TableUnseen | None) -> Scene:
    """The victim was seen in the store `mine`, an older table with its path so."""
    scene = Scene.of(TABLE, INDEX)
    scene.store.put(older(ref), {})
    scene.store.note_seen(ORDERS, at_store("mine"))
    if sight is not None:
        scene.store.note_seen(ref, sight)
    for one in (ORDERS, RECORDS):
        asyncio.run(scene.reconciler.reconcile(one))
    return scene


def unseen(reason: UnseenReason, *, retry: bool = False) -> TableUnseen:
    return TableUnseen(reason, "made up", retry, 1)


@pytest.mark.parametrize(
    "sight",
    [
        unseen(UnseenReason.ACCESS_DENIED),
        unseen(UnseenReason.NOT_ALLOWED),
        unseen(UnseenReason.NOT_FOUND),
        unseen(UnseenReason.TIMED_OUT, retry=True),
        at_store("another"),
    ],
    ids=lambda sight: sight.reason if isinstance(sight, TableUnseen) else "in another store",
)
@pytest.mark.parametrize("ref", [SQUATTER, TWIN], ids=["foreign", "own"])
def test_an_older_table_that_was_not_seen_in_the_same_store_is_no_rival(
    sight: TableSeen | TableUnseen, ref: Ref
) -> None:
    scene = scene_with(ref, sight)

    assert scene.conditions(ORDERS)["Unique"] == ("True", "Unique")
    assert len(scene.around.ordered) == 1


@pytest.mark.parametrize("ref", [SQUATTER, TWIN], ids=["foreign", "own"])
def test_an_older_table_that_was_seen_in_the_same_store_is_a_rival_and_stays_one_while_its_store_is_silent(
    ref: Ref,
) -> None:
    scene = scene_with(ref, at_store("mine"))
    scene.store.note_seen(ref, unseen(UnseenReason.STORAGE_UNAVAILABLE, retry=True))
    asyncio.run(scene.reconciler.reconcile(RECORDS))

    assert scene.conditions(ORDERS)["Unique"] == ("False", "DuplicateBasePath")
    assert scene.conditions(RECORDS)["Stalled"] == ("True", "DuplicateBasePath")
    assert scene.around.ordered == []


def test_a_rival_that_loses_its_rights_is_none_any_more() -> None:
    scene = scene_with(SQUATTER, at_store("mine"))
    scene.store.note_seen(SQUATTER, unseen(UnseenReason.ACCESS_DENIED))

    asyncio.run(scene.reconciler.reconcile(RECORDS))

    assert len(scene.around.ordered) == 1


def test_a_rival_of_another_namespace_is_not_named_and_one_of_the_own_is() -> None:
    foreign, own = (scene_with(ref, at_store("mine")).around for ref in (SQUATTER, TWIN))

    assert "evil" not in f"{foreign.statuses} {foreign.events}"
    assert "a HudiTable of another namespace has the same basePath" in f"{foreign.statuses[RECORDS]}"
    assert "HudiTable shop/twin has the same basePath" in f"{own.statuses[RECORDS]}"


def test_nothing_is_begun_before_an_older_table_with_the_path_was_looked_at_once() -> None:
    scene = scene_with(SQUATTER, None)

    assert scene.around.ordered == []
    assert RECORDS not in scene.around.statuses

    scene.store.note_seen(SQUATTER, unseen(UnseenReason.ACCESS_DENIED))
    asyncio.run(scene.reconciler.reconcile(RECORDS))
    assert len(scene.around.ordered) == 1


def test_what_becomes_of_a_table_is_told_to_those_with_its_path() -> None:
    scene = scene_with(SQUATTER, at_store("mine"))

    assert scene.store.related(SQUATTER) == {SQUATTER, ORDERS, RECORDS}


@pytest.mark.parametrize(("store", "is_busy"), [("mine", True), ("another", False)])
def test_a_run_on_a_table_in_another_store_makes_nobody_busy(store: str, is_busy: bool) -> None:
    scene = scene_with(TWIN, at_store(store))
    index = replace(INDEX, meta=Meta(Ref(Kind.INDEX, "shop", "twin-keys"), "uid-7"), table="twin")
    scene.store.put(index, {})
    run = RunSeen(
        name="r",
        owner=index.meta.ref,
        owner_uid="uid-7",
        table="twin",
        action=DRIVER_ONLY.request.action,
        trigger="t",
        attempt=1,
        phase=RunPhase.RUNNING,
        created_at=NOW,
        base_path="s3://lake/orders",
    )
    scene.store.replace_runs([run], NOW)

    world = scene.store.world(scene.store.resources[RECORDS], NOW, Defaults())

    assert (run in world.others) is is_busy
