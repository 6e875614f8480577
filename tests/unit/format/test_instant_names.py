"""Names of timeline files, both ways and of both layouts."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Unsupported
from hudi_engine.format.instant_names import (
    COMPLETED_ACTION,
    Action,
    Instant,
    InstantTime,
    State,
    instant_file,
    parse_instant,
)

TIME = InstantTime("20260201000000000")
LATER = InstantTime("20260201000100000")
UUID = "0a1b2c3d-0000-4000-8000-abcdefabcdef"
TIMES = st.text("0123456789", min_size=1, max_size=20).map(InstantTime)


@given(TIMES, st.sampled_from(Action), st.sampled_from(State), st.none() | TIMES)
def test_an_instant_is_read_back_as_its_file_is_named(
    time: InstantTime, action: Action, state: State, completed_at: InstantTime | None
) -> None:
    if state is State.COMPLETED:
        action = COMPLETED_ACTION.get(action, action)
    instant = Instant(time, action, state, completed_at if state is State.COMPLETED else None)

    assert parse_instant(instant_file(instant)) == instant


@given(st.text(max_size=50) | st.from_regex(r"[0-9]{1,17}(_[0-9]{1,17})?(\.[a-z0-9_]{1,14}){0,3}", fullmatch=True))
def test_a_name_is_an_instant_s_spelled_as_found_or_nothing_or_refused(name: str) -> None:
    with contextlib.suppress(Unsupported):
        instant = parse_instant(name)
        assert instant is None or instant_file(instant) == name


@pytest.mark.parametrize(
    ("name", "action", "state", "completed_at"),
    [
        (f"{TIME}.commit.requested", Action.COMMIT, State.REQUESTED, None),
        (f"{TIME}.inflight", Action.COMMIT, State.INFLIGHT, None),
        (f"{TIME}.commit", Action.COMMIT, State.COMPLETED, None),
        (f"{TIME}_{LATER}.commit", Action.COMMIT, State.COMPLETED, LATER),
        (f"{TIME}.deltacommit.inflight", Action.DELTA_COMMIT, State.INFLIGHT, None),
        (f"{TIME}.compaction.requested", Action.COMPACTION, State.REQUESTED, None),
        (f"{TIME}.logcompaction.inflight", Action.LOG_COMPACTION, State.INFLIGHT, None),
        (f"{TIME}.savepoint.inflight", Action.SAVEPOINT, State.INFLIGHT, None),
        (f"{TIME}.clustering.requested", Action.CLUSTERING, State.REQUESTED, None),
        (f"{TIME}_{LATER}.replacecommit", Action.REPLACE_COMMIT, State.COMPLETED, LATER),
        (f"{TIME}_{LATER}.indexing", Action.INDEXING, State.COMPLETED, LATER),
        (f"{TIME}.restore", Action.RESTORE, State.COMPLETED, None),
        ("00000000000000010.deltacommit", Action.DELTA_COMMIT, State.COMPLETED, None),
    ],
)
def test_files_of_both_layouts_are_known(
    name: str, action: Action, state: State, completed_at: InstantTime | None
) -> None:
    found = parse_instant(name)

    assert found is not None
    assert (found.action, found.state, found.completed_at) == (action, state, completed_at)


@pytest.mark.parametrize(
    "name",
    [
        f"{TIME}.commit.{UUID}",
        f"{TIME}_{LATER}.deltacommit.{UUID}",
        f"{TIME}.compaction.requested.{UUID}",
        f"{TIME}.commit.tmp",
        f"{TIME}.commit.requested.tmp",
        f"{TIME}.commit.crc",
        f".{TIME}.commit.crc",
        "hoodie.properties",
        "hoodie.properties.backup",
        "archived",
        "history",
        ".aux",
        f"{TIME}",
        "",
    ],
)
def test_leftovers_of_a_crash_and_other_files_are_no_instants(name: str) -> None:
    assert parse_instant(name) is None


@pytest.mark.parametrize(
    "name",
    [
        f"{TIME}.vacuum",
        f"{TIME}.commit2",
        f"{TIME}.vacuum.requested",
        f"{TIME}.commit.paused",
        f"{TIME}.commit.completed",
        f"{TIME}_{LATER}.commit.requested",
        f"{TIME}_{LATER}.inflight",
        f"{TIME}.commit.inflight",
        f"{TIME}.compaction",
        f"{TIME}_{LATER}.clustering",
        f"{TIME}.commit.requested.more",
        f"{TIME}.schemacommit",
    ],
)
def test_an_unknown_action_state_or_spelling_is_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match=f"timeline file {name}: unknown action or state"):
        parse_instant(name)


@pytest.mark.parametrize("action", COMPLETED_ACTION)
def test_a_service_and_its_completed_commit_are_one_instant(action: Action) -> None:
    pending = Instant(TIME, action, State.INFLIGHT)
    completed = parse_instant(instant_file(Instant(TIME, action, State.COMPLETED, LATER)))

    assert completed is not None
    assert completed.identity == pending.identity
    assert completed.in_state(State.REQUESTED).completed_at is None
