"""RFC-45, asynchronous metadata indexing: a test for each sentence of its low-level design and its error cases.

Each cites what it tests and has three parts: a table, what is done, what must then be so. Where the engine deviates
from the RFC on purpose, the test's first sentence says *Deviation*, and why.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.action.attempts import FOLDER as ATTEMPTS
from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import Ready, build, run
from hudi_engine.action.metadata_disable import disable_metadata_table
from hudi_engine.action.metadata_repair import repair_flags
from hudi_engine.action.plans import read_plan
from hudi_engine.action.schedule import IndexRequest, Skipped, schedule
from hudi_engine.cli.jobs import carry_out
from hudi_engine.concurrency.lock import SINGLE_WRITER_KEY
from hudi_engine.contract import Action as JobAction
from hudi_engine.contract import JobRequest, Outcome
from hudi_engine.errors import Contradiction, EngineError, NoSpaceLeft, NotFound, TimedOut, Unsupported
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import State, instant_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import Crash, Fault, Way
from hudi_engine.table.properties_file import MAIN, update_properties
from tests.golden.unpack import unpack
from tests.rfc.indexing import (
    REQUEST,
    SHARDS,
    base_files,
    begun,
    commit,
    indexing,
    is_complete,
    is_in_flight,
    is_lock_free,
    is_right,
    keep_alive,
    planned,
    plans,
    shard_files,
    when_published,
    writes,
)
from tests.worlds.invariants import require_safe, require_tidy
from tests.worlds.java_metadata import RECORD_INDEX
from tests.worlds.services import (
    begin_clean,
    begin_compaction,
    compact_metadata,
    complete_clean,
    complete_compaction,
    restore,
    roll_back,
)
from tests.worlds.stage import Act, StagedStorage
from tests.worlds.starts import STARTS, Stored, stored_in
from tests.worlds.world import CONF, World, saved, world_at, world_of
from tests.worlds.writer import Write, Writer, partitions_of

_NO_INSTANT_STAYS = ("v8_cow", "v8_mor", "v9_cow", "v9_mor")

# Schedule Indexing.


def test_scheduling_updates_no_table_config(world: World) -> None:
    """ "It does not update any table config."

    A deviation from this project's design, which sets the flag here so that Java's writers log to the index from the
    plan on: docs/decisions/0020-base-files-first.md, says why it comes with the base files.
    """
    before = stored_in(world.storage)[MAIN]

    planned(world)

    assert stored_in(world.storage)[MAIN] == before


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (IndexRequest(("no_index",)), Unsupported),
        (IndexRequest(("expr_index_by_day",)), Unsupported),
        (IndexRequest((RECORD_INDEX, "no_index")), Unsupported),
        (IndexRequest(("secondary_index_by_nothing",)), Contradiction),
        (IndexRequest(("column_stats",), columns={"column_stats": ("nowhere",)}), NotFound),
    ],
    ids=lambda value: "+".join(value.names) if isinstance(value, IndexRequest) else value.__name__,
)
def test_what_is_no_valid_index_is_not_scheduled(world: World, asked: IndexRequest, error: type[EngineError]) -> None:
    """Schedule 1: "valid index requested"."""
    before = stored_in(world.storage)

    with pytest.raises(error):
        schedule(world.site(), asked)

    assert stored_in(world.storage) == before


@pytest.mark.parametrize("action", [JobAction.SCHEDULE, JobAction.RUN, JobAction.BUILD])
def test_without_a_lock_provider_nothing_is_scheduled_and_nothing_run(action: JobAction, tmp_path: Path) -> None:
    """Schedule 1 and run 1: "lock provider configured"; "the indexer will error out if there is no lock provider"."""
    table, kinds = unpack("v9_mor_orders", tmp_path), (RECORD_INDEX,)
    plan = carry_out(JobRequest(str(table), JobAction.SCHEDULE, kinds, conf={SINGLE_WRITER_KEY: "true"})).instant
    asked = JobRequest(str(table), action, () if action is JobAction.RUN else kinds, plan)
    before = {path: path.stat().st_mtime_ns for path in table.rglob("*")}

    report = carry_out(asked)

    assert (report.outcome, report.exit_code) == (Outcome.FAILED, Contradiction.exit_code)
    assert "hoodie.write.lock.provider is not set" in report.reason
    assert {path: path.stat().st_mtime_ns for path in table.rglob("*")} == before


def test_an_index_that_is_complete_is_not_scheduled_again(world: World) -> None:
    """Schedule 1: "idempotent checks"; "indexer will check for available partitions and skip those"."""
    build(world.site(), REQUEST)
    before = stored_in(world.storage)

    outcome = schedule(world.site(), REQUEST)

    assert isinstance(outcome, Skipped)
    assert stored_in(world.storage) == before


def test_an_index_that_is_planned_is_not_scheduled_again(world: World) -> None:
    """Schedule 1: "idempotent checks"."""
    planned(world)

    assert isinstance(schedule(world.site(), REQUEST), Skipped)
    assert len(plans(world)) == 1


def test_scheduling_is_one_transaction(world: World, stage: StagedStorage) -> None:
    """Schedule 2 and 3: "Begin transaction … End transaction"."""
    is_held = []
    stage.before("create", ".indexing.requested", lambda: is_held.append(not is_lock_free(world)))

    schedule(world.site(storage=stage), REQUEST)

    assert is_held == [True]
    assert is_lock_free(world)


def test_the_base_instant_is_the_last_completed_one_without_holes(world: World) -> None:
    """Schedule 2.a: "Get the base instant"; "the latest completed instant time without any holes"."""
    last = commit(world, "before")
    begun(world, "pending")
    commit(world, "after")

    plan = planned(world)

    assert [index.upto for index in plan.indexes] == [last]


def test_no_file_group_is_made_by_scheduling(world: World) -> None:
    """Deviation from schedule 2.b, "Start initializing file groups for each partition": ours come with the base files.

    Java compacts shards that have only logs, and base files that came later would lie below what it made. A deviation
    from this project's design as well: docs/decisions/0020-base-files-first.md.
    """
    planned(world)

    assert not world.storage.list(SHARDS)


def test_the_plan_names_each_index_with_its_base_instant(world: World) -> None:
    """Schedule 2.c: "Create index plan"; "the plan contains the metadata partitions and the last completed instant"."""
    last = commit(world, "k1")

    planned(world)

    (plan,) = plans(world)
    assert [(index.name, index.upto) for index in plan.indexes] == [(RECORD_INDEX, last)]


def test_the_plan_is_a_requested_instant_of_the_timeline(world: World) -> None:
    """Schedule 2.c: "save indexing.requested instant to the timeline"."""
    planned(world)

    (instant,) = indexing(world)
    assert instant.state is State.REQUESTED
    assert instant_file(instant).endswith(".indexing.requested")


@pytest.mark.parametrize("way", [Way.BEFORE, Way.TORN])
def test_scheduling_that_fails_leaves_nothing(world: World, stage: StagedStorage, way: Way) -> None:
    """ "If there is failure in any of the above steps, then we abort gracefully."

    At whichever of its writes: the plan's is the last, and what is before it tidies up after an older plan.
    """
    stage.before("delete", f"{ATTEMPTS}/2", stage.die)
    with suppress(Crash):
        build(world.site("died", stage), REQUEST)
    assert stage.is_dead
    other = IndexRequest(("bloom_filters",))
    began = saved(world)
    schedule(world.site(storage=(undisturbed := world.storage.restarted())), other)
    assert undisturbed.writes > 1
    for at_write in range(1, undisturbed.writes + 1):
        failing = world_at(began)
        before = stored_in(failing.storage)

        with pytest.raises(NoSpaceLeft):
            schedule(failing.site(storage=failing.storage.restarted(Fault(at_write, way, NoSpaceLeft("full")))), other)

        assert not plans(failing)
        assert not _of_no_attempt(stored_in(failing.storage)) ^ _of_no_attempt(before)


# Run Indexing.


def test_a_plan_that_was_never_requested_is_not_run(world: World) -> None:
    """Run 1: "indexing.requested exists"."""
    with pytest.raises(NotFound, match="no index plan"):
        run(world.site(), "20260101000000000")


def test_a_plan_for_an_index_that_became_complete_returns_early(world: World) -> None:
    """Deviation from run 2, "already completed then error out": who asks for what is there is told so."""
    plan = planned(world)
    _flag_by_others(world, "hoodie.table.metadata.partitions", f"files,{RECORD_INDEX}")

    outcome = run(world.site(), plan.requested_at)

    assert isinstance(outcome, Skipped)
    assert not indexing(world)


def test_a_plan_for_an_index_that_another_builds_is_an_error(world: World) -> None:
    """Run 2: "if any of the requested partition is inflight … then error out and return early"."""
    plan = planned(world)
    _flag_by_others(world, "hoodie.table.metadata.partitions.inflight", RECORD_INDEX)

    with pytest.raises(Contradiction):
        run(world.site(), plan.requested_at)


def test_a_run_goes_from_requested_to_inflight_before_it_builds(world: World, stage: StagedStorage) -> None:
    """Run 3: "Transition indexing.requested to inflight"."""
    states = []
    stage.before("create", SHARDS, lambda: states.append([instant.state for instant in indexing(world)]))

    build(world.site(storage=stage), REQUEST)

    assert states == [[State.INFLIGHT]]


def test_the_base_files_hold_all_that_was_committed(world: World, stage: StagedStorage) -> None:
    """Run 4.a: "Build the base file in the metadata partition to index upto instant as per the plan"."""
    commit(world, "k1")
    seen = []
    when_published(world, stage, lambda: seen.append((len(base_files(world)), is_right(world))))

    build(world.site(storage=stage), REQUEST)

    assert seen == [(2, True)]


def test_the_index_is_flagged_in_flight_only_with_its_base(world: World, stage: StagedStorage) -> None:
    """Deviation from run 4: base and flag are one critical section, so that no flag is seen without its base."""
    seen = []
    stage.once(lambda: bool(base_files(world)), lambda: seen.append(is_in_flight(world)))
    when_published(world, stage, lambda: seen.append(is_in_flight(world)))

    build(world.site(storage=stage), REQUEST)

    assert seen == [False, True]


def test_an_index_stays_unreadable_while_it_is_being_built(world: World, stage: StagedStorage) -> None:
    """ "A metadata partition cannot be used if there is any pending indexing action against it." """
    refused: list[str] = []

    def ask() -> None:
        with pytest.raises(Contradiction) as error:
            world.metadata().index(RECORD_INDEX)
        refused.append(str(error.value))

    when_published(world, stage, ask)
    build(world.site(storage=stage), REQUEST)

    assert len(refused) == 1
    assert "in flight" in refused[0]


def test_the_list_of_data_files_comes_from_the_metadata_table(world: World, stage: StagedStorage) -> None:
    """ "If they trigger indexing process, then the indexer should take into account the existing metadata." """
    build(world.site(storage=stage), REQUEST)

    listed = {path for operation, path in stage.journal if operation == "list"}
    assert not listed & set(partitions_of(world))


def test_catch_up_begins_with_the_first_instant_that_the_base_lacks(world: World) -> None:
    """Run 5: "Determine the catchup start instant based on write and non-write timeline"."""
    late = begun(world, "late")
    commit(world, "k6")
    world.clock.later(5, late.complete)

    build(world.site(), REQUEST)

    assert "late" in world.truth()
    assert is_right(world)


def test_a_commit_of_the_metadata_table_proves_nothing_by_its_instant(world: World, stage: StagedStorage) -> None:
    """Deviation from 6.a.i, "if instant is completed and has corresponding deltacommit … then continue".

    A writer that began before the index was in flight has such a deltacommit, without a word of the index.
    """
    unaware = begun(world, "k1")
    when_published(world, stage, unaware.complete)

    build(world.site(storage=stage), REQUEST)

    assert unaware.instant in {i.requested_at for i in world.metadata().timeline.completed()}
    assert not unaware.is_aware
    assert is_right(world)


def test_nothing_is_written_for_a_commit_that_logged_to_the_index(world: World, stage: StagedStorage) -> None:
    """6.a.i: "… then continue", where its entries are there."""
    when_published(world, stage, lambda: commit(world, "k1"))

    build(world.site(storage=stage), REQUEST)

    logs = [path for operation, path in stage.writes if operation == "create" and ".log." in path]
    assert all(path.endswith("0-0-0") for path in logs)
    assert is_right(world)


def test_a_pending_instant_is_waited_for(world: World) -> None:
    """6.a.ii: "if instant is inflight, then reload active timeline periodically until completed"."""
    pending = begun(world, "k1")
    began_ms = world.clock.now_ms()
    world.clock.later(30, pending.complete)

    build(world.site(), REQUEST)

    assert world.clock.now_ms() - began_ms >= 30_000
    assert is_right(world)


def test_a_pending_instant_is_waited_for_until_the_timeout(world: World) -> None:
    """6.a.ii: "… or timed out"; `hoodie.metadata.index.check.timeout.seconds=60`."""
    keep_alive(world, begun(world, "k1"))
    began_ms = world.clock.now_ms()

    with pytest.raises(TimedOut, match="60 seconds"):
        build(world.site(), REQUEST)

    assert 60_000 <= world.clock.now_ms() - began_ms < 70_000


def test_the_timeout_is_configured(world: World) -> None:
    """Configs: "set indexing catchup timeout"."""
    keep_alive(world, begun(world, "k1"))
    began_ms = world.clock.now_ms()
    conf = {**CONF, "hoodie.metadata.index.check.timeout.seconds": "7"}

    with pytest.raises(TimedOut, match="7 seconds"):
        build(replace(world.site(), conf=conf), REQUEST)

    assert world.clock.now_ms() - began_ms < 17_000


def test_the_timeout_bounds_waiting_and_interrupts_no_work(world: World, stage: StagedStorage) -> None:
    """Deviation from run 6, "in a separate thread (that can be interrupted upon timeout)": there is no such thread.

    The runner itself catches up, and looks at the time between two commits: how long it waits for others is bounded,
    and that they leave the index out faster than it catches up. What it is at work on is finished, however long it
    takes: broken off, it would be to do again.
    """
    unaware = begun(world, "k1")
    when_published(world, stage, unaware.complete)
    stage.once(
        lambda: is_in_flight(world) and unaware.instant in {i.requested_at for i in writes(world) if i.is_completed},
        lambda: stage.before("read", ".parquet", lambda: world.clock.sleep(600)),
    )
    began_ms = world.clock.now_ms()

    outcome = build(world.site(storage=stage), REQUEST)

    assert isinstance(outcome, Ready)
    assert world.clock.now_ms() - began_ms >= 600_000
    assert is_right(world)


def test_a_timeout_leaves_nothing(world: World) -> None:
    """ "otherwise simply abort after a configurable timeout"."""
    pending = begun(world, "k1")
    keep_alive(world, pending)

    with suppress(TimedOut):
        build(world.site(), REQUEST)

    assert not is_in_flight(world)
    assert not shard_files(world)
    assert not indexing(world)


def test_the_metadata_table_is_updated_within_a_lock(world: World, stage: StagedStorage) -> None:
    """6.a.iii: "update metadata table, if needed, within a lock"."""
    unaware = begun(world, "k1")
    is_held: list[bool] = []
    when_published(world, stage, unaware.complete)
    stage.once(lambda: _has_catch_up_pending(world), lambda: is_held.append(not is_lock_free(world)))

    build(world.site(storage=stage), REQUEST)

    assert is_held == [True]


def test_no_data_file_is_read_within_the_lock_while_the_base_is_made(world: World, stage: StagedStorage) -> None:
    """ "Locking to be as lightweight as possible." """
    held: list[bool] = []
    for skip in range(4):
        stage.before("read", ".parquet", lambda: held.append(not is_lock_free(world)), skip)

    build(world.site(storage=stage), REQUEST)

    assert held
    assert not any(held)


@pytest.mark.parametrize("start", STARTS)
def test_what_is_left_of_the_plan_says_what_the_index_is_caught_up_to(start: str) -> None:
    """7: "Build indexing commit metadata with the partition info and caught upto instant", which is not the plan's."""
    world = world_of(start)
    stage = StagedStorage(world.storage.restarted())
    unaware = begun(world, "left out of the base, and by its writer")
    when_published(world, stage, unaware.complete)

    outcome = build(world.site(storage=stage), REQUEST)

    assert isinstance(outcome, Ready)
    assert outcome.ends[0].upto < unaware.instant
    assert _caught_up_to(world, start) == {RECORD_INDEX: unaware.instant}


