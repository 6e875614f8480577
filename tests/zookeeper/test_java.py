"""Hudi's own lock providers and ours exclude each other, both ways."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from kazoo.client import KazooClient

from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.lock import Lock, lock_of
from hudi_engine.concurrency.zookeeper_settings import implicit_path
from hudi_engine.errors import LockLost, LockUnavailable
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.config import parse_config
from hudi_engine.table.table import Table
from tests.java.jvm import JavaError, Jvm
from tests.kit.zookeeper_server import ZooKeeperServer
from tests.zookeeper.locks import onlooker, owner

JAVA = "org.apache.hudi.client.transaction.lock."
EXPLICIT = "ZookeeperBasedLockProvider"
IMPLICIT = "ZookeeperBasedImplicitBasePathLockProvider"
FILE = "FileSystemBasedLockProvider"


@pytest.fixture(scope="module", params=["0.15.0", "1.2.0"])
def jvm(request: pytest.FixtureRequest) -> Iterator[Jvm]:
    with Jvm(request.param) as running:
        yield running


@pytest.fixture
def onlooking(server: ZooKeeperServer) -> Iterator[KazooClient]:
    with onlooker(server.address) as client:
        yield client


def conf(server: ZooKeeperServer, base: Path, provider: str) -> dict[str, str]:
    return {
        "hoodie.write.lock.provider": f"{JAVA}{provider}",
        "hoodie.write.lock.zookeeper.url": server.address,
        "hoodie.write.lock.zookeeper.base_path": "/java",
        "hoodie.write.lock.zookeeper.lock_key": base.name,
        "hoodie.write.lock.zookeeper.session_timeout_ms": "30000",
        "hoodie.write.lock.zookeeper.connection_timeout_ms": "15000",
        "hoodie.write.lock.wait_time_ms_between_retry": "100",
        "hoodie.write.lock.max_wait_time_ms_between_retry": "500",
        "hoodie.write.lock.num_retries": "3",
        "hoodie.write.lock.filesystem.expire": "0",
        "hoodie.base.path": str(base),
    }


def ours(settings: dict[str, str], base: Path, attempt: str = "1") -> Lock:
    config = parse_config({"hoodie.table.name": base.name, "hoodie.table.version": "6"})
    table = Table(LocalStorage(str(base)), config, SystemClock(), ZoneInfo("UTC"))
    return lock_of(settings, table, owner(attempt))


def providers(jvm: Jvm) -> list[str]:
    return [EXPLICIT, FILE] if jvm.version == "0.15.0" else [EXPLICIT, IMPLICIT, FILE]


def words(jvm: Jvm) -> str:
    """What Java's nodes say: the address of their machine before Hudi 1.0, then the application if they are told."""
    return r"[0-9]+\.[0-9.]+" if jvm.version == "0.15.0" else "application_id=Unknown"


def test_while_java_holds_a_lock_we_wait_and_say_for_whom(jvm: Jvm, server: ZooKeeperServer, tmp_path: Path) -> None:
    for provider in providers(jvm):
        settings = conf(server, tmp_path, provider)
        mine = ours(settings, tmp_path)
        assert jvm.take_lock(provider=provider, conf=settings, seconds=5)
        whom = "a writer that does not say who it is" if provider == FILE else words(jvm)
        with pytest.raises(LockUnavailable, match=f"held .*by '?{whom}"):
            mine.acquire(3)

        jvm.give_lock(provider=provider)

        mine.acquire(60)
        mine.require_held()
        mine.release()


def test_while_we_hold_a_lock_java_waits(jvm: Jvm, server: ZooKeeperServer, tmp_path: Path) -> None:
    for provider in providers(jvm):
        settings = conf(server, tmp_path, provider)
        mine = ours(settings, tmp_path)
        mine.acquire(60)
        assert not jvm.take_lock(provider=provider, conf=settings, seconds=1)
        if provider == FILE:
            # The provider that did not get it was closed, and took our file with it.
            with pytest.raises(LockLost, match="is gone"):
                mine.require_held()
        else:
            mine.require_held()
        mine.release()

        assert jvm.take_lock(provider=provider, conf=settings, seconds=5)
        jvm.give_lock(provider=provider)


def test_java_and_we_count_together_and_lose_nothing(jvm: Jvm, server: ZooKeeperServer, tmp_path: Path) -> None:
    counter = tmp_path / "count"
    counter.write_text("0")
    settings = conf(server, tmp_path, EXPLICIT)

    def count(attempt: int) -> None:
        mine = ours(settings, tmp_path, str(attempt))
        for _ in range(30):
            mine.acquire(60)
            seen = int(counter.read_text())
            mine.require_held()
            counter.write_text(str(seen + 1))
            mine.release()

    with ThreadPoolExecutor(4) as threads:
        java = threads.submit(jvm.count_under_lock, provider=EXPLICIT, conf=settings, file=str(counter), rounds=30)
        us = [threads.submit(count, attempt) for attempt in range(3)]
        for each in (java, *us):
            each.result(timeout=120)

    assert counter.read_text() == "120"


@pytest.mark.parametrize("location", ["/tables/trips", "s3a://bucket/trips", "S3A://b/x", "s3://b/x/", "file:/tablé"])
def test_the_implicit_lock_is_where_java_has_it(jvm: Jvm, location: str) -> None:
    if jvm.version == "0.15.0":
        with pytest.raises(JavaError):  # it has no such provider
            jvm.implicit_lock_path(location=location)
    else:
        assert jvm.implicit_lock_path(location=location) == implicit_path(location)


def test_javas_nodes_are_where_and_what_we_take_them_for(
    jvm: Jvm, server: ZooKeeperServer, onlooking: KazooClient, tmp_path: Path
) -> None:
    settings = conf(server, tmp_path, EXPLICIT)
    jvm.take_lock(provider=EXPLICIT, conf=settings, seconds=5)

    (name,) = onlooking.get_children(f"/java/{tmp_path.name}")
    data, _ = onlooking.get(f"/java/{tmp_path.name}/{name}")
    jvm.give_lock(provider=EXPLICIT)

    assert name.startswith("_c_")
    assert name.rpartition("-lock-")[2].isdecimal()
    assert re.fullmatch(words(jvm), data.decode())


def test_javas_lock_file_is_empty(jvm: Jvm, server: ZooKeeperServer, tmp_path: Path) -> None:
    jvm.take_lock(provider=FILE, conf=conf(server, tmp_path, FILE), seconds=5)
    found = (tmp_path / ".hoodie" / "lock").read_bytes()
    jvm.give_lock(provider=FILE)

    assert found == b""
