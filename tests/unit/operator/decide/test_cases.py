"""The table of cases: what is decided, each with a sentence that says why."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hudi_operator.decide import decide
from hudi_operator.decision import Start, World
from hudi_operator.resources.model import HudiTable, IndexType, Resource
from hudi_operator.status import status_of
from hudi_operator.words import Condition
from tests.unit.operator.decide import cases_index, cases_removal, cases_service, cases_sharing, cases_table
from tests.unit.operator.decide.expected import shown
from tests.unit.operator.decide.worlds import COMPLETE, an_index, progress, seen, world

CASES: list[tuple[str, Resource, World, str]] = [
    *cases_index.CASES,
    *cases_removal.CASES,
    *cases_service.CASES,
    *cases_sharing.CASES,
    *(case[:4] for case in cases_table.CASES),
]
_OF_TABLES = (
    Condition.REACHABLE,
    Condition.LOCK_AVAILABLE,
    Condition.METADATA_CONSISTENT,
    Condition.TIMELINE_HEALTHY,
    Condition.UNIQUE,
)


@pytest.mark.parametrize(
    ("resource", "world", "expected"), [each[1:] for each in CASES], ids=[each[0] for each in CASES]
)
def test_what_is_decided_is_what_the_table_of_cases_says(resource: Resource, world: World, expected: str) -> None:
    assert shown(decide(resource, world)) == expected


@pytest.mark.parametrize(
    ("table", "world", "claims"),
    [(*each[1:3], each[4]) for each in cases_table.CASES],
    ids=[each[0] for each in cases_table.CASES],
)
def test_a_tables_conditions_say_what_is_wrong_and_nothing_else(table: HudiTable, world: World, claims: str) -> None:
    said = {each.condition: each for each in decide(table, world).said}

    # Most cases have no run that asked for the lock.
    is_known = {name: name is not Condition.LOCK_AVAILABLE or said[name].status != "Unknown" for name in _OF_TABLES}
    wrong = [f"{name}={said[name].reason}" for name in _OF_TABLES if said[name].status != "True" and is_known[name]]

    assert " ".join(wrong) == claims


def test_every_case_has_a_sentence_of_its_own() -> None:
    sentences = [f"{type(each[1]).__name__}: {each[0]}" for each in CASES]

    assert len(set(sentences)) == len(sentences) >= 300


def test_what_waits_for_another_index_says_what_that_is_and_who_makes_it_or_what_to_apply() -> None:
    waiting = cases_index.BY_CUSTOMER
    alone, beside = world(seen=seen(version=8)), world(seen=seen(version=8), neighbours=(cases_index.INDEX,))

    told = [decide(waiting, each).said[0].message for each in (alone, beside)]

    why = "secondary_index_by_customer needs record_index to be complete, and that is absent: "
    assert told == [
        f"{why}apply a MetadataIndex with indexType: RecordIndex for HudiTable orders",
        f"{why}MetadataIndex by-key goes first",
    ]


def test_an_index_that_anothers_run_builds_says_which_run_of_which_resource() -> None:
    run = cases_sharing.shared(progress=progress("base"))

    said = decide(cases_sharing.STATS, world(others=(run,))).said[0].message

    assert said == f"built together with MetadataIndex by-key: run {run.name}, attempt 1: base: 3 of 10"


def test_a_run_for_several_says_for_which_resources_it_is() -> None:
    act = decide(cases_index.INDEX, cases_sharing.beside(cases_sharing.BLOOMS, cases_sharing.STATS)).act

    assert isinstance(act, Start)
    assert act.why == "record_index is not built yet; for blooms, stats as well"


def test_a_run_for_several_has_the_name_that_it_has_alone() -> None:
    worlds = (cases_sharing.beside(), cases_sharing.beside(cases_sharing.BLOOMS, cases_sharing.STATS))

    acts = [decide(cases_index.INDEX, each).act for each in worlds]

    names = {act.order.name for act in acts if isinstance(act, Start)}
    assert len(acts) == 2
    assert names == {cases_sharing.shared().name}


def test_a_run_is_for_sixteen_indexes_at_most() -> None:
    kind = IndexType.SECONDARY_INDEX
    many = tuple(an_index(f"by-{number:02}", index_type=kind, columns=(f"c{number}",)) for number in range(20))

    act = decide(many[0], cases_sharing.beside(*many[1:], seen=seen(COMPLETE, version=9))).act

    assert isinstance(act, Start)
    assert len(act.order.request.kinds) == len(act.order.request.columns) == 16


def test_a_table_that_is_too_old_for_an_index_says_which_version_it_takes() -> None:
    said = decide(cases_index.PARTITION_STATS, world()).said[0].message

    assert said.startswith("the table has version 6, and PartitionStats takes 8 or later: upgrade the table")


def test_a_wait_that_is_stalled_stays_stalled_until_something_is_done() -> None:
    """Its own status, in which Reconciling is no longer true, must not begin the hour anew."""
    index, waiting = cases_index.BY_CUSTOMER, world(seen=seen(version=8), previous=cases_index.WAITS_LONG)
    shown_first = status_of(index, waiting, decide(index, waiting))

    later = replace(waiting, now=waiting.now + timedelta(minutes=1), previous=shown_first)
    another = replace(later, seen=None)

    assert shown(decide(index, later)) == "!Pending DependencyNotReady: -"
    assert shown(decide(index, another)) == "~Pending NotObserved: -"
    assert status_of(index, later, decide(index, later))["conditions"] == shown_first["conditions"]


@pytest.mark.parametrize(("resource", "world"), [each[1:3] for each in CASES], ids=[each[0] for each in CASES])
def test_reconciling_and_stalled_are_never_both_true(resource: Resource, world: World) -> None:
    """A reader of kstatus takes the first of the two that is true and looks no further."""
    true = {said.condition for said in decide(resource, world).said if said.status == "True"}

    assert not {Condition.RECONCILING, Condition.STALLED} <= true


@pytest.mark.parametrize(("resource", "world"), [each[1:3] for each in CASES], ids=[each[0] for each in CASES])
def test_whatever_is_bad_or_under_way_says_why(resource: Resource, world: World) -> None:
    decision = decide(resource, world)

    for said in decision.said:
        if said.condition in (Condition.RECONCILING, Condition.STALLED) and said.status == "True":
            assert said.message, said
    assert 0 < decision.again_in_seconds <= 600
