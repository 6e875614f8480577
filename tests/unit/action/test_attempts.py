"""Attempts at plans: what they get nobody gets again, and who is told that another has taken over."""

from dataclasses import replace

import pytest

from hudi_engine.action.attempts import FOLDER, Attempt, all_reserved, begin_attempt, given, require_newest, reserve
from hudi_engine.action.execute import Run, execute_plan
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.action.undo import run_abort
from hudi_engine.clock import HandClock
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import CorruptFile, Superseded
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import Crash, MemoryStorage
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, world_of

REQUEST = IndexRequest((IndexKind.RECORD_INDEX,))


def attempt(number: int, instant: str) -> Attempt:
    return Attempt("20260101000000000", ("record_index",), number, Owner("engine", "host", "1"), 1, instant)


def one_attempt(world: World) -> Attempt:
    """At a plan that is aborted, and so forgotten, right afterwards."""
    site = world.site()
    plan = schedule(site, REQUEST)
    assert isinstance(plan, IndexPlan)
    found = execute_plan(site, plan.requested_at, lambda run: run.attempt)
    run_abort(site, plan.requested_at)
    return found


@pytest.mark.parametrize("start", ["v6_mor", "v9_mor"])
def test_no_two_attempts_share_a_number_or_an_instant_even_at_plans_of_one_time_that_are_forgotten(start: str) -> None:
    world = world_of(start)

    found = [one_attempt(world) for _ in range(3)]

    assert len({each.plan for each in found}) == 1
    assert [each.number for each in found] == [1, 2, 3]
    assert len({each.base_instant for each in found}) == 3
    assert not [path for path in world.paths() if path.startswith(f"{FOLDER}/2")]


def test_an_abort_that_died_among_the_records_of_a_plan_is_finished_by_the_next() -> None:
    world = world_of("v9_mor")
    site, stage = world.site(), StagedStorage(world.storage.restarted())
    plan = schedule(site, REQUEST)
    assert isinstance(plan, IndexPlan)
    execute_plan(
        site, plan.requested_at, lambda run: reserve(world.storage, run.plan.requested_at, "20260101000000001")
    )
    stage.before("delete", f"{FOLDER}/{plan.requested_at}/", stage.die, passes=1)
    with pytest.raises(Crash):
        run_abort(world.site("dies", stage), plan.requested_at)

    run_abort(site, plan.requested_at)

    assert not [path for path in world.paths() if path.startswith(f"{FOLDER}/2")]


def test_of_what_was_given_one_file_stays_and_the_oldest_instants_fall_out_of_it() -> None:
    storage = MemoryStorage(HandClock())

    for number in range(1, 403):
        begin_attempt(storage, attempt(number, f"{number:017d}"))
    begin_attempt(storage, attempt(403, "20260101000000000"))

    assert [file.name for file in storage.list(FOLDER) if not file.is_folder] == ["given-000403.json"]
    assert given(storage).number == 403
    assert given(storage).instants == (*(f"{number:017d}" for number in range(3, 403)), "20260101000000000")


def test_of_two_files_that_a_crash_has_left_the_newer_counts() -> None:
    storage = MemoryStorage(HandClock())
    begin_attempt(storage, attempt(1, "00000000000000500"))
    older = storage.read(f"{FOLDER}/given-000001.json")
    begin_attempt(storage, attempt(2, "00000000000000501"))
    storage.create(f"{FOLDER}/given-000001.json", older)

    assert given(storage).number == 2
    assert all_reserved(storage)[-1] == "00000000000000501"


def test_a_damaged_record_of_what_was_given_is_told_and_not_taken_for_none() -> None:
    storage = MemoryStorage(HandClock())
    storage.create(f"{FOLDER}/given-000001.json", b'{"number": 1')

    with pytest.raises(CorruptFile, match="given-000001"):
        given(storage)


def test_an_attempt_of_the_same_number_by_another_is_no_newest() -> None:
    site = world_of("v9_mor").site()
    plan = schedule(site, REQUEST)
    assert isinstance(plan, IndexPlan)

    def require_refused(run: Run) -> None:
        with site.transaction() as transaction:
            require_newest(transaction, run.attempt)
            with pytest.raises(Superseded, match="taken over by attempt 1"):
                require_newest(transaction, replace(run.attempt, owner=Owner("another", "host", "1")))

    execute_plan(site, plan.requested_at, require_refused)
