"""The lock is lost while the engine is inside a critical section: it publishes nothing more, and says so.

Whatever others do meanwhile stands, and the same command goes on with what was left.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pytest

from tests.faults.engine import RECORD_INDEX, Ended, Engine, Pause, build_until_ready
from tests.faults.live import SHORT_LEASE, Scene
from tests.faults.remains import content, require_nothing_of_it, require_ready_and_nothing_left
from tests.interop.jvm import Jvm
from tests.interop.live_checks import run_engine
from tests.interop.live_writers import KEEPS_OTHER_KINDS, zookeeper_lock
from tests.zookeeper.locks import onlooker, wait_until
from tests.zookeeper.proxy import Network
from tests.zookeeper.server import ZooKeeperServer

_LOCK_UNAVAILABLE, _LOCK_LOST = 22, 23
_NAME: Final = "lost"
# Short sessions, so that others need not wait; a lease that is longer than anything here takes.
_OWN: Final = {
    "hoodie.write.lock.zookeeper.session_timeout_ms": "2000",
    "hoodie.write.lock.zookeeper.connection_timeout_ms": "6000",
    "hoodie.client.heartbeat.interval_in_ms": "60000",
    "hoodie.client.heartbeat.tolerable.misses": "2",
}
_BASE_IS_READ: Final = Pause("base", r"^create .*-0000.*hfile")
_COMMIT: Final = r"create \.hoodie/metadata/\S*/\d{17}_\d{17}\.deltacommit"
_FLAG: Final = r"replace \.hoodie/hoodie\.properties"
# What each section publishes, the last of it.
_SECTIONS: Final = {
    "schedule": r"\.indexing\.requested",
    "take over": r"create \.hoodie/\.index_attempts/\d+/\d{4,}\.json",
    "publish": _COMMIT,
    "flag": _FLAG,
    "catch up": f"{_COMMIT}(?s:.*){_COMMIT}",
    "complete": f"{_FLAG}(?s:.*){_FLAG}",
    "complete the instant": r"/built/record_index\.json",
}
_FAULTS: Final = ("expired", "cut", "stopped")
_STEPS: Final = {"entered": "acquired", "asked": "asked"}
"""Right after the lock was taken, or right before it is asked for the last time whether it is held."""
_FEW: Final = [
    ("schedule", "expired", "entered"),
    ("take over", "stopped", "entered"),
    ("publish", "expired", "entered"),
    ("flag", "cut", "asked"),
    ("catch up", "expired", "asked"),
    ("complete", "cut", "entered"),
    ("complete the instant", "expired", "asked"),
]
# One that finds at its start that a commit has made its changes wrong writes nothing, and takes the lock anew.
_HARMLESS: Final = ("catch up", "expired", "entered")
_EVERY: Final = [(section, fault, since) for section in _SECTIONS for fault in _FAULTS for since in _STEPS]
_ALL: Final = [case for case in _EVERY if case != _HARMLESS]
_IS_SOAK: Final = bool(os.environ.get("HUDI_SOAK"))
_CASES: Final = _ALL if _IS_SOAK else _FEW
_TAKING_AWAY: Final = [(verb, fault, since) for verb in ("drop", "abort") for fault in _FAULTS for since in _STEPS]
_SECONDARY: Final = "secondary_index_by_seen"
_OTHER_KINDS: Final = {
    "column_stats": ("--type", "column_stats"),
    _SECONDARY: ("--type", _SECONDARY, "--column", "seen"),
}
# The last pass of a secondary index, which works under the lock, begins with what its base lacks.
_OF_OTHER_KINDS: Final = [
    ("column_stats", "publish", "expired", "asked"),
    (_SECONDARY, "catch up", "expired", "asked"),
    *([(_SECONDARY, "complete", "cut", "asked"), ("column_stats", "complete", "stopped", "asked")] if _IS_SOAK else []),
]


class Servers:
    """One ZooKeeper for the writer, which the engine reaches through a network that breaks."""

    def __init__(self, server: ZooKeeperServer, network: Network) -> None:
        self._server = server
        self._network = network
        self.engines_address = network.address

    def fail(self, fault: str, meanwhile: Callable[[], None]) -> Callable[[], None]:
        """The engine, which sleeps, loses its lock or its way to it, now; the answer is how to mend that."""
        match fault:
            case "expired":
                self._await_end_of_sessions()
                meanwhile()
                return lambda: None
            case "cut":
                self._network.cut()
                return self._network.heal
            case _:
                self._server.kill()
                return self._server.start

    def _await_end_of_sessions(self) -> None:
        with onlooker(self._server.address) as client:
            wait_until(lambda: not client.get_children(f"/hudi/{_NAME}"), 60)


@pytest.fixture
def servers(zookeeper: ZooKeeperServer) -> Iterator[Servers]:
    with Network(zookeeper.port) as network:
        yield Servers(zookeeper, network)


@pytest.fixture(scope="module")
def one_scene(jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    lock = zookeeper_lock(zookeeper.address, _NAME)
    return Scene(jvm, tmp_path_factory.mktemp("lost") / "table", lock, _OWN)


@pytest.fixture
def scene(one_scene: Scene) -> Iterator[Scene]:
    """One table for all, which has no index before and after each."""
    yield one_scene
    build_until_ready(one_scene.folder, one_scene.options)
    drop(one_scene)


@pytest.fixture(scope="module")
def usual_steps(one_scene: Scene) -> Sequence[str]:
    """What a build does that nobody disturbs, with one commit to catch up with. The first one alone makes folders."""
    build_until_ready(one_scene.folder, one_scene.options)
    drop(one_scene)
    steps = _steps_of_a_build(one_scene)
    drop(one_scene)
    return steps


@pytest.fixture(scope="module")
def keeping_scene(jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A table that has a record index, and whose writer keeps up whatever there is."""
    lock = zookeeper_lock(zookeeper.address, _NAME)
    scene = Scene(jvm, tmp_path_factory.mktemp("lost-others") / "table", lock, _OWN, KEEPS_OTHER_KINDS)
    build_until_ready(scene.folder, scene.options)
    return scene


