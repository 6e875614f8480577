import asyncio
import base64
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hudi_operator.kube.home import KubernetesHome
from hudi_operator.kube.recorder import Recorder, event_name
from hudi_operator.kube.secrets import SecretFolders
from hudi_operator.launch.protocol import NotStarted
from hudi_operator.names import FINALIZER, Annotation
from hudi_operator.reconcile.home import Event, Gone, HomeError
from hudi_operator.resources.model import Concurrency, ConcurrencyMode, HudiTable, Meta, Ref
from hudi_operator.words import Kind
from tests.unit.operator.kube.objects import NOW, Objects, client_of

ORDERS = "/apis/hudi-operator.dev/v1alpha1/namespaces/shop/huditables/orders"
WRITER = "/api/v1/namespaces/shop/configmaps/orders-writer"
KEYS = "/api/v1/namespaces/shop/secrets/keys"
EVENTS = "/api/v1/namespaces/shop/events"
TABLE = HudiTable(
    Meta(Ref(Kind.TABLE, "shop", "orders"), "uid-1", annotations={Annotation.APPROVE: "abc"}),
    "s3://lake/orders",
    None,
    Concurrency(ConcurrencyMode.SINGLE_WRITER),
)


@dataclass(frozen=True, slots=True)
class Scene:
    objects: Objects
    home: KubernetesHome
    secrets: SecretFolders

    def meta(self) -> dict[str, object]:
        return self.objects.there[ORDERS]["metadata"]  # type: ignore[no-any-return]  # a tree of a test


def play(scene: Callable[[Scene], Coroutine[None, None, None]]) -> None:
    async def played() -> None:
        objects = Objects()
        objects.put(ORDERS, metadata={"uid": "uid-1", "annotations": {Annotation.APPROVE: "abc"}})
        async with client_of(objects) as client:
            secrets = SecretFolders(client)
            try:
                await scene(
                    Scene(objects, KubernetesHome(client, Recorder(client, lambda: NOW, "me"), secrets), secrets)
                )
            finally:
                await secrets.close()

    asyncio.run(played())


def test_the_status_is_what_was_written_last() -> None:
    async def scene(there: Scene) -> None:
        await there.home.write_status(TABLE, {"state": "Pending", "message": "x"})
        await there.home.write_status(TABLE, {"state": "Ready"})
        assert there.objects.there[ORDERS]["status"] == {"state": "Ready"}

    play(scene)


def test_the_status_of_a_resource_that_is_gone_is_not_written() -> None:
    async def scene(there: Scene) -> None:
        del there.objects.there[ORDERS]
        with pytest.raises(Gone):
            await there.home.write_status(TABLE, {"state": "Ready"})

    play(scene)


def test_another_resource_of_the_same_name_does_not_keep_the_status_of_the_one_before() -> None:
    async def scene(there: Scene) -> None:
        there.objects.put(ORDERS, metadata={"uid": "uid-9"})
        with pytest.raises(Gone):
            await there.home.write_status(TABLE, {"state": "Ready", "lastHandledRebuildToken": "7"})
        assert there.objects.there[ORDERS]["status"] == {}

    play(scene)


def test_the_finalizer_comes_and_goes_beside_those_of_others() -> None:
    async def scene(there: Scene) -> None:
        there.objects.put(ORDERS, metadata={"uid": "uid-1", "finalizers": ["somebody/else"]})
        await there.home.set_finalizer(TABLE, True)
        assert there.meta()["finalizers"] == ["somebody/else", FINALIZER]
        writes = there.objects.writes
        await there.home.set_finalizer(TABLE, True)
        assert there.objects.writes == writes
        await there.home.set_finalizer(TABLE, False)
        assert there.meta()["finalizers"] == ["somebody/else"]

    play(scene)


def test_only_the_wish_that_was_decided_upon_is_removed() -> None:
    async def scene(there: Scene) -> None:
        await there.home.remove_annotation(TABLE, Annotation.APPROVE)
        assert there.meta()["annotations"] == {}

        there.objects.put(ORDERS, metadata={"uid": "uid-1", "annotations": {Annotation.APPROVE: "a newer one"}})
        await there.home.remove_annotation(TABLE, Annotation.APPROVE)
        assert there.meta()["annotations"] == {Annotation.APPROVE: "a newer one"}

    play(scene)


