"""`partition_stats` made and kept: equal to Java's, flagged when Java's writers can bear it, right whoever overlaps."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

import pytest

from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import Ready, build, run
from hudi_engine.action.plans import IndexPlan, plan_bytes
from hudi_engine.action.schedule import IndexRequest, Skipped, schedule
from hudi_engine.compute.column_stats import StatsReader
from hudi_engine.compute.entries_of_partitions import PartitionStatsEntries
from hudi_engine.compute.entries_of_partitions import partitions_of as files_of_partitions
from hudi_engine.compute.indexed_columns import type_at
from hudi_engine.compute.order import DataPartition
from hudi_engine.errors import Contradiction, LockUnavailable, TimedOut, Unsupported
from hudi_engine.format.names import parse_base_file
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.storage.memory import Crash, Fault, Way
from hudi_engine.storage.protocol import FileStat
from hudi_engine.validate.partition_stats import check_partition_stats
from hudi_engine.validate.subject import subject_of
from tests.golden.in_memory import golden_in_memory
from tests.kit.subjects import Count
from tests.unit.action.builds import Heard
from tests.unit.action.sites import site_of
from tests.unit.compute.test_golden_column_stats import EXPECTED, compared, stored
from tests.worlds import services
from tests.worlds.stage import StagedStorage
from tests.worlds.world import Saved, World, saved, world_at, world_of
from tests.worlds.writer import Write, Writer, partitions_of

pytestmark = pytest.mark.thorough

COLUMN_STATS, NAME = "column_stats", "partition_stats"
REQUEST = IndexRequest((NAME,))
BOTH = IndexRequest((NAME, COLUMN_STATS))
STARTS = ["v8_cow", "v8_mor", "v9_cow", "v9_mor"]
A_FEW = ["v8_mor", "v9_cow", "v9_mor"]
JAVA = {name: of_partitions for name, (_, of_partitions) in EXPECTED.items() if of_partitions}
"""Of each golden table with the index what of its entries is not as Java made it: `test_golden_column_stats`."""


@cache
def _with_column_stats(start: str) -> Saved:
    world = world_of(start)
    build(world.site("before"), IndexRequest((COLUMN_STATS,)))
    return saved(world)


def with_column_stats(start: str) -> World:
    """A world in which `column_stats` is complete."""
    return world_at(_with_column_stats(start))


def is_published(world: World) -> Callable[[], bool]:
    """Whether the index is in flight, and nobody holds the lock."""

    def is_so() -> bool:
        if NAME not in world.flags()[1]:
            return False
        lock = world.site("asks").lock
        try:
            lock.acquire(0)
        except LockUnavailable:
            return False
        lock.release()
        return True

    return is_so


def built(world: World, *when_published: Callable[[], object]) -> Heard:
    """A build during which these act, one by one, each as soon as the base is published and the lock is free."""
    stage, heard = StagedStorage(world.storage.restarted()), Heard()
    for act in when_published:
        stage.once(is_published(world), act)
    assert isinstance(build(world.site("engine", stage, heard), REQUEST), Ready)
    return heard


def require_right(world: World) -> None:
    """The validator finds nothing, and neither does whoever makes all entries once more."""
    metadata = world.metadata()
    assert [str(each) for each in check_partition_stats(subject_of(world.table(), metadata, None, Count()))] == []
    rebuilt = world_at(saved(world))
    run_drop(rebuilt.site("dropper"), [NAME])
    build(rebuilt.site("again"), REQUEST)
    now = stored(metadata.index(NAME))
    assert now == stored(rebuilt.metadata().index(NAME))
    assert now


def in_partition(world: World, partition: str) -> list[str]:
    return sorted(key for key, place in world.truth().items() if place[0] == partition)


def own_logs(world: World) -> list[str]:
    """The instants of logs of the index that are of no instant of the data, its base's aside."""
    metadata = world.metadata()
    known = {i.requested_at for i in metadata.data_timeline.instants}
    done = [i.requested_at for i in metadata.timeline.completed() if i.requested_at not in known]
    named = [file.name for file in metadata.table.storage.list(NAME) if file.name.startswith(".partition-stats")]
    return sorted(time for time in done if any(f"_{time}." in name for name in named) and not time.startswith("0" * 14))


