"""Plans that others wrote: what they name is an index, or they are not read at all."""

import pytest

from hudi_engine.action.index import build
from hudi_engine.action.plans import IndexPlan, PlannedIndex, plan_bytes, read_plan
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.errors import CorruptFile
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.index.kinds import IndexKind
from tests.worlds.starts import stored_in
from tests.worlds.world import World, world_of

AT = InstantTime("20990101000000000")
RUNNING = Instant(AT, Action.INDEXING, State.INFLIGHT)


def put_plan(world: World, *names: str) -> None:
    """A plan of another program, which it has begun and died over."""
    table = world.table()
    plan = IndexPlan(AT, tuple(PlannedIndex(name, AT) for name in names))
    world.storage.create(table.path_of(RUNNING.in_state(State.REQUESTED)), plan_bytes(plan, table.config.version))
    world.storage.create(table.path_of(RUNNING), b"")
    world.clock.advance(3_600_000)


@pytest.mark.parametrize("name", ["", ".", "..", ".hoodie", "files/..", "record_index/", "/record_index", "other"])
def test_a_plan_that_names_what_is_no_index_is_refused_and_nothing_is_deleted(name: str) -> None:
    world = world_of("v9_mor")
    put_plan(world, "record_index", name)
    before = stored_in(world.storage)

    with pytest.raises(CorruptFile, match=r"20990101000000000\.indexing\.requested.*no index"):
        build(world.site(), IndexRequest((IndexKind.RECORD_INDEX,)))

    assert stored_in(world.storage) == before


def test_every_index_that_hudi_makes_can_be_planned() -> None:
    world = world_of("v9_mor")
    names = ("files", "column_stats", "partition_stats", "bloom_filters", "secondary_index_a.b", "expr_index_c")
    put_plan(world, *names)

    assert tuple(index.name for index in read_plan(world.table(), world.table().timeline(), RUNNING).indexes) == names