def _steps_of_a_build(scene: Scene, asked: Sequence[str] = RECORD_INDEX) -> Sequence[str]:
    with Engine(scene.folder, scene.options, [_BASE_IS_READ], asked=asked) as engine:
        assert engine.pauses("base")
        scene.commit()
        engine.go_on("base")
        assert engine.end().code == 0
        return engine.steps


@pytest.mark.parametrize(("section", "fault", "since"), _CASES)
def test_nothing_is_published_once_the_lock_is_lost(
    section: str, fault: str, since: str, scene: Scene, servers: Servers, usual_steps: Sequence[str]
) -> None:
    pauses = [_BASE_IS_READ, _inside(usual_steps, section, since)]
    with Engine(scene.folder, _through_network(scene, servers), pauses) as engine:
        if engine.pauses_first("base", "inside") == "base":
            scene.commit()
            engine.go_on("base")
        _require_nothing_changed_without_lock(engine, scene, servers, fault)
    scene.commit()
    build_until_ready(scene.folder, scene.options)
    require_ready_and_nothing_left(scene.folder)
    scene.require_found_by_java()


@pytest.mark.parametrize(("kind", "section", "fault", "since"), _OF_OTHER_KINDS)
def test_nothing_of_another_kind_is_published_once_the_lock_is_lost(
    kind: str, section: str, fault: str, since: str, keeping_scene: Scene, servers: Servers
) -> None:
    scene, asked = keeping_scene, _OTHER_KINDS[kind]
    pauses = [_BASE_IS_READ, _inside(_steps_of_a_build(scene, asked), section, since)]
    drop(scene, kind)
    with Engine(scene.folder, _through_network(scene, servers), pauses, asked=asked) as engine:
        if engine.pauses_first("base", "inside") == "base":
            scene.commit()
            engine.go_on("base")
        _require_nothing_changed_without_lock(engine, scene, servers, fault)
    scene.commit()
    build_until_ready(scene.folder, scene.options, asked)
    require_ready_and_nothing_left(scene.folder, kind)
    drop(scene, kind)