def hold_up(world: World, seconds: int) -> None:
    """A writer that began before the index and does not keep it completes in so many seconds: it is waited for."""
    second = partitions_of(world)[1]
    write = beating(world, Writer(world).begin().insert(second, "held up"))
    world.clock.later(seconds, write.complete)


def beating(world: World, write: Write) -> Write:
    """The same, whose writer lives until it is done."""

    def beat() -> None:
        if write.instant in {i.requested_at for i in world.table().timeline().pending()}:
            write.beat()

    world.clock.each_second(beat)
    return write


def aware(world: World, write: Write, *, sees: Callable[[], set[str]] | None = None) -> Write:
    """The writer keeps the index: of each touched partition the newest files that it sees, its own among them."""

    def statistics() -> Mapping[bytes, bytes]:
        entries = entries_of(world.metadata())
        found: dict[bytes, bytes] = {}
        for partition in sorted({made.partition for made in write.write_files()}):
            seen = None if sees is None else sees()
            files = tuple(_newest(world, write, partition, seen))
            table = entries.of([entries.look(DataPartition(partition, files))])
            found |= dict(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))
        return found

    write.statistics = statistics
    return write


def _newest(world: World, write: Write, partition: str, seen: set[str] | None) -> Iterator[FileStat]:
    own = {made.name: made for made in write.write_files() if made.partition == partition}
    replaced = {made.file_id for made in own.values() if parse_base_file(made.name)}
    for found in files_of_partitions(world.slices().values()):
        for stat in found.files if found.name == partition else ():
            base = parse_base_file(stat.name)
            if (base is None or base.file_id not in replaced) and (seen is None or stat.name in seen):
                yield stat
    yield from (stat for stat in world.storage.list(partition) if stat.name in own)


def entries_of(metadata: MetadataTable) -> PartitionStatsEntries:
    definition = metadata.definitions[COLUMN_STATS]
    table, snapshot = metadata.data, metadata.data.snapshot()
    schema = table.row_schema(snapshot)
    # As it ends a writer's own instant is not completed yet.
    reader = StatsReader(table.storage, definition.source_fields, definition.version, lambda _: True)
    kinds = {name: kind for name in definition.source_fields if (kind := type_at(schema, name)) is not None}
    return PartitionStatsEntries(reader, table.config.version, kinds)


@pytest.mark.parametrize("name", sorted(JAVA))
def test_what_is_built_of_a_golden_table_is_what_java_made_but_for_what_is_named(name: str) -> None:
    site = site_of(golden_in_memory(name))
    theirs = stored(site.metadata().index(NAME))
    run_drop(site, [NAME])

    outcome = build(site, REQUEST)

    assert isinstance(outcome, Ready)
    ours = stored(site.metadata().index(NAME))
    assert compared(ours, theirs) == Counter(JAVA[name])
    subject = subject_of(site.table(), site.metadata(), None, Count())
    assert [str(each) for each in check_partition_stats(subject)] == []


def test_every_golden_table_with_partition_stats_is_built() -> None:
    assert {"v8_cow_statistics", "v9_cow_statistics", "v9_mor_indexed", "v8_mor_indexed"} < set(JAVA)
    assert len(JAVA) >= 20


def test_both_indexes_are_asked_for_at_once_and_column_stats_is_complete_before_the_other_is_flagged() -> None:
    world = world_of("v9_mor")
    stage = StagedStorage(world.storage.restarted())
    seen: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    stage.before("replace", "hoodie.properties", lambda: seen.append(world.flags()))
    stage.once(lambda: NAME in world.flags()[1], lambda: seen.append(world.flags()))

    outcome = build(world.site("engine", stage), BOTH)

    assert isinstance(outcome, Ready)
    assert [end.index for end in outcome.ends] == [COLUMN_STATS, NAME]
    assert seen[-1] == (("column_stats", "files"), (NAME,))
    require_right(world)
    assert isinstance(build(world.site("again"), BOTH), Skipped)


