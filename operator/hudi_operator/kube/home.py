"""Resources in a cluster, as far as we write them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_operator.kube.client import Client
from hudi_operator.kube.errors import Conflict
from hudi_operator.kube.recorder import Recorder
from hudi_operator.kube.resources import API_VERSION, CONFIG_MAPS, address_of
from hudi_operator.kube.secrets import SecretFolders
from hudi_operator.launch.cluster import Address, AlreadyThere, Forbidden, Manifest
from hudi_operator.names import FINALIZER
from hudi_operator.reconcile.home import Event, Gone, HomeError
from hudi_operator.resources.model import HudiTable, Meta, Ref
from hudi_operator.resources.tree import Tree
from hudi_operator.resources.unreadable import Stored

# Somebody who writes the same object all the time gives way sooner or later.
_TRIES = 5


@dataclass(frozen=True, slots=True)
class KubernetesHome:
    client: Client
    recorder: Recorder
    secrets: SecretFolders

    async def write_status(self, resource: Stored, status: Mapping[str, object]) -> None:
        """`Gone` if it is not there; another of its name that was there instead has no status afterwards."""
        ref = resource.meta.ref
        written = await self.client.apply(address_of(ref), _status_of(ref, status), "status")
        if written is None:
            raise Gone(f"{_named(resource.meta)} is gone")
        # The API looks at no uid here, neither given nor as a precondition.
        if Tree(written).within("metadata").text("uid") != resource.meta.uid:
            await self.client.apply(address_of(ref), _status_of(ref, {}), "status")
            raise Gone(f"{_named(resource.meta)} is another one by now")

    async def set_finalizer(self, resource: Stored, is_wanted: bool) -> None:
        for _ in range(_TRIES):
            meta = await self._current(resource.meta)
            finalizers = [str(name) for name in meta.entries("finalizers")]
            if (FINALIZER in finalizers) is is_wanted:
                return
            others = [name for name in finalizers if name != FINALIZER]
            changes = {"finalizers": [*others, FINALIZER] if is_wanted else others}
            if await self._changed(resource.meta, meta, changes):
                return
        raise HomeError(f"{_named(resource.meta)}: others keep changing it, its finalizer is set later")

    async def remove_annotation(self, resource: Stored, name: str) -> None:
        """One that has another value than the one decided upon is another wish, and stays."""
        for _ in range(_TRIES):
            meta = await self._current(resource.meta)
            if meta.texts("annotations").get(name) != resource.meta.annotations.get(name):
                return
            if await self._changed(resource.meta, meta, {"annotations": {name: None}}):
                return
        raise HomeError(f"{_named(resource.meta)}: others keep changing it, its annotation {name} is removed later")

    async def tell(self, resource: Stored, event: Event) -> None:
        await self.recorder.tell(resource, event)

    async def write_writer_config(self, table: HudiTable, data: Mapping[str, str]) -> bool:
        ref = table.meta.ref
        address = Address(CONFIG_MAPS, ref.namespace, f"{ref.name}-writer")
        found = await self.client.find(address)
        if found is None:
            try:
                await self.client.create(address, _writer_config(table, data))
            except AlreadyThere:
                found = await self.client.find(address)
            except Forbidden as refused:
                raise HomeError(f"{address.path}: {refused}") from refused
        if found is None:
            return True
        if not _is_owned(found, table.meta.uid):
            return False
        if Tree(found).texts("data") != data:
            await self.client.apply(address, _writer_config(table, data))
        return True

    async def secret_folder(self, namespace: str, names: Sequence[str]) -> tuple[Path, ...]:
        return await self.secrets.folders(namespace, names)

    async def _current(self, meta: Meta) -> Tree:
        """The metadata as they are now."""
        found = await self.client.find(address_of(meta.ref))
        if found is None or Tree(found).within("metadata").text_or("uid", "") != meta.uid:
            raise Gone(f"{_named(meta)} is gone")
        return Tree(found).within("metadata")

    async def _changed(self, meta: Meta, current: Tree, changes: Manifest) -> bool:
        version = {"resourceVersion": current.text("resourceVersion")}
        try:
            await self.client.patch(address_of(meta.ref), {"metadata": {**version, **changes}})
        except Conflict:
            return False
        return True


def _status_of(ref: Ref, status: Mapping[str, object]) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": ref.kind.value,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "status": status,
    }


def _writer_config(table: HudiTable, data: Mapping[str, str]) -> Manifest:
    ref = table.meta.ref
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"{ref.name}-writer",
            "namespace": ref.namespace,
            "labels": {"app.kubernetes.io/managed-by": "hudi-operator", "app.kubernetes.io/part-of": "hudi-operator"},
            "ownerReferences": [
                {
                    "apiVersion": API_VERSION,
                    "kind": ref.kind.value,
                    "name": ref.name,
                    "uid": table.meta.uid,
                    "controller": True,
                    "blockOwnerDeletion": False,
                }
            ],
        },
        "data": dict(data),
    }


def _is_owned(manifest: Manifest, uid: str) -> bool:
    return any(owner.text_or("uid", "") == uid for owner in Tree(manifest).within("metadata").trees("ownerReferences"))


def _named(meta: Meta) -> str:
    return f"{meta.ref.kind} {meta.ref.namespace}/{meta.ref.name}"
