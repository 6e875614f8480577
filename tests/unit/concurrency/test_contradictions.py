"""What a table shows of its writers' lock, and when that contradicts the lock that we were told of."""

import json
from collections.abc import Mapping

import pytest

from hudi_engine.action.execute import execute_plan
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.concurrency.contradictions import refuse_contradicted
from hudi_engine.errors import Contradiction, EngineError, LockUnavailable
from tests.worlds.world import World, world_of
from tests.worlds.writer import Writer

PROVIDER = "hoodie.write.lock.provider"
JAVA = "org.apache.hudi.client.transaction.lock."
ALONE = {"hudi.engine.single.writer": "true"}
ZOOKEEPER = {PROVIDER: f"{JAVA}ZookeeperBasedLockProvider"}
FILE = {PROVIDER: f"{JAVA}FileSystemBasedLockProvider"}
not_by_file = pytest.mark.parametrize("conf", [ALONE, ZOOKEEPER], ids=["alone", "zookeeper"])


@pytest.fixture
def world() -> World:
    return world_of("v9_mor")


def require_refused(
    conf: Mapping[str, str], world: World, *words: str, kind: type[EngineError] = Contradiction
) -> None:
    with pytest.raises(kind) as raised:
        refuse_contradicted(conf, world.table())
    assert all(word in str(raised.value) for word in words), raised.value


@pytest.mark.parametrize("conf", [ALONE, ZOOKEEPER, FILE])
def test_a_table_at_rest_contradicts_nothing(conf: Mapping[str, str], world: World) -> None:
    refuse_contradicted(conf, world.table())


@not_by_file
def test_a_lock_file_is_of_writers_that_take_another_lock(conf: Mapping[str, str], world: World) -> None:
    world.storage.create(".hoodie/lock", b"")

    require_refused(conf, world, ".hoodie/lock", f"Set {PROVIDER}={JAVA}FileSystemBasedLockProvider")


@not_by_file
def test_a_lock_file_that_is_older_than_the_lease_is_nobodys(conf: Mapping[str, str], world: World) -> None:
    world.storage.create(".hoodie/lock", b"")
    world.clock.advance(120_001)

    refuse_contradicted(conf, world.table())


def test_a_lock_file_is_waited_for_by_who_takes_the_same(world: World) -> None:
    world.storage.create(".hoodie/lock", b"")

    refuse_contradicted(FILE, world.table())


@pytest.mark.parametrize("conf", [ALONE, ZOOKEEPER, FILE])
def test_a_lock_of_hudis_storage_provider_is_refused_while_it_is_held(conf: Mapping[str, str], world: World) -> None:
    held = {"expired": False, "validUntil": world.clock.now_ms() + 1_000, "owner": "spark-7"}
    world.storage.create(".hoodie/.locks/table_lock.json", json.dumps(held).encode())

    require_refused(conf, world, "table_lock.json", "StorageBasedLockProvider", "spark-7")

    world.clock.advance(1_000)
    refuse_contradicted(conf, world.table())


@pytest.mark.parametrize("content", [b'{"expired": true, "validUntil": 9999999999999, "owner": "a"}', b"", b"[]"])
def test_a_lock_of_hudis_storage_provider_that_was_let_go_or_says_nothing_is_no_evidence(
    content: bytes, world: World
) -> None:
    world.storage.create(".hoodie/.locks/table_lock.json", content)

    refuse_contradicted(ZOOKEEPER, world.table())


def test_who_was_promised_to_be_alone_is_told_of_a_writer_whose_heart_beats(world: World) -> None:
    write = Writer(world).begin()

    words = (f"{write.instant} (deltacommit, inflight)", f"Set {PROVIDER}", "120 seconds old")
    require_refused(ALONE, world, *words, kind=LockUnavailable)
    require_refused({**ALONE, PROVIDER: f"{JAVA}InProcessLockProvider"}, world, *words, kind=LockUnavailable)
    refuse_contradicted(ZOOKEEPER, world.table())


def test_a_pending_commit_is_no_company_once_its_heart_stands_still(world: World) -> None:
    Writer(world).begin()
    world.clock.advance(120_001)

    refuse_contradicted(ALONE, world.table())


def test_a_heartbeat_of_a_commit_that_is_over_is_no_company(world: World) -> None:
    write = Writer(world).begin()
    write.complete()
    write.beat()

    refuse_contradicted(ALONE, world.table())


def test_a_runner_of_ours_is_no_writer(world: World) -> None:
    site = world.site()
    plan = schedule(site, IndexRequest(("record_index",)))
    assert isinstance(plan, IndexPlan)

    execute_plan(site, plan.requested_at, lambda _: refuse_contradicted(ALONE, world.table()))
