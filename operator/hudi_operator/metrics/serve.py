"""The page of metrics over HTTP."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.aiohttp import make_aiohttp_handler

from hudi_operator.metrics.collector import Observed, TableCollector
from hudi_operator.metrics.counts import Counts


@asynccontextmanager
async def serve(port: int, observed: Observed, counts: Counts) -> AsyncIterator[int]:
    """While it is open, `/metrics` is answered at the port, which it gives; 0 is any that is free.

    The page is made by the event loop that changes what it shows, so that it never shows half of a change.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(TableCollector(observed, counts))
    application = web.Application()
    application.router.add_get("/metrics", make_aiohttp_handler(registry))
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, _listening(port)).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _listening(port: int) -> socket.socket:
    """One socket for every address of the machine, of both kinds where it has both."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
