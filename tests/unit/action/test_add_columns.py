"""Columns added to `column_stats` that is complete: only their entries are written, and readers are told at the end."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from hudi_engine.action import catch_up
from hudi_engine.action.catch_up import CatchUp
from hudi_engine.action.definitions_file import write_definition
from hudi_engine.action.drop import run_drop
from hudi_engine.action.flags import unflag
from hudi_engine.action.index import Ready, build
from hudi_engine.action.plans import IndexPlan, pending_plans
from hudi_engine.action.schedule import IndexRequest, Skipped, schedule
from hudi_engine.action.seen import look
from hudi_engine.action.status import KindState, status_of
from hudi_engine.errors import Contradiction, EngineError, LockUnavailable, TimedOut, Unsupported
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import Crash
from tests.kit.indexed import entries_of
from tests.kit.valid import require_valid
from tests.unit.action.builds import Heard
from tests.worlds.services import begin_clean, compact_metadata, complete_clean, restore
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, world_of
from tests.worlds.writer import Writer, partitions_of

STATS = IndexKind.COLUMN_STATS.value
PARTITION_STATS = IndexKind.PARTITION_STATS.value
SEEN, PAGE = IndexRequest((STATS,), columns={STATS: ("seen",)}), IndexRequest((STATS,), columns={STATS: ("page",)})
OWN = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")
starts = pytest.mark.parametrize("start", ["v8_mor", "v9_cow", "v9_mor"])


def indexed(start: str) -> World:
    """A table with statistics of one column, whose writers leave them out of all that they commit."""
    world = world_of(start)
    first, *_ = partitions_of(world)
    Writer(world).begin().upsert(min(world.truth())).insert(first, "a", "b").complete()
    assert isinstance(build(world.site(), SEEN), Ready)
    return world


def columns(world: World) -> tuple[str, ...]:
    return world.metadata().definitions[STATS].source_fields


def entries(world: World) -> dict[str, object]:
    return {each["key"]: each for each in entries_of(world.metadata().index(STATS))}


def files(world: World) -> dict[str, bytes]:
    return {path: world.storage.read(path) for path in world.paths() if f"/{STATS}/" in path}


def plans(world: World) -> int:
    metadata = world.metadata()
    return len(pending_plans(metadata.data, metadata.data_timeline))


def staged(world: World, is_so: Callable[[StagedStorage], bool], act: Callable[[], object]) -> StagedStorage:
    stage = StagedStorage(world.storage.restarted())
    stage.once(lambda: is_so(stage), act)
    return stage


def has_added(stage: StagedStorage) -> bool:
    """The entries of the files that were there are written, and readers are not told."""
    return any(path.endswith(".deltacommit") and "metadata" in path for _, path in stage.writes)


@starts
def test_a_column_is_added_and_what_was_there_is_not_written_again(start: str) -> None:
    world = indexed(start)
    before, lay = entries(world), files(world)

    outcome = build(world.site(), PAGE)

    assert isinstance(outcome, Ready)
    assert [end.index for end in outcome.ends] == [STATS]
    assert columns(world) == (*OWN, "seen", "page")
    after = entries(world)
    assert before.items() <= after.items()
    assert len(after) - len(before) == len(before) / (len(OWN) + 1)  # one more of each file
    assert lay.items() < files(world).items()
    assert not [path for path in files(world).keys() - lay.keys() if path.endswith(".hfile")]
    require_valid(world.metadata(), [STATS])
    assert plans(world) == 0


def test_the_same_request_again_has_nothing_to_do() -> None:
    world = indexed("v9_mor")
    build(world.site(), PAGE)
    lay = world.paths()

    outcome = build(world.site(), PAGE)

    assert isinstance(outcome, Skipped)
    assert outcome.reasons == {STATS: "complete already"}
    assert world.paths() == lay


@starts
@pytest.mark.parametrize("has_been_added", [False, True], ids=["before", "after"])
def test_a_commit_beside_it_has_entries_of_the_new_column_too(start: str, has_been_added: bool) -> None:
    world = indexed(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin().insert(first, "beside").upsert("a")
    stage = staged(world, lambda stage: has_added(stage) or not has_been_added, write.complete)

    assert isinstance(build(world.site("engine", stage), PAGE), Ready)

    require_valid(world.metadata(), [STATS])


def test_what_a_clean_takes_away_meanwhile_has_no_entries() -> None:
    world = indexed("v9_cow")
    Writer(world).begin().upsert("a").complete()

    def clean() -> None:
        complete_clean(world, begin_clean(world))

    assert isinstance(build(world.site("engine", staged(world, has_added, clean)), PAGE), Ready)

    require_valid(world.metadata(), [STATS])


def test_a_column_that_a_writer_has_named_already_gets_what_older_files_lack() -> None:
    world = indexed("v9_mor")
    named = replace(world.metadata().definitions[STATS], source_fields=(*OWN, "seen", "page"))
    write_definition(world.table(), named)
    before = entries(world)

    assert isinstance(build(world.site(), PAGE), Ready)

    assert columns(world) == (*OWN, "seen", "page")
    assert len(entries(world)) > len(before)
    require_valid(world.metadata(), [STATS])
    assert isinstance(build(world.site(), PAGE), Skipped)


def test_what_a_writer_left_out_is_made_up_for_by_asking_again() -> None:
    world = indexed("v9_mor")
    first, *_ = partitions_of(world)
    Writer(world).begin().insert(first, "left out").complete()

    assert isinstance(build(world.site(), SEEN), Ready)

    require_valid(world.metadata(), [STATS])
    assert isinstance(build(world.site(), SEEN), Skipped)


def test_a_metadata_compaction_in_the_middle_keeps_what_was_added() -> None:
    world = indexed("v9_mor")
    stage = staged(world, has_added, lambda: compact_metadata(world))

    assert isinstance(build(world.site("engine", stage), PAGE), Ready)

    require_valid(world.metadata(), [STATS])


def test_what_a_restore_takes_away_is_added_once_more() -> None:
    world = indexed("v9_mor")
    to = Writer(world).begin().upsert("a").complete()
    Writer(world).begin().upsert("a").complete()

    def undo() -> None:
        restore(world, to, by_completion=True)

    watch = Heard()
    stage = staged(world, has_added, undo)

    assert isinstance(build(world.site("engine", stage, watch=watch), PAGE), Ready)

    assert [said for said in watch.said if said.endswith("built anew")]
    require_valid(world.metadata(), [STATS])


@pytest.mark.thorough
def test_a_restore_that_takes_a_part_of_what_was_added_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catch_up, "_KEYS_AT_ONCE", 2)
    world = indexed("v9_mor")
    kept: list[str] = []

    parts = count()
    apply_part = CatchUp._apply_part

    def commit_before_the_second(*arguments: Any, **named: Any) -> bool:
        if next(parts) == 1:
            kept.append(Writer(world).begin().insert(partitions_of(world)[0], "between").complete())
        return apply_part(*arguments, **named)

    monkeypatch.setattr(CatchUp, "_apply_part", commit_before_the_second)

    class Undoing(Heard):
        def advance(self, steps: int, rows: int = 0) -> None:
            if len(kept) == 1:  # all was written, and seen to be in effect
                Writer(world).begin().upsert("a").complete()
                restore(world, kept[0], by_completion=True)
                kept.append("restored")

    assert isinstance(build(world.site("engine", watch=Undoing()), PAGE), Ready)

    assert len(kept) == 2
    require_valid(world.metadata(), [STATS])


def is_free(world: World) -> bool:
    lock = world.site("another").lock
    assert lock is not None
    try:
        lock.acquire(0)
    except LockUnavailable:
        return False
    lock.release()
    return True


@pytest.mark.parametrize("name", ["second", "first"], ids=["by another", "by the same"])
def test_a_kill_before_readers_are_told_is_finished_by_the_same_request(name: str) -> None:
    world = indexed("v9_mor")
    stage = StagedStorage(world.storage.restarted())
    stage.once(lambda: has_added(stage), stage.die)
    with suppress(Crash):
        build(world.site("first", stage), PAGE)
    assert stage.is_dead
    assert columns(world) == (*OWN, "seen")
    assert plans(world) == 1
    require_valid(world.metadata(), [STATS])

    assert isinstance(build(world.site(name), PAGE), Ready)

    assert columns(world) == (*OWN, "seen", "page")
    require_valid(world.metadata(), [STATS])


def test_one_that_times_out_leaves_the_index_as_it_was() -> None:
    world = indexed("v9_mor")
    begin_clean(world)
    before = entries(world)

    with pytest.raises(TimedOut, match="waiting for 1 pending"):
        build(world.site(), PAGE)

    assert world.flags()[0].count(STATS) == 1
    assert columns(world) == (*OWN, "seen")
    assert before.items() <= entries(world).items()
    assert plans(world) == 0
    require_valid(world.metadata(), [STATS])


def test_an_index_that_is_dropped_meanwhile_gets_nothing() -> None:
    world = indexed("v9_mor")
    plan = schedule(world.site(), PAGE)
    assert not isinstance(plan, Skipped)
    unflag(world.table(), [STATS])

    with pytest.raises(EngineError, match=STATS):
        build(world.site(), PAGE)

    assert STATS not in (*world.flags()[0], *world.flags()[1])
    assert plans(world) == 0


def test_no_column_is_added_while_partition_stats_would_lack_it() -> None:
    world = indexed("v9_mor")
    assert isinstance(build(world.site(), IndexRequest((PARTITION_STATS,))), Ready)
    lay = world.paths()

    with pytest.raises(Contradiction, match=f"Drop {PARTITION_STATS} first, and build it again"):
        build(world.site(), PAGE)

    assert world.paths() == lay
    run_drop(world.site(), [PARTITION_STATS])
    both = IndexRequest((STATS, PARTITION_STATS), columns=PAGE.columns)
    assert isinstance(build(world.site(), both), Ready)
    require_valid(world.metadata(), both.names)


def test_no_column_is_added_while_partition_stats_are_made_of_those_before() -> None:
    world = indexed("v9_mor")
    refused: list[str] = []

    def add() -> None:
        with pytest.raises(Contradiction, match=f"Drop {PARTITION_STATS} first") as told:
            build(world.site("other"), PAGE)
        refused.append(str(told.value))

    def has_base(stage: StagedStorage) -> bool:
        return any(f"/{PARTITION_STATS}/" in path and path.endswith(".hfile") for _, path in stage.writes)

    stage = staged(world, has_base, add)

    assert isinstance(build(world.site("engine", stage), IndexRequest((PARTITION_STATS,))), Ready)

    assert refused
    assert columns(world) == (*OWN, "seen")
    require_valid(world.metadata(), [STATS, PARTITION_STATS])


def test_columns_are_refused_where_no_definition_would_have_them() -> None:
    world = world_of("v6_cow")
    lay = world.paths()

    with pytest.raises(Unsupported, match="recorded from table version 8 on, this table has 6"):
        build(world.site(), PAGE)

    assert world.paths() == lay


def test_after_a_restore_to_before_an_addition_the_index_is_told_to_be_stale() -> None:
    world = indexed("v9_mor")
    to = world.table().timeline().completed()[-1].requested_at
    assert isinstance(build(world.site(), PAGE), Ready)
    Writer(world).begin().upsert("a").complete()
    restore(world, to)

    assert state_of(world) is KindState.STALE
    run_drop(world.site(), [STATS])
    assert state_of(world) is KindState.ABSENT
    assert isinstance(build(world.site(), SEEN), Ready)
    assert state_of(world) is KindState.COMPLETE
    require_valid(world.metadata(), [STATS])


def state_of(world: World) -> KindState:
    (seen,) = look(world.table(), world.site().heartbeats, (STATS,))
    return status_of(seen, world.clock.now_ms(), world.table().zone).state


@pytest.mark.thorough
@pytest.mark.parametrize("request_of_columns", [True, False], ids=["addition", "base"])
def test_a_restore_is_told_of_what_a_plan_completed_before_it_failed(request_of_columns: bool) -> None:
    world = indexed("v9_mor")
    if not request_of_columns:
        run_drop(world.site(), [STATS])
    to = world.table().timeline().completed()[-1].requested_at
    stage = StagedStorage(world.storage.restarted())
    stage.once(lambda: "page" in columns_or_none(world) and is_free(world), lambda: begin_clean(world))
    with pytest.raises(TimedOut):
        build(world.site("engine", stage), IndexRequest((STATS, "bloom_filters"), columns=PAGE.columns))
    assert world.flags() == ((STATS, "files"), ())
    assert state_of(world) is KindState.COMPLETE
    Writer(world).begin().upsert("a").complete()

    restore(world, to)

    assert state_of(world) is KindState.STALE


def columns_or_none(world: World) -> tuple[str, ...]:
    return columns(world) if STATS in world.flags()[0] else ()


def test_a_plan_of_hudis_own_choice_of_columns_is_followed_by_one_for_those_asked_for() -> None:
    world = world_of("v9_mor")
    Writer(world).begin().insert(partitions_of(world)[0], "a").complete()
    few = {**world.site().conf, "hoodie.metadata.index.column.stats.max.columns.to.index": "1"}
    assert isinstance(schedule(replace(world.site("first"), conf=few), IndexRequest((STATS,))), IndexPlan)

    assert isinstance(build(replace(world.site("second"), conf=few), PAGE), Ready)

    assert "page" in columns(world)
    require_valid(world.metadata(), [STATS])


def test_a_file_that_is_cleaned_while_it_is_asked_what_lacks_is_no_end() -> None:
    world = indexed("v9_cow")
    Writer(world).begin().upsert("a").complete()
    Writer(world).begin().upsert("a").complete()
    stage = StagedStorage(world.storage.restarted())
    for verb in ("read", "read_range"):
        stage.before(verb, ".parquet", lambda: complete_clean(world, begin_clean(world)), passes=0)

    assert isinstance(build(world.site("engine", stage), SEEN), Ready)

    require_valid(world.metadata(), [STATS])


def test_a_request_for_another_column_than_a_plan_that_was_left_has_both() -> None:
    world = indexed("v9_mor")
    schedule(world.site(), PAGE)
    more = IndexRequest((STATS,), columns={STATS: ("day",)})

    assert isinstance(build(world.site(), more), Ready)

    assert set(columns(world)) >= {"seen", "page", "day"}
    require_valid(world.metadata(), [STATS])


def test_status_tells_of_an_addition_that_nobody_runs() -> None:
    world = indexed("v9_mor")
    schedule(world.site(), PAGE)
    site = world.site()

    (seen,) = look(world.table(), site.heartbeats, (STATS,))
    status = status_of(seen, world.clock.now_ms(), world.table().zone)

    assert status.state is KindState.COMPLETE
    assert status.reason.endswith("adds to it: page; nobody has begun to run it")