def test_readers_are_told_before_the_instant_is_completed(world: World, stage: StagedStorage) -> None:
    """8.a: "update completed metadata partitions in table config", before 8.b."""
    seen: list[tuple[bool, bool]] = []

    def look() -> None:
        seen.append((is_complete(world), any(instant.is_completed for instant in indexing(world))))

    stage.once(lambda: is_complete(world), look)
    build(world.site(storage=stage), REQUEST)

    assert seen == [(True, False)]


@pytest.mark.parametrize("start", _NO_INSTANT_STAYS)
def test_no_indexing_instant_is_ever_seen_by_hudi_where_it_goes_wrong_by_it(start: str) -> None:
    """Deviation from 2.c and 8.b: Hudi 1.x takes it for the timeline's beginning once older commits are archived.

    So the plan lies elsewhere while it is pending, and is gone when it is over.
    """
    world = world_of(start)
    commit(world, "k1")
    stage = StagedStorage(world.storage.restarted())

    build(world.site(storage=stage), REQUEST)

    written = {path.rpartition("/")[0] for _, path in stage.writes if ".indexing" in path}
    assert written == {f"{ATTEMPTS}/plans"}
    assert not indexing(world)
    assert is_right(world)
    require_tidy(world)


def test_the_instant_is_completed_within_the_same_transaction() -> None:
    """8.b and 9: "save indexing commit metadata … End transaction"."""
    world = world_of("v6_cow")
    stage = StagedStorage(world.storage.restarted())
    is_held: list[bool] = []
    stage.once(lambda: is_complete(world), lambda: is_held.append(not is_lock_free(world)))
    stage.before("create", ".indexing", lambda: is_held.append(not is_lock_free(world)), 2)

    build(world.site(storage=stage), REQUEST)

    assert is_held == [True, True]
    assert [instant.state for instant in indexing(world)] == [State.COMPLETED]


