"""`kill -9` at named steps of a build beside a writer, and of the build that picks up what was left of it."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.faults.killed_builds import BASE_IS_READ, OF_FILES, OF_PARTITIONS, OF_VALUES, RECORDS, Case
from tests.java.jvm import Jvm
from tests.java.live import MERGE_ON_READ, USUAL_LEASE, Scene
from tests.java.remains import require_ready_and_nothing_left
from tests.kit.engine import Engine, Pause, build_until_ready
from tests.kit.zookeeper_server import ZooKeeperServer

_IN_FLIGHT: Final = Pause("in flight", "^catch up$")
_COMMIT: Final = r"^create \.hoodie/metadata/\S*/\d{17}_\d{17}\.deltacommit$"
_FLAG: Final = r"^replace \.hoodie/hoodie\.properties$"
_CAUGHT_UP: Final = "^caught up$"


def _killed(on: str, after: str = "") -> Pause:
    return Pause("killed", on, after=after)


# Which build is killed where, and where the one that picks up what was left: each where a fault was found once.
_KILLS: Final[list[tuple[Case, tuple[Pause, Pause]]]] = [
    (RECORDS, (_killed(r"^half of .*-0001-.*\.hfile$"), _killed(r"^delete .*properties\.backup$", after=_CAUGHT_UP))),
    (OF_FILES, (_killed(_COMMIT), _killed(_FLAG, after=_COMMIT))),
    (
        replace(OF_VALUES, table_type=MERGE_ON_READ),
        (
            _killed(_COMMIT, after=_IN_FLIGHT.on),
            _killed(r"^replace \.hoodie/\.index_defs/index\.json$", after=_CAUGHT_UP),
        ),
    ),
    (OF_PARTITIONS, (_killed(_FLAG, after=_CAUGHT_UP), _killed(_FLAG, after=r"^create \S*/\.partition-stats"))),
]


@pytest.mark.parametrize(("case", "kills"), _KILLS, ids=[str(case) for case, _ in _KILLS])
def test_a_build_that_is_killed_at_a_named_step_is_finished_by_the_same_command(
    case: Case, kills: tuple[Pause, Pause], jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    scene = case.scene(jvm, zookeeper, tmp_path / "table", USUAL_LEASE)

    for kill in kills:
        _build_until_killed(scene, case, kill)
        scene.commit()
    build_until_ready(scene.folder, scene.options, case.asked)

    require_ready_and_nothing_left(scene.folder, *case.names)
    case.require_found(scene)
    case.drop(scene)


def _build_until_killed(scene: Scene, case: Case, kill: Pause) -> None:
    """The writer commits when the base is read, and again when the index is in flight, if the build gets there."""
    pauses = {pause.name: pause for pause in (BASE_IS_READ, _IN_FLIGHT, kill)}
    with Engine(scene.folder, scene.options, [*pauses.values()], asked=case.asked) as engine:
        while (name := engine.pauses_first(*pauses)) != kill.name:
            assert name, f"it ended before it was to be killed: {engine.end()}"
            scene.commit()
            engine.go_on(name)
        scene.let_die(engine)