@pytest.mark.parametrize(("verb", "fault", "since"), _TAKING_AWAY if _IS_SOAK else [("drop", "expired", "asked")])
def test_nothing_is_taken_away_once_the_lock_is_lost(
    verb: str, fault: str, since: str, scene: Scene, servers: Servers
) -> None:
    if verb == "drop":
        build_until_ready(scene.folder, scene.options)
    else:
        with Engine(scene.folder, {**scene.options, **SHORT_LEASE}, [Pause("flagged", _FLAG)]) as engine:
            assert engine.pauses("flagged")
    pauses = [Pause("inside", f"^{_STEPS[since]}$", how="stop")]
    with Engine(scene.folder, {**_through_network(scene, servers), **SHORT_LEASE}, pauses, verb=verb) as engine:
        _require_nothing_changed_without_lock(engine, scene, servers, fault)
    with Engine(scene.folder, {**scene.options, **SHORT_LEASE}, verb=verb) as engine:
        assert engine.end().code == 0
    require_nothing_of_it(scene.folder)


def _through_network(scene: Scene, servers: Servers) -> dict[str, str]:
    host_and_port = servers.engines_address
    return {
        **scene.options,
        "hoodie.write.lock.zookeeper.url": host_and_port,
        "hoodie.write.lock.zookeeper.port": host_and_port.rpartition(":")[2],
    }


def _require_nothing_changed_without_lock(engine: Engine, scene: Scene, servers: Servers, fault: str) -> None:
    """The engine, which is going to stop in there, loses its lock, says so, and leaves all as others have made it."""
    assert engine.pauses("inside"), engine.end()
    mend = servers.fail(fault, scene.commit)
    before = content(scene.folder)
    engine.go_on("inside")
    ended = engine.end()
    after = content(scene.folder)
    mend()
    assert_lock_lost(ended)
    assert after == before


def test_a_lock_that_is_not_to_be_had_when_a_base_is_to_be_published_ends_the_build_which_goes_on_later(
    scene: Scene, zookeeper: ZooKeeperServer
) -> None:
    with Engine(scene.folder, {**scene.options, "hoodie.write.lock.wait_time_ms": "3000"}, [_BASE_IS_READ]) as engine:
        assert engine.pauses("base")
        zookeeper.kill()
        before = {name for name in content(scene.folder) if "/record_index/" not in name}
        engine.go_on("base")
        ended = engine.end()
        after = {name for name in content(scene.folder) if "/record_index/" not in name}
        zookeeper.start()

    assert (ended.code, ended.report["retry"]) == (_LOCK_UNAVAILABLE, True), ended
    assert after == before
    scene.commit()
    build_until_ready(scene.folder, scene.options)
    require_ready_and_nothing_left(scene.folder)


def assert_lock_lost(ended: Ended) -> None:
    assert (ended.code, ended.report["retry"]) == (_LOCK_LOST, True), ended
    assert "Nothing was published since" in ended.report["reason"]


def drop(scene: Scene, kind: str = "record_index") -> None:
    props = scene.folder.with_name("engine.properties")
    props.write_text("".join(f"{key}={value}\n" for key, value in scene.options.items()))
    code, report = run_engine("index", "drop", str(scene.folder), "--type", kind, "--props", str(props))
    assert code == 0, report


def _inside(steps: Sequence[str], section: str, since: str) -> Pause:
    published = _published_at(steps, _SECTIONS[section])
    step = _STEPS[since]
    return Pause("inside", f"^{step}$", steps[:published].count(step), how="stop")


def _published_at(steps: Sequence[str], pattern: str) -> int:
    """The number of the first step by which all of the pattern has happened."""
    return next(number for number in range(len(steps) + 1) if re.search(pattern, "\n".join(steps[: number + 1])))