def test_ready_means_caught_up(world: World, stage: StagedStorage) -> None:
    """Deviation from "table config would be updated with any MDT partition(s) for which indexing was complete till t2".

    What readers may use holds every commit: the last pass, under the lock, finds nothing missing.
    """
    unaware = begun(world, "k1")
    when_published(world, stage, unaware.complete)
    right: list[bool] = []
    stage.once(lambda: is_complete(world), lambda: right.append(is_right(world)))

    build(world.site(storage=stage), REQUEST)

    assert right == [True]


@pytest.mark.parametrize("at_write", range(1, 24))
def test_a_run_that_fails_reverts_what_it_did(world: World, at_write: int) -> None:
    """ "delete the metadata partition if it exists and revert the table config updates"."""
    storage = world.storage.restarted(Fault(at_write, Way.BEFORE, NoSpaceLeft("the disk is full")))

    with suppress(EngineError):
        build(world.site(storage=storage), REQUEST)

    require_safe(world)
    assert is_complete(world) or not (is_in_flight(world) or shard_files(world))


# Table upgrade and downgrade.


def test_a_table_whose_metadata_is_not_listed_is_repaired(world: World) -> None:
    """ "if metadata is enabled and `files` exists then completed partitions will be updated to `files`"."""
    changes = {"hoodie.table.metadata.partitions": None, "hoodie.table.metadata.partitions.inflight": None}
    update_properties(world.storage, changes, world.clock)

    assert repair_flags(world.site())
    assert world.flags() == (("files",), ())


