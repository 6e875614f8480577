"""Progress, questions and answers: what goes in comes out, whoever wrote it, and nothing else does."""

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.action.status import KindState
from hudi_engine.contract import (
    MAX_ANSWER_BYTES,
    Grant,
    IndexSeen,
    IndexState,
    Malformed,
    ObserveAnswer,
    ObserveRequest,
    PendingSeen,
    RunProgress,
    TableSeen,
    TableUnseen,
    TimelineSeen,
    UnseenReason,
    printable,
)

_INSTANT = "20260201000000000"
_TIMELINE = TimelineSeen(_INSTANT, 5, {"commit": 5}, 1, {"commit/completed": 1})
_TABLE = TableSeen("f", 7, "trips", "COPY_ON_WRITE", 9, 2, ("id",), ("day",), (), _TIMELINE)
_PROGRESS = RunProgress("base", 1, 4, 100, "write shards", 7, 25.0)

_names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=40)
_names = _names.filter(str.strip)
_grants = st.builds(Grant, _names, st.lists(_names, max_size=2, unique=True).map(tuple), st.booleans())
_texts = st.text(st.characters(codec="utf-8"), max_size=100)
_sentences = _texts.map(printable)
_instants = st.from_regex(r"[0-9]{17}", fullmatch=True)
_counts = st.integers(0, 2**63 - 1)
_ages = st.none() | st.floats(-1e9, 1e9)
_indexes = st.builds(
    IndexSeen,
    name=_names,
    state=st.sampled_from(IndexState),
    reason=_sentences,
    plan=st.none() | _instants,
    base=st.none() | _instants,
    caught_up_to=st.none() | _instants,
    head=st.none() | _instants,
    lag_instants=_counts,
    lag_seconds=st.floats(0, 1e9),
    phase=_sentences,
    attempt=st.none() | _counts,
    owner=st.none() | _sentences,
    heartbeat_age_seconds=_ages,
    is_live=st.booleans(),
)
_pending = st.builds(PendingSeen, _instants, _names, _names, _counts, _ages, st.booleans())
_timelines = st.builds(
    TimelineSeen,
    latest_completed=st.none() | _instants,
    latest_completed_ms=st.none() | _counts,
    latest_by_action=st.dictionaries(_names, _counts, max_size=3),
    active_instants=_counts,
    counts=st.dictionaries(_names, _counts, max_size=3),
    pending=st.lists(_pending, max_size=3).map(tuple),
    oldest_heartbeat_ms=st.none() | _counts,
)
_tables = st.builds(
    TableSeen,
    fingerprint=_names,
    observed_ms=_counts,
    name=_names,
    type=_names,
    version=_counts,
    layout=_counts,
    record_key_fields=st.lists(_names, max_size=3).map(tuple),
    partition_fields=st.lists(_names, max_size=3).map(tuple),
    indexes=st.lists(_indexes, max_size=3).map(tuple),
    timeline=_timelines,
    store=_names,
)
_unseen = st.builds(TableUnseen, st.sampled_from(UnseenReason), _sentences, st.booleans(), _counts)
_answers = st.builds(ObserveAnswer, st.none() | _counts, st.none() | _tables | _unseen)
_questions = st.builds(
    ObserveRequest,
    id=_counts,
    table=_names,
    conf=st.dictionaries(_names, _texts, max_size=3),
    conf_from=st.lists(_names, max_size=3, unique=True).map(tuple),
    known=st.none() | _names,
    grant=st.none() | _grants,
)
_progress = st.builds(
    RunProgress,
    phase=_names,
    done=_counts,
    total=st.none() | _counts,
    rows=_counts,
    said=_sentences,
    updated_ms=_counts,
    percent=st.none() | st.floats(0, 100),
)


@pytest.mark.thorough
@given(_answers)
def test_an_answer_comes_out_of_its_json_as_it_went_in(answer: ObserveAnswer) -> None:
    assert ObserveAnswer.from_json(answer.to_json()) == answer


@given(_questions)
def test_a_question_comes_out_of_its_json_as_it_went_in(question: ObserveRequest) -> None:
    assert ObserveRequest.from_json(question.to_json()) == question


@given(_progress)
def test_progress_comes_out_of_its_json_as_it_went_in(progress: RunProgress) -> None:
    assert RunProgress.from_json(progress.to_json()) == progress


@pytest.mark.thorough
@given(_answers, _questions, _progress)
def test_json_is_one_line_whatever_a_reader_takes_for_its_end(
    answer: ObserveAnswer, question: ObserveRequest, progress: RunProgress
) -> None:
    assert len(answer.to_json().splitlines()) == 1
    assert len(question.to_json().splitlines()) == 1
    assert len(progress.to_json().splitlines()) == 1


def test_the_largest_table_that_can_be_told_of_still_fits_an_answer() -> None:
    long, wide = "\N{ROCKET}" * 255, "\N{ROCKET}" * 1000
    index = IndexSeen(
        long,
        IndexState.DELETED,
        wide,
        _INSTANT,
        _INSTANT,
        _INSTANT,
        _INSTANT,
        2**63 - 1,
        1e-300,
        wide,
        2**63 - 1,
        wide,
        1e-300,
    )
    pending = PendingSeen(_INSTANT, long, long, 2**63 - 1, 1e-300)
    counts = {"\N{ROCKET}" * 250 + str(number): 2**63 - 1 for number in range(64)}
    timeline = TimelineSeen(_INSTANT, 2**63 - 1, counts, 2**63 - 1, counts, (pending,) * 20, 2**63 - 1)
    fields = (long,) * 64
    table = TableSeen(long, 2**63 - 1, long, long, 9, 2, fields, fields, (index,) * 128, timeline)

    text = ObserveAnswer(1, table).to_json()

    assert len(text.encode()) < MAX_ANSWER_BYTES
    assert ObserveAnswer.from_json(text).found == table


