"""An API server in memory, as far as objects and their versions go."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from aiohttp import web

from hudi_operator.kube.client import Client
from hudi_operator.kube.connection import Connection
from hudi_operator.kube.session import Traffic, new_session
from hudi_operator.metrics import Counts

_COLLECTIONS = ("jobs", "pods", "events")
NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


@dataclass(slots=True)
class Objects:
    """By their paths. `refusal` is what every creation is answered with while it is set; `hidden` may not be listed."""

    there: dict[str, dict[str, Any]] = field(default_factory=dict)
    refusal: tuple[int, str] | None = None
    writes: int = 0
    hidden: tuple[str, ...] = ()
    _version: int = 0

    def put(self, path: str, **tree: Any) -> dict[str, Any]:
        """As if somebody else had written it."""
        self._version += 1
        tree.setdefault("metadata", {})
        tree["metadata"] = {
            "uid": str(uuid4()),
            "creationTimestamp": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
            **tree["metadata"],
            "name": path.rsplit("/", 1)[1],
        }
        tree["metadata"]["resourceVersion"] = str(self._version)
        self.there[path] = tree
        return tree

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        path = request.path.removesuffix("/status")
        if request.method != "GET":
            self.writes += 1
        match request.method:
            case "GET":
                return self._read(path, request.query.get("fieldSelector", ""))
            case "POST":
                return self._create(path, body)
            case "PUT":
                return self._change(path, body, is_whole=True)
            case "PATCH":
                return self._patch(path, body, request)
        return self._delete(path, body)

    def _read(self, path: str, about: str) -> web.Response:
        if path in self.there:
            return web.json_response(self.there[path])
        if path.rsplit("/", 1)[1] not in _COLLECTIONS:
            return _refused(404, "NotFound")
        if path.rsplit("/", 1)[1] in self.hidden:
            return _refused(403, "Forbidden")
        items = [tree for other, tree in self.there.items() if other.rsplit("/", 1)[0] == path]
        if about:
            items = [tree for tree in items if about == f"involvedObject.uid={tree['involvedObject']['uid']}"]
        return web.json_response({"items": items, "metadata": {}})

    def _delete(self, path: str, body: dict[str, Any]) -> web.Response:
        if path not in self.there:
            return _refused(404, "NotFound")
        if self.there[path]["metadata"]["uid"] != body["preconditions"]["uid"]:
            return _refused(409, "Conflict")
        return web.json_response(self.there.pop(path))

    def _create(self, folder: str, body: dict[str, Any]) -> web.Response:
        path = f"{folder}/{body['metadata']['name']}"
        if self.refusal is not None:
            return _refused(*self.refusal)
        if path in self.there:
            return _refused(409, "AlreadyExists")
        return web.json_response(self.put(path, **deepcopy(body)), status=201)

    def _patch(self, path: str, body: dict[str, Any], request: web.Request) -> web.Response:
        if "apply" in request.content_type:
            if path not in self.there:
                return _refused(404, "NotFound")
            part = {"status": body["status"]} if request.path.endswith("/status") else {"data": body.get("data")}
            return self._change(path, {**self.there[path], **part}, is_whole=True)
        return self._change(path, body, is_whole=False)

    def _change(self, path: str, body: dict[str, Any], *, is_whole: bool) -> web.Response:
        known = self.there.get(path)
        if known is None:
            return _refused(404, "NotFound")
        version = body.get("metadata", {}).get("resourceVersion")
        if version not in (None, known["metadata"]["resourceVersion"]):
            return _refused(409, "Conflict")
        tree = deepcopy(body) if is_whole else merged(known, body)
        tree["metadata"]["uid"] = known["metadata"]["uid"]
        return web.json_response(self.put(path, **tree))


def merged(known: Any, changes: Any) -> Any:
    """As RFC 7386 has it."""
    if not isinstance(changes, dict):
        return changes
    result = dict(known) if isinstance(known, dict) else {}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def _refused(code: int, reason: str) -> web.Response:
    return web.json_response({"kind": "Status", "message": reason, "reason": reason}, status=code)


@asynccontextmanager
async def client_of(objects: Objects) -> AsyncIterator[Client]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", objects.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    connection = Connection(f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        async with new_session(connection, Traffic(Counts(NOW), lambda: NOW)) as session:
            yield Client(session, connection.server)
    finally:
        await runner.cleanup()
