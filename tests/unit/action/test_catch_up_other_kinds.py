"""Indexes of every other kind get what commits, services and restores do beside their build: a validation says so.

The writers of these worlds keep up `files` and `record_index` and leave out all else.
"""

from collections.abc import Callable
from functools import cache

import pytest

from hudi_engine.action.catch_up import Behind, CatchUp, CaughtUp
from hudi_engine.action.complete import complete_index
from hudi_engine.action.execute import Run
from hudi_engine.action.index import Ready, Redo, build
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.errors import TimedOut
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER
from tests.kit.spread import spread
from tests.kit.valid import require_valid
from tests.unit.action.builds import Heard, base_of, built_beside, in_build
from tests.worlds.archiver import archive
from tests.worlds.instants import InstantFiles
from tests.worlds.services import (
    begin_clean,
    begin_compaction,
    compact_metadata,
    complete_clean,
    complete_compaction,
    restore,
    roll_back,
)
from tests.worlds.world import Saved, World, saved, world_at, world_of
from tests.worlds.writer import Write, Writer, partitions_of

pytestmark = pytest.mark.thorough

BLOOM, STATS = IndexKind.BLOOM_FILTERS.value, IndexKind.COLUMN_STATS.value
RECORD_INDEX = IndexKind.RECORD_INDEX.value
SECONDARY = "secondary_index_by_seen"  # each new version of a row has another value there
BY_PAGE = "secondary_index_by_page"  # there new rows have none
REQUESTS = {
    BLOOM: IndexRequest((BLOOM,)),
    STATS: IndexRequest((STATS,)),
    RECORD_INDEX: IndexRequest((RECORD_INDEX,)),
    SECONDARY: IndexRequest((SECONDARY,), columns={SECONDARY: ("seen",)}),
    BY_PAGE: IndexRequest((BY_PAGE,), columns={BY_PAGE: ("page",)}),
}
STARTS = ("v6_cow", "v8_mor", "v9_cow", "v9_mor")
OF_FILES = [(start, name) for start in STARTS for name in (BLOOM, STATS)]
EACH = [*OF_FILES, *((start, SECONDARY) for start in STARTS[1:])]
each_kind = pytest.mark.parametrize(("start", "name"), EACH)
_ENOUGH = 4
Act = Callable[[World], object]


@cache
def _ready_for(start: str, name: str) -> Saved:
    """A table that has rows in all sorts of files and, for a secondary index, a record index."""
    world = world_of(start)
    if name in {SECONDARY, BY_PAGE}:
        assert isinstance(build(world.site(), IndexRequest((RECORD_INDEX,))), Ready)
    first, *_ = partitions_of(world)
    kept = _keys(world)[:2]
    Writer(world).begin().upsert(*kept).insert(first, "a", "b", "c", "d", "e").complete()
    return saved(world)


def world_for(start: str, name: str) -> World:
    return world_at(_ready_for(start, name))


def _keys(world: World) -> list[str]:
    """Some keys of the first partition, in one file group."""
    first, *_ = partitions_of(world)
    places = world.truth()
    groups = sorted({place for place in places.values() if place[0] == first})
    found = max(([key for key, place in places.items() if place == group] for group in groups), key=len)
    if len(found) >= _ENOUGH:
        return sorted(found)
    more = [f"{next(world.numbers)} more" for _ in range(_ENOUGH)]
    Writer(world).begin().insert(first, *more).complete()
    return more


def _touch(world: World) -> None:
    kept, *_ = _keys(world)
    Writer(world).begin().upsert(kept).complete()


def _new(world: World) -> str:
    return f"{next(world.numbers)} new"


def _change(world: World) -> Write:
    """Of everything that a commit can do to rows, something."""
    first, second, *_ = partitions_of(world)
    kept, gone, moved = _keys(world)[:3]
    return Writer(world).begin().upsert(kept).delete(gone).move(second, moved).insert(first, _new(world), _new(world))


def _commit(world: World) -> None:
    _change(world).complete()


def _commit_twice(world: World) -> None:
    """The second one takes away again what the first one gave."""
    first, second, *_ = partitions_of(world)
    kept, one, two = _keys(world)[0], _new(world), _new(world)
    Writer(world).begin().insert(first, one, two).upsert(kept).complete()
    Writer(world).begin().move(second, one).delete(two).upsert(kept).complete()