@pytest.mark.parametrize("is_built", [False, True], ids=["files", "record_index"])
def test_a_downgrade_deletes_the_metadata_table(world: World, *, is_built: bool) -> None:
    """ "While downgrading to a previous version, if metadata table exists then it is deleted"."""
    if is_built:
        build(world.site(), REQUEST)
    truth = world.truth()

    assert disable_metadata_table(world.site())

    assert not world.storage.list(FOLDER)
    assert world.flags() == ((), ())
    assert world.truth() == truth


# Error cases.


def test_case_1_the_index_ignores_the_instant_of_a_writer_that_failed(world: World) -> None:
    """Case 1: "Indexer continues to build the index ignoring the failed instant due to writer"."""
    begun(world, "lost")
    world.clock.sleep(200)

    outcome = build(world.site(), REQUEST)

    assert isinstance(outcome, Ready)
    assert "lost" not in world.truth()
    assert is_right(world)


def test_case_1_the_rollback_of_a_failed_writer_changes_nothing(world: World) -> None:
    """Case 1: "a rollback of the failed instant, which will also rollback incomplete updates in metadata table"."""
    failed = begun(world, "lost")
    failed.write_metadata()
    world.clock.sleep(200)
    build(world.site(), REQUEST)

    roll_back(world, failed.instant)

    assert is_right(world)
    require_tidy(world)


