"""What other programs left of an index is taken back, and what they still work on is not."""

from collections.abc import Callable

import pytest

from hudi_engine.action.flags import flag_in_flight
from hudi_engine.action.foreign import undo_foreign
from hudi_engine.action.plans import IndexPlan, PlannedIndex, plan_bytes
from hudi_engine.errors import Busy
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.index.metadata_table import FOLDER
from tests.worlds.java_metadata import RECORD_INDEX
from tests.worlds.starts import stored_in
from tests.worlds.world import WRITERS_LEASE, World, world_of

HEARTBEATS = f"{FOLDER}/.hoodie/.heartbeat"
OF_THE_PLAN = "the plan"
OF_AN_INDEXER = "the plan's base instant, and 004"
OF_A_FIRST_INDEX = "before all commits"


def javas_plan(world: World) -> IndexPlan:
    """A plan that Hudi's indexer has begun, for the index that it has flagged."""
    table = world.table()
    plan = IndexPlan(world.next_time(), (PlannedIndex(RECORD_INDEX, table.timeline().writes()[-1].requested_at),))
    running = Instant(plan.requested_at, Action.INDEXING, State.INFLIGHT)
    world.storage.create(table.path_of(running.in_state(State.REQUESTED)), plan_bytes(plan, table.config.version))
    world.storage.create(table.path_of(running), b"")
    flag_in_flight(table, [RECORD_INDEX])
    return plan


def time_of(plan: IndexPlan, which: str) -> InstantTime:
    """At which Hudi's indexer commits to the metadata table."""
    times = {
        OF_THE_PLAN: plan.requested_at,
        OF_AN_INDEXER: f"{plan.indexes[0].upto}004",
        OF_A_FIRST_INDEX: "00000000000000010",
    }
    return InstantTime(times[which])


def every(seconds: int, act: Callable[[], object]) -> Callable[[], None]:
    """For a clock: the act, once in so many seconds."""
    left = [0]

    def tick() -> None:
        left[0] -= 1
        if left[0] < 0:
            left[0] = seconds
            act()

    return tick


@pytest.mark.parametrize("which", [OF_THE_PLAN, OF_AN_INDEXER, OF_A_FIRST_INDEX])
@pytest.mark.parametrize("start", ["v6_mor", "v9_mor"])
def test_an_indexer_that_reads_for_long_and_whose_heart_beats_is_left_alone(start: str, which: str) -> None:
    world = world_of(start)
    heart = f"{HEARTBEATS}/{time_of(javas_plan(world), which)}"
    world.clock.each_second(every(60, lambda: world.storage.replace(heart, b"")))
    world.clock.sleep(10 * WRITERS_LEASE.lasts_ms / 1000)
    before = set(stored_in(world.storage))

    with pytest.raises(Busy, match="is being worked on by another program"):
        undo_foreign(world.site(), [RECORD_INDEX])

    assert set(stored_in(world.storage)) == before
    assert RECORD_INDEX in world.flags()[1]


@pytest.mark.parametrize("which", [OF_THE_PLAN, OF_AN_INDEXER, OF_A_FIRST_INDEX])
def test_one_that_has_just_begun_its_commit_is_left_a_lease_and_then_undone(which: str) -> None:
    world = world_of("v9_mor")
    plan = javas_plan(world)
    world.clock.sleep(10 * WRITERS_LEASE.lasts_ms / 1000)
    folder = world.metadata().table.config.timeline_folder
    world.storage.create(f"{FOLDER}/{folder}/{time_of(plan, which)}.deltacommit.requested", b"")
    begun_ms = world.clock.now_ms()

    undo_foreign(world.site(), [RECORD_INDEX])

    assert world.clock.now_ms() - begun_ms >= WRITERS_LEASE.lasts_ms
    assert RECORD_INDEX not in world.flags()[1]


def test_one_whose_heart_stood_still_for_a_lease_is_undone_at_once() -> None:
    world = world_of("v9_mor")
    world.storage.create(f"{HEARTBEATS}/{javas_plan(world).requested_at}", b"")
    world.clock.sleep(1 + WRITERS_LEASE.lasts_ms / 1000)
    found_ms = world.clock.now_ms()

    undo_foreign(world.site(), [RECORD_INDEX])

    assert world.clock.now_ms() == found_ms
    assert world.flags() == (("files",), ())
    assert not world.table().timeline().of(Action.INDEXING)
