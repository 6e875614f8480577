"""The request and the report: what goes in comes out, whoever wrote it, and nothing else does."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.contract import (
    Action,
    ComputeKind,
    DuplicateKeys,
    Grant,
    JobReport,
    JobRequest,
    KindReport,
    LockHolds,
    Malformed,
    Outcome,
    printable,
)

_REQUEST = {"version": 1, "table": "s3a://lake/trips", "action": "build", "kinds": ["record_index"]}
_REPORT = {"version": 1, "outcome": "ready", "exit_code": 0, "retry": False}
_TERMINATION_MESSAGE = 4096

_names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=40)
_names = _names.filter(str.strip)
_texts = st.text(st.characters(codec="utf-8"), max_size=200)
_instants = st.none() | st.from_regex(r"[0-9]{17}", fullmatch=True)
_counts = st.integers(0, 2**63 - 1)
_requests = st.builds(
    JobRequest,
    table=_names,
    action=st.sampled_from(Action),
    kinds=st.lists(_names, min_size=1, max_size=4, unique=True).map(tuple),
    instant=st.from_regex(r"[0-9]{17}", fullmatch=True),
    conf=st.dictionaries(_names, _texts, max_size=5),
    compute=st.sampled_from(ComputeKind),
    memory_bytes=st.integers(1, 2**50),
    report_path=st.none() | _names,
    conf_from=st.lists(_names, max_size=3, unique=True).map(tuple),
    progress_path=st.none() | _names,
    grant=st.none() | st.builds(Grant, _names, st.just(("https://minio",)), st.booleans()),
)
_hashes = st.none() | st.from_regex(r"[0-9a-f]{16}", fullmatch=True)
_requests |= st.builds(
    JobRequest, table=_names, action=st.just(Action.BUILD), kinds=st.just(("record_index",)), plan_hash=_hashes
) | st.builds(JobRequest, table=_names, action=st.just(Action.VALIDATE), sample=st.none() | st.integers(1, 2**40))
_requests |= st.builds(
    lambda kinds, one, any_of_them: JobRequest(
        "t", Action.BUILD, kinds, columns={kinds[0]: one, kinds[1]: any_of_them}
    ),
    st.from_regex(r"secondary_index_[A-Za-z0-9_]{1,9}", fullmatch=True).map(lambda name: (name, "column_stats")),
    _names.map(lambda name: (name,)),
    st.lists(_names, max_size=4, unique=True).map(tuple),
)
_requests |= st.builds(
    JobRequest,
    table=_names,
    action=st.sampled_from([Action.PLAN, Action.BUILD]),
    kinds=st.just(("record_index",)),
    duplicates=st.sampled_from(DuplicateKeys),
)
_figures = st.tuples(*[_counts] * 4)
_kinds = st.builds(
    lambda name, state, base, upto, figures: KindReport(name, state, base, upto, *figures),
    _names,
    st.sampled_from(Outcome),
    _instants,
    _instants,
    _figures,
)
_reports = st.builds(
    JobReport,
    outcome=st.sampled_from(Outcome),
    exit_code=st.integers(0, 255),
    retry=st.booleans(),
    reason=_texts.map(printable),
    instant=_instants,
    kinds=st.lists(_kinds, max_size=3).map(tuple),
    seconds=st.dictionaries(_names, st.floats(0, 1e9), max_size=3),
    lock_holds=st.builds(LockHolds, _counts, _counts, _counts, _counts, _counts),
    engine=_names,
    rows=_counts,
    plan_hash=_hashes,
    read_bytes=_counts,
    write_bytes=_counts,
    memory_bytes=_counts,
    seconds_expected=st.floats(0, 1e9),
)


def _columns(name: str, *columns: str) -> dict[str, object]:
    return {"kinds": [name], "columns": {name: list(columns)}}


@pytest.mark.thorough
@given(_requests)
def test_a_request_comes_out_of_its_json_as_it_went_in(request: JobRequest) -> None:
    assert JobRequest.from_json(request.to_json()) == request


@pytest.mark.thorough
@given(_reports)
def test_a_report_that_fits_comes_out_of_its_json_as_it_went_in(report: JobReport) -> None:
    text = report.to_json()

    assert JobReport.from_json(text) == report or "[cut: " in text or "[left out: " in text


@given(_requests, _reports)
def test_json_is_one_line_whatever_a_reader_takes_for_its_end(request: JobRequest, report: JobReport) -> None:
    assert len(request.to_json().splitlines()) == len(report.to_json().splitlines()) == 1


@pytest.mark.thorough
@given(st.text(max_size=9000), st.lists(_kinds, max_size=60).map(tuple))
def test_no_report_is_longer_than_a_termination_message_and_one_that_was_cut_says_so(
    reason: str, kinds: tuple[KindReport, ...]
) -> None:
    report = JobReport(Outcome.FAILED, 12, reason=reason, kinds=kinds)

    text = report.to_json()

    read = JobReport.from_json(text)
    assert len(text.encode()) <= _TERMINATION_MESSAGE
    assert read.kinds == kinds[: len(read.kinds)]
    assert (len(read.kinds) < len(kinds)) == (f"[left out: {len(kinds) - len(read.kinds)} more kinds]" in read.reason)
    clean = printable(reason.encode(errors="backslashreplace").decode())
    assert read.reason.startswith(clean) or "more characters]" in read.reason


def test_the_largest_report_that_can_be_made_still_fits() -> None:
    report = JobReport(
        Outcome.FAILED,
        255,
        reason="\0" * 100_000,
        instant="9" * 20,
        kinds=tuple(KindReport("\N{ROCKET}" * 255, Outcome.FAILED) for _ in range(40)),
        seconds={"\N{ROCKET}" * 46 + f"{number:02}": 1e-300 for number in range(12)},
        lock_holds=LockHolds(2**63 - 1, 2**63 - 1, 2**63 - 1, 2**63 - 1, 2**63 - 1),
        engine='"' * 64,
        rows=2**63 - 1,
        plan_hash="f" * 64,
        read_bytes=2**63 - 1,
        write_bytes=2**63 - 1,
        memory_bytes=2**63 - 1,
        seconds_expected=1e-300,
    )

    read = JobReport.from_json(report.to_json())

    assert read.seconds == report.seconds
    assert read.reason.endswith("[left out: 40 more kinds]")


def test_a_long_reason_is_cut_before_a_kind_is_left_out() -> None:
    kinds = tuple(KindReport(f"secondary_index_{number}", Outcome.READY) for number in range(10))

    read = JobReport.from_json(JobReport(Outcome.READY, reason="why " * 5000, kinds=kinds).to_json())

    assert read.kinds == kinds
    assert "more characters]" in read.reason


def test_only_what_a_request_needs_has_to_be_given() -> None:
    request = JobRequest.from_json(json.dumps(_REQUEST))

    assert request == JobRequest("s3a://lake/trips", Action.BUILD, ("record_index",))
    assert request.compute is ComputeKind.LOCAL


def test_column_stats_may_leave_the_columns_to_the_writers() -> None:
    request = JobRequest("t", Action.BUILD, ("column_stats",), columns={"column_stats": ()})

    assert JobRequest.from_json(request.to_json()).columns == {"column_stats": ()}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tabel": "x"}, "'tabel': an unknown field"),
        ({"version": 2}, "version: 2, expected 1"),
        ({"version": True}, "version: True, expected a whole number"),
        ({"table": 5}, "table: 5, expected a text"),
        ({"table": ""}, "table: empty"),
        ({"table": "s3a://lake\n/trips"}, r"'s3a://lake\\n/trips' has '\\n' in it, expected one line"),
        ({"table": "x\u2028y"}, "expected one line of text"),
        ({"table": "x" * 3000}, "table: 3,000 characters, more than the 2,048 allowed"),
        ({"table": None}, "table: None, expected a text"),
        ({"action": "compact"}, "action: 'compact', expected one of plan, build, schedule, run, drop, abort, validate"),
        ({"action": []}, "action: \\[\\], expected one of"),
        ({"kinds": []}, "kinds: empty, expected the kinds of index to build"),
        ({"kinds": "record_index"}, "kinds: 'record_index', expected a list"),
        ({"kinds": ["files", "files"]}, "kinds: 'files' is given twice"),
        ({"kinds": ["files", 1]}, r"kinds\[1\]: 1, expected a text"),
        ({"kinds": ["fi\rles"]}, "expected one line"),
        ({"action": "run"}, "instant: missing, expected that of the plan to run"),
        ({"action": "abort", "kinds": []}, "instant: missing, and kinds: empty"),
        ({"instant": "../../etc"}, "instant: '../../etc', expected an instant: 14 to 20 digits"),
        ({"instant": "٢٠٢٤٠١٠١٠٠٠٠٠٠٠٠٠"}, "expected an instant"),
        ({"conf": []}, r"conf: \[\], expected an object"),
        ({"conf": {"a\nb": "c"}}, "a key of conf: .* expected one line"),
        ({"conf": {"a": 1}}, r"conf\['a'\]: 1, expected a text"),
        ({"conf": {"a": "\ud800"}}, r"conf\['a'\]: half of a character"),
        ({"compute": "flink"}, "compute: 'flink', expected one of local, spark"),
        ({"memory_bytes": 0}, "memory_bytes: 0, expected a number from 1"),
        ({"memory_bytes": 1.5}, "memory_bytes: 1.5, expected a whole number"),
        ({"memory_bytes": 10**30}, "memory_bytes: 1000000000000000000000000000000, expected a number"),
        ({"report_path": "a\0b"}, "report_path: .* expected one line"),
        ({"progress_path": "a\nb"}, "progress_path: .* expected one line"),
        ({"progress_path": 7}, "progress_path: 7, expected a text"),
        ({"conf_from": "/secrets"}, "conf_from: '/secrets', expected a list"),
        ({"conf_from": ["/a", "/a"]}, "conf_from: '/a' is given twice"),
        ({"conf_from": ["/a\n"]}, "conf_from: .* expected one line"),
        ({"action": "plan", "kinds": []}, "kinds: empty, expected the kinds of index to plan"),
        ({"plan_hash": "approve me"}, "plan_hash: 'approve me', expected 8 to 64 digits of a hash"),
        ({"plan_hash": "0123456789", "action": "plan"}, "plan_hash: given with plan, expected with build only"),
        ({"sample": 5}, "sample: given with build, expected with validate only"),
        ({"duplicates": "oldest"}, "duplicates: 'oldest', expected one of refuse, newest"),
        (
            {"duplicates": "newest", "action": "drop"},
            "duplicates: given with drop, expected with plan, build, run only",
        ),
        ({"sample": 0, "action": "validate"}, "sample: 0, expected a number from 1"),
        ({"columns": ["id"]}, r"columns: \['id'\], expected an object"),
        ({"columns": {"column_stats": "id"}}, r"columns\['column_stats'\]: 'id', expected a list"),
        ({"columns": {"column_stats": [1]}}, r"columns\['column_stats'\]\[0\]: 1, expected a text"),
        (
            {"columns": {"column_stats": []}},
            r"columns\['column_stats'\]: not among kinds, expected one of record_index",
        ),
        (
            {"columns": {"record_index": []}},
            r"columns\['record_index'\]: expected column_stats or secondary_index_NAME",
        ),
        (_columns("secondary_index_a-b", "id"), "secondary_index_NAME, NAME of letters, digits and '_'"),
        (_columns("secondary_index_", "id"), "expected column_stats or secondary_index_NAME"),
        (_columns("partition_stats", "id"), "no other index has columns of its own"),
        (_columns("secondary_index_a"), r"columns\['secondary_index_a'\]: 0 columns, expected exactly one"),
        (_columns("secondary_index_a", "id", "name"), "2 columns, expected exactly one"),
        (_columns("column_stats", "id", "id"), "'id' is given twice"),
        (_columns("column_stats", " "), r"columns\['column_stats'\]: empty"),
        (_columns("column_stats", "i\nd"), "expected one line of text"),
        (_columns("column_stats", "x" * 256), "256 characters, more than the 255 allowed"),
        (_columns("column_stats", *map(str, range(129))), "129 columns, more than the 128 allowed"),
    ],
)
def test_a_request_that_is_none_is_refused_with_a_sentence(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        JobRequest.from_json(json.dumps(_REQUEST | change))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"outcome": "great"}, "outcome: 'great', expected one of ready, "),
        ({"exit_code": 256}, "exit_code: 256, expected a number from 0 to 255"),
        ({"retry": 1}, "retry: 1, expected true or false"),
        ({"kinds": [{"kind": "files"}]}, r"kinds\[0\].state: missing"),
        ({"kinds": [{"kind": "files", "state": "ready", "x": 1}]}, r"'kinds\[0\].x': an unknown field"),
        ({"kinds": [{"kind": "files", "state": "ready", "keys": -1}]}, "keys: -1, expected a number from 0"),
        ({"kinds": [7]}, r"kinds\[0\]: 7, expected an object"),
        ({"seconds": {"plan": float("nan")}}, "NaN: no number of JSON's"),
        ({"seconds": {"plan": -1}}, r"seconds\['plan'\]: -1, expected a number from 0"),
        ({"seconds": {"plan": "1"}}, r"seconds\['plan'\]: '1', expected a whole number"),
        ({"seconds": {str(number): 1 for number in range(17)}}, "seconds: 17 phases, expected at most 12"),
        ({"lock_holds": {"p50": 1}}, "'lock_holds.p50': an unknown field"),
        ({"lock_holds": {"waits_max_ms": -1}}, "waits_max_ms: -1, expected a number from 0"),
        ({"plan_hash": "XYZ"}, "plan_hash: 'XYZ', expected 8 to 64 digits of a hash"),
        ({"rows": -1}, "rows: -1, expected a number from 0"),
        ({"seconds_expected": "1"}, "seconds_expected: '1', expected a whole number"),
        ({"reason": None}, "reason: None, expected a text"),
        ({"reason": "x" * 4096}, "the report: 4,1.. bytes, more than the 4,096 allowed"),
    ],
)
def test_a_report_that_is_none_is_refused_with_a_sentence(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        JobReport.from_json(json.dumps(_REPORT | change))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the request: no JSON object in UTF-8"),
        ("{", "the request: no JSON object in UTF-8"),
        ("[" * 50_000, "the request: no JSON object in UTF-8"),
        ("[]", r"the whole: \[\], expected an object"),
        ("7" * 10_000, "the request: no JSON object in UTF-8"),
        (b'{"version": 1, "table": "\xff"}', "the request: no JSON object in UTF-8"),
        ('{"version": 1, "version": 1}', "'version' is given twice"),
        ('{"version": 1, "conf": {"a": "b", "a": "c"}}', "'a' is given twice"),
        ("{}", "version: missing"),
        ("\ud800", "the request: no JSON object in UTF-8"),
        (" " * 200_000, "the request: 200,000 bytes, more than the 131,071 allowed"),
    ],
)
def test_a_text_that_is_no_request_is_refused_with_a_sentence(text: str | bytes, sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        JobRequest.from_json(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_any_value_of_any_field_is_taken_or_refused_and_nothing_else_happens(value: object) -> None:
    for name in JobRequest.__dataclass_fields__:
        try:
            taken = JobRequest.from_json(json.dumps(_REQUEST | {name: value}))
        except Malformed:
            continue
        assert JobRequest.from_json(taken.to_json()) == taken


def test_a_request_that_no_process_could_be_given_is_not_written() -> None:
    request = JobRequest("t", Action.BUILD, ("files",), conf={"a": "x" * 70_000, "b": "y" * 70_000})

    with pytest.raises(Malformed, match="more than the 131,071 allowed"):
        request.to_json()


def test_the_contract_imports_nothing_heavy_and_nothing_else_of_the_engine() -> None:
    code = "import sys, hudi_engine.contract; print(*sorted(sys.modules))"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )

    modules = said.stdout.split()
    ours = {name for name in modules if name.startswith("hudi_engine")}
    assert all(name == "hudi_engine" or name.startswith("hudi_engine.contract") for name in ours)
    assert not {"pyarrow", "numpy", "pyspark", "kazoo", "rich", "typer"} & set(modules)