def test_a_plan_of_another_program_for_both_is_not_taken_for_ours() -> None:
    world = world_of("v9_mor")
    site = world.site()
    plan = schedule(site, IndexRequest((COLUMN_STATS,)))
    assert isinstance(plan, IndexPlan)
    both = IndexPlan(plan.requested_at, (*plan.indexes, REQUEST.index(NAME, plan.indexes[0].upto)))
    path = next(path for path in world.paths() if plan.requested_at in path and path.endswith("requested"))
    site.storage.replace(path, plan_bytes(both, 9))

    with pytest.raises(Contradiction, match="column_stats is not complete"):
        run(site, plan.requested_at)

    assert world.flags() == (("files",), ())
    assert isinstance(build(site, BOTH), Ready)
    require_right(world)


def test_alone_it_is_refused_without_column_stats() -> None:
    world = world_of("v9_mor")
    before = world.paths()

    with pytest.raises(Contradiction, match="Build column_stats first"):
        build(world.site(), REQUEST)

    assert world.paths() == before


def test_a_table_of_version_6_is_refused_before_anything_is_built() -> None:
    world = world_of("v6_mor")
    before = world.paths()

    with pytest.raises(Unsupported, match="needs table version 8"):
        build(world.site(), BOTH)

    assert world.paths() == before


def test_a_table_without_partitions_is_refused() -> None:
    world = world_of("v9_mor")
    path = ".hoodie/hoodie.properties"
    lines = world.storage.read(path).decode().splitlines()
    # The checksum is of the table's name alone.
    world.storage.replace(path, "\n".join(each for each in lines if "partition.fields" not in each).encode())

    with pytest.raises(Unsupported, match="has no partitions"):
        build(world.site(), BOTH)


def test_column_stats_is_not_dropped_from_under_it() -> None:
    world = with_column_stats("v9_cow")
    built(world)

    with pytest.raises(Contradiction, match="Drop partition_stats with it"):
        run_drop(world.site(), [COLUMN_STATS])

    assert run_drop(world.site(), [COLUMN_STATS, NAME]).indexes == (COLUMN_STATS, NAME)
    assert world.flags() == (("files",), ())


@pytest.mark.parametrize("start", STARTS)
def test_commits_of_writers_that_leave_it_out_are_caught_up_with(start: str) -> None:
    world = with_column_stats(start)
    first, second, *_ = partitions_of(world)
    kept, gone, moved, *_ = in_partition(world, first)
    before = Writer(world).begin().upsert(kept).insert(second, "new 1")

    def another() -> None:
        Writer(world).begin().delete(gone).move(second, moved).insert("day=2030-01-01", "new 2").complete()

    built(world, before.complete, another)

    require_right(world)
    assert own_logs(world)


@pytest.mark.parametrize("start", A_FEW)
def test_what_is_written_late_stands_above_a_commit_that_stays_until_it_is_compacted(start: str) -> None:
    """Else Hudi's archiver may take it from the metadata table first, and its readers then pass it over."""
    world = with_column_stats(start)
    first, second, *_ = partitions_of(world)
    late = Writer(world).begin().insert(first, "late")
    stays: list[str] = []

    def complete_and_compact() -> None:
        late.complete()
        assert services.compact_metadata(world)
        stays.append(Writer(world).begin().insert(second, "later").complete())

    built(world, complete_and_compact)

    assert min(own_logs(world)) > stays[0] > late.instant
    require_right(world)


@pytest.mark.parametrize("start", STARTS)
def test_a_commit_that_completes_while_the_base_is_made_is_in_it_or_is_caught_up_with(start: str) -> None:
    world = with_column_stats(start)
    first = partitions_of(world)[0]
    stage = StagedStorage(world.storage.restarted())
    write = Writer(world).begin().insert(first, "early")
    stage.before("create", "0-0-0", write.complete)

    assert isinstance(build(world.site("engine", stage), REQUEST), Ready)

    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_a_replacement_a_clustering_and_a_clean_are_caught_up_with(start: str) -> None:
    world = with_column_stats(start)
    first, second, *_ = partitions_of(world)

    def replace(partition: str, *, is_overwrite: bool) -> Callable[[], object]:
        def act() -> None:
            write = Writer(world).begin("replacecommit")
            write.replace(partition, f"of {partition}", is_overwrite=is_overwrite).complete()

        return act

    def clean() -> None:
        services.complete_clean(world, services.begin_clean(world))

    built(world, replace(first, is_overwrite=True), replace(second, is_overwrite=False), clean)

    require_right(world)