def test_the_states_of_an_index_are_those_of_the_engine() -> None:
    assert [state.value for state in IndexState] == [state.value for state in KindState]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"fingerprint": ""}, "fingerprint: empty"),
        ({"version": "9"}, "seen.version: '9', expected a whole number"),
        ({"record_key_fields": "id"}, "seen.record_key_fields: 'id', expected a list"),
        ({"partition_fields": ["a"] * 65}, "partition_fields: 65 entries, expected at most 64"),
        ({"indexes": [{"name": "files"}]}, r"seen.indexes\[0\].state: missing"),
        ({"indexes": [{"name": "files", "state": "fine"}]}, r"seen.indexes\[0\].state: 'fine', expected one of absent"),
        ({"indexes": [asdict(IndexSeen("files", IndexState.COMPLETE))] * 129}, "indexes: 129 entries"),
        ({"indexes": [{"name": "files", "state": "stale", "base": "now"}]}, "base: 'now', expected an instant"),
        ({"indexes": [{"name": "files", "state": "stale", "reason": "x" * 1001}]}, "reason: 1,001 characters"),
        ({"indexes": [{"name": "files", "state": "stale", "x": 1}]}, r"'seen.indexes\[0\].x': an unknown field"),
        ({"timeline": {}}, "seen.timeline.latest_completed: missing"),
        ({"timeline": {**asdict(_TIMELINE), "counts": {"commit": -1}}}, r"counts\['commit'\]: -1, expected a number"),
        (
            {
                "timeline": {
                    **asdict(_TIMELINE),
                    "pending": [asdict(PendingSeen(_INSTANT, "commit", "inflight", 1))] * 21,
                }
            },
            "pending: 21 entries, expected at most 20",
        ),
        ({"secret": "x"}, "'seen.secret': an unknown field"),
    ],
)
def test_a_table_that_is_none_is_refused_with_a_sentence(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        ObserveAnswer.from_json(json.dumps({"version": 1, "id": 1, "seen": {**asdict(_TABLE), **change}}))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({}, "expected one of seen, unseen and unchanged"),
        ({"unchanged": False}, "expected one of seen, unseen and unchanged"),
        ({"unchanged": True, "seen": asdict(_TABLE)}, "expected one of seen, unseen and unchanged"),
        ({"unseen": {"reason": "bored"}}, "unseen.reason: 'bored', expected one of not_found"),
        ({"unseen": {"reason": "timed_out", "message": ""}}, "unseen.retry: missing"),
        ({"unchanged": True, "id": -1}, "id: -1, expected a number from 0"),
        ({"unchanged": True, "version": 2}, "version: 2, expected 1"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_a_sentence(answer: dict[str, object], sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        ObserveAnswer.from_json(json.dumps({"version": 1, "id": 1, **answer}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"id": "1"}, "id: '1', expected a whole number"),
        ({"table": ""}, "table: empty"),
        ({"conf": {"a": 1}}, r"conf\['a'\]: 1, expected a text"),
        ({"conf_from": ["x", "x"]}, "conf_from: 'x' is given twice"),
        ({"known": "a\nb"}, "known: .* expected one line"),
        ({"more": 1}, "'more': an unknown field"),
    ],
)
def test_a_question_that_is_none_is_refused_with_a_sentence(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        ObserveRequest.from_json(json.dumps({"version": 1, "id": 1, "table": "/lake/trips", **change}))


@pytest.mark.parametrize(
    ("grant", "sentence"),
    [
        ({}, "grant.path: missing"),
        ({"path": ""}, "grant.path: empty"),
        ({"path": "*", "endpoints": "any"}, "grant.endpoints: 'any', expected a list"),
        ({"path": "*", "has_identity": "yes"}, "grant.has_identity: 'yes', expected true or false"),
        ({"path": "*", "endpoint": []}, "'grant.endpoint': an unknown field"),
        ("*", "grant: '\\*', expected an object"),
    ],
)
def test_a_grant_that_is_not_understood_is_refused_and_not_taken_for_none(grant: object, sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        ObserveRequest.from_json(json.dumps({"version": 1, "id": 1, "table": "/lake/trips", "grant": grant}))


def test_a_question_without_a_grant_is_understood_by_an_engine_that_knows_of_none() -> None:
    assert "grant" not in json.loads(ObserveRequest(1, "/lake/trips").to_json())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"phase": ""}, "phase: empty"),
        ({"done": -1}, "done: -1, expected a number from 0"),
        ({"total": 0.5}, "total: 0.5, expected a whole number"),
        ({"percent": 101}, "percent: 101, expected a number from 0 to 100"),
        ({"said": "x" * 1001}, "said: 1,001 characters, more than the 1,000 allowed"),
        ({"more": 1}, "'more': an unknown field"),
    ],
)
def test_progress_that_is_none_is_refused_with_a_sentence(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        RunProgress.from_json(json.dumps({"version": 1, **asdict(_PROGRESS), **change}))


def test_a_clock_that_is_ahead_makes_an_age_below_zero_and_no_error() -> None:
    pending = PendingSeen(_INSTANT, "commit", "inflight", 1, heartbeat_age_seconds=-3.5, is_live=True)
    table = replace(_TABLE, timeline=replace(_TIMELINE, pending=(pending,)))

    assert ObserveAnswer.from_json(ObserveAnswer(1, table).to_json()).found == table
