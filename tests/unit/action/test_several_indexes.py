"""Several indexes in one plan: built of one snapshot, published together, and each complete on its own."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from hudi_engine.action.drop import run_drop
from hudi_engine.action.flags import unflag
from hudi_engine.action.index import Ready, build
from hudi_engine.action.plans import IndexPlan, pending_plans
from hudi_engine.action.schedule import IndexRequest, Skipped, schedule
from hudi_engine.errors import TimedOut
from hudi_engine.format.instant_names import Action
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import Crash
from hudi_engine.table.properties_file import BACKUP
from tests.kit.valid import require_valid
from tests.unit.action.builds import Heard
from tests.worlds.services import begin_compaction, complete_compaction
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, world_of
from tests.worlds.writer import Writer, partitions_of

BLOOM, STATS = IndexKind.BLOOM_FILTERS.value, IndexKind.COLUMN_STATS.value
RECORD_INDEX = IndexKind.RECORD_INDEX.value
SECONDARY = "secondary_index_by_seen"
OF_FILES = IndexRequest((BLOOM, STATS))
ROWS_FIRST = IndexRequest((RECORD_INDEX, STATS))
THREE = IndexRequest((STATS, SECONDARY, BLOOM), columns={SECONDARY: ("seen",), STATS: ("seen",)})
starts = pytest.mark.parametrize("start", ["v6_cow", "v9_mor"])


def changed(start: str) -> World:
    world = world_of(start)
    first, *_ = partitions_of(world)
    Writer(world).begin().upsert(min(world.truth())).insert(first, "a", "b").complete()
    return world


def compacting() -> tuple[World, str]:
    """A table on which a compaction is under way, for which an index of files waits and one of rows does not."""
    world = changed("v9_mor")
    return world, begin_compaction(world, is_inflight=True)


def dies_once(world: World, request: IndexRequest, is_so: Callable[[], bool]) -> None:
    stage = StagedStorage(world.storage.restarted())
    stage.once(lambda: is_so() and BACKUP not in world.paths(), stage.die)
    with suppress(Crash):
        build(world.site("first", stage), request)
    assert stage.is_dead


def bases(world: World) -> list[str]:
    return [i.requested_at for i in world.metadata().timeline.completed() if i.requested_at.startswith("0" * 14)]


def plans(world: World) -> list[tuple[str, ...]]:
    metadata = world.metadata()
    pending = pending_plans(metadata.data, metadata.data_timeline).values()
    return [tuple(index.name for index in plan.indexes) for plan in pending]


@starts
def test_all_indexes_of_a_plan_are_published_by_one_commit_and_complete(start: str) -> None:
    world = changed(start)
    before = len(bases(world))

    outcome = build(world.site(), OF_FILES)

    assert isinstance(outcome, Ready)
    assert [end.index for end in outcome.ends] == [BLOOM, STATS]
    assert len(bases(world)) == before + 1
    require_valid(world.metadata(), OF_FILES.names)


@pytest.mark.thorough
def test_an_index_that_times_out_is_undone_and_one_that_was_complete_stays() -> None:
    world, _ = compacting()

    with pytest.raises(TimedOut, match=STATS):
        build(world.site(), ROWS_FIRST)

    assert world.flags() == (("files", RECORD_INDEX), ())
    assert STATS not in world.metadata().definitions
    assert not [path for path in world.paths() if STATS in path or ".index_attempts/2" in path]
    assert not plans(world)
    require_valid(world.metadata(), [RECORD_INDEX])


@pytest.mark.thorough
def test_an_index_that_times_out_does_not_keep_those_after_it_from_being_complete() -> None:
    world, compaction = compacting()
    stats_first = IndexRequest((STATS, RECORD_INDEX))

    with pytest.raises(TimedOut, match=STATS):
        build(world.site(), stats_first)

    assert world.flags() == (("files", RECORD_INDEX), ())
    assert not plans(world)
    require_valid(world.metadata(), [RECORD_INDEX])
    complete_compaction(world, compaction)
    outcome = build(world.site(), stats_first)
    assert isinstance(outcome, Ready)
    assert [end.index for end in outcome.ends] == [STATS]
    require_valid(world.metadata(), stats_first.names)


def test_the_same_request_again_skips_what_is_complete_and_builds_the_rest() -> None:
    world, compaction = compacting()
    with pytest.raises(TimedOut):
        build(world.site(), ROWS_FIRST)
    complete_compaction(world, compaction)

    outcome = build(world.site(), ROWS_FIRST)

    assert isinstance(outcome, Ready)
    assert [end.index for end in outcome.ends] == [STATS]
    require_valid(world.metadata(), ROWS_FIRST.names)
    assert isinstance(build(world.site(), ROWS_FIRST), Skipped)


@starts
def test_a_crash_between_two_completions_is_finished_by_the_next_run(start: str) -> None:
    world = changed(start)
    dies_once(world, OF_FILES, lambda: BLOOM in world.flags()[0] and STATS in world.flags()[1])
    assert plans(world) == [OF_FILES.names]

    outcome = build(world.site("second"), OF_FILES)

    assert isinstance(outcome, Ready)
    assert {end.index for end in outcome.ends} == {BLOOM, STATS}
    assert not plans(world)
    require_valid(world.metadata(), OF_FILES.names)


@starts
def test_a_crash_after_the_last_completion_is_finished_by_the_next_run(start: str) -> None:
    world = changed(start)
    dies_once(world, OF_FILES, lambda: {BLOOM, STATS} <= set(world.flags()[0]))
    indexing = world.table().timeline().of(Action.INDEXING)
    assert not any(instant.is_completed for instant in indexing)

    outcome = build(world.site("second"), OF_FILES)

    assert isinstance(outcome, Ready)
    assert not plans(world)
    require_valid(world.metadata(), OF_FILES.names)


@starts
def test_a_kill_after_publishing_goes_on_from_the_bases_that_are_there(start: str) -> None:
    world = changed(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin().insert(first, "left out")
    dies_once(world, OF_FILES, lambda: {BLOOM, STATS} <= set(world.flags()[1]))
    write.complete()
    there, watch = bases(world), Heard()

    outcome = build(world.site("second", watch=watch), OF_FILES)

    assert isinstance(outcome, Ready)
    assert bases(world) == there
    assert "read data files" not in watch.phases
    assert watch.phases.count("catch-up") == 2
    require_valid(world.metadata(), OF_FILES.names)


def test_indexes_of_files_and_of_rows_are_built_in_one_plan_and_dropped_one_by_one() -> None:
    world = changed("v9_mor")
    build(world.site(), IndexRequest((RECORD_INDEX,)))

    assert isinstance(build(world.site(), THREE), Ready)

    require_valid(world.metadata(), THREE.names)
    assert world.metadata().definitions[STATS].source_fields[3:] == ("seen",)
    for place, name in enumerate(THREE.names, 1):
        run_drop(world.site(), [name])
        rest = THREE.names[place:]
        assert set(world.flags()[0]) == {"files", RECORD_INDEX, *rest}
        assert set(world.metadata().definitions) - {RECORD_INDEX} == {*rest} - {BLOOM}
        assert not [path for path in world.paths() if f"/{name}/" in path]


def test_an_index_that_a_writer_dropped_after_its_end_is_built_again_with_the_rest_of_its_plan() -> None:
    world = changed("v9_mor")
    dies_once(world, OF_FILES, lambda: BLOOM in world.flags()[0] and STATS in world.flags()[1])
    unflag(world.table(), [BLOOM])
    for path in [path for path in world.paths() if f"/{BLOOM}/" in path]:
        world.storage.delete(path)

    outcome = build(world.site("second"), OF_FILES)

    assert isinstance(outcome, Ready)
    require_valid(world.metadata(), OF_FILES.names)


@starts
def test_a_request_for_more_than_an_earlier_plan_has_builds_that_and_then_the_rest(start: str) -> None:
    world = changed(start)
    earlier = schedule(world.site(), replace(OF_FILES, names=(STATS,)))
    assert isinstance(earlier, IndexPlan)

    outcome = build(world.site(), OF_FILES)

    assert isinstance(outcome, Ready)
    assert [end.index for end in outcome.ends] == [STATS, BLOOM]
    require_valid(world.metadata(), OF_FILES.names)
