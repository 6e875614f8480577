"""Locks of tables on a server, as the tests take them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kazoo.client import KazooClient

from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.zookeeper import ZooKeeperLock
from hudi_engine.concurrency.zookeeper_settings import Access, ZooKeeperSettings
from tests.kit.sessions import Session

OPEN = Access(None, {}, "", ())
# Longer than any test takes: sessions are expired and not waited for.
_SESSION_MS = 30_000
_CONNECTION_MS = 20_000


def lock(address: str, path: str, attempt: str = "1", **changes: int) -> ZooKeeperLock:
    times: Mapping[str, int] = {"session_ms": _SESSION_MS, "connection_ms": _CONNECTION_MS, **changes}
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


def session_of(held: ZooKeeperLock) -> Session:
    """The session of whoever holds or awaits this lock."""
    assert held._session is not None, "it neither holds nor awaits the lock"
    client = held._session._client
    assert client._session_id is not None, "it has no session"
    return Session(client._session_id, client._session_passwd)