def test_case_2_a_writer_commits_though_the_indexer_failed(world: World, stage: StagedStorage) -> None:
    """Case 2: "Writer will commit adding log entries to the metadata partition"; "partition is not ready to use"."""
    _publish_and_die(world, stage)

    commit(world, "k1")

    assert is_in_flight(world)
    assert is_right(world)


def test_case_2_an_indexer_that_is_triggered_again_goes_on(world: World, stage: StagedStorage) -> None:
    """Case 2: "When indexer is re-triggered, it will check the plan and table config"."""
    _publish_and_die(world, stage)
    before = base_files(world)

    build(world.site(), REQUEST)

    assert base_files(world) == before
    require_tidy(world)


def test_case_3a_what_a_writer_logged_before_the_indexer_ran_is_in_the_index(world: World) -> None:
    """Case 3a: "Writer went inflight just after an indexing request was added". It is waited for, and derived."""
    plan = planned(world)
    early = begun(world, "k1")
    world.clock.later(3, early.complete)

    run(world.site(), plan.requested_at)

    assert is_right(world)


def test_case_3b_a_writer_that_commits_right_after_completion_is_in_the_index(world: World) -> None:
    """Case 3b: "Inflight writer about to commit, but indexing completed just before that"."""
    early = begun(world, "early")
    about_to_commit: list[Write] = []
    world.clock.later(10, lambda: about_to_commit.append(begun(world, "k1")))
    world.clock.later(20, early.complete)
    build(world.site(), REQUEST)
    assert "k1" not in world.truth()

    about_to_commit[0].complete()

    assert "k1" in world.truth()
    assert is_right(world)


