"""Whether this process does its work, over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from hudi_operator.kube.handlers import WATCH_SECONDS
from hudi_operator.kube.session import Traffic
from hudi_operator.reconcile import Loop

# A watch that did not even begin anew in this time is dead; so is a worker whose step takes that long.
_OLDEST_WATCH_SECONDS, _LONGEST_WORK_SECONDS = 3.0 * WATCH_SECONDS, 300.0


@dataclass(slots=True)
class Health:
    """`is_ready`: what there is has been listed, or another leads."""

    traffic: Traffic
    loop: Loop
    is_leading: Callable[[], bool]
    is_ready: bool = False

    def complaint(self) -> str | None:
        """Why this process should be started anew; None if all is well. That it answers shows that its loop turns."""
        if not self.is_leading():
            return None
        silent, at_work = self.traffic.oldest_seconds(), self.loop.oldest_work_seconds()
        if silent > _OLDEST_WATCH_SECONDS:
            return f"a watch was silent for {silent:.0f} s"
        if at_work > _LONGEST_WORK_SECONDS:
            return f"a reconciliation is at work for {at_work:.0f} s"
        return None


@asynccontextmanager
async def serve_health(port: int, health: Health) -> AsyncIterator[int]:
    """While it is open, `/livez` and `/readyz` are answered at the port, which it gives; 0 is any free one."""

    async def live(_: web.Request) -> web.Response:
        complaint = health.complaint()
        return web.Response(status=200 if complaint is None else 500, text=complaint or "ok")

    async def ready(_: web.Request) -> web.Response:
        return web.Response(status=200 if health.is_ready else 503, text="ok" if health.is_ready else "not listed yet")

    application = web.Application()
    application.router.add_get("/livez", live)
    application.router.add_get("/readyz", ready)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        # Every address of both families has a free port of its own: with any port there must be one address.
        site = web.TCPSite(runner, None if port else "127.0.0.1", port)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await asyncio.wait_for(runner.cleanup(), 5.0)
