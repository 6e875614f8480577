"""`kill -9` in the middle of a build beside a writer, and of the builds that pick up what was left of it."""

import os
import random
import time
from pathlib import Path
from typing import Final

import pytest

from tests.faults.engine import Engine, Pause, build_until_ready
from tests.faults.live import SHORT_LEASE, Scene
from tests.faults.remains import require_nothing_of_it, require_ready_and_nothing_left
from tests.interop.jvm import Jvm
from tests.interop.live_checks import run_engine
from tests.interop.live_writers import zookeeper_lock
from tests.zookeeper.server import ZooKeeperServer

pytestmark = pytest.mark.timeout(3600)  # a soak of 20 kills takes nine minutes where nothing else runs
_KILLS: Final = 20 if os.environ.get("HUDI_SOAK") else 3
_IN_A_ROW: Final = (2, 1, 3)  # kills before a build is let alone: a build that recovers is killed as well
_NOTHING_TO_DO: Final = 3  # the one before was killed in the very end
_SEED: Final = 5
_LONGEST_DELAY_SECONDS: Final = 0.03
# Where it waits for a commit that the base does not have, so that there is something to catch up with.
_BASE_IS_READ: Final = Pause("base", r"^create .*record-index-0000.*hfile")


def test_a_build_that_is_killed_at_any_moment_is_finished_by_the_same_command(
    jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    scene = Scene(jvm, tmp_path / "table", zookeeper_lock(zookeeper.address, "kills"), SHORT_LEASE)
    moments = _moments(_steps_of_a_build(scene))
    for row in _rows(moments):
        _drop(scene)
        with scene.written_to():
            for moment in row:
                _build_until_killed(scene, moment)
            build_until_ready(scene.folder, scene.options)
        require_ready_and_nothing_left(scene.folder)
    scene.require_found_by_java()


def _steps_of_a_build(scene: Scene) -> int:
    """How many changes a build makes, with one commit to catch up with."""
    with Engine(scene.folder, scene.options, [_BASE_IS_READ]) as engine:
        assert engine.pauses("base")
        scene.commit()
        engine.go_on("base")
        assert engine.end().code == 0
        return len(engine.steps)


def _moments(steps: int) -> list[int]:
    """One in each of so many parts of equal length, in any order."""
    chance = random.Random(_SEED)
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


def _build_until_killed(scene: Scene, moment: int) -> None:
    """Killed at that step, or a little later; one that picks up another's work may have fewer steps, and ends."""
    delay = random.Random(moment).choice([0, 1]) * random.Random(-moment).random() * _LONGEST_DELAY_SECONDS
    with Engine(scene.folder, scene.options, [_BASE_IS_READ, Pause("moment", "", at=moment)]) as engine:
        if engine.pauses_first("base", "moment") == "base":
            scene.await_commits(1)
            engine.go_on("base")
        if engine.pauses("moment"):
            engine.go_on("moment")
            time.sleep(delay)
        else:
            assert engine.end().code in {0, _NOTHING_TO_DO}
        engine.kill()


def _drop(scene: Scene) -> None:
    props = scene.folder.with_name("engine.properties")
    props.write_text("".join(f"{key}={value}\n" for key, value in scene.options.items()))
    code, report = run_engine("index", "drop", str(scene.folder), "--type", "record_index", "--props", str(props))
    assert code == 0, report
    require_nothing_of_it(scene.folder)