@pytest.mark.parametrize("start", ["v8_mor", "v9_mor"])
def test_a_compaction_is_caught_up_with_and_one_in_flight_is_waited_for(start: str) -> None:
    world = with_column_stats(start)
    partition, keys = next((p, some) for p in partitions_of(world) if (some := in_partition(world, p)))
    Writer(world).begin().upsert(*keys).complete()
    compaction = services.begin_compaction(world, is_inflight=True)
    world.clock.later(10, lambda: services.complete_compaction(world, compaction))

    heard = built(world)

    assert any(compaction in said for said in heard.said)
    assert any(parse_base_file(f.name) and compaction in f.name for f in world.storage.list(partition))
    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_of_a_partition_all_of_whose_rows_were_moved_away_nothing_wrong_is_said(start: str) -> None:
    world = with_column_stats(start)
    first, second, *_ = partitions_of(world)
    keys = in_partition(world, first)

    built(world, Writer(world).begin().move(second, *keys).complete)

    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_of_a_partition_that_was_deleted_no_entry_is_left(start: str) -> None:
    world = with_column_stats(start)
    first, *_ = partitions_of(world)

    def delete() -> None:
        write = Writer(world).begin("replacecommit")
        write.operation = "DELETE_PARTITION"
        write.replaced = {first: [file_id for partition, file_id in write.rows if partition == first]}
        write.complete()

    built(world, delete)

    require_right(world)
    said = {row["file_name"] for row in stored(world.metadata().index(NAME)).values()}
    assert first not in said
    assert said == {*partitions_of(world)} - {first}


@pytest.mark.parametrize("start", A_FEW)
def test_what_a_writer_logged_to_it_stays_when_it_is_right(start: str) -> None:
    world = with_column_stats(start)
    first = partitions_of(world)[0]

    def commit() -> None:
        aware(world, Writer(world).begin().insert(first, "new")).complete()

    heard = built(world, commit)

    assert own_logs(world) == []
    assert not [said for said in heard.said if "does not maintain" in said]
    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_an_entry_that_a_writer_made_of_too_little_is_overridden(start: str) -> None:
    world = with_column_stats(start)
    first = partitions_of(world)[0]

    def commit() -> None:
        aware(world, Writer(world).begin().insert(first, "new"), sees=set).complete()

    heard = built(world, commit)

    last = max(i.requested_at for i in world.table().timeline().writes() if i.is_completed)
    assert [time for time in own_logs(world) if time > last]
    assert not [said for said in heard.said if "does not maintain" in said]
    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_what_the_earlier_of_two_did_that_ends_later_is_in_the_entry_that_wins(start: str) -> None:
    """The later one, first to end, has logged the entry that wins, and it lacks what the other did."""
    world = with_column_stats(start)
    first, *_ = partitions_of(world)
    early = Writer(world).begin().insert(first, "early")
    late: list[Write] = []

    def late_commit() -> None:
        late.append(aware(world, Writer(world).begin().insert(first, "late")))
        late[0].complete()

    built(world, late_commit, early.complete)

    assert early.instant < late[0].instant < own_logs(world)[-1]
    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_a_writer_whose_entry_would_lie_below_ours_is_waited_for_and_its_partitions_are_looked_at_again(
    start: str,
) -> None:
    world = with_column_stats(start)
    first, *_ = partitions_of(world)
    began: list[Write] = []
    early: list[str] = []

    def overlap() -> None:
        began.append(beating(world, aware(world, Writer(world).begin().insert(first, "early"))))
        early.append(began[0].instant)
        aware(world, Writer(world).begin().insert(first, "late"), sees=set).complete()

    world.clock.later(10, overlap)
    hold_up(world, 20)
    world.clock.later(40, lambda: began.pop().complete())

    heard = built(world)

    waited = [said for said in heard.said if said.startswith("waiting")]
    assert began == []
    assert waited[-1].startswith(f"waiting for 1 pending: {early[0]} ")
    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_a_writer_that_ends_after_the_index_is_complete_adds_to_what_is_there(start: str) -> None:
    world = with_column_stats(start)
    first, *_ = partitions_of(world)
    began: list[Write] = []
    world.clock.later(10, lambda: began.append(beating(world, aware(world, Writer(world).begin()))))
    hold_up(world, 20)

    heard = built(world)

    assert not [said for said in heard.said if began[0].instant in said]
    assert own_logs(world)
    began[0].insert(first, "after").complete()
    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_a_compaction_of_the_metadata_table_between_two_commits_changes_nothing(start: str) -> None:
    world = with_column_stats(start)
    first, *_ = partitions_of(world)
    one, two = (Writer(world).begin().insert(first, name) for name in ("one", "two"))

    built(world, two.complete, lambda: services.compact_metadata(world), one.complete)
    require_right(world)
    services.compact_metadata(world)

    require_right(world)