def test_case_3c_all_file_groups_come_into_being_within_the_lock(world: World, stage: StagedStorage) -> None:
    """Case 3c: "indexer will hold the lock until all the filegroups are created". Until then no writer looks."""
    counts: list[int] = []
    stage.once(lambda: is_in_flight(world), lambda: counts.append(_shards(world)))

    build(world.site(storage=stage), REQUEST)

    assert counts == [2]
    assert _shards(world) == 2


def test_case_4_java_may_compact_an_index_in_flight(world: World, stage: StagedStorage) -> None:
    """Deviation from case 4, "async compaction will ignore the metadata partition": Java's does not, and need not."""
    when_published(world, stage, lambda: (commit(world, "k1"), compact_metadata(world)))

    build(world.site(storage=stage), REQUEST)

    assert is_right(world)
    require_tidy(world)


@pytest.mark.parametrize("is_early", [True, False], ids=["before it is in flight", "while it is in flight"])
@pytest.mark.parametrize("service", ["clean", "clustering"])
def test_case_4_cleaning_and_clustering_go_on_beside_an_index_in_flight(
    world: World, stage: StagedStorage, service: str, *, is_early: bool
) -> None:
    """Deviation from case 4, "async compaction/cleaning/clustering will ignore the metadata partition": none has to.

    One that began before the index was in flight has left it out and is caught up with; a later one keeps it.
    """
    Writer(world).begin().upsert(*world.truth()).complete()
    complete_compaction(world, begin_compaction(world))
    keys, begin = world.truth().keys(), {"clean": _begin_clean, "clustering": _begin_clustering}[service]
    early = begin(world) if is_early else None
    files: list[int] = []

    def serve() -> None:
        files.append(_data_files(world))
        complete = early or begin(world)
        complete()
        files.append(_data_files(world))

    when_published(world, stage, serve)
    build(world.site(storage=stage), REQUEST)

    before, after = files
    assert after < before if service == "clean" else after >= before
    assert world.truth().keys() == keys
    assert is_right(world)
    require_tidy(world)


