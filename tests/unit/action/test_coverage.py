"""Which commits an index is known to hold: by what was written, and not because somebody committed something."""

from dataclasses import replace

import pytest

from hudi_engine.action.coverage import (
    ATTEMPT,
    CAUGHT_UP,
    COVERS,
    PLAN,
    READ_AT,
    UPTO,
    Base,
    Evidence,
    base_of,
    held_by,
    just_before,
    moves_records,
    proof_of,
    undone,
    unproven,
)
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.table.contents import CommitMetadata, WriteStat
from hudi_engine.table.file_view import Completions
from hudi_engine.table.timeline import Timeline

BASE = Base(
    index="record_index",
    instant="00000000000000500",
    completed_at="20260101120100000",
    plan="20260101115959999",
    attempt=2,
    upto="20260101120000000",
    read_at="20260101120030000",
    covers=frozenset({"20260101120010000"}),
)
LATER = "20260101120200000"


def at(time: str, action: Action = Action.COMMIT, state: State = State.COMPLETED) -> Instant:
    return Instant(InstantTime(time), action, state)


def commit(*files: str, operation: str = "UPSERT", index: str = "p1", **extra: str) -> CommitMetadata:
    stats = tuple(WriteStat(index, file, f"{index}/{file}", 1, 0, 0, 0, 1) for file in files)
    return CommitMetadata(operation, stats, {f"hudi.engine.{name}": value for name, value in extra.items()})


def logged(*files: str, **extra: str) -> CommitMetadata:
    return commit(*files, operation="UPSERT_PREPPED", index="record_index", **extra)


def lacking(instant: Instant, said: CommitMetadata, metadata: CommitMetadata | None, there: set[str]) -> bool:
    proof = None if metadata is None else proof_of(BASE, metadata, instant.requested_at, LATER)
    proofs = {} if proof is None else {proof.instant: (proof,)}
    return unproven(Evidence({instant: said}, proofs, frozenset(there)), moves_records) == (instant,)


def test_a_commit_whose_metadata_commit_names_the_index_is_proven() -> None:
    assert not lacking(at(LATER), commit("f"), logged("log"), {"record_index/log"})


def test_a_metadata_commit_without_the_index_proves_nothing() -> None:
    assert lacking(at(LATER), commit("f"), commit("a", index="files"), {"files/a"})


def test_log_files_that_are_gone_prove_nothing() -> None:
    assert lacking(at(LATER), commit("f"), logged("log"), {"record_index/other"})


def test_a_commit_to_an_index_that_was_there_before_the_base_proves_nothing() -> None:
    assert proof_of(BASE, logged("log"), LATER, just_before(BASE.completed_at, 1)) is None
    assert proof_of(BASE, logged("log"), LATER, BASE.completed_at) is None


def test_what_this_attempt_caught_up_with_is_proven_and_what_another_did_is_not() -> None:
    ours = {"caught_up": LATER, "plan": BASE.plan, "attempt": "2"}

    found = proof_of(BASE, logged("log", **ours), just_before(LATER, 1), LATER)

    assert found is not None
    assert found.instant == LATER
    assert proof_of(BASE, logged("log", **ours | {"attempt": "1"}), just_before(LATER, 1), LATER) is None
    assert proof_of(BASE, logged("log", **ours | {"plan": "x"}), just_before(LATER, 1), LATER) is None


def test_part_of_a_catch_up_proves_nothing() -> None:
    assert proof_of(BASE, logged("log", plan=BASE.plan, attempt="2"), just_before(LATER, 1), LATER) is None


@pytest.mark.parametrize("operation", ["COMPACT", "LOG_COMPACT"])
def test_compaction_moves_no_record(operation: str) -> None:
    assert not lacking(at(LATER), commit("f", operation=operation), None, set())


def test_clustering_moves_records() -> None:
    assert lacking(at(LATER, Action.REPLACE_COMMIT), commit("f", operation="CLUSTER"), None, set())


