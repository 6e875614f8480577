"""HTTP sessions to the API server: one for our client, one for kopf's watches."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import aiohttp

from hudi_operator.kube.connection import Connection
from hudi_operator.metrics.counts import Counts

_UNAUTHORIZED = 401
_TIMEOUT = aiohttp.ClientTimeout(total=30.0, sock_connect=5.0)


@dataclass(slots=True)
class Traffic:
    """Counts each request, and knows when each watch was last heard of."""

    counts: Counts
    now: Callable[[], datetime]
    heard: dict[str, float] = field(default_factory=dict)

    async def sent(self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        """An aiohttp middleware."""
        clock = asyncio.get_running_loop().time
        resource, is_watch = resource_of(request.url.path), "watch" in request.url.query
        verb = "watch" if is_watch else request.method.lower()
        began = clock()
        code = "error"
        try:
            response = await handler(request)
            code = str(response.status)
        finally:
            self.counts.requested(verb, resource, code, None if is_watch else clock() - began)
            if is_watch:
                self.counts.watch_restarted(resource, code)
        if is_watch and response.ok:
            self.note_heard(resource)
        return response

    def expect(self, resource: str) -> None:
        """Its watch is about to begin: one that never does is as silent as one that has died."""
        self.heard.setdefault(resource, asyncio.get_running_loop().time())

    def note_heard(self, resource: str) -> None:
        self.heard[resource] = asyncio.get_running_loop().time()
        self.counts.watch_heard(resource, self.now())

    def oldest_seconds(self) -> float:
        """Since the watch that was silent longest said anything, or was begun."""
        now = asyncio.get_running_loop().time()
        return max((now - at for at in self.heard.values()), default=0.0)


def resource_of(path: str) -> str:
    """The sort of objects, with its subresource: bounded, so that it may be a label."""
    parts = path.strip("/").split("/")
    after_version = parts[2:] if parts[0] == "api" else parts[3:]
    if after_version[:1] == ["namespaces"] and len(after_version) > 2:
        after_version = after_version[2:]
    return "/".join((*after_version[:1], *after_version[2:3])) or "discovery"


def new_session(connection: Connection, traffic: Traffic) -> aiohttp.ClientSession:
    """Whoever has it closes it."""

    async def authorized(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        headers = await connection.headers()
        for name, _ in headers:
            request.headers.popall(name, None)
        for name, value in headers:
            request.headers.add(name, value)
        response = await handler(request)
        if response.status == _UNAUTHORIZED:
            connection.credentials.refused()
        return response

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=connection.context),
        proxy=connection.proxy,
        timeout=_TIMEOUT,
        headers={"User-Agent": "hudi-operator"},
        middlewares=(traffic.sent, authorized),
    )