def test_case_5_the_index_is_built_up_to_the_hole_and_caught_up_beyond(world: World) -> None:
    """Case 5: "indexer will continue to index upto C4. Instants C5-C8 will go through the indexing catchup"."""
    fourth = commit(world, "c4")
    fifth = begun(world, "c5")
    for name in ("c6", "c7", "c8"):
        commit(world, name)
    world.clock.later(10, fifth.complete)

    outcome = build(world.site(), REQUEST)

    assert isinstance(outcome, Ready)
    assert outcome.ends[0].upto == fourth
    assert {"c4", "c5", "c6", "c7", "c8"} <= world.truth().keys()
    assert is_right(world)


def test_case_5_a_hole_that_stays_aborts_the_build(world: World) -> None:
    """Case 5: "If C5 does not complete before the timeout, then indexer will abort"."""
    keep_alive(world, begun(world, "c5"))
    commit(world, "c6")

    with pytest.raises(TimedOut):
        build(world.site(), REQUEST)


def test_case_5_the_same_process_goes_through_when_re_triggered(world: World) -> None:
    """Case 5: "The indexer will run through the same process again when re-triggered"."""
    fifth = begun(world, "c5")
    keep_alive(world, fifth)
    with suppress(TimedOut):
        build(world.site(), REQUEST)
    fifth.complete()

    build(world.site(), REQUEST)

    assert is_right(world)


def test_case_5_compaction_is_a_hole_of_the_write_timeline(world: World) -> None:
    """Case 5: "the base instant upto which there are no holes in write timeline is DC6", before COMPACT7."""
    commit(world, "k1")
    sixth = Writer(world).begin().upsert("k1", min(world.truth())).complete()
    begin_compaction(world)
    commit(world, "k8")

    assert [index.upto for index in planned(world).indexes] == [sixth]


def test_case_5_clean_and_compaction_are_not_waited_for(world: World) -> None:
    """Deviation from case 5, "if the CLEAN4 was inflight till the configured timeout, then indexer will abort".

    For a record index neither matters: they move no record.
    """
    Writer(world).begin().upsert(min(world.truth())).complete()
    begin_clean(world)
    begin_compaction(world, is_inflight=True)
    began_ms = world.clock.now_ms()

    build(world.site(), REQUEST)

    assert world.clock.now_ms() - began_ms < 5_000
    assert is_right(world)