def _overwrite(world: World) -> None:
    Writer(world).begin("replacecommit").replace(partitions_of(world)[0], _new(world)).complete()


def _cluster(world: World) -> None:
    Writer(world).begin("replacecommit").replace(partitions_of(world)[0], is_overwrite=False).complete()


def _commit_and_cluster(world: World) -> None:
    """What a commit did is in other file groups by the time it is looked at."""
    _commit(world)
    _cluster(world)


def _write_and_clean(world: World) -> None:
    """Files of one commit that the next one replaces and a clean takes away."""
    first, *_ = partitions_of(world)
    brief = _new(world)
    Writer(world).begin().insert(first, brief).complete()
    Writer(world).begin().upsert(brief).complete()
    _clean(world)


def _replace_and_clean(world: World) -> None:
    """Files that the base knew are gone."""
    _touch(world)
    _overwrite(world)
    _clean(world)


def _clean(world: World) -> None:
    complete_clean(world, begin_clean(world))


def _compact(world: World) -> None:
    _touch(world)
    if world.table().config.is_merge_on_read:
        complete_compaction(world, begin_compaction(world, is_inflight=True))


def _compact_around_a_commit(world: World) -> None:
    kept, gone, *_ = _keys(world)
    instant = begin_compaction(world) if world.table().config.is_merge_on_read else ""
    Writer(world).begin().upsert(kept).delete(gone).complete()
    if instant:
        complete_compaction(world, instant)


def _roll_back(world: World) -> None:
    write = _change(world)
    write.write_files()
    write.write_metadata()
    roll_back(world, write.instant)


def _restore(world: World) -> None:
    kept, changed, *_ = _keys(world)
    to = Writer(world).begin().upsert(kept).complete()
    Writer(world).begin().upsert(changed).complete()
    restore(world, to)


def _compact_metadata(world: World) -> None:
    _commit(world)
    compact_metadata(world)


ACTS: tuple[Act, ...] = (
    _commit,
    _restore,
    _commit_twice,
    _overwrite,
    _roll_back,
    _cluster,
    _commit_and_cluster,
    _compact,
    _write_and_clean,
    _compact_metadata,
    _compact_around_a_commit,
    _clean,
    _replace_and_clean,
)
ACT_NAMES = [act.__name__.strip("_") for act in ACTS]
SOME_OF_EACH = spread([(act, f"{start}-{name}") for act in ACT_NAMES for start, name in EACH], each=4)


def require_built(
    world: World,
    name: str,
    *,
    before: Callable[[], object] = lambda: None,
    after: Callable[[Run], object] = lambda _: None,
) -> Heard:
    """The index is complete and valid in the end; of a secondary index that was overtaken another is built."""
    watch, outcome = built_beside(world, REQUESTS[name], before=before, after=after)
    if isinstance(outcome, Redo):
        assert name == SECONDARY, outcome.why
        outcome = build(world.site(), REQUESTS[name])
    assert isinstance(outcome, Ready)
    assert name in world.flags()[0]
    require_valid(world.metadata(), [name])
    return watch


@pytest.mark.parametrize(("act", "kind"), SOME_OF_EACH)
def test_what_happens_before_and_after_an_index_is_published_is_in_it(act: str, kind: str) -> None:
    start, name = kind.split("-")
    world = world_for(start, name)
    number = ACT_NAMES.index(act)
    early, late = ACTS[number], ACTS[number - 1]

    require_built(world, name, before=lambda: early(world), after=lambda _: late(world))


@each_kind
def test_what_every_file_group_was_changed_in_is_in_it_though_failed_commits_left_files_there(
    start: str, name: str
) -> None:
    world = world_for(start, name)

    def change_all(_: Run) -> None:
        write = Writer(world).begin()
        for key in sorted(world.truth()):
            write.upsert(key)
        write.complete()

    require_built(world, name, after=change_all)


@pytest.mark.parametrize("name", [BLOOM, STATS, RECORD_INDEX, SECONDARY])
def test_what_nothing_but_the_history_tells_of_is_in_it(name: str) -> None:
    """A clean of files that the base knew, and of such that came after it, is archived when it is asked for."""
    world = world_for("v8_cow", name)

    def clean_and_archive(_: Run) -> None:
        _write_and_clean(world)
        _replace_and_clean(world)
        kept = _keys(world)[0]
        world.clock.advance(11_000)  # nobody archives what has only just been completed
        archive(world, until=Writer(world).begin().upsert(kept).complete())

    require_built(world, name, after=clean_and_archive)


