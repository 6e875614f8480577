"""Locks of tables on a server, as the tests take them."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kazoo.client import KazooClient

from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.zookeeper import ZooKeeperLock
from hudi_engine.concurrency.zookeeper_settings import Access, ZooKeeperSettings

OPEN = Access(None, {}, "", ())
SESSION_MS = 2_000


def lock(address: str, path: str, attempt: str = "1", **changes: int) -> ZooKeeperLock:
    times: Mapping[str, int] = {"session_ms": SESSION_MS, "connection_ms": 2_000, **changes}
    return ZooKeeperLock(ZooKeeperSettings(address, path, access=OPEN, **times), SystemClock(), owner(attempt))


def owner(attempt: str) -> Owner:
    return Owner("engine", "here", attempt)


@contextmanager
def onlooker(address: str) -> Iterator[KazooClient]:
    """Another client, which looks at nodes."""
    client = KazooClient(address)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> float:
    """How many seconds passed until it did."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + seconds, "it never did"
        time.sleep(0.01)
    return time.monotonic() - began
