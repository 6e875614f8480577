"""What is said of an index, from what was seen of it alone."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from hudi_engine.action.status import KindState, KindStatus, Runner, Seen, status_of
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State

UTC = ZoneInfo("UTC")
WRITES = ("20260101000000000", "20260101000100000", "20260101000200000")
NOW_MS = 1_767_226_000_000  # 2026-01-01 00:06:40
REQUESTED = Instant(InstantTime("20260101000159999"), Action.INDEXING, State.REQUESTED)
RUNNING = REQUESTED.in_state(State.INFLIGHT)
ENDED = Instant(REQUESTED.requested_at, Action.INDEXING, State.COMPLETED, InstantTime("20260101000300000"))
ALIVE = Runner(2, "hudi-engine on host:1, attempt a", 1.5, is_live=True)
NOTHING = Seen("record_index", WRITES)
ASKED_FOR = replace(NOTHING, plan=REQUESTED, upto=WRITES[0])
IN_FLIGHT = replace(ASKED_FOR, plan=RUNNING, runner=ALIVE)
PUBLISHED = replace(IN_FLIGHT, is_flagged=True, is_published=True, has_files=True)
COMPLETE = replace(NOTHING, is_listed=True, ended=ENDED, upto=WRITES[0], is_published=True, has_files=True)


def said(seen: Seen) -> KindStatus:
    return status_of(seen, NOW_MS, UTC)


def test_what_was_never_asked_for_is_absent_and_nothing_more_is_said() -> None:
    status = said(NOTHING)

    assert (status.state, status.reason, status.plan) == (KindState.ABSENT, "", None)
    assert (status.progress.head, status.progress.lag_instants) == (WRITES[-1], 0)


def test_a_plan_that_nobody_runs_is_scheduled() -> None:
    status = said(ASKED_FOR)

    assert (status.state, status.plan) == (KindState.SCHEDULED, REQUESTED.requested_at)
    assert (status.progress.base, status.progress.caught_up_to) == (WRITES[0], None)
    assert "nobody has begun" in status.reason


def test_while_its_base_is_made_it_lacks_all_commits_after_it() -> None:
    status = said(IN_FLIGHT)

    assert (status.state, status.reason, status.runner) == (KindState.IN_FLIGHT, "", ALIVE)
    assert (status.progress.phase, status.progress.lag_instants) == ("base", 2)


def test_while_it_catches_up_its_lag_is_that_of_the_oldest_commit_that_it_lacks() -> None:
    progress = said(replace(PUBLISHED, lacking=(WRITES[2],))).progress

    assert (progress.caught_up_to, progress.head) == (WRITES[1], WRITES[2])
    assert (progress.lag_instants, progress.lag_seconds) == (1, 280.0)
    assert progress.phase == "catch-up, 1 of 2 commits"


def test_it_is_caught_up_to_the_commit_before_the_first_that_it_lacks() -> None:
    progress = said(replace(PUBLISHED, lacking=(WRITES[1],))).progress

    assert progress.caught_up_to == WRITES[0]


def test_what_lacks_nothing_is_caught_up_to_the_head() -> None:
    progress = said(PUBLISHED).progress

    assert (progress.caught_up_to, progress.lag_instants, progress.lag_seconds) == (WRITES[2], 0, 0.0)


@pytest.mark.parametrize("runner", [None, replace(ALIVE, is_live=False)])
def test_of_a_build_whose_runner_is_dead_is_said_how_to_go_on(runner: Runner | None) -> None:
    status = said(replace(IN_FLIGHT, runner=runner))

    assert status.state is KindState.IN_FLIGHT
    assert "nobody runs it now: run or build it again to go on, or abort it" in status.reason


def test_a_flag_without_a_plan_is_in_flight_and_said_to_be_nobodys() -> None:
    status = said(replace(NOTHING, is_flagged=True))

    assert status.state is KindState.IN_FLIGHT
    assert "no plan says by whom" in status.reason


def test_a_complete_index_is_kept_up_by_its_writers() -> None:
    status = said(COMPLETE)

    assert (status.state, status.reason, status.plan) == (KindState.COMPLETE, "", ENDED.requested_at)
    assert (status.progress.base, status.progress.caught_up_to, status.progress.lag_instants) == (*WRITES[::2], 0)


def test_an_index_that_is_listed_before_its_plan_is_completed_is_complete_and_the_plan_named() -> None:
    status = said(replace(COMPLETE, plan=RUNNING, ended=None))

    assert status.state is KindState.COMPLETE
    assert f"run the plan {RUNNING.requested_at} again" in status.reason


def test_an_index_that_a_plan_has_built_and_nobody_lists_was_deleted_and_is_said_what_to_set() -> None:
    status = said(replace(NOTHING, ended=ENDED))

    assert status.state is KindState.DELETED
    for word in (
        ENDED.requested_at,
        "global.record.level.index.enable",
        "hoodie.metadata.auto.delete.partitions=false",
    ):
        assert word in status.reason


def test_an_index_that_was_built_before_and_is_built_again_is_not_called_deleted() -> None:
    assert said(replace(ASKED_FOR, ended=ENDED)).state is KindState.SCHEDULED


@pytest.mark.parametrize("seen", [COMPLETE, PUBLISHED])
def test_an_index_made_of_commits_that_were_undone_is_stale(seen: Seen) -> None:
    status = said(replace(seen, gone=WRITES[:2]))

    assert status.state is KindState.STALE
    assert f"made of {WRITES[0]} and 1 more, undone since" in status.reason


def test_an_index_that_is_listed_without_files_is_stale() -> None:
    status = said(replace(COMPLETE, has_files=False))

    assert status.state is KindState.STALE
    assert "a restore to before it was built" in status.reason


def test_files_that_nobody_lists_are_absent_and_said_to_be_there() -> None:
    status = said(replace(NOTHING, has_files=True))

    assert status.state is KindState.ABSENT
    assert "metadata repair" in status.reason


def test_what_cannot_be_read_is_said_beside_what_can() -> None:
    status = said(replace(COMPLETE, trouble="a shard is torn"))

    assert (status.state, status.reason) == (KindState.COMPLETE, "a shard is torn")


def test_an_instant_that_is_no_time_makes_no_lag() -> None:
    seen = replace(PUBLISHED, writes=("00000000000000", *WRITES), upto="0", lacking=("00000000000000",))

    assert said(seen).progress.lag_seconds == 0.0
