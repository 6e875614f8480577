"""What stands in a status."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from hudi_engine.contract import Action, IndexState, KindReport, Outcome, UnseenReason
from hudi_operator.decide import decide, refused
from hudi_operator.decision import World
from hudi_operator.resources.model import Approval, Resource
from hudi_operator.resources.refusals import refuse_unfit
from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.resources.unreadable import Unreadable
from hudi_operator.status import status_of
from hudi_operator.status.past import entry_of, past_of
from tests.unit.operator.decide.test_cases import CASES
from tests.unit.operator.decide.worlds import (
    COMPLETE,
    NAME,
    NOW,
    PLANNED,
    READY,
    VALID,
    a_run,
    a_service,
    a_table,
    an_index,
    failed,
    found,
    progress,
    seen,
    unseen,
    waits,
    world,
)

INDEX = an_index()


def status(resource: Resource, given: World) -> dict[str, object]:
    return status_of(resource, given, decide(resource, given))


def conditions(told: dict[str, object]) -> dict[str, dict[str, object]]:
    entries = told["conditions"]
    assert isinstance(entries, list)
    return {entry["type"]: entry for entry in entries}


@pytest.mark.parametrize(("resource", "given"), [each[1:3] for each in CASES], ids=[each[0] for each in CASES])
def test_the_status_of_every_case_is_one_that_the_api_server_takes(resource: Resource, given: World) -> None:
    told = json.loads(json.dumps(status(resource, given)))

    refuse_unfit(STATUSES[resource.meta.ref.kind], told, "status")
    assert all(entry["observedGeneration"] == resource.meta.generation for entry in told["conditions"])


@pytest.mark.parametrize(("resource", "given"), [each[1:3] for each in CASES], ids=[each[0] for each in CASES])
def test_the_status_of_every_case_stays_when_it_is_written(resource: Resource, given: World) -> None:
    """Only what is under way, and what a status was needed for, may change it."""
    first = json.loads(json.dumps(status(resource, given)))
    second = json.loads(json.dumps(status(resource, replace(given, previous=first))))

    assert json.loads(json.dumps(status(resource, replace(given, previous=second)))) == second


def test_what_cannot_be_read_says_so_and_keeps_what_is_known_of_it() -> None:
    before = status(INDEX, world(a_run(INDEX, Action.BUILD, "g1.1"), seen=seen(COMPLETE)))
    found = Unreadable(INDEX.meta, "spec.indexType: Required value")

    told = status_of(found, World(NOW, previous=before), refused(found))

    refuse_unfit(STATUSES[INDEX.meta.ref.kind], json.loads(json.dumps(told)), "status")
    assert conditions(told)["Ready"]["reason"] == "InvalidSpec"
    assert (told["state"], told["activeRuns"]) == ("Failed", before["activeRuns"])


def test_a_status_lost_is_made_again_but_for_its_times() -> None:
    given = world(a_run(INDEX, Action.BUILD, "g1.1", ended=50, report=READY), seen=seen(COMPLETE))
    told = status(INDEX, given)
    later = replace(given, now=NOW + timedelta(seconds=99))

    again = status(INDEX, later)

    for entry in (*conditions(told).values(), *conditions(again).values()):
        del entry["lastTransitionTime"]
    assert again == told


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    before = status(INDEX, world(seen=None))
    later = replace(world(table=None, seen=None), now=NOW + timedelta(seconds=60), previous=before)

    told = conditions(status(INDEX, later))["Ready"]

    assert (told["reason"], told["lastTransitionTime"]) == ("TableMissing", "2026-05-04T12:00:00Z")


def test_a_condition_has_a_new_time_when_its_status_changes() -> None:
    before = status(INDEX, world(seen=None))
    at = NOW + timedelta(seconds=60)
    later = replace(world(seen=seen(COMPLETE, at=at)), now=at, previous=before)

    assert conditions(status(INDEX, later))["Ready"]["lastTransitionTime"] == "2026-05-04T12:01:00Z"


def test_history_is_the_newest_ten_the_newest_first() -> None:
    runs = [
        a_run(INDEX, Action.BUILD, "g1.1", number, ended=2000 - number, report=failed(22)) for number in range(1, 15)
    ]

    history = status(INDEX, world(*runs))["history"]

    assert isinstance(history, list)
    assert [entry["attempt"] for entry in history] == list(range(14, 4, -1))


def test_a_run_for_several_indexes_names_them_however_it_ended_and_is_remembered_as_such() -> None:
    kinds = ("record_index", "column_stats")
    runs = [a_run(INDEX, Action.BUILD, "g1.1", kinds=kinds, ended=ended) for ended in (None, 5)]

    entries = [entry_of(run) for run in runs]

    assert [entry["indexes"] for entry in entries] == [[{"name": name} for name in kinds]] * 2
    (past,) = past_of(world(previous={"history": [entries[1]]}))
    assert past.is_shared


def test_history_remembers_a_run_whose_record_is_gone() -> None:
    run = a_run(INDEX, Action.BUILD, "g1.1", ended=50, report=READY)
    before = status(INDEX, world(run, seen=seen(COMPLETE)))

    told = status(INDEX, world(seen=seen(COMPLETE), previous=before))

    assert told["history"] == before["history"]
    assert told["history"]


def test_a_live_run_is_told_with_its_progress() -> None:
    told = status(INDEX, world(a_run(INDEX, Action.BUILD, "g1.1", progress=progress("base"))))

    assert told["activeRuns"][0]["phase"] == "Running"  # type: ignore[index]  # an object
    assert told["progress"] == {
        "phase": "base",
        "done": 3,
        "total": 10,
        "rows": 300,
        "percent": 30,
        "summary": "base: 3 of 10",
        "updatedTime": "2026-05-04T12:00:00Z",
    }


def test_a_run_that_tells_no_progress_is_as_far_as_its_table_shows() -> None:
    building = found(IndexState.IN_FLIGHT, phase="catch-up, 1 of 2 commits")

    told = status(INDEX, world(a_run(INDEX, Action.BUILD, "g1.1"), seen=seen(building)))

    assert told["progress"] == {"phase": "catch-up", "summary": "catch-up, 1 of 2 commits"}


def test_a_plan_is_told_with_all_that_one_decides_by() -> None:
    index = an_index(approval=Approval.MANUAL)

    told = status(index, world(a_run(index, Action.PLAN, "g1.1", ended=60, report=PLANNED)))

    assert told["plan"] == {
        "hash": "abcdef0123",
        "keys": 1000,
        "shards": 2,
        "readBytes": 9,
        "writeBytes": 0,
        "memoryBytes": 0,
        "expectedDurationSeconds": 0,
        "plannedTime": "2026-05-04T11:59:00Z",
    }


def test_a_table_is_told_as_it_was_seen() -> None:
    told = status(a_table(), world(seen=seen(COMPLETE, pending=(waits(action="commit"),))))

    assert told["table"]["metadataPartitions"] == ["record_index"]  # type: ignore[index]  # an object
    assert told["timeline"]["oldestPendingInstant"] == "20260504115000000"  # type: ignore[index]  # an object
    assert told["lastObservedTime"] == "2026-05-04T12:00:00Z"


def test_a_table_that_cannot_be_seen_is_told_as_it_was_last() -> None:
    before = status(a_table(), world(seen=seen(COMPLETE)))

    told = status(a_table(), world(seen=unseen(UnseenReason.ACCESS_DENIED), previous=before))

    assert (told["table"], told["timeline"]) == (before["table"], before["timeline"])


def test_a_table_that_does_not_change_is_written_once_in_ten_minutes() -> None:
    before = status(a_table(), world())
    soon, late = NOW + timedelta(minutes=9), NOW + timedelta(minutes=10)

    told = [status(a_table(), replace(world(seen=seen(at=at)), now=at, previous=before)) for at in (soon, late)]

    assert told[0] == before
    assert told[1]["lastObservedTime"] == "2026-05-04T12:10:00Z"


def test_a_service_tells_its_times_and_what_was_missed() -> None:
    service = a_service(schedule="0 * * * *", starting_deadline_seconds=60)
    run = a_run(service, Action.VALIDATE, "at-20260504T1100Z", ended=3500, report=VALID)
    at = NOW + timedelta(minutes=5)

    told = status(service, replace(world(run, seen=seen(at=at)), now=at))

    assert told["lastScheduleTime"] == "2026-05-04T11:00:00Z"
    assert told["nextScheduleTime"] == "2026-05-04T13:00:00Z"
    assert told["lastSuccessfulTime"] == "2026-05-04T11:01:40Z"
    assert told["missedRuns"] == 1


def test_nobody_changes_what_was_written_before() -> None:
    before = status(INDEX, world(a_run(INDEX, Action.BUILD, "g1.1", ended=50, report=READY), seen=seen(COMPLETE)))
    kept = json.dumps(before)

    status(INDEX, world(seen=seen(COMPLETE), previous=before))

    assert json.dumps(before) == kept


def test_a_ready_index_tells_what_it_was_built_of_as_long_as_anybody_knows() -> None:
    built = replace(READY, kinds=(KindReport(NAME, Outcome.READY, base="20260504110000000"),))
    run = a_run(INDEX, Action.BUILD, "g1.1", ended=50, report=built)

    told = status(INDEX, world(run, seen=seen(replace(COMPLETE, base=None))))

    assert told["instants"]["base"] == "20260504110000000"  # type: ignore[index]  # an object
    assert told["progress"] == {"phase": "complete", "percent": 100}


def test_duplicate_keys_that_a_build_reports_are_told_as_long_as_the_index_is_complete() -> None:
    built = replace(READY, kinds=(KindReport(NAME, Outcome.READY, duplicates=1200),))
    run = a_run(INDEX, Action.BUILD, "g1.1", ended=60, report=built)

    told = status(INDEX, world(run, seen=seen(COMPLETE)))
    later = status(INDEX, world(previous=told, seen=seen(COMPLETE)))
    gone = status(INDEX, world(previous=later, seen=seen()))

    expected = "duplicates: 1,200 record keys had several rows, of each the newest is indexed"
    assert [each.get("duplicates") for each in (told, later, gone)] == [1200, 1200, None]
    assert [conditions(each)["Built"].get("message", "") for each in (told, later)] == [expected] * 2
    assert conditions(told)["Built"]["status"] == "True"
    assert expected not in str(gone)


def test_an_index_that_was_built_anew_without_duplicates_says_nothing_of_those_before() -> None:
    run = a_run(INDEX, Action.BUILD, "g1.1", ended=60, report=READY)

    told = status(INDEX, world(run, previous={"duplicates": 7}, seen=seen(COMPLETE)))

    assert "duplicates" not in told
