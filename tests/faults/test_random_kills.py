"""`kill -9` at any moment of a build beside a writer that never pauses. `make soak` alone collects this.

A seed that fails becomes a kill at a named step in `test_kills`.
"""

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.faults.killed_builds import BASE_IS_READ, OF_FILES, OF_PARTITIONS, OF_VALUES, RECORDS, Case
from tests.java.jvm import Jvm
from tests.java.live import MERGE_ON_READ, SHORT_LEASE, Scene
from tests.java.remains import require_ready_and_nothing_left
from tests.kit.engine import Engine, Pause, build_until_ready
from tests.kit.soak import seed
from tests.kit.zookeeper_server import ZooKeeperServer

pytestmark = pytest.mark.timeout(2700)
_KILLS: Final = 12  # of each case, so that all are done in 45 minutes
_IN_A_ROW: Final = (2, 1, 3)  # kills before a build is let alone: a build that recovers is killed as well
_LONGEST_DELAY_SECONDS: Final = 0.03
_CASES: Final = [RECORDS, OF_FILES, OF_VALUES, OF_PARTITIONS]
_OF_LOGS: Final = [replace(case, table_type=MERGE_ON_READ) for case in (OF_FILES, OF_VALUES)]
# Short sessions and leases: here they do run out.
_OWN: Final = {**SHORT_LEASE, "hoodie.write.lock.zookeeper.session_timeout_ms": "4000"}


@pytest.fixture
def chance() -> random.Random:
    return random.Random(seed())


@pytest.mark.parametrize("case", [*_CASES, *_OF_LOGS], ids=str)
def test_a_build_that_is_killed_at_any_moment_is_finished_by_the_same_command(
    case: Case, chance: random.Random, jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    scene = case.scene(jvm, zookeeper, tmp_path / "table", _OWN)
    for row in _rows(_moments(_steps_of_a_build(scene, case), chance)):
        case.drop(scene)
        with scene.written_to():
            for moment in row:
                _build_until_killed(scene, case, moment, chance)
            build_until_ready(scene.folder, scene.options, case.asked)
        require_ready_and_nothing_left(scene.folder, *case.names)
    case.require_found(scene)


def _steps_of_a_build(scene: Scene, case: Case) -> int:
    """How many steps a build takes, with one commit to catch up with."""
    with Engine(scene.folder, scene.options, [BASE_IS_READ], asked=case.asked) as engine:
        assert engine.pauses("base")
        scene.commit()
        engine.go_on("base")
        assert engine.end().code == 0
        return len(engine.steps)


def _moments(steps: int, chance: random.Random) -> list[int]:
    """One in each of so many parts of equal length, in any order."""
    moments = [1 + int((part + chance.random()) * steps / _KILLS) for part in range(_KILLS)]
    chance.shuffle(moments)
    return moments


def _rows(moments: list[int]) -> list[list[int]]:
    rows, number = [], 0
    while moments:
        length = _IN_A_ROW[number % len(_IN_A_ROW)]
        rows.append(moments[:length])
        moments, number = moments[length:], number + 1
    return rows


def _build_until_killed(scene: Scene, case: Case, moment: int, chance: random.Random) -> None:
    """Killed at that step, or a little later; one that picks up another's work may have fewer steps, and ends."""
    delay = chance.choice([0, 1]) * chance.random() * _LONGEST_DELAY_SECONDS
    pauses = [BASE_IS_READ, Pause("moment", "", at=moment)]
    with Engine(scene.folder, scene.options, pauses, asked=case.asked) as engine:
        if engine.pauses_first("base", "moment") == "base":
            scene.await_commits(1)
            engine.go_on("base")
        if engine.pauses("moment"):
            engine.go_on("moment")
            time.sleep(delay)
        else:
            assert engine.end().code == 0
        engine.kill()