@pytest.mark.parametrize("name", [BLOOM, STATS])
def test_a_clean_that_was_archived_is_in_it_though_it_began_before_the_base_was_made(name: str) -> None:
    """All that was archived then began before the newest commit that the base holds."""
    world = world_for("v8_cow", name)
    _touch(world)
    clean = begin_clean(world)
    newest = Writer(world).begin().upsert(_keys(world)[0]).complete()

    def complete_and_archive(_: Run) -> None:
        complete_clean(world, clean)
        world.clock.advance(11_000)  # nobody archives what has only just been completed
        archive(world, until=newest)

    require_built(world, name, after=complete_and_archive)


@each_kind
def test_an_index_is_right_after_a_restore_to_a_commit_that_was_caught_up_with(start: str, name: str) -> None:
    """What the first of two commits is looked at for must not say what only the second did."""
    world = world_for(start, name)
    kept, gone, *_ = _keys(world)
    instants: list[str] = []

    def both(_: Run) -> None:
        instants.append(Writer(world).begin().upsert(kept, gone).complete())
        Writer(world).begin().upsert(kept).delete(gone).complete()

    require_built(world, name, after=both)
    restore(world, instants[0])

    require_valid(world.metadata(), [name])


@pytest.mark.parametrize("start", ["v8_mor", "v9_cow", "v9_mor"])
@pytest.mark.parametrize("name", [RECORD_INDEX, BLOOM, STATS])
def test_what_a_restore_takes_in_the_middle_of_the_catch_up_is_written_again(start: str, name: str) -> None:
    """Of commits that it keeps: it takes all that we wrote since the one that it goes to completed."""
    world = world_for(start, name)
    first, *_ = partitions_of(world)
    one, two = (Writer(world).begin().insert(first, key) for key in ("one", "two"))

    def body(run: Run) -> None:
        one.complete()
        kept = two.complete()
        catch_up = CatchUp(run, base_of(run, name))
        assert isinstance(catch_up.run(), CaughtUp)
        Writer(world).begin().insert(first, "gone").complete()
        restore(world, kept, by_completion=True)

        assert catch_up.run() == CaughtUp(kept)

        index = run.plan.of(name)
        assert index is not None
        with run.site.transaction() as transaction:
            assert catch_up.last_pass(transaction) == CaughtUp(kept)
            complete_index(run, transaction, index, kept)

    watch = in_build(world, body, request=REQUESTS[name])

    require_valid(world.metadata(), [name])
    assert not [said for said in watch.said if "falling behind" in said]


@pytest.mark.parametrize("start", ["v9_cow", "v9_mor"])
def test_a_row_that_moved_unchanged_keeps_its_entry_when_its_former_file_group_changes_again(start: str) -> None:
    world = world_for(start, BY_PAGE)
    _, second, *_ = partitions_of(world)

    def move_and_change(_: Run) -> None:
        Writer(world).begin().move(second, "a").complete()
        Writer(world).begin().upsert("b").complete()

    require_built(world, BY_PAGE, after=move_and_change)


@each_kind
def test_a_commit_whose_file_groups_were_clustered_since_is_caught_up_with(start: str, name: str) -> None:
    world = world_for(start, name)

    def touch_and_cluster(_: Run) -> None:
        _touch(world)
        _cluster(world)

    require_built(world, name, after=touch_and_cluster)


@each_kind
def test_the_last_pass_sees_a_commit_that_completed_since(start: str, name: str) -> None:
    world = world_for(start, name)

    def body(run: Run) -> None:
        catch_up = CatchUp(run, base_of(run, name))
        world.clock.advance(10_000)
        late = _change(world)
        assert isinstance(catch_up.run(), CaughtUp)
        late.complete()
        with run.site.transaction() as transaction:
            behind = catch_up.last_pass(transaction)
        assert isinstance(behind, Behind)
        assert [each.requested_at for each in behind.lacking] == [late.instant]
        assert isinstance(catch_up.run(), CaughtUp)

    in_build(world, body, request=REQUESTS[name])


