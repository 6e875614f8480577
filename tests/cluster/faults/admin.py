"""The scenario's own hand on the API server, past the proxy, as a user with all rights has it."""

import json
from pathlib import Path
from typing import Any, Final

import aiohttp

_LEASE: Final = "/apis/coordination.k8s.io/v1/namespaces/hudi-operator/leases/hudi-operator"
_GROUP: Final = "hudi-operator.dev/v1alpha1"


class Admin:
    """By the kubeconfig's token."""

    def __init__(self, kubeconfig: Path, session: aiohttp.ClientSession) -> None:
        config = json.loads(kubeconfig.read_text())
        self.api_url: str = config["clusters"][0]["cluster"]["server"]
        self._headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
        self._session = session

    async def make_namespace(self, name: str) -> None:
        await self._ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    async def remove_namespace(self, name: str) -> None:
        """With all that is in it; no finalizer of ours holds it up."""
        for plural in ("metadataindexes", "tableservices", "huditables"):
            for each in (await self._ask("GET", f"{_of(name, plural)}"))["items"]:
                await self.delete(name, plural, each["metadata"]["name"])
                forget = {"metadata": {"finalizers": None}}
                await self._ask("PATCH", _of(name, plural, each["metadata"]["name"]), forget)
        await self._ask("DELETE", f"/api/v1/namespaces/{name}")

    async def create(self, namespace: str, kind: str, plural: str, **manifest: Any) -> None:
        name, spec = manifest["name"], manifest["spec"]
        tree = {"apiVersion": _GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}
        made = await self._ask("POST", _of(namespace, plural), tree)
        assert made["kind"] == kind, made

    async def get(self, namespace: str, plural: str, name: str) -> dict[str, Any] | None:
        found = await self._ask("GET", _of(namespace, plural, name))
        return None if found.get("code") == 404 else found

    async def delete(self, namespace: str, plural: str, name: str) -> None:
        await self._ask("DELETE", _of(namespace, plural, name))

    async def forget_lease(self) -> None:
        """As if its time were over: nobody holds it."""
        await self._ask("DELETE", _LEASE)

    async def expire_lease(self) -> None:
        """Its time is over as soon as another operator has looked at it twice."""
        await self._ask("PATCH", _LEASE, {"spec": {"leaseDurationSeconds": 1}})

    async def _ask(self, method: str, path: str, tree: object = None) -> dict[str, Any]:
        headers = dict(self._headers)
        if tree is not None:
            headers["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = None if tree is None else json.dumps(tree)
        async with self._session.request(method, self.api_url + path, headers=headers, data=data) as answer:
            tree = await answer.json()
            assert isinstance(tree, dict)
            return tree


def _of(namespace: str, plural: str, name: str = "") -> str:
    return f"/apis/{_GROUP}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")
