"""An index in flight gets what commits beside its build leave out of it, and is not overtaken by them."""

from collections.abc import Callable

import pytest

from hudi_engine.action import catch_up as module
from hudi_engine.action.catch_up import Behind, CatchUp, CaughtUp
from hudi_engine.action.coverage import CAUGHT_UP
from hudi_engine.action.execute import Run
from hudi_engine.action.flags import flag_complete, unflag
from hudi_engine.action.keeping import Overtaken
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.concurrency.instant_times import just_below
from hudi_engine.errors import Contradiction, TimedOut
from hudi_engine.format.instant_names import Action
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import Crash
from tests.unit.action.builds import Heard, answers, base_of, catching_up, in_build, index_of, on_stage
from tests.worlds.archiver import archive
from tests.worlds.services import (
    begin_clean,
    begin_compaction,
    compact_metadata,
    complete_clean,
    complete_compaction,
    restore,
    roll_back,
)
from tests.worlds.stage import StagedStorage
from tests.worlds.starts import STARTS
from tests.worlds.world import WRITERS_LEASE, World, world_of
from tests.worlds.writer import Write, Writer, partitions_of

pytestmark = pytest.mark.thorough

MERGE_ON_READ = [start for start in STARTS if start.endswith("mor")]
A_FEW = ["v6_mor", "v9_cow"]


def in_one(world: World, partition: str) -> list[str]:
    """The keys of one partition."""
    return sorted(key for key, place in world.truth().items() if place[0] == partition)


def completing(write: Write) -> Callable[..., None]:
    """Something to do later: the writer completes its commit."""

    def complete(*_: object) -> None:
        write.complete()

    return complete


def _roll_back(world: World, write: Write) -> None:
    roll_back(world, write.instant)


def require_right(world: World) -> None:
    assert answers(world) == world.truth()


def ours(world: World) -> dict[str, str]:
    """The metadata instants of our catch-up commits, by the instants that they are for."""
    metadata = world.metadata()
    instants = [each for each in metadata.timeline.of(Action.DELTA_COMMIT) if each.is_completed]
    said = {each.requested_at: metadata.table.commit(each).extra for each in instants}
    return {extra[CAUGHT_UP]: str(time) for time, extra in said.items() if CAUGHT_UP in extra}


def caught_up(
    world: World, *, after: Callable[[Run], None], before_publishing: Callable[[], None] = lambda: None
) -> Heard:
    """A build whose catch-up comes after this, and ends with every answer right."""

    def body(run: Run) -> None:
        after(run)
        assert isinstance(catching_up(run).run(), CaughtUp)
        require_right(world)

    return in_build(world, body, before_publishing=before_publishing)


@pytest.mark.parametrize("start", STARTS)
def test_a_commit_that_began_before_the_index_and_left_it_out_is_caught_up_with(start: str) -> None:
    world = world_of(start)
    first, second, *_ = partitions_of(world)
    kept, gone, moved = in_one(world, first)[:3]
    write = Writer(world).begin()

    def complete(_: Run) -> None:
        write.upsert(kept).delete(gone).move(second, moved).insert(first, "new 1", "new 2").complete()
        assert answers(world) != world.truth()

    watch = caught_up(world, after=complete)

    assert ours(world).keys() == {write.instant}
    assert watch.phases[-1] == "catch-up"
    assert watch.rows > 0


@pytest.mark.parametrize("start", STARTS)
def test_commits_that_completed_while_the_base_was_made_are_caught_up_with(start: str) -> None:
    world = world_of(start)
    first, second, *_ = partitions_of(world)
    writer = Writer(world)

    def commit_some() -> None:
        writer.begin().insert(second, "early").move(second, in_one(world, first)[0]).complete()
        writer.begin().delete("early").upsert(in_one(world, first)[-1]).complete()

    caught_up(world, after=lambda _: None, before_publishing=commit_some)


@pytest.mark.parametrize("start", A_FEW)
@pytest.mark.parametrize("is_overwrite", [True, False])
def test_replaced_file_groups_are_caught_up_with(start: str, *, is_overwrite: bool) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin("replacecommit")

    caught_up(world, after=completing(write.replace(first, "fresh", is_overwrite=is_overwrite)))


