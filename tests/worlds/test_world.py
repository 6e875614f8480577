"""The worlds themselves: a writer that acts like Java's leaves what a reader of Java's tables expects."""

import pytest

from hudi_engine.index.files import files_of, partitions
from tests.worlds.archiver import archive_data, archive_metadata
from tests.worlds.java_metadata import RECORD_INDEX, WriterFailed, is_data_file
from tests.worlds.services import (
    begin_clean,
    begin_compaction,
    clean_leftovers,
    compact_metadata,
    complete_clean,
    complete_compaction,
    delete_savepoints,
    restore,
    roll_back,
)
from tests.worlds.starts import STARTS
from tests.worlds.world import World, saved, world_at, world_of
from tests.worlds.writer import Writer, partitions_of

MERGE_ON_READ = [start for start in STARTS if start.endswith("mor")]


@pytest.fixture(params=STARTS)
def world(request: pytest.FixtureRequest) -> World:
    return world_of(request.param)


def require_right_files(world: World) -> None:
    """The index of files says what lies there."""
    index = world.metadata().index("files")
    there = world.table().partitions()
    assert set(there) <= set(partitions(index))
    for partition, listing in there.items():
        rows = files_of(index, partition)
        listed = dict(zip(rows["name"].to_pylist(), rows["size_bytes"].to_pylist(), strict=True))
        assert listed == {file.name: file.size_bytes for file in listing if is_data_file(file.name)}


def test_each_start_has_keys_and_no_record_index(world: World) -> None:
    assert len(world.truth()) >= 9
    assert world.flags() == (("files",), ())
    assert not world.storage.list(f".hoodie/metadata/{RECORD_INDEX}")


def test_a_commit_changes_rows_and_nothing_else(world: World) -> None:
    before = world.truth()
    kept, gone, moved, *_ = sorted(before)
    first, second, *_ = partitions_of(world)
    target = second if before[moved][0] == first else first

    Writer(world).begin().upsert(kept).insert(first, "new 1", "new 2").delete(gone).move(target, moved).complete()

    after = world.truth()
    assert after.keys() == before.keys() - {gone} | {"new 1", "new 2"}
    assert after[kept] == before[kept]
    assert after[moved][0] == target
    require_right_files(world)


def test_a_commit_that_is_pending_is_not_seen_and_can_be_rolled_back(world: World) -> None:
    before = world.truth()
    write = Writer(world).begin().upsert(min(before)).insert(partitions_of(world)[0], "never")
    write.write_files()
    write.write_metadata()
    assert world.truth() == before

    roll_back(world, write.instant)

    assert world.truth() == before
    assert not [path for path in world.paths() if f"/{write.instant}" in path]
    require_right_files(world)


def test_services_move_no_key(world: World) -> None:
    writer = Writer(world)
    writer.begin().upsert(*sorted(world.truth())[:3]).insert(partitions_of(world)[0], "new").complete()
    before = world.truth()

    complete_clean(world, begin_clean(world))
    assert compact_metadata(world)

    assert world.truth() == before
    require_right_files(world)


@pytest.mark.parametrize("start", MERGE_ON_READ)
def test_a_compaction_keeps_what_was_logged_while_it_was_pending(start: str) -> None:
    world = world_of(start)
    writer = Writer(world)
    first, second, *_ = sorted(world.truth())
    writer.begin().upsert(first).complete()
    instant = begin_compaction(world)
    writer.begin().upsert(first).delete(second).complete()
    before = world.truth()

    complete_compaction(world, instant)

    assert world.truth() == before
    assert second not in before
    require_right_files(world)


def test_a_replacement_leaves_one_file_group_in_a_partition(world: World) -> None:
    partition = partitions_of(world)[0]

    Writer(world).begin("replacecommit").replace(partition, "over").complete()

    assert [key for key, place in world.truth().items() if place[0] == partition] == ["over"]


