"""Files deleted later than that was settled: never more than is still nobody's."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hudi_engine.action.deletion import delete_unowned, delete_while
from hudi_engine.action.execute import Run, execute_plan
from hudi_engine.action.flags import flag_complete, flag_in_flight
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.action.strays import delete_strays
from hudi_engine.clock import HandClock
from hudi_engine.errors import Superseded
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import MemoryStorage
from tests.unit.action.sites import site_of
from tests.worlds.stage import Cue, StagedLock
from tests.worlds.world import World, world_of

INDEX = IndexKind.RECORD_INDEX.value
JAVAS = f"{INDEX}/.record-index-0000-0_00000000000000000.log.1_0-0-0"
REQUEST = IndexRequest((IndexKind.RECORD_INDEX,))


def execute(world: World, run: Callable[[Run], None]) -> None:
    """`run` as an attempt at a new plan for the record index, in whose folder a file lies as Java names its own."""
    world.storage.create(f"{FOLDER}/{JAVAS}", b"")
    plan = schedule(world.site(), REQUEST)
    assert isinstance(plan, IndexPlan)
    execute_plan(world.site(), plan.requested_at, run)


def overtaken(run: Run, act: Callable[[], object]) -> Run:
    """The attempt with something that happens just before it takes the lock once more."""
    cue = Cue(lambda *_: True, act)
    return replace(run, site=replace(run.site, lock=StagedLock(run.site.lock, [cue])))


def test_many_files_are_deleted_some_at_a_time_until_it_is_not_so_any_more() -> None:
    storage = MemoryStorage(HandClock())
    paths = [f"{number:03d}" for number in range(250)]
    for path in paths:
        storage.create(path, b"")
    answers = [True, True, False]

    deleted = delete_while(site_of(storage), storage, paths, lambda: answers.pop(0))

    assert (deleted, answers) == (200, [])
    assert [file.path for file in storage.list("")] == paths[200:]


@pytest.mark.parametrize("flag", [flag_in_flight, flag_complete])
def test_files_of_an_index_that_is_flagged_by_now_stay(flag: Callable[..., object]) -> None:
    world = world_of("v9_mor")
    world.storage.create(f"{FOLDER}/{JAVAS}", b"")
    flag(world.table(), [INDEX])

    delete_unowned(world.site(), [JAVAS])

    assert f"{FOLDER}/{JAVAS}" in world.paths()


def test_files_of_an_index_that_is_planned_by_now_stay_and_those_of_others_go() -> None:
    world = world_of("v9_mor")
    other = "column_stats/a file"
    for path in (other, JAVAS):
        world.storage.create(f"{FOLDER}/{path}", b"")
    schedule(world.site(), REQUEST)

    delete_unowned(world.site(), [JAVAS, other])

    assert f"{FOLDER}/{JAVAS}" in world.paths()
    assert f"{FOLDER}/{other}" not in world.paths()


def test_what_lies_in_the_folder_of_an_index_that_nobody_has_is_deleted_before_it_is_built() -> None:
    world = world_of("v9_mor")

    execute(world, delete_strays)

    assert f"{FOLDER}/{JAVAS}" not in world.paths()


def test_it_stays_if_a_writer_builds_that_index_before_the_lock_is_there() -> None:
    world = world_of("v9_mor")

    execute(world, lambda run: delete_strays(overtaken(run, lambda: flag_complete(world.table(), [INDEX]))))

    assert f"{FOLDER}/{JAVAS}" in world.paths()


def test_it_stays_if_another_runner_takes_the_plan_over_before_the_lock_is_there() -> None:
    world = world_of("v9_mor")

    def take_over(run: Run) -> None:
        world.clock.advance(60_000)
        execute_plan(world.site("another"), run.plan.requested_at, lambda _: None)

    def require_refused(run: Run) -> None:
        with pytest.raises(Superseded, match="taken over by attempt 2"):
            delete_strays(overtaken(run, lambda: take_over(run)))

    execute(world, require_refused)

    assert f"{FOLDER}/{JAVAS}" in world.paths()
