"""RFC-79, executing a plan of a table service: a test for each of the eight steps, and for the takeover between them.

An index plan is no "removable" plan in the RFC's sense: a runner that dies leaves it to the next, as compaction's.
"""

from contextlib import suppress

import pytest

from hudi_engine.action.attempts import attempts_of
from hudi_engine.action.index import Ready, run
from hudi_engine.action.undo import run_abort
from hudi_engine.concurrency.heartbeat import FOLDER as HEARTBEATS
from hudi_engine.errors import Busy, LockLost, NoSpaceLeft, NotFound, Superseded
from hudi_engine.format.instant_names import State
from hudi_engine.storage.memory import Crash, Fault, Way
from tests.rfc.indexing import (
    SHARDS,
    base_files,
    indexing,
    is_complete,
    is_lock_free,
    is_right,
    planned,
    shard_files,
)
from tests.worlds.invariants import require_tidy
from tests.worlds.stage import StagedStorage
from tests.worlds.starts import stored_in
from tests.worlds.world import LEASE, World, world_of


def heartbeat(plan: str) -> str:
    return f"{HEARTBEATS}/{plan}"


def is_running(world: World, plan: str) -> bool:
    """Whether a runner has begun, and has let go of the lock since."""
    return bool(attempts_of(world.storage, plan)) and is_lock_free(world)


def test_step_1_the_plan_is_read_from_the_timeline(world: World) -> None:
    """1: "Get the table service plan P (as usual)". Who runs it need not be who asked for it."""
    plan = planned(world)

    outcome = run(world.site("another"), plan.requested_at)

    assert isinstance(outcome, Ready)
    assert outcome.plan == plan.requested_at


def test_step_2_the_plan_is_taken_in_a_transaction(world: World, stage: StagedStorage) -> None:
    """2: "Start a transaction": everything up to the heartbeat happens under the table's lock."""
    plan = planned(world)
    free: list[bool] = []
    stage.before("create", ".index_attempts", lambda: free.append(is_lock_free(world)))
    stage.before("replace", heartbeat(plan.requested_at), lambda: free.append(is_lock_free(world)))

    run(world.site(storage=stage), plan.requested_at)

    assert free == [False, False]


def test_step_3_a_plan_with_an_active_heartbeat_is_not_run(world: World, stage: StagedStorage) -> None:
    """3: "Check if the instant time P has an active heartbeat, if so abort transaction and throw an exception"."""
    plan = planned(world)
    said: list[str] = []

    def also() -> None:
        with pytest.raises(Busy) as busy:
            run(world.site("second"), plan.requested_at)
        said.append(str(busy.value))

    stage.once(lambda: is_running(world, plan.requested_at), also)
    run(world.site("first", stage), plan.requested_at)

    assert len(said) == 1
    assert "first" in said[0]
    assert is_right(world)


def test_step_3_who_is_told_busy_has_written_nothing(world: World, stage: StagedStorage) -> None:
    """3: "abort transaction"."""
    plan = planned(world)
    second = StagedStorage(world.storage.restarted())

    def also() -> None:
        with suppress(Busy):
            run(world.site("second", second), plan.requested_at)

    stage.once(lambda: is_running(world, plan.requested_at), also)
    run(world.site("first", stage), plan.requested_at)

    assert second.journal
    assert not second.writes


@pytest.mark.parametrize("ending", ["completed", "aborted"])
def test_step_4_a_plan_that_is_over_is_not_run_again(world: World, ending: str) -> None:
    """4: "this instant cannot be executed again": it is completed, or taken back."""
    plan = planned(world)
    if ending == "completed":
        run(world.site("first"), plan.requested_at)
    else:
        run_abort(world.site("first"), plan.requested_at)
    before = stored_in(world.storage)

    with pytest.raises(NotFound):
        run(world.site("second"), plan.requested_at)

    assert stored_in(world.storage) == before


def test_step_5_the_heart_beats_before_the_lock_is_let_go(world: World, stage: StagedStorage) -> None:
    """5 and 6: "Start a heartbeat for P … Finish transaction"."""
    plan = planned(world)
    beats: list[bool] = []
    stage.once(
        lambda: is_running(world, plan.requested_at),
        lambda: beats.append(world.site().heartbeats.is_live(plan.requested_at)),
    )

    run(world.site(storage=stage), plan.requested_at)

    assert beats == [True]


def test_step_5_the_heartbeat_of_a_dead_runner_is_started_anew(world: World, stage: StagedStorage) -> None:
    """5: "this will implicitly re-start the heartbeat if it has been started before by another job"."""
    plan = planned(world)
    _die_while_running(world, stage, plan.requested_at)
    assert heartbeat(plan.requested_at) in world.paths()
    began_ms = world.clock.now_ms()

    outcome = run(world.site("second"), plan.requested_at)

    assert isinstance(outcome, Ready)
    assert world.clock.now_ms() - began_ms >= LEASE.lasts_ms
    require_tidy(world)


def test_step_6_the_lock_is_free_while_the_plan_runs(world: World, stage: StagedStorage) -> None:
    """6: "Finish transaction", before 7."""
    plan = planned(world)
    free: list[bool] = []
    stage.before("create", f"{SHARDS}/record-index", lambda: free.append(is_lock_free(world)))

    run(world.site(storage=stage), plan.requested_at)

    assert free == [True]


def test_step_7_what_an_earlier_attempt_left_is_removed_before_the_plan_runs(
    world: World, stage: StagedStorage
) -> None:
    """7: "this will implicitly rollback P (if it is currently inflight) before the actual execution phase"."""
    plan = planned(world)
    stage.once(lambda: len(base_files(world)) == 1, stage.die)
    with suppress(Crash):
        run(world.site("first", stage), plan.requested_at)
    left = set(shard_files(world))
    assert left

    run(world.site("second"), plan.requested_at)

    assert not left & set(shard_files(world))
    require_tidy(world)


def test_step_7_of_two_attempts_one_takes_effect(world: World, stage: StagedStorage) -> None:
    """Stricter than 7: an executor that was paused cannot know that it was declared dead, so its attempt is fenced."""
    plan = planned(world)

    def overtake() -> None:
        with stage.asleep():
            world.clock.sleep(30)
            run(world.site("second"), plan.requested_at)

    stage.once(lambda: bool(base_files(world)), overtake)
    with pytest.raises((Superseded, LockLost)):
        run(world.site("first", stage), plan.requested_at)

    assert is_right(world)
    assert is_complete(world)
    require_tidy(world)


@pytest.mark.parametrize("at_write", [5, 9, 12])
def test_step_8_the_heartbeat_is_gone_after_a_failure(world: World, at_write: int) -> None:
    """8: "After the execution attempt succeeds/fails, clean up the heartbeat file before returning"."""
    plan = planned(world)
    storage = world.storage.restarted(Fault(at_write, Way.BEFORE, NoSpaceLeft("the disk is full")))

    with suppress(NoSpaceLeft):
        run(world.site(storage=storage), plan.requested_at)

    assert heartbeat(plan.requested_at) not in world.paths()


def test_step_8_the_heartbeat_is_gone_after_success() -> None:
    """8, and the instant is completed."""
    world = world_of("v6_cow")
    plan = planned(world)

    run(world.site(), plan.requested_at)

    assert heartbeat(plan.requested_at) not in world.paths()
    assert [instant.state for instant in indexing(world)] == [State.COMPLETED]


def _die_while_running(world: World, stage: StagedStorage, plan: str) -> None:
    stage.once(lambda: is_running(world, plan), stage.die)
    with suppress(Crash):
        run(world.site("first", stage), plan)
    assert stage.is_dead