def test_a_restore_gives_back_what_was_there(world: World) -> None:
    writer = Writer(world)
    partition = partitions_of(world)[0]
    kept = writer.begin().insert(partition, "kept").complete()
    before = world.truth()
    writer.begin().upsert("kept").insert(partition, "gone").complete()
    writer.begin().delete("kept").complete()

    restore(world, kept)

    assert world.truth() == before
    require_right_files(world)


def test_a_writer_knows_only_of_indexes_that_were_flagged_when_it_began(world: World) -> None:
    assert not Writer(world).begin().is_aware


def test_a_saved_world_goes_on_by_itself(world: World) -> None:
    moment = saved(world)
    Writer(world).begin().insert(partitions_of(world)[0], "only here").complete()

    other = world_at(moment)

    assert "only here" not in other.truth()
    assert saved(other) == moment


def test_a_writer_that_knows_an_index_without_shards_fails_as_java_does(world: World) -> None:
    write = Writer(world).begin().insert(partitions_of(world)[0], "new")
    write.knows = frozenset({"files", RECORD_INDEX})

    with pytest.raises(WriterFailed):
        write.complete()


def ready_to_archive(world: World) -> list[str]:
    """All is compacted and cleaned, savepoints are gone, and these are the commits of the data."""
    delete_savepoints(world)
    clean_leftovers(world)
    for number in range(3):
        Writer(world).begin().insert(partitions_of(world)[0], f"new {number}").complete()
    compact_metadata(world)
    return [each.requested_at for each in world.table().timeline().writes()]


def test_the_archiver_leaves_the_last_commits_and_what_readers_see(world: World) -> None:
    commits = ready_to_archive(world)
    before = world.truth()

    archived = archive_data(world, keep=2)
    archived_metadata = archive_metadata(world, keep=2)

    assert [each for each in archived if each in commits] == commits[:-2]
    assert [each.requested_at for each in world.table().timeline().writes()] == commits[-2:]
    assert {*archived} <= {each.requested_at for each in world.table().history()}
    assert {*archived_metadata} <= {each.requested_at for each in world.metadata().table.history()}
    assert {*commits[:-3]} <= {*archived_metadata}
    assert world.truth() == before
    require_right_files(world)


@pytest.mark.thorough
def test_the_archiver_adds_to_what_it_archived_before(world: World) -> None:
    commits = ready_to_archive(world)

    archive_data(world, keep=4)
    archive_data(world, keep=2)

    assert {*commits[:-2]} <= {each.requested_at for each in world.table().history() if each.is_completed}


def test_the_archiver_leaves_what_the_metadata_table_has_not_compacted(world: World) -> None:
    commits = ready_to_archive(world)
    late = [Writer(world).begin().insert(partitions_of(world)[0], f"late {n}").complete() for n in range(3)]

    archive_data(world, keep=2)

    left = [each.requested_at for each in world.table().timeline().writes()]
    assert left[-3:] == late
    assert {*left[:-3]} <= {commits[-1]}


def test_the_archiver_leaves_a_pending_commit_and_the_one_before(world: World) -> None:
    pending = Writer(world).begin()
    commits = ready_to_archive(world)

    archive_data(world, keep=2)
    archive_metadata(world, keep=2)

    before = commits[commits.index(pending.instant) - 1]
    assert commits[commits.index(before) :] == [each.requested_at for each in world.table().timeline().writes()][-5:]
    assert world.metadata().timeline.find(before)


@pytest.mark.thorough
def test_the_archiver_leaves_a_replacement_until_a_clean(world: World) -> None:
    ready_to_archive(world)
    partition = partitions_of(world)[0]
    replacement = Writer(world).begin("replacecommit").replace(partition, "fresh").complete()
    for number in range(3):
        Writer(world).begin().insert(partition, f"late {number}").complete()
    compact_metadata(world)

    archive_data(world, keep=2)
    assert world.table().timeline().find(replacement)

    complete_clean(world, begin_clean(world))
    archive_data(world, keep=2)
    assert not world.table().timeline().find(replacement)
    require_right_files(world)