@pytest.mark.parametrize("start", A_FEW)
def test_a_restore_takes_what_was_written_for_earlier_commits_too_and_these_are_looked_at_again(start: str) -> None:
    world = with_column_stats(start)
    first, *_ = partitions_of(world)
    hold_up(world, 20)
    kept = Writer(world).begin().insert(first, "kept")
    undone = Writer(world).begin().insert(first, "undone")
    world.clock.later(10, lambda: services.restore(world, kept.instant))

    built(world, kept.complete, undone.complete)

    assert "kept" in world.truth()
    assert "undone" not in world.truth()
    require_right(world)


def test_a_writer_that_never_ends_and_whose_entry_would_lie_below_ours_ends_the_build_in_time() -> None:
    world = with_column_stats("v9_mor")
    first, *_ = partitions_of(world)

    def overlap() -> None:
        beating(world, aware(world, Writer(world).begin().insert(first, "early")))
        aware(world, Writer(world).begin().insert(first, "late"), sees=set).complete()

    world.clock.later(10, overlap)
    hold_up(world, 20)

    with pytest.raises(TimedOut, match="waiting for 1 pending"):
        built(world)

    assert world.flags() == (("column_stats", "files"), ())


@pytest.mark.parametrize("way", Way, ids=lambda way: way.name.lower())
def test_a_crash_at_any_write_is_survived(way: Way) -> None:
    begin = with_column_stats("v9_mor")
    first, second, *_ = partitions_of(begin)
    moment = saved(begin)

    def life(fault: Fault | None) -> tuple[World, int, bool]:
        world = world_at(moment)
        write = Writer(world).begin().insert(first, "one").upsert(in_partition(world, second)[0])
        storage = world.storage.restarted(fault) if fault else world.storage.restarted()
        stage = StagedStorage(storage)
        stage.once(is_published(world), write.complete)
        try:
            build(world.site("first", stage), REQUEST)
        except Crash:
            return world, storage.writes, True
        return world, storage.writes, False

    _, count, _ = life(None)
    assert count > 10
    for at_write in range(1, count + 1):
        world, _, is_dead = life(Fault(at_write, way, Crash(), 20))
        assert is_dead, at_write
        for each in [i for i in world.table().timeline().pending() if i.action != "indexing"]:
            services.roll_back(world, each.requested_at)
        build(world.site("second"), REQUEST)
        assert NAME in world.flags()[0], at_write
        require_right(world)


@pytest.mark.parametrize(("provider", "count"), [("ZookeeperBasedLockProvider", 1), ("InProcessLockProvider", 0)])
def test_who_builds_it_where_several_may_write_is_told_that_their_writers_do_not_keep_it_right(
    provider: str, count: int
) -> None:
    world, heard = with_column_stats("v9_cow"), Heard()
    site = world.site(watch=heard)
    lock = {"hoodie.write.lock.provider": f"org.apache.hudi.client.transaction.lock.{provider}"}

    build(replace(site, conf={**site.conf, **lock}), REQUEST)

    assert sum("do not overlap" in said for said in heard.said) == count
