"""`kill -9` in the middle of a build beside a writer, and of the builds that pick up what was left of it."""

import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from tests.faults.engine import RECORD_INDEX, Engine, Pause, build, build_until_ready
from tests.faults.live import COPY_ON_WRITE, MERGE_ON_READ, RECOMMENDED, SHORT_LEASE, Scene
from tests.faults.remains import require_nothing_of_it, require_ready_and_nothing_left
from tests.interop.jvm import Jvm
from tests.interop.live_checks import require_found_by_value, require_skipped_right, run_engine
from tests.interop.live_writers import KEEPS_OTHER_KINDS, zookeeper_lock
from tests.zookeeper.server import ZooKeeperServer

pytestmark = pytest.mark.timeout(3600)  # a soak of 20 kills takes nine minutes where nothing else runs
_IS_SOAK: Final = bool(os.environ.get("HUDI_SOAK"))
_KILLS: Final = 20 if _IS_SOAK else 3
_IN_A_ROW: Final = (2, 1, 3)  # kills before a build is let alone: a build that recovers is killed as well
_NOTHING_TO_DO: Final = 3  # the one before was killed in the very end
_SEED: Final = 5
_LONGEST_DELAY_SECONDS: Final = 0.03
# Where it waits for a commit that the base does not have, so that there is something to catch up with.
_BASE_IS_READ: Final = Pause("base", r"^create .*-0000.*hfile")
_BY_VALUE: Final = "secondary_index_by_seen"


def _found_by_value(scene: Scene) -> None:
    require_found_by_value(scene.writer.jvm, str(scene.folder), _BY_VALUE, scene.rows())


def _skipped_right(scene: Scene) -> None:
    require_skipped_right(scene.writer.jvm, str(scene.folder), scene.rows())


@dataclass(frozen=True, slots=True)
class _Case:
    """What is built, by which words, beside a writer with which settings, and what Java is to find by it."""

    names: tuple[str, ...]
    asked: tuple[str, ...]
    writers: Mapping[str, str]
    require_found: Callable[[Scene], None]
    needs: tuple[str, ...] = ()
    table_type: str = COPY_ON_WRITE

    def __str__(self) -> str:
        return "+".join(self.names) + (" of logs" if self.table_type == MERGE_ON_READ else "")


_RECORDS: Final = _Case(("record_index",), RECORD_INDEX, RECOMMENDED, Scene.require_found_by_java)
_OF_FILES: Final = _Case(
    ("column_stats", "bloom_filters"),
    ("--type", "column_stats", "--type", "bloom_filters"),
    KEEPS_OTHER_KINDS,
    _skipped_right,
)
_OF_VALUES: Final = _Case(
    (_BY_VALUE,),
    ("--type", _BY_VALUE, "--column", "seen"),
    KEEPS_OTHER_KINDS,
    _found_by_value,
    needs=RECORD_INDEX,
)
# By two plans, one after the other.
_OF_PARTITIONS: Final = _Case(
    ("column_stats", "partition_stats"),
    ("--type", "column_stats", "--type", "partition_stats"),
    KEEPS_OTHER_KINDS,
    _skipped_right,
)
_CASES: Final = [_RECORDS, _OF_FILES, _OF_VALUES, _OF_PARTITIONS]
_OF_LOGS: Final = [replace(case, table_type=MERGE_ON_READ) for case in (_OF_FILES, _OF_VALUES)] if _IS_SOAK else []


@pytest.mark.parametrize("case", [*_CASES, *_OF_LOGS], ids=str)
def test_a_build_that_is_killed_at_any_moment_is_finished_by_the_same_command(
    jvm: Jvm, zookeeper: ZooKeeperServer, tmp_path: Path, case: _Case
) -> None:
    lock = zookeeper_lock(zookeeper.address, f"kills of {case.names[0]}")
    scene = Scene(jvm, tmp_path / "table", lock, SHORT_LEASE, case.writers, case.table_type)
    if case.needs:
        assert build(scene.folder, scene.options, asked=case.needs).code == 0
    moments = _moments(_steps_of_a_build(scene, case))
    for row in _rows(moments):
        _drop(scene, case)
        with scene.written_to():
            for moment in row:
                _build_until_killed(scene, case, moment)
            build_until_ready(scene.folder, scene.options, case.asked)
        require_ready_and_nothing_left(scene.folder, *case.names)
    case.require_found(scene)


def _steps_of_a_build(scene: Scene, case: _Case) -> int:
    """How many changes a build makes, with one commit to catch up with."""
    with Engine(scene.folder, scene.options, [_BASE_IS_READ], asked=case.asked) as engine:
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


def _build_until_killed(scene: Scene, case: _Case, moment: int) -> None:
    """Killed at that step, or a little later; one that picks up another's work may have fewer steps, and ends."""
    delay = random.Random(moment).choice([0, 1]) * random.Random(-moment).random() * _LONGEST_DELAY_SECONDS
    pauses = [_BASE_IS_READ, Pause("moment", "", at=moment)]
    with Engine(scene.folder, scene.options, pauses, asked=case.asked) as engine:
        if engine.pauses_first("base", "moment") == "base":
            scene.await_commits(1)
            engine.go_on("base")
        if engine.pauses("moment"):
            engine.go_on("moment")
            time.sleep(delay)
        else:
            assert engine.end().code in {0, _NOTHING_TO_DO}
        engine.kill()


def _drop(scene: Scene, case: _Case) -> None:
    props = scene.folder.with_name("engine.properties")
    props.write_text("".join(f"{key}={value}\n" for key, value in scene.options.items()))
    types = [word for name in case.names for word in ("--type", name)]
    code, report = run_engine("index", "drop", str(scene.folder), *types, "--props", str(props))
    assert code == 0, report
    require_nothing_of_it(scene.folder, *case.names)
