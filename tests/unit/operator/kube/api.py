"""A server that answers as it is told to, for what a real one cannot be made to say."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiohttp import web

from hudi_operator.kube.client import Client
from hudi_operator.kube.connection import Connection
from hudi_operator.kube.credentials import Fixed
from hudi_operator.kube.session import Traffic, new_session
from hudi_operator.metrics import Counts

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Say:
    """One answer; a code of 0 is a connection that ends without any."""

    code: int
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    after_seconds: float = 0.0


@dataclass(slots=True)
class Script:
    """Answers in order, of which the last one goes on; and what was asked."""

    answers: list[Say]
    asked: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[object] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            # The others of the same moment come in before this one is answered.
            for _ in range(50):
                await asyncio.sleep(0)
            return await self._answer(request)
        finally:
            self._at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.path_qs))
        self.bodies.append(await request.json() if request.can_read_body else None)
        self.tokens.append(request.headers.get("Authorization", ""))
        say = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await asyncio.sleep(say.after_seconds)
        if say.code == 0:
            assert request.transport is not None
            request.transport.close()
            await asyncio.sleep(0)
        if isinstance(say.body, str):
            return web.Response(status=say.code or 200, text=say.body, headers=say.headers)
        return web.json_response(say.body or {}, status=say.code or 200, headers=say.headers)


@dataclass(frozen=True, slots=True)
class Served:
    client: Client
    script: Script
    counts: Counts
    connection: Connection


@asynccontextmanager
async def served(answers: Sequence[Say], token: str | None = None) -> AsyncIterator[Served]:
    """A client of a server that says this."""
    script = Script(list(answers))
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", script.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    connection = Connection(
        f"http://127.0.0.1:{runner.addresses[0][1]}", credentials=Fixed(token and f"Bearer {token}")
    )
    counts = Counts(NOW)
    try:
        async with new_session(connection, Traffic(counts, lambda: NOW)) as session:
            yield Served(Client(session, connection.server), script, counts, connection)
    finally:
        await runner.cleanup()
