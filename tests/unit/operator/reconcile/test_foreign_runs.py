"""A tenant may create any Job in the own namespace, with any name, label and annotation; it means nothing elsewhere."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from hudi_engine.contract import IndexState
from hudi_operator.decide.case import Case
from hudi_operator.decide.gates import busy
from hudi_operator.decision import Defaults
from hudi_operator.launch.job import JobLauncher
from hudi_operator.names import run_name
from hudi_operator.reconcile import Reconciler, Store, Surroundings
from hudi_operator.resources.model import HudiTable, IndexType, Meta, MetadataIndex, Ref
from hudi_operator.runs import RunOrder
from hudi_operator.words import Kind
from tests.unit.operator.kube.objects import Objects, client_of
from tests.unit.operator.launch.jobs import DRIVER_ONLY, job
from tests.unit.operator.reconcile.around import INDEX, NOW, ORDERS, RECORDS, TABLE, Around, seen

GHOST = Ref(Kind.INDEX, "evil", "ghost")
FOREIGN_TABLE = HudiTable(
    Meta(Ref(Kind.TABLE, "evil", "taken"), "uid-evil-1", created_at=NOW - timedelta(days=1)),
    "s3a://lake/orders/",
    None,
    TABLE.concurrency,
)
FOREIGN_INDEX = MetadataIndex(
    Meta(Ref(Kind.INDEX, "evil", "taken-keys"), "uid-evil-2", created_at=NOW), "taken", IndexType.RECORD_INDEX
)


@dataclass(slots=True)
class Scene:
    """A victim in `shop`, whatever Jobs there are in `evil`, and the operator with its real launcher of Jobs."""

    objects: Objects
    around: Around
    store: Store
    launcher: JobLauncher
    reconciler: Reconciler

    def forge(self, order: RunOrder, **spec: object) -> str:
        return _put(self.objects, replace(order, owner=replace(order.owner, namespace="evil")), **spec)

    async def list_runs(self) -> None:
        await self.launcher.list_jobs()
        self.store.replace_runs(await self.launcher.runs(), NOW + timedelta(seconds=1))

    def jobs_of(self, namespace: str) -> list[str]:
        return [path for path in self.objects.there if f"/namespaces/{namespace}/jobs/" in path]

    def status_of(self, ref: Ref) -> Any:
        return self.around.statuses[ref]


def play(scene: Callable[[Scene], Awaitable[None]]) -> None:
    async def played() -> None:
        objects, around, store = Objects(), Around(), Store()
        async with client_of(objects) as client:
            launcher = JobLauncher(client, Defaults(), ("evil", "shop"))
            for resource in (TABLE, INDEX):
                store.put(resource, {})
            store.note_seen(ORDERS, seen(IndexState.ABSENT))
            reconciler = Reconciler(store, Surroundings(around, launcher, lambda: NOW, Defaults()))
            await scene(Scene(objects, around, store, launcher, reconciler))

    asyncio.run(played())


def _put(objects: Objects, order: RunOrder, **spec: object) -> str:
    tree = job(order)
    tree["metadata"].pop("uid")
    tree["spec"] |= spec
    path = f"/apis/batch/v1/namespaces/{order.owner.namespace}/jobs/{order.name}"
    objects.put(path, **tree)
    return path


@pytest.mark.parametrize("uid", ["uid-2", "uid-of-nobody"])
def test_a_forged_job_of_another_namespace_does_not_make_a_table_busy_by_its_annotation(uid: str) -> None:
    async def scene(there: Scene) -> None:
        there.forge(replace(DRIVER_ONLY, name="forged", owner_uid=uid), suspend=True)
        await there.list_runs()

        await there.reconciler.reconcile(RECORDS)

        assert len(there.jobs_of("shop")) == 1, there.status_of(RECORDS)["conditions"]

    play(scene)


def test_a_forged_job_does_not_make_a_table_busy_by_a_younger_hudi_table_in_the_same_place() -> None:
    async def scene(there: Scene) -> None:
        younger = replace(FOREIGN_TABLE, meta=replace(FOREIGN_TABLE.meta, created_at=NOW + timedelta(days=1)))
        there.store.put(younger, {})
        there.store.put(FOREIGN_INDEX, {})
        there.store.note_seen(FOREIGN_TABLE.meta.ref, seen(IndexState.ABSENT))
        owner = FOREIGN_INDEX.meta
        order = replace(DRIVER_ONLY, name="forged", owner=owner.ref, owner_uid=owner.uid, table="taken")
        there.forge(order, suspend=True)
        await there.list_runs()

        await there.reconciler.reconcile(RECORDS)

        assert len(there.jobs_of("shop")) == 1, there.status_of(RECORDS)["conditions"]

    play(scene)


@pytest.mark.parametrize("namespaces", [("evil", "shop"), ("shop", "evil")])
def test_a_job_of_another_namespace_with_the_name_of_a_run_does_not_hide_the_run(namespaces: tuple[str, str]) -> None:
    async def scene(there: Scene) -> None:
        there.launcher.namespaces = namespaces
        real = replace(DRIVER_ONLY, name="orders-records-real")
        _put(there.objects, real)
        there.forge(replace(real, owner=GHOST, owner_uid="uid-of-nobody"))
        await there.list_runs()

        await there.reconciler.reconcile(RECORDS)

        assert [each["name"] for each in there.status_of(RECORDS)["activeRuns"]] == [real.name]
        assert len(there.jobs_of("shop")) == 1

    play(scene)


@pytest.mark.parametrize("namespaces", [("evil", "shop"), ("shop", "evil")])
def test_clearing_the_orphans_of_another_namespace_leaves_a_run_of_the_same_name_alone(
    namespaces: tuple[str, str],
) -> None:
    async def scene(there: Scene) -> None:
        there.launcher.namespaces = namespaces
        name = run_name(INDEX.meta, DRIVER_ONLY.request.action, "g1.1", 1)
        real = _put(there.objects, replace(DRIVER_ONLY, name=name))
        forged = there.forge(replace(DRIVER_ONLY, name=name, owner=GHOST, owner_uid="uid-of-nobody"))
        deadline = there.objects.there[real]["spec"]["activeDeadlineSeconds"]
        await there.list_runs()

        await there.reconciler.reconcile(GHOST)

        assert there.objects.there[forged]["spec"]["activeDeadlineSeconds"] == 1
        assert there.objects.there[real]["spec"]["activeDeadlineSeconds"] == deadline

    play(scene)


def test_runs_of_another_namespace_are_in_no_status_of_a_table_in_the_same_place() -> None:
    async def scene(there: Scene) -> None:
        there.store.put(FOREIGN_TABLE, {})
        there.store.put(FOREIGN_INDEX, {})
        there.store.note_seen(FOREIGN_TABLE.meta.ref, seen(IndexState.ABSENT))
        owner = FOREIGN_INDEX.meta
        there.forge(replace(DRIVER_ONLY, name="secret-run", owner=owner.ref, owner_uid=owner.uid, table="taken"))
        await there.list_runs()

        for ref in (ORDERS, RECORDS):
            await there.reconciler.reconcile(ref)
            assert "secret-run" not in json.dumps(there.status_of(ref))

        assert there.status_of(ORDERS)["activeRuns"] == []

    play(scene)


def test_a_run_on_an_older_table_of_another_namespace_in_the_same_place_counts_and_is_not_named() -> None:
    async def scene(there: Scene) -> None:
        there.store.put(FOREIGN_TABLE, {})
        there.store.put(FOREIGN_INDEX, {})
        there.store.note_seen(FOREIGN_TABLE.meta.ref, seen(IndexState.ABSENT))
        owner = FOREIGN_INDEX.meta
        there.forge(replace(DRIVER_ONLY, name="secret-run", owner=owner.ref, owner_uid=owner.uid, table="taken"))
        await there.list_runs()
        victim = there.store.resources[RECORDS]

        world = there.store.world(victim, NOW, Defaults())

        assert [run.name for run in world.others] == ["secret-run"]
        refused = busy(Case.of(INDEX, world))
        assert refused is not None
        assert refused.message == "a run of another namespace is at work on the table"

    play(scene)