@pytest.mark.parametrize(("start", "is_archived"), [*((start, False) for start in A_FEW), ("v8_cow", True)])
def test_former_keys_are_found_though_their_files_were_cleaned(start: str, *, is_archived: bool) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin("replacecommit")

    def overwrite_and_clean(_: Run) -> None:
        write.replace(first, "fresh").complete()
        complete_clean(world, begin_clean(world))
        if is_archived:
            archive(world, until=Writer(world).begin().upsert("fresh").complete())

    caught_up(world, after=overwrite_and_clean)


@pytest.mark.parametrize("start", MERGE_ON_READ)
def test_keys_deleted_in_logs_are_found_though_these_were_compacted(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    aware = Writer(world)
    unaware = aware.begin()

    def compact(_: Run) -> None:
        unaware.delete(in_one(world, first)[0]).insert(first, "logged").complete()
        complete_compaction(world, begin_compaction(world, is_inflight=True))

    caught_up(world, after=compact)


@pytest.mark.parametrize("start", STARTS)
def test_a_commit_that_logged_to_the_index_is_proven_without_a_look_at_its_rows(start: str) -> None:
    world = world_of(start)
    first, second, *_ = partitions_of(world)

    def log_itself(_: Run) -> None:
        Writer(world).begin().insert(first, "own").move(second, in_one(world, first)[0]).complete()

    watch = caught_up(world, after=log_itself)

    assert "catch-up" not in watch.phases
    assert not ours(world)


@pytest.mark.parametrize("start", STARTS)
def test_java_may_compact_the_index_before_and_after(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin()

    def compact(run: Run) -> None:
        compact_metadata(world)
        write.insert(first, "left out").complete()
        Writer(world).begin().insert(first, "logged").complete()
        compact_metadata(world)

    caught_up(world, after=compact)

    Writer(world).begin().insert(first, "later").complete()
    assert compact_metadata(world)
    require_right(world)


@pytest.mark.parametrize("start", STARTS)
def test_entries_are_written_just_below_the_commit_that_lacked_them(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin()

    caught_up(world, after=completing(write.insert(first, "left out")))

    below = just_below(write.instant, set(), world.table().zone)
    assert ours(world) == {write.instant: below + ("004" if start.startswith("v6") else "")}


@pytest.mark.parametrize("start", STARTS)
def test_a_restore_to_a_commit_keeps_its_entries_and_one_to_before_removes_them(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    writer = Writer(world)
    one, two = writer.begin(), writer.begin()

    def both(_: Run) -> None:
        one.insert(first, "one", "both").complete()
        two.insert(first, "two").complete()

    caught_up(world, after=both)

    restore(world, one.instant)
    require_right(world)
    assert "one" in answers(world)
    restore(world, min(each.requested_at for each in world.table().timeline().writes()))
    assert "one" not in answers(world)


@pytest.mark.parametrize("start", STARTS)
def test_a_key_that_a_later_commit_deleted_comes_back_with_a_restore(start: str) -> None:
    """What the first of two commits is looked at for must not say what only the second did."""
    world = world_of(start)
    first, *_ = partitions_of(world)
    kept, gone, *_ = in_one(world, first)
    one = Writer(world).begin()

    def both() -> None:
        one.upsert(kept).upsert(gone).complete()
        Writer(world).begin().delete(gone).insert(first, "late").complete()

    caught_up(world, after=lambda _: None, before_publishing=both)

    assert gone not in answers(world)
    restore(world, one.instant)
    assert gone in answers(world)
    require_right(world)


def test_what_happens_while_entries_are_derived_is_derived_again() -> None:
    world = world_of("v9_cow")
    first, second, *_ = partitions_of(world)
    moved = in_one(world, first)[0]
    unaware = Writer(world).begin().insert(first, "left out")

    def body(run: Run) -> None:
        unaware.delete(moved).complete()
        stage = StagedStorage(world.storage)
        late = Writer(world).begin()
        stage.before("read", ".parquet", completing(late.insert(second, moved, "after")))
        assert isinstance(CatchUp(on_stage(run, stage), base_of(run)).run(), CaughtUp)
        require_right(world)
        assert answers(world)[moved][0] == second

    in_build(world, body)


def test_a_pending_commit_is_waited_for_and_named() -> None:
    world = world_of("v9_mor")
    first, *_ = partitions_of(world)
    writer = Writer(world)
    writer.keep_alive()
    write = writer.begin()
    world.clock.later(20, completing(write.insert(first, "late")))

    watch = caught_up(world, after=lambda _: None)

    waited = [said for said in watch.said if said.startswith("waiting for 1 pending")]
    assert len(waited) == 1
    assert write.instant in waited[0]
    assert "late" in answers(world)


@pytest.mark.parametrize("start", A_FEW)
def test_a_pending_commit_that_is_rolled_back_is_waited_for_no_longer(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    writer = Writer(world)
    writer.keep_alive()
    write = writer.begin().insert(first, "never")
    write.write_files()
    write.write_metadata()
    world.clock.later(20, lambda: _roll_back(world, write))

    caught_up(world, after=lambda _: None)

    assert "never" not in answers(world)


def test_a_commit_that_began_after_the_index_is_not_waited_for() -> None:
    world = world_of("v9_cow")

    def body(run: Run) -> None:
        catch_up = catching_up(run)
        world.clock.advance(10_000)
        Writer(world).begin()
        began_ms = world.clock.now_ms()
        assert isinstance(catch_up.run(), CaughtUp)
        assert world.clock.now_ms() - began_ms < 1_000

    in_build(world, body)


def test_a_writer_without_a_sign_of_life_is_waited_for_by_the_lease_of_writers_and_no_longer() -> None:
    world = world_of("v9_cow")
    Writer(world).begin()
    began_ms = world.clock.now_ms()

    caught_up(world, after=lambda _: None)

    assert WRITERS_LEASE.lasts_ms <= world.clock.now_ms() - began_ms < 2 * WRITERS_LEASE.lasts_ms


def test_a_writer_that_never_ends_is_named_when_time_is_up() -> None:
    world = world_of("v9_cow")
    writer = Writer(world)
    writer.keep_alive()
    write = writer.begin()

    def body(run: Run) -> None:
        began_ms = world.clock.now_ms()
        with pytest.raises(TimedOut, match=f"waiting for 1 pending: {write.instant}"):
            catching_up(run).run()
        assert 60_000 <= world.clock.now_ms() - began_ms < 65_000

    in_build(world, body)


@pytest.mark.parametrize(
    ("change", "said"),
    [(flag_complete, "hoodie.metadata.index.async=true"), (unflag, "another program dropped the index record_index")],
)
def test_who_finds_its_index_in_flight_no_more_says_what_became_of_it_and_what_to_do(
    change: Callable[..., object], said: str
) -> None:
    world = world_of("v9_cow")

    def body(run: Run) -> None:
        change(world.table(), ["record_index"])
        with pytest.raises(Contradiction, match=said):
            catching_up(run).run()

    in_build(world, body)


def test_falling_behind_is_said_before_time_is_up() -> None:
    world = world_of("v9_cow")
    first, *_ = partitions_of(world)
    begun: list[Write] = [Writer(world).begin() for _ in range(30)]
    numbers = iter(range(1_000))

    def body(run: Run) -> None:
        watch, stage = run.site.watch, StagedStorage(world.storage)
        assert isinstance(watch, Heard)

        def commit_one() -> None:
            """A writer that is as quick as a machine that takes ten seconds for each file."""
            world.clock.advance(10_000)
            run.liveness.beat()
            begun.pop(0).insert(first, f"again {next(numbers)}").complete()
            stage.before("read", ".parquet", commit_one, passes=1)

        commit_one()
        with pytest.raises(TimedOut, match="fell behind"):
            CatchUp(on_stage(run, stage), base_of(run)).run()
        assert any(said.startswith("falling behind") for said in watch.said)

    in_build(world, body)


@pytest.mark.parametrize("start", A_FEW)
def test_the_last_pass_sees_what_came_since(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    unaware = Writer(world).begin()

    def standing(run: Run, catch_up: CatchUp) -> object:
        with run.site.transaction() as transaction:
            return catch_up.last_pass(transaction)

    def body(run: Run) -> None:
        catch_up = catching_up(run)
        waiting = standing(run, catch_up)
        assert isinstance(waiting, Behind)
        assert [each.requested_at for each in waiting.waited_for] == [unaware.instant]
        unaware.insert(first, "late").complete()
        behind = standing(run, catch_up)
        assert isinstance(behind, Behind)
        assert [each.requested_at for each in behind.lacking] == [unaware.instant]
        assert catch_up.run() == standing(run, catch_up) == CaughtUp(unaware.instant)

    in_build(world, body)


def test_what_the_index_is_caught_up_to_is_the_last_commit_before_the_first_pending_one() -> None:
    world = world_of("v9_cow")
    first, *_ = partitions_of(world)
    writer = Writer(world)

    def body(run: Run) -> None:
        catch_up = catching_up(run)
        world.clock.advance(10_000)
        done = writer.begin().insert(first, "done")
        done.complete()
        pending, later = writer.begin(), writer.begin().insert(first, "later")
        later.complete()
        assert pending.instant < later.instant
        assert catch_up.run() == CaughtUp(done.instant)

    in_build(world, body)


@pytest.mark.parametrize("start", A_FEW)
def test_a_restore_to_before_the_base_was_made_overtakes_the_build(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    before = max(each.requested_at for each in world.table().timeline().writes() if each.is_completed)
    gone = Writer(world).begin().insert(first, "soon gone")
    gone.complete()

    def body(run: Run) -> None:
        restore(world, before)
        end = catching_up(run).run()
        assert isinstance(end, Overtaken)
        assert gone.instant in end.why

    in_build(world, body)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("is_pending_before_it", [False, True])
def test_what_is_written_late_stands_above_a_commit_that_stays_until_it_is_compacted_and_below_what_is_pending(
    start: str, *, is_pending_before_it: bool
) -> None:
    """Else Hudi's archiver may take it from the metadata table first, and its readers then pass it over."""
    world = world_of(start)
    first, *_ = partitions_of(world)
    late = Writer(world).begin().insert(first, "late")

    def body(run: Run) -> None:
        late.complete()
        compacted = compact_metadata(world)
        pending = Writer(world).begin() if is_pending_before_it else None
        stays = Writer(world).begin().insert(first, "later").complete()
        assert compacted
        if pending is not None:
            world.clock.later(1, lambda: pending.insert(first, "pending").complete())
        assert isinstance(catching_up(run).run(), CaughtUp)
        at = ours(world)[late.instant]
        assert (at > stays) == (pending is None)
        assert pending is None or late.instant < at < pending.instant
        require_right(world)

    in_build(world, body)


@pytest.mark.parametrize("is_last_pass", [False, True])
def test_a_commit_that_is_archived_between_a_listing_and_a_look_into_it_is_caught_up_with(
    *, is_last_pass: bool
) -> None:
    world = world_of("v8_cow")
    first, *_ = partitions_of(world)
    write = Writer(world).begin().insert(first, "new")

    def body(run: Run) -> None:
        write.complete()
        later = Writer(world).begin().insert(first, "later").complete()
        stage = StagedStorage(world.storage.restarted())
        stage.before("read", f"/{write.instant}_", lambda: archive(world, until=later))
        catch_up = CatchUp(on_stage(run, stage), base_of(run))
        if is_last_pass:
            with world.site("engine", stage).transaction() as transaction:
                assert isinstance(catch_up.last_pass(transaction), Behind)
        assert isinstance(catch_up.run(), CaughtUp)
        require_right(world)

    in_build(world, body)


def test_a_rollback_that_was_archived_meanwhile_overtakes_a_build_of_what_it_undid() -> None:
    world = world_of("v8_cow")
    first, *_ = partitions_of(world)
    gone = Writer(world).begin().insert(first, "soon gone")
    gone.complete()

    def body(run: Run) -> None:
        table = world.table()
        completed = next(each for each in table.timeline().completed() if each.requested_at == gone.instant)
        world.storage.delete(table.path_of(completed))  # so Hudi begins
        roll_back(world, gone.instant)
        world.clock.advance(11_000)
        archive(world, until=Writer(world).begin().insert(first, "later").complete())
        end = catching_up(run).run()
        assert isinstance(end, Overtaken)
        assert gone.instant in end.why

    in_build(world, body)


def test_a_rolled_back_commit_of_the_base_overtakes_the_build() -> None:
    world = world_of("v9_cow")
    first, *_ = partitions_of(world)
    write = Writer(world).begin().insert(first, "soon gone")
    write.complete()

    def body(run: Run) -> None:
        catch_up = catching_up(run)
        folder = world.table().config.timeline_folder
        for file in world.storage.list(folder):
            if file.name.startswith(write.instant):
                world.storage.delete(file.path)
        end = catch_up.run()
        assert isinstance(end, Overtaken)
        assert write.instant in end.why

    in_build(world, body)


def test_a_key_that_comes_into_two_partitions_is_refused() -> None:
    world = world_of("v9_cow")
    first, second, *_ = partitions_of(world)
    write = Writer(world).begin()
    key = in_one(world, first)[0]

    def body(run: Run) -> None:
        write.insert(second, key, "fine").complete()
        with pytest.raises(Contradiction, match="have several rows") as refused:
            catching_up(run).run()
        assert repr(key) in str(refused.value)
        assert not ours(world)

    in_build(world, body)


def test_a_writer_that_leaves_the_index_out_though_it_began_later_is_named_and_all_pending_are_waited_for() -> None:
    world = world_of("v9_cow")
    first, *_ = partitions_of(world)
    writer = Writer(world)
    writer.keep_alive()

    def body(run: Run) -> None:
        catch_up = catching_up(run)
        world.clock.advance(10_000)
        careless = writer.begin()
        careless.knows = frozenset({"files"})
        pending = writer.begin().insert(first, "also late")
        pending.knows = frozenset({"files"})
        careless.insert(first, "left out").complete()
        world.clock.later(5, completing(pending))
        assert isinstance(catch_up.run(), CaughtUp)
        require_right(world)
        watch = run.site.watch
        assert isinstance(watch, Heard)
        assert any(careless.instant in said and "does not maintain" in said for said in watch.said)
        assert "also late" in answers(world)

    in_build(world, body)


@pytest.mark.parametrize("start", A_FEW)
def test_whoever_dies_while_writing_entries_is_followed_by_one_who_writes_them(start: str) -> None:
    world = world_of(start)
    first, *_ = partitions_of(world)
    write = Writer(world).begin()

    def body(run: Run) -> None:
        write.insert(first, "left out").complete()
        stage = StagedStorage(world.storage)
        folder = ".hoodie/metadata/" + world.metadata().table.config.timeline_folder
        stage.before("create", f"{folder}/{write.instant[:8]}", stage.die, passes=2)
        with pytest.raises(Crash):
            CatchUp(on_stage(run, stage), base_of(run)).run()
        assert answers(world) != world.truth()
        assert isinstance(catching_up(run).run(), CaughtUp)
        require_right(world)

    in_build(world, body)


def test_many_keys_are_written_in_parts_of_which_only_the_last_says_that_it_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_KEYS_AT_ONCE", 2)
    world = world_of("v9_mor")
    first, *_ = partitions_of(world)
    write = Writer(world).begin()

    caught_up(world, after=completing(write.insert(first, *[f"new {n}" for n in range(5)])))

    metadata = world.metadata()
    below = [each for each in metadata.timeline.instants if write.instant[:14] in each.requested_at]
    written = [each for each in below if each.requested_at < write.instant]
    assert len(written) == 3
    assert ours(world) == {write.instant: min(each.requested_at for each in written)}


def test_a_partition_that_is_newer_than_an_index_by_partition_gets_shards() -> None:
    world = world_of("v9_cow")
    first, *_ = partitions_of(world)
    write = Writer(world).begin()

    def body(run: Run) -> None:
        write.insert("2031-01-01", "new 1", "new 2").insert(first, "new 3").complete()
        assert isinstance(catching_up(run).run(), CaughtUp)
        require_right(world)
        assert len(index_of(world).groups["2031-01-01"]) == 1

    in_build(world, body, request=IndexRequest((IndexKind.RECORD_INDEX,), is_partitioned=True))


@pytest.mark.parametrize("knows", [{"files"}, {"files", "record_index"}])
def test_a_commit_that_was_archived_while_the_index_was_built_is_caught_up_with(knows: set[str]) -> None:
    world = world_of("v8_cow")
    first, *_ = partitions_of(world)
    writer = Writer(world)

    def body(run: Run) -> None:
        for number in range(3):
            write = writer.begin().insert(first, f"new {number}")
            write.knows = frozenset(knows)
            write.complete()
        archive(world, until=write.instant)
        watch = run.site.watch
        assert isinstance(watch, Heard)
        assert isinstance(catching_up(run).run(), CaughtUp)
        require_right(world)
        assert ("catch-up" in watch.phases) == ("record_index" not in knows)

    in_build(world, body)