@pytest.mark.parametrize("start", ["v8_mor", "v9_mor"])
@pytest.mark.parametrize("name", [BLOOM, STATS])
def test_an_index_of_files_waits_for_a_compaction_under_way(start: str, name: str) -> None:
    world = world_for(start, name)
    _touch(world)
    instant = begin_compaction(world, is_inflight=True)
    world.clock.later(20, lambda: complete_compaction(world, instant))

    watch = require_built(world, name)

    assert [said for said in watch.said if said.startswith("waiting for 1 pending") and instant in said]


@pytest.mark.parametrize("name", [BLOOM, STATS])
def test_an_index_of_files_waits_for_a_clean_under_way(name: str) -> None:
    world = world_for("v9_cow", name)
    instant = begin_clean(world)
    world.clock.later(20, lambda: complete_clean(world, instant))

    watch = require_built(world, name)

    assert [said for said in watch.said if said.startswith("waiting for 1 pending") and instant in said]


def test_a_compaction_that_never_ends_is_named_when_time_is_up() -> None:
    world = world_for("v9_mor", STATS)
    instant = begin_compaction(world, is_inflight=True)

    with pytest.raises(TimedOut, match=f"waiting for 1 pending: {instant}"):
        built_beside(world, REQUESTS[STATS])


@pytest.mark.parametrize("name", [BLOOM, STATS])
def test_an_index_of_files_does_not_wait_for_a_compaction_that_is_merely_asked_for(name: str) -> None:
    world = world_for("v9_mor", name)
    begin_compaction(world)

    assert not require_built(world, name).said


@pytest.mark.parametrize("name", [RECORD_INDEX, SECONDARY])
def test_an_index_of_rows_does_not_wait_for_a_compaction_or_a_clean(name: str) -> None:
    world = world_for("v9_mor", name)
    begin_compaction(world, is_inflight=True)
    begin_clean(world)

    _, outcome = built_beside(world, REQUESTS[name])

    assert isinstance(outcome, Ready)


def test_a_secondary_index_whose_files_were_cleaned_is_undone_and_built_anew() -> None:
    world = world_for("v9_cow", SECONDARY)

    _, outcome = built_beside(world, REQUESTS[SECONDARY], after=lambda _: _replace_and_clean(world))

    assert isinstance(outcome, Redo)
    assert "cleaned before it was caught up" in outcome.why
    assert SECONDARY not in [name for names in world.flags() for name in names]
    assert not [path for path in world.paths() if SECONDARY in path]
    assert SECONDARY not in world.metadata().definitions
    assert isinstance(build(world.site(), REQUESTS[SECONDARY]), Ready)
    require_valid(world.metadata(), [SECONDARY])


def test_a_secondary_index_waits_for_a_write_that_is_asked_for_and_may_settle_early_what_it_keeps() -> None:
    world = world_for("v9_cow", SECONDARY)
    instant = world.next_time()
    requested = f"{world.table().config.timeline_folder}/{instant}.commit.requested"
    world.storage.create(requested, b"")
    world.clock.later(20, lambda: world.storage.delete(requested))

    watch = require_built(world, SECONDARY)

    assert [said for said in watch.said if said.startswith("waiting for 1 pending") and instant in said]


def test_a_secondary_index_waits_for_a_write_that_streams_into_the_metadata_table() -> None:
    world = world_for("v9_mor", SECONDARY)
    writer = Writer(world)
    writer.keep_alive()
    write = writer.begin().insert(partitions_of(world)[0], "late")
    metadata = InstantFiles(world.storage, f"{FOLDER}/{world.metadata().table.config.timeline_folder}", 9)
    metadata.begin(write.instant, "deltacommit", b"")

    def complete() -> None:
        metadata.remove(write.instant)
        write.complete()

    world.clock.later(20, complete)

    watch = require_built(world, SECONDARY)

    assert [said for said in watch.said if said.startswith("waiting for 1 pending") and write.instant in said]


def test_a_secondary_index_does_not_wait_for_a_write_that_settles_at_its_end_what_it_keeps() -> None:
    world = world_for("v9_cow", SECONDARY)
    Writer(world).begin()

    watch = require_built(world, SECONDARY)

    assert not watch.said