def test_a_restore_below_the_base_has_it_built_anew(world: World, stage: StagedStorage) -> None:
    """ "the indexer will consider non-write commits (such as clean/restore/rollback) as well"."""
    first = commit(world, "k1")
    commit(world, "k2")
    when_published(world, stage, lambda: restore(world, first))

    build(world.site(storage=stage), REQUEST)

    assert "k2" not in world.truth()
    assert is_right(world)


@pytest.mark.parametrize("start", STARTS)
def test_regular_writers_do_not_fail_due_to_indexing(start: str) -> None:
    """ "This design ensures that the regular writers do not fail due to indexing." """
    world = world_of(start)
    stage = StagedStorage(world.storage.restarted())
    early = begun(world, "early")
    stage.once(lambda: bool(base_files(world)) and is_lock_free(world), lambda: commit(world, "while built"))
    when_published(world, stage, lambda: (early.complete(), commit(world, "published")))

    build(world.site(storage=stage), REQUEST)
    commit(world, "after")

    assert {"early", "while built", "published", "after"} <= world.truth().keys()
    assert is_right(world)


def test_an_index_is_built_anew_by_the_same_request(world: World) -> None:
    """Goals: "To re-initialize the index, make it as simple as running the external initialization process again"."""
    build(world.site(), REQUEST)
    run_drop(world.site(), [RECORD_INDEX])
    commit(world, "k1")

    build(world.site(), REQUEST)

    assert is_right(world)
    require_tidy(world)


def test_the_plan_can_be_read_while_it_runs_and_afterwards() -> None:
    """ "adds a `<instant_time>.index.requested` to the timeline, which contains the indexing plan"."""
    world = world_of("v6_cow")
    build(world.site(), REQUEST)

    (instant,) = indexing(world)
    plan = read_plan(world.table(), world.table().timeline(), instant)
    assert [index.name for index in plan.indexes] == [RECORD_INDEX]


def _caught_up_to(world: World, start: str) -> dict[str, str]:
    """As the completed instant says it, or the note where none stays."""
    if start in _NO_INSTANT_STAYS:
        notes = {file.name.removesuffix(".json"): file.path for file in world.storage.list(f"{ATTEMPTS}/built")}
        return {name: json.loads(world.storage.read(path))["caught_up_to"] for name, path in notes.items()}
    (instant,) = indexing(world)
    data = world.storage.read(f"{world.table().config.timeline_folder}/{instant_file(instant)}")
    record: Any = service_records.decode(RecordName.INDEX_COMMIT, data)
    return {info["metadataPartitionPath"]: info["indexUptoInstant"] for info in record["indexPartitionInfos"]}


def _of_no_attempt(files: Mapping[str, Stored]) -> set[tuple[str, bytes]]:
    return {(path, file.data) for path, file in files.items() if not path.startswith(ATTEMPTS)}


def _publish_and_die(world: World, stage: StagedStorage) -> None:
    when_published(world, stage, stage.die)
    with suppress(Crash):
        build(world.site("first", stage), REQUEST)
    assert stage.is_dead


def _data_files(world: World) -> int:
    return sum(map(len, world.table().partitions().values()))


def _begin_clean(world: World) -> Act:
    clean = begin_clean(world)
    return lambda: complete_clean(world, clean)


def _begin_clustering(world: World) -> Act:
    clustering = Writer(world).begin("replacecommit").replace(partitions_of(world)[0], is_overwrite=False)
    clustering.write_files()
    return clustering.complete


def _flag_by_others(world: World, key: str, value: str) -> None:
    update_properties(world.storage, {key: value}, world.clock)


def _has_catch_up_pending(world: World) -> bool:
    known = {instant.requested_at for instant in writes(world)}
    pending = world.metadata().timeline.pending()
    return any(i.requested_at not in known and not i.requested_at.startswith("0000") for i in pending)


def _shards(world: World) -> int:
    return sum(name.endswith("0-0-0") for name in shard_files(world))