def test_the_writers_properties_stand_in_a_config_map_that_goes_with_the_table() -> None:
    async def scene(there: Scene) -> None:
        assert await there.home.write_writer_config(TABLE, {"writer.properties": "a=b"})
        found = there.objects.there[WRITER]
        assert found["metadata"]["ownerReferences"][0]["uid"] == "uid-1"

        writes = there.objects.writes
        assert await there.home.write_writer_config(TABLE, {"writer.properties": "a=b"})
        assert there.objects.writes == writes

        assert await there.home.write_writer_config(TABLE, {"writer.properties": "a=c"})
        assert there.objects.there[WRITER]["data"] == {"writer.properties": "a=c"}

    play(scene)


def test_a_config_map_of_somebody_else_is_never_overwritten() -> None:
    async def scene(there: Scene) -> None:
        there.objects.put(WRITER, data={"mine": "1"})
        assert not await there.home.write_writer_config(TABLE, {"writer.properties": "a=b"})
        assert there.objects.there[WRITER]["data"] == {"mine": "1"}

    play(scene)


def test_the_same_event_is_counted_and_another_is_listed() -> None:
    async def scene(there: Scene) -> None:
        built, lost = Event("Normal", "Built", "done"), Event("Warning", "Lost", "the pod is gone")
        for event in (built, lost, built, built):
            await there.home.tell(TABLE, event)
        counts = {name: there.objects.there[f"{EVENTS}/{event_name(TABLE, name)}"]["count"] for name in (built, lost)}
        assert counts == {built: 3, lost: 1}

    play(scene)


def test_no_resource_floods_the_cluster_with_events() -> None:
    async def scene(there: Scene) -> None:
        for number in range(100):
            await there.home.tell(TABLE, Event("Warning", "Lost", str(number)))
        assert sum(path.startswith(EVENTS) for path in there.objects.there) == 25
        other = replace(TABLE, meta=replace(TABLE.meta, uid="uid-2"))
        await there.home.tell(other, Event("Warning", "Lost", "of another"))
        assert sum(path.startswith(EVENTS) for path in there.objects.there) == 26

    play(scene)


def test_an_event_that_is_refused_stops_nothing() -> None:
    async def scene(there: Scene) -> None:
        there.objects.refusal = (403, "Forbidden")
        await there.home.tell(TABLE, Event("Normal", "Built", "done"))

    play(scene)


def test_a_secret_is_a_private_folder_of_private_files_until_the_end() -> None:
    async def scene(there: Scene) -> None:
        there.objects.put(KEYS, data={"fs.s3a.secret.key": base64.b64encode(b"hidden").decode()})
        (folder,) = await there.home.secret_folder("shop", ("keys",))
        assert (folder / "fs.s3a.secret.key").read_bytes() == b"hidden"
        assert _mode(folder) == 0o700
        assert _mode(folder / "fs.s3a.secret.key") == 0o600
        await there.secrets.close()
        assert not folder.exists()

    play(scene)


@pytest.mark.thorough
def test_what_a_killed_operator_left_of_secrets_is_swept_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    async def scene(there: Scene) -> None:
        there.objects.put(KEYS, data={"fs.s3a.secret.key": base64.b64encode(b"hidden").decode()})
        living = SecretFolders(there.home.client, tmp_path)
        (kept,) = await living.folders("shop", ("keys",))
        command = (
            "import os, pathlib, sys; from hudi_operator.kube.secrets import _claimed, _write;"
            "_write(_claimed(pathlib.Path(sys.argv[1]))[0] / 'shop', {'key': b'hidden'}); os.kill(os.getpid(), 9)"
        )
        assert subprocess.run([sys.executable, "-c", command, tmp_path], check=False).returncode == -9
        assert len(list(tmp_path.rglob("*.key"))) + len(list(tmp_path.rglob("key"))) == 2
        (tmp_path / "of-somebody-else").mkdir()

        await SecretFolders(there.home.client, tmp_path).sweep()

        assert (kept / "fs.s3a.secret.key").exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == [kept.parents[1].name, "of-somebody-else"]
        await living.close()

    play(scene)


def test_a_secret_that_is_missing_is_named() -> None:
    async def scene(there: Scene) -> None:
        with pytest.raises(HomeError, match="shop/keys"):
            await there.home.secret_folder("shop", ("keys",))
        with pytest.raises(NotStarted, match="shop/keys"):
            await there.secrets.read("shop", "keys")

    play(scene)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777
