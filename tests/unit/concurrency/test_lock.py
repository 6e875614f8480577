"""Which lock the properties mean, and what is refused with the property to set."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hudi_engine.clock import HandClock
from hudi_engine.concurrency.file_system import FileSystemLock
from hudi_engine.concurrency.in_process import InProcessLock
from hudi_engine.concurrency.lock import lock_of, wait_seconds
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.zookeeper import ZooKeeperLock
from hudi_engine.concurrency.zookeeper_settings import explicit_settings, implicit_path, implicit_settings
from hudi_engine.errors import Contradiction, EngineError, LockLost, Unsupported
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.config import parse_config
from hudi_engine.table.table import Table

OWNER = Owner("engine", "here", "1")
PROVIDER = "hoodie.write.lock.provider"
JAVA = "org.apache.hudi.client.transaction.lock."
ZOOKEEPER = {
    PROVIDER: f"{JAVA}ZookeeperBasedLockProvider",
    "hoodie.write.lock.zookeeper.url": "zk1:2181,zk2:2181",
    "hoodie.write.lock.zookeeper.base_path": "/hudi",
}


class Elsewhere(MemoryStorage):
    """A table at a place of another name."""

    def __init__(self, location: str) -> None:
        super().__init__(HandClock())
        self._location = location

    @property
    def location(self) -> str:
        return self._location


def table(storage: Storage | None = None) -> Table:
    config = parse_config({"hoodie.table.name": "trips", "hoodie.table.version": "8"})
    return Table(storage or MemoryStorage(HandClock()), config, HandClock(1_000_000), ZoneInfo("UTC"))


@pytest.mark.parametrize("provider", ["", f"{JAVA}InProcessLockProvider"])
def test_a_lock_within_one_process_needs_the_word_that_no_writer_runs(provider: str) -> None:
    with pytest.raises(Contradiction, match=r"hudi\.engine\.single\.writer=true"):
        lock_of({PROVIDER: provider}, table(), OWNER)

    alone = lock_of({PROVIDER: provider, "hudi.engine.single.writer": "true"}, table(), OWNER)

    assert isinstance(alone, InProcessLock)


def test_two_locks_of_one_table_in_this_process_exclude_each_other() -> None:
    conf = {"hudi.engine.single.writer": "true"}
    first, second = (lock_of(conf, table(Elsewhere("memory:excluded")), OWNER) for _ in range(2))
    first.acquire(0)
    try:
        with pytest.raises(EngineError):
            second.acquire(0)
    finally:
        first.release()


@pytest.mark.parametrize(
    "provider",
    [
        f"{JAVA}StorageBasedLockProvider",
        f"{JAVA}NoopLockProvider",
        "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider",
        "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider",
        "com.example.ZookeeperBasedLockProvider",
    ],
)
def test_a_provider_that_we_cannot_take_part_in_is_refused_by_name(provider: str) -> None:
    with pytest.raises(Unsupported) as refused:
        lock_of({PROVIDER: provider, "hudi.engine.single.writer": "true"}, table(), OWNER)

    assert provider in str(refused.value)
    assert f"use {PROVIDER}={JAVA}ZookeeperBasedLockProvider" in str(refused.value)


def test_zookeepers_lock_is_the_node_that_the_properties_name() -> None:
    assert isinstance(lock_of(ZOOKEEPER, table(), OWNER), ZooKeeperLock)

    found = explicit_settings(ZOOKEEPER, table())

    assert (found.hosts, found.path) == ("zk1:2181,zk2:2181", "/hudi/trips")
    assert (found.session_ms, found.connection_ms) == (60_000, 15_000)
    named = {**ZOOKEEPER, "hoodie.write.lock.zookeeper.lock_key": "other"}
    assert explicit_settings(named, table()).path == "/hudi/other"


@pytest.mark.parametrize("missing", ["hoodie.write.lock.zookeeper.url", "hoodie.write.lock.zookeeper.base_path"])
def test_a_property_that_zookeeper_needs_is_named_when_it_is_missing(missing: str) -> None:
    conf = {key: value for key, value in ZOOKEEPER.items() if key != missing}

    with pytest.raises(Contradiction, match=f"{missing} is not set"):
        lock_of(conf, table(), OWNER)


@pytest.mark.parametrize("base", ["hudi", "/hudi/", "/hudi//x", "/hudi/../x"])
def test_a_base_path_that_zookeeper_would_not_take_is_refused(base: str) -> None:
    with pytest.raises(Contradiction, match="for no path"):
        lock_of({**ZOOKEEPER, "hoodie.write.lock.zookeeper.base_path": base}, table(), OWNER)


def test_a_port_that_java_would_not_look_at_is_refused() -> None:
    port = {"hoodie.write.lock.zookeeper.port": "2182"}
    lock_of({**ZOOKEEPER, **port}, table(), OWNER)
    lock_of({**ZOOKEEPER, "hoodie.write.lock.zookeeper.port": "2181"}, table(), OWNER)

    with pytest.raises(Contradiction, match="as zk1:2182"):
        lock_of({**ZOOKEEPER, **port, "hoodie.write.lock.zookeeper.url": "zk1,zk2:2181/chroot"}, table(), OWNER)


def test_the_implicit_lock_is_named_by_the_base_path_as_the_writers_spell_it() -> None:
    conf = {**ZOOKEEPER, PROVIDER: f"{JAVA}ZookeeperBasedImplicitBasePathLockProvider"}
    with pytest.raises(Contradiction, match=r"hoodie\.base\.path is not set"):
        lock_of(conf, table(), OWNER)

    assert isinstance(lock_of({**conf, "hoodie.base.path": "/a"}, table(), OWNER), ZooKeeperLock)

    assert implicit_settings({**conf, "hoodie.base.path": "S3A://b/x"}).path == implicit_path("s3://b/x")
    assert len({implicit_path(spelt) for spelt in ("/a", "/a/", "file:/a", "file:///a")}) == 4


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ({"hoodie.write.lock.zookeeper.url": "zk1:2181,zk2:x"}, "'zk2:x' is no server"),
        ({"hoodie.write.lock.zookeeper.url": "zk1:2181,"}, "'' is no server"),
        ({"hoodie.write.lock.zookeeper.session_timeout_ms": "soon"}, "session_timeout_ms='soon'"),
        ({"hudi.engine.zookeeper.tls.enabled": "yes"}, "expected true or false"),
        ({"hudi.engine.zookeeper.sasl.mechanism": "PLAIN"}, "expected DIGEST-MD5 or GSSAPI"),
        ({"hudi.engine.zookeeper.sasl.username": "engine"}, "expected DIGEST-MD5 or GSSAPI"),
        ({"hudi.engine.zookeeper.acl": "world:anyone:rx"}, "scheme:id:permissions"),
        ({"hudi.engine.zookeeper.acl": "anyone"}, "scheme:id:permissions"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(conf: dict[str, str], said: str) -> None:
    with pytest.raises(Contradiction, match=said):
        lock_of({**ZOOKEEPER, **conf}, table(), OWNER)


def test_what_lets_us_in_is_never_shown() -> None:
    secret = {
        "hudi.engine.zookeeper.tls.enabled": "true",
        "hudi.engine.zookeeper.tls.key.password": "hush",
        "hudi.engine.zookeeper.sasl.mechanism": "DIGEST-MD5",
        "hudi.engine.zookeeper.sasl.password": "hush",
        "hudi.engine.zookeeper.digest": "engine:hush",
        "hudi.engine.zookeeper.acl": "digest:engine:hush:cdrwa",
    }

    found = explicit_settings({**ZOOKEEPER, **secret}, table())

    assert "hush" not in repr(found)
    assert found.access.sasl["password"] == "hush"


def test_a_lock_file_is_in_the_tables_own_folder_unless_a_path_is_given(tmp_path: Path) -> None:
    conf = {PROVIDER: f"{JAVA}FileSystemBasedLockProvider"}
    (tmp_path / "table").mkdir()
    there = table(LocalStorage(str(tmp_path / "table")))

    for folder in ("", f"{tmp_path}/locks/deep", f"file://{tmp_path}/others"):
        lock_of({**conf, "hoodie.write.lock.filesystem.path": folder}, there, OWNER).acquire(0)

    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("lock")}
    assert found == {"table/.hoodie/lock", "locks/deep/lock", "others/lock"}


def test_a_lock_file_needs_a_store_that_java_takes_for_one() -> None:
    conf = {PROVIDER: f"{JAVA}FileSystemBasedLockProvider"}
    s3 = table(Elsewhere("s3a://bucket/trips"))

    with pytest.raises(Unsupported, match="no file on s3a for a lock"):
        lock_of(conf, s3, OWNER)
    with pytest.raises(Contradiction, match="begins with /"):
        lock_of({**conf, "hoodie.write.lock.filesystem.path": "locks"}, table(), OWNER)

    assert isinstance(lock_of({**conf, "hoodie.fs.atomic_creation.support": "gs,s3a"}, s3, OWNER), FileSystemLock)


def test_a_lock_never_taken_is_not_held() -> None:
    for conf in (ZOOKEEPER, {PROVIDER: f"{JAVA}FileSystemBasedLockProvider"}, {"hudi.engine.single.writer": "true"}):
        lock = lock_of(conf, table(), OWNER)
        lock.release()
        with pytest.raises(LockLost):
            lock.require_held()


def test_how_long_to_wait_is_hudis_own_property() -> None:
    assert wait_seconds({}) == 60
    assert wait_seconds({"hoodie.write.lock.wait_time_ms": "1500"}) == 1.5