def test_a_deleted_partition_counts_though_it_wrote_nothing() -> None:
    said = CommitMetadata("DELETE_PARTITION", (), {}, {"p1": ("f",)})

    assert lacking(at(LATER, Action.REPLACE_COMMIT), said, None, set())
    assert not lacking(at(LATER, Action.REPLACE_COMMIT), replace(said, replaced={}), None, set())


def test_commits_that_lack_come_by_their_requested_times() -> None:
    instants = [at("3"), at("1"), at("2")]

    found = unproven(Evidence({each: commit("f") for each in instants}, {}, frozenset()), moves_records)

    assert [each.requested_at for each in found] == ["1", "2", "3"]


def test_a_base_holds_what_had_completed_when_it_was_read() -> None:
    assert BASE.holds("20260101115900000", "20260101115901000")
    assert BASE.holds("20260101120010000", "20260101120011000")
    assert not BASE.holds("20260101120005000", "20260101120006000")
    assert not BASE.holds("20260101120011000", None)


def test_an_older_commit_that_was_published_late_is_not_held() -> None:
    assert not BASE.holds("20260101115900000", "20260101120045000")


def test_a_commit_that_completed_while_the_timeline_was_read_is_held_only_if_it_was_seen() -> None:
    instants = (at("20260101115900000"), at("20260101120000000"), at("20260101120010000"))
    times = ("20260101115901000", "20260101120029500", "20260101120030000")
    completions = Completions("", dict(zip([each.requested_at for each in instants], times, strict=True)))

    held = held_by(Timeline(instants, {}), completions, "20260101120000000")

    base = replace(BASE, read_at=held.read_at, covers=frozenset(held.covers))
    assert all(base.holds(each.requested_at, time) for each, time in zip(instants, times, strict=True))
    assert not base.holds("20260101115959000", "20260101120029999")


def test_a_base_is_what_its_commit_says() -> None:
    extra = {PLAN: "1", ATTEMPT: "3", UPTO: "7", COVERS: "8,9", READ_AT: "20260101120030000"}
    said = replace(logged("shard"), extra=extra)

    found = base_of("record_index", said, "00000000000000502", "20260101120100000")

    assert found is not None
    assert (found.plan, found.attempt, found.upto, found.covers) == ("1", 3, "7", frozenset({"8", "9"}))
    assert base_of("record_index", replace(said, extra={**extra, COVERS: ""}), "5", "6") == replace(
        found, instant="5", completed_at="6", covers=frozenset()
    )


def test_a_commit_of_another_index_or_of_hudi_is_no_base() -> None:
    extra = {PLAN: "1", UPTO: "7"}

    assert base_of("record_index", replace(commit("f", index="files"), extra=extra), "5", "6") is None
    assert base_of("record_index", logged("shard"), "5", "6") is None
    assert base_of("record_index", replace(logged("log"), extra={PLAN: "1", CAUGHT_UP: "7"}), "5", "6") is None


def test_what_a_restore_took_away_is_undone() -> None:
    timeline = Timeline((at("20260101110000000"), at(LATER)), {})

    assert undone(BASE, timeline, ["20260101115900000", LATER]) == tuple(
        sorted({"20260101115900000", BASE.upto, *BASE.covers})
    )


def test_a_commit_that_was_archived_is_not_undone() -> None:
    assert undone(BASE, Timeline((at(LATER),), {}), []) == ()


def test_a_rollback_of_what_the_base_does_not_hold_undoes_nothing() -> None:
    timeline = Timeline((at(BASE.upto), at("20260101120010000")), {})

    assert undone(BASE, timeline, ["20260101120005000"]) == ()


def test_a_little_before_midnight_is_the_day_before() -> None:
    assert just_before("20260101000000001", 2) == "20251231235959999"
    assert just_before("00000000000000500", 2) == "00000000000000500"
