"""Whatever the world is like: worlds put together at random, most of them never seen by anybody."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_engine.contract import (
    Action,
    IndexSeen,
    IndexState,
    JobReport,
    KindReport,
    Outcome,
    PendingSeen,
    RunProgress,
    TableUnseen,
    UnseenReason,
)
from hudi_operator.decide import decide, leftover
from hudi_operator.decision import Forget, Start, World
from hudi_operator.names import FINALIZER, Annotation, digest, run_name
from hudi_operator.resources.model import (
    Approval,
    ConcurrencyPolicy,
    DeletionPolicy,
    Guard,
    HudiTable,
    IndexType,
    MetadataIndex,
    Resource,
    TableService,
)
from hudi_operator.resources.refusals import refuse_unfit
from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.status import status_of
from hudi_operator.words import Condition, Reason
from tests.kit.soak import is_soak
from tests.unit.operator.decide.worlds import NOW, a_service, a_table, ago, an_index, seen

TRIGGERS = (
    "g1.1",
    "g2.1",
    "g1.1-delete",
    f"g1.1-token-{digest('t')}",
    "at-20260504T1200Z",
    f"token-{digest('t')}",
    "at-nonsense",
)
OLDEST = 100_000.0

seldom = st.sampled_from([False, False, False, True])
ages = st.floats(0, OLDEST).map(ago)
instants = st.sampled_from([None, "20260504115000000", "20260504110000000"])
words = st.text(max_size=20) | st.just("catch-up, 1 of 2")
annotations = st.dictionaries(
    st.sampled_from([str(name) for name in Annotation]), st.sampled_from(["abcdef0123", "true", ""]), max_size=1
)
ABOUT = {
    "generation": st.integers(1, 2),
    "created_at": st.none() | ages,
    "deleting_since": seldom.flatmap(lambda is_so: ages if is_so else st.none()),
    "finalizers": st.sampled_from([(), (), (FINALIZER,), ("other.dev/keep",)]),
    "annotations": annotations,
    "uid": st.sampled_from(["u1", "u2", "u3"]),
}
tables = st.builds(
    a_table,
    st.sampled_from(["orders", "orders", "returns"]),
    metadata_guard=st.sampled_from(Guard),
    suspend=seldom,
    table_name=st.sampled_from([None, None, "orders", "returns"]),
    **ABOUT,
)
index_resources = st.builds(
    an_index,
    st.sampled_from(["by-key", "listing"]),
    index_type=st.sampled_from([IndexType.RECORD_INDEX, IndexType.RECORD_INDEX, *IndexType]),
    columns=st.sampled_from([(), ("customer",)]),
    index_name=st.sampled_from([None, "by_customer"]),
    approval=st.sampled_from(Approval),
    deletion_policy=st.sampled_from(DeletionPolicy),
    rebuild_token=st.sampled_from([None, "t"]),
    suspend=seldom,
    **ABOUT,
)
services = st.builds(
    a_service,
    st.sampled_from(["nightly", "hourly"]),
    schedule=st.sampled_from([None, "0 * * * *", "*/5 * * * *", "30 2 * * *", "0 0 31 2 *"]),
    time_zone=st.sampled_from([None, "Europe/Berlin", "Nowhere/Land"]),
    starting_deadline_seconds=st.none() | st.integers(1, 9_000),
    concurrency_policy=st.sampled_from(ConcurrencyPolicy),
    run_token=st.sampled_from([None, "t"]),
    successful_runs_history_limit=st.integers(0, 3),
    failed_runs_history_limit=st.integers(0, 3),
    suspend=seldom,
    **ABOUT,
)
resources: st.SearchStrategy[Resource] = st.one_of(tables, index_resources, services)
indexes = st.builds(
    IndexSeen,
    st.sampled_from(["record_index", "record_index", "files", "column_stats", "secondary_index_by_customer"]),
    st.sampled_from(IndexState),
    reason=words,
    plan=instants,
    base=instants,
    caught_up_to=instants,
    lag_instants=st.integers(0, 9),
    phase=words,
    heartbeat_age_seconds=st.none() | st.floats(-9, OLDEST),
    is_live=seldom,
)
pending = st.builds(
    PendingSeen,
    instants.filter(bool),
    st.sampled_from(["indexing", "commit", "compaction"]),
    st.sampled_from(["requested", "inflight"]),
    st.integers(0, 1 << 62),
    heartbeat_age_seconds=st.none() | st.floats(-9, OLDEST),
    is_live=seldom,
)
looks = st.one_of(
    st.none(),
    st.builds(TableUnseen, st.sampled_from(UnseenReason), words, st.booleans(), st.integers(0, 1 << 62)),
    *[
        st.builds(
            lambda found, at, waiting, name, version: seen(*found, at=at, pending=waiting, name=name, version=version),
            st.lists(indexes, max_size=3),
            st.floats(0, 600).map(ago) | st.just(NOW),
            st.lists(pending, max_size=3).map(tuple),
            st.sampled_from(["orders", "orders", "x" * 255]),
            st.sampled_from([6, 8, 9, 9]),
        )
    ]
    * 4,
)
reports = st.none() | st.builds(
    JobReport,
    st.sampled_from(Outcome),
    st.sampled_from([0, 0, 0, 1, 2, 3, 13, 18, 22, 25, 26, 70, 137, 143]),
    reason=words,
    kinds=st.lists(st.builds(KindReport, st.just("record_index"), st.sampled_from(Outcome)), max_size=2).map(tuple),
    plan_hash=st.sampled_from([None, "abcdef0123", "0123456789"]),
)
progresses = st.none() | st.builds(
    RunProgress,
    words.filter(lambda word: bool(word.strip()) and word.isprintable()),
    st.integers(0, 9),
    st.none() | st.integers(0, 9),
    st.integers(0, 9),
    words,
    st.integers(0, 1 << 62),
    st.none() | st.floats(0, 100),
)


@st.composite
def runs(draw: st.DrawFn, owner: Resource, actions: tuple[Action, ...], *, ends: bool = False) -> RunSeen:
    phase = draw(st.sampled_from((RunPhase.ENDED, RunPhase.LOST) if ends else RunPhase))
    action, trigger, attempt = draw(st.sampled_from(actions)), draw(st.sampled_from(TRIGGERS)), draw(st.integers(1, 7))
    is_live = phase in (RunPhase.WAITING, RunPhase.RUNNING)
    return RunSeen(
        name=run_name(owner.meta, action, trigger, attempt),
        owner=owner.meta.ref,
        owner_uid=draw(st.sampled_from([owner.meta.uid, owner.meta.uid, owner.meta.uid, "before"])),
        table="orders",
        action=action,
        trigger=trigger,
        attempt=attempt,
        phase=phase,
        created_at=draw(ages),
        started_at=draw(st.none() | ages),
        ended_at=None if is_live else draw(st.none() | ages),
        exit_code=None if is_live else draw(st.sampled_from([None, 0, 1, 3, 13, 20, 22, -9, 137, 143, 255])),
        report=None if is_live else draw(reports),
        progress=draw(progresses) if is_live else None,
        trouble=draw(words),
        trouble_reason=draw(
            st.sampled_from(
                ["", "ImagePullBackOff", "OOMKilled", "DeadlineExceeded", "Evicted", "OutOfDisk", "SecretMissing"]
            )
        ),
        is_stopping=draw(seldom),
        kinds=draw(st.sampled_from([(), ("record_index",), ("record_index", "column_stats")])),
    )


OF_INDEXES = (Action.PLAN, Action.BUILD, Action.BUILD, Action.DROP, Action.ABORT)
# The API server lets nothing else into a status than what is of the right type; what it says may be anything.
times = st.sampled_from(["2026-05-04T11:00:00Z", "2026-05-04T12:00:00Z", "2027-01-01T00:00:00Z"])
remembered = st.fixed_dictionaries(
    {},
    optional={
        "name": words,
        "action": st.sampled_from([*Action, "unheard-of"]),
        "trigger": st.sampled_from(TRIGGERS),
        "attempt": st.integers(0, 9),
        "reason": st.sampled_from([*Reason, "Unheard"]),
        "completionTime": times,
        "message": words,
    },
)


def _type_of(claim: Any) -> str:
    return str(claim["type"])


claims: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "type": st.sampled_from(Condition),
        "status": st.sampled_from(["True", "False", "Unknown"]),
        "reason": st.sampled_from(Reason),
        "message": words,
        "lastTransitionTime": times,
    }
)
previous: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.fixed_dictionaries(
    {},
    optional={
        "conditions": st.lists(claims, max_size=4, unique_by=_type_of),
        "history": st.lists(remembered, max_size=4),
        "plan": st.fixed_dictionaries({}, optional={"hash": words, "plannedTime": times}),
        "instants": st.fixed_dictionaries({}, optional={"base": words}),
        "lastHandledRebuildToken": words,
        "lastHandledRunToken": words,
        "lastScheduleTime": times,
        "lastSuccessfulTime": times,
        "lastObservedTime": times,
    },
)


@st.composite
def worlds(draw: st.DrawFn, resource: Resource, *, ends: bool = False) -> World:
    actions = OF_INDEXES if isinstance(resource, MetadataIndex) else (Action.VALIDATE,)
    own = draw(st.lists(runs(resource, actions, ends=ends), max_size=4, unique_by=lambda run: run.name))
    neighbours = draw(st.lists(resources, max_size=3, unique_by=lambda each: each.meta.ref))
    neighbours = [each for each in neighbours if each.meta.ref != resource.meta.ref]
    strangers = [draw(runs(each, OF_INDEXES, ends=ends)) for each in neighbours if draw(st.booleans())]
    return World(
        NOW,
        table=draw(st.none() | tables | tables | tables),
        seen=draw(looks),
        runs=() if isinstance(resource, HudiTable) else tuple(own),
        others=tuple(strangers),
        neighbours=tuple(neighbours),
        previous=draw(previous),
        statuses={each.meta.ref: {} for each in neighbours if draw(st.booleans())},
    )


@st.composite
def situations(draw: st.DrawFn, *, ends: bool = False) -> tuple[Resource, World]:
    resource = draw(resources)
    return resource, draw(worlds(resource, ends=ends))


def _require_sound(situation: tuple[Resource, World]) -> None:
    resource, world = situation
    decision = decide(resource, world)
    status = status_of(resource, world, decision)

    refuse_unfit(STATUSES[resource.meta.ref.kind], status, "status")
    conditions = [said.condition for said in decision.said]
    assert {Condition.READY, Condition.RECONCILING, Condition.STALLED} <= set(conditions)
    assert len(set(conditions)) == len(conditions)
    true = {said.condition for said in decision.said if said.status == "True"}
    assert not {Condition.RECONCILING, Condition.STALLED} <= true
    assert 0 < decision.again_in_seconds <= 600
    is_busy = any(run.is_live for run in (*world.runs, *world.others))
    assert not (isinstance(decision.act, Start) and is_busy)


def _require_wanted(situation: tuple[Resource, World], later: float) -> None:
    resource, world = situation
    first = decide(resource, world).act
    second = decide(resource, replace(world, now=world.now + timedelta(seconds=later))).act

    if not isinstance(first, Start):
        return
    assert isinstance(resource, MetadataIndex | TableService)
    assert world.table is not None
    assert not resource.suspend
    assert not world.table.suspend
    assert not isinstance(world.seen, TableUnseen)
    assert resource.meta.annotations.get(Annotation.PAUSE) != "true"
    order = first.order
    assert order.name == run_name(resource.meta, order.request.action, order.trigger, order.attempt)
    assert order.name not in {run.name for run in world.runs if run.owner_uid == resource.meta.uid}
    assert len(order.name) <= 47
    assert len(order.trigger) <= 63
    if isinstance(second, Start) and order.request.action is not Action.VALIDATE:
        # Who else is built with it may change with the time; which run it is, never.
        assert second.order.name == order.name


def _begun(situation: tuple[Resource, World]) -> list[Resource]:
    """Who begins something where everybody sees the same."""
    resource, world = situation
    everybody: list[Resource] = [resource, *world.neighbours]
    all_runs = (*world.runs, *world.others)
    begun = []
    for each in everybody:
        own = replace(
            world,
            runs=tuple(run for run in all_runs if run.owner_uid == each.meta.uid),
            others=tuple(run for run in all_runs if run.owner_uid != each.meta.uid),
            neighbours=tuple(other for other in everybody if other is not each),
            previous={},
            statuses={other.meta.ref: {} for other in everybody},
        )
        if isinstance(decide(each, own).act, Start):
            begun.append(each)
    return begun


@given(situations())
def test_there_is_a_sound_decision_and_a_legal_status_for_every_world(situation: tuple[Resource, World]) -> None:
    _require_sound(situation)


@given(situations(ends=True), st.floats(0, 5))
def test_what_is_begun_is_wanted_and_named_by_its_need(situation: tuple[Resource, World], later: float) -> None:
    _require_wanted(situation, later)


@given(situations(ends=True))
def test_of_those_who_see_the_same_one_begins(situation: tuple[Resource, World]) -> None:
    begun = _begun(situation)

    uids = {each.meta.uid for each in (situation[0], *situation[1].neighbours)}
    assert len(begun) <= 1 or len(uids) <= len(situation[1].neighbours)


@given(situations())
def test_the_same_world_has_the_same_status_to_the_byte(situation: tuple[Resource, World]) -> None:
    resource, world = situation
    written = status_of(resource, world, decide(resource, world))
    told = replace(world, previous=json.loads(json.dumps(written)))
    second = status_of(resource, told, decide(resource, told))
    told = replace(world, previous=json.loads(json.dumps(second)))

    assert json.dumps(status_of(resource, told, decide(resource, told))) == json.dumps(second)


@pytest.mark.thorough
@settings(max_examples=3_000 if is_soak() else 800)
@given(situations(), situations(ends=True), st.floats(0, 5))
def test_thousands_of_worlds_are_met_soundly(
    any_world: tuple[Resource, World], calm_world: tuple[Resource, World], later: float
) -> None:
    _require_sound(any_world)
    _require_wanted(calm_world, later)


@given(st.lists(runs(an_index(), OF_INDEXES), max_size=5))
def test_what_a_gone_resource_left_is_stopped_before_it_is_forgotten(left: list[RunSeen]) -> None:
    act = leftover(left)

    if act is None:
        assert all(run.is_live and run.is_stopping for run in left)
    if isinstance(act, Forget):
        assert set(act.runs) == {run.key for run in left if not run.is_live}
