"""The lock is lost while the engine is inside a critical section: it publishes nothing more, and says so.

Whatever others do meanwhile stands, and the same command goes on with what was left.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import pytest

from tests.faults.killed_builds import BASE_IS_READ
from tests.faults.losses import FAULTS, PLACES, Loss, Servers, require_nothing_changed_without_lock
from tests.java.jvm import Jvm
from tests.java.live import RECOMMENDED, USUAL_LEASE, Scene
from tests.java.live_checks import run_engine
from tests.java.live_writers import KEEPS_OTHER_KINDS, zookeeper_lock
from tests.java.remains import content, require_nothing_of_it, require_ready_and_nothing_left
from tests.kit.engine import RECORD_INDEX, Engine, Pause, build_until_ready
from tests.kit.soak import and_in_soak
from tests.kit.zookeeper_proxy import Network
from tests.kit.zookeeper_server import ZooKeeperServer

_LOCK_UNREACHABLE: Final = 28
# How long the engine asks a server that is silent.
_OWN: Final = {**USUAL_LEASE, "hoodie.write.lock.zookeeper.connection_timeout_ms": "5000"}
_SECONDARY: Final = "secondary_index_by_seen"
_ASKED: Final[Mapping[str, Sequence[str]]] = {
    "record_index": RECORD_INDEX,
    "column_stats": ("--type", "column_stats"),
    _SECONDARY: ("--type", _SECONDARY, "--column", "seen"),
}
# In the life of one index: each build goes on with what the one before left, and loses its lock further on.
_LIVES: Final[list[tuple[str, tuple[Loss, ...]]]] = [
    (
        "record_index",
        (
            Loss("schedule", "expired", "entered"),
            Loss("take over", "stopped", "entered"),
            Loss("publish", "expired", "asked"),
            Loss("flag", "cut", "asked"),
            Loss("catch up", "expired", "asked"),
            Loss("complete", "cut", "entered"),
            Loss("complete the instant", "stopped", "asked"),
        ),
    ),
    ("column_stats", (Loss("publish", "stopped", "entered"), Loss("complete", "expired", "asked"))),
    # The last pass of a secondary index, which works under the lock, begins with what its base lacks.
    (_SECONDARY, (Loss("catch up", "expired", "asked"), Loss("complete", "cut", "asked"))),
]
_REMOVALS: Final = {"drop": Loss("remove", "expired", "asked"), "abort": Loss("remove", "cut", "entered")}
# A catch-up that finds at its start that a commit has made its changes wrong writes nothing, and takes the lock anew.
_HARMLESS: Final = Loss("catch up", "expired", "entered")
_EVERY: Final = [Loss(section, fault, since) for (section, since), fault in product(PLACES, FAULTS)]
_SOAK: Final = [
    (kind, (loss,))
    for kind, loss in product(_ASKED, _EVERY)
    if loss.section != "remove" and loss != _HARMLESS and (loss.section != "complete the instant" or kind != _SECONDARY)
]
_SOAK_OF_REMOVALS: Final = [{"drop": loss, "abort": loss} for loss in _EVERY if loss.section == "remove"]


@pytest.fixture
def servers(zookeeper: ZooKeeperServer) -> Iterator[Servers]:
    with Network(zookeeper.port) as network:
        yield Servers(zookeeper, network)


@pytest.fixture(scope="module")
def one_scene(jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """One table for all, whose writer keeps up whatever there is. It has no index before and after each test."""
    folder = tmp_path_factory.mktemp("lost") / "table"
    writers = {**RECOMMENDED, **KEEPS_OTHER_KINDS}
    return Scene(jvm, folder, zookeeper_lock(zookeeper.address, "lost"), _OWN, writers)


@pytest.fixture
def scene(one_scene: Scene) -> Iterator[Scene]:
    yield one_scene
    for kind in reversed([*_ASKED]):
        _drop(one_scene, kind)


@pytest.mark.parametrize(("kind", "losses"), and_in_soak(_LIVES, _SOAK))
def test_nothing_of_an_index_is_published_once_the_lock_is_lost(
    kind: str, losses: Sequence[Loss], scene: Scene, servers: Servers
) -> None:
    asked = _ASKED[kind]
    if kind == _SECONDARY:
        build_until_ready(scene.folder, scene.options)

    for loss in losses:
        require_nothing_changed_without_lock(scene, servers, loss, asked)
    scene.commit()
    build_until_ready(scene.folder, scene.options, asked)
    require_ready_and_nothing_left(scene.folder, kind)
    if kind == "record_index":
        scene.require_found_by_java()


@pytest.mark.parametrize("losses", and_in_soak([_REMOVALS], _SOAK_OF_REMOVALS))
def test_nothing_is_taken_away_once_the_lock_is_lost(
    losses: Mapping[str, Loss], scene: Scene, servers: Servers
) -> None:
    build_until_ready(scene.folder, scene.options)
    _require_removed_with_lock_only(scene, servers, "drop", losses["drop"])

    with Engine(scene.folder, scene.options, [Pause("in flight", "^catch up$")]) as engine:
        assert engine.pauses("in flight")
        scene.let_die(engine)
    _require_removed_with_lock_only(scene, servers, "abort", losses["abort"])


def _require_removed_with_lock_only(scene: Scene, servers: Servers, verb: str, loss: Loss) -> None:
    require_nothing_changed_without_lock(scene, servers, loss, verb=verb)
    with Engine(scene.folder, scene.options, verb=verb) as engine:
        assert engine.end().code == 0
    require_nothing_of_it(scene.folder)


def test_a_build_whose_lock_is_not_to_be_had_for_publishing_ends_and_goes_on_later(
    scene: Scene, zookeeper: ZooKeeperServer
) -> None:
    with Engine(scene.folder, {**scene.options, "hoodie.write.lock.wait_time_ms": "5000"}, [BASE_IS_READ]) as engine:
        assert engine.pauses("base")
        zookeeper.kill()
        before = {name for name in content(scene.folder) if "/record_index/" not in name}
        engine.go_on("base")
        ended = engine.end()
        after = {name for name in content(scene.folder) if "/record_index/" not in name}
        zookeeper.start()

    assert (ended.code, ended.report["retry"]) == (_LOCK_UNREACHABLE, True), ended
    assert after == before
    scene.commit()
    build_until_ready(scene.folder, scene.options)
    require_ready_and_nothing_left(scene.folder)


def test_the_lives_have_each_place_and_each_fault_of_either_age() -> None:
    losses = [*(loss for _, losses in _LIVES for loss in losses), *_REMOVALS.values()]

    assert {loss.section for loss in losses} == {section for section, _ in PLACES}
    assert {(loss.fault, loss.since) for loss in losses} == {*product(FAULTS, ("entered", "asked"))}


def _drop(scene: Scene, kind: str) -> None:
    props = scene.folder.with_name("engine.properties")
    props.write_text("".join(f"{key}={value}\n" for key, value in scene.options.items()))
    code, report = run_engine("index", "drop", str(scene.folder), "--type", kind, "--props", str(props))
    assert code == 0, report
