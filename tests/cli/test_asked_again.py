"""The same request twice is a success, as with `kubectl apply`; a request for something else is refused."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hudi_engine.contract import Action, JobReport, JobRequest, Outcome
from tests.cli.test_bad_input import require_refusal
from tests.kit.commands import Ran, run_engine

Golden = Callable[[str], Path]
Run = Callable[..., Ran]
ALONE = "--single-writer"
KIND = ("--type", "record_index")
LARGE = "v9_mor_record_index_large"
BY_PLACE = ("--type", "secondary_index_by_place", "--column", "place")
BY_SEEN = ("--type", "secondary_index_by_place", "--column", "seen")


def files(table: Path) -> Mapping[Path, bytes]:
    return {path.relative_to(table): path.read_bytes() for path in table.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["v6_cow_orders", "v8_mor_orders", "v9_mor_orders"])
@pytest.mark.parametrize("command", ["build", "schedule", "drop", "abort"])
def test_a_request_that_the_table_satisfies_succeeds_and_changes_nothing(
    command: str, name: str, golden: Golden, run: Run
) -> None:
    table = golden(name)
    if command in {"build", "schedule"}:
        run("index", "build", table, *KIND, ALONE)
    before = files(table)

    ran = run("index", command, table, *KIND, ALONE, "--json")

    (kind,) = ran.document["kinds"]
    assert (ran.code, ran.document["outcome"], kind["state"]) == (0, "unchanged", "unchanged")
    assert ran.document["reason"].startswith("nothing to do: record_index: ")
    assert files(table) == before


def test_scheduling_twice_reports_the_same_plan(golden: Golden, run: Run) -> None:
    table = golden("v9_mor_orders")
    first = run("index", "schedule", table, *KIND, ALONE, "--json")
    before = files(table)

    again = run("index", "schedule", table, *KIND, ALONE, "--json")

    assert (again.code, again.document["outcome"]) == (0, "unchanged")
    assert again.document["instant"] == first.document["instant"]
    assert files(table) == before


def test_a_build_reports_indexes_that_were_complete_before_as_unchanged(golden: Golden, run: Run) -> None:
    ran = run("index", "build", golden("v9_mor_indexed"), *KIND, "--type", "bloom_filters", ALONE, "--json")
    more = run("index", "build", golden(LARGE), *KIND, "--type", "bloom_filters", ALONE, "--json")

    assert (ran.code, ran.document["outcome"]) == (0, "unchanged")
    assert (more.code, more.document["outcome"]) == (0, "ready")
    assert states(more) == {"bloom_filters": "ready", "record_index": "unchanged"}


def test_a_drop_reports_indexes_that_were_absent_as_unchanged(golden: Golden, run: Run) -> None:
    ran = run("index", "drop", golden(LARGE), *KIND, "--type", "bloom_filters", ALONE, "--json")

    assert (ran.code, ran.document["outcome"]) == (0, "dropped")
    assert states(ran) == {"record_index": "dropped", "bloom_filters": "unchanged"}


@pytest.mark.parametrize("arguments", [("build",), ("schedule",), ("build", "--dry-run")])
def test_another_column_for_a_complete_secondary_index_is_refused(
    arguments: tuple[str, ...], golden: Golden, run: Run
) -> None:
    table = golden(LARGE)
    assert run("index", "build", table, *BY_PLACE, ALONE).code == 0
    before = files(table)

    ran = run("index", *arguments, table, *BY_SEEN, ALONE)

    require_refusal(
        ran, 20, "secondary_index_by_place", "column place", "asks for one of the column seen", "index drop"
    )
    assert files(table) == before


@pytest.mark.parametrize("command", ["build", "schedule"])
def test_another_column_than_a_pending_plan_has_is_refused(command: str, golden: Golden, run: Run) -> None:
    table = golden(LARGE)
    plan = run("index", "schedule", table, *BY_PLACE, ALONE, "--json").document["instant"]
    before = files(table)

    ran = run("index", command, table, *BY_SEEN, ALONE)

    require_refusal(ran, 20, plan, "column place", "asks for one of the column seen", "index abort")
    assert files(table) == before


@pytest.mark.parametrize(
    ("there", "asked", "words"),
    [
        ((), ("--partitioned",), "is one for the whole table, and the request asks for one for each partition"),
        (("--partitioned",), (), "is one for each partition, and the request asks for one for the whole table"),
    ],
)
def test_a_record_index_of_another_shape_is_refused(
    there: tuple[str, ...], asked: tuple[str, ...], words: str, golden: Golden, run: Run
) -> None:
    table = golden("v9_mor_orders")
    assert run("index", "build", table, *KIND, *there, ALONE).code == 0
    before = files(table)

    same = run("index", "build", table, *KIND, *there, ALONE)
    other = run("index", "build", table, *KIND, *asked, ALONE)

    assert same.code == 0
    require_refusal(other, 20, words, "--partitioned", "index drop")
    assert files(table) == before


@pytest.mark.parametrize("arguments", [("build",), ("schedule",), ("build", "--dry-run")])
def test_a_stale_index_is_not_called_complete(arguments: tuple[str, ...], golden: Golden, run: Run) -> None:
    """A restore to before it was built has deleted its files, and the properties still list it."""
    table = golden("v9_mor_indexed")
    for file in (table / ".hoodie/metadata/record_index").iterdir():
        file.unlink()
    before = files(table)

    ran = run("index", *arguments, table, *KIND, ALONE)

    require_refusal(ran, 20, "record_index", "stale", "it has no file", "index drop")
    assert files(table) == before


def test_the_last_line_of_a_job_reports_success(golden: Golden) -> None:
    conf = {"hudi.engine.single.writer": "true"}
    request = JobRequest(str(golden("v9_mor_indexed")), Action.BUILD, ("record_index",), conf=conf)

    ran = run_engine("run", request.to_json())

    report = JobReport.from_json(ran.out.splitlines()[-1])
    assert (ran.code, report.outcome, report.exit_code, report.retry) == (0, Outcome.UNCHANGED, 0, False)
    assert [kind.state for kind in report.kinds] == [Outcome.UNCHANGED]


def states(ran: Ran) -> Mapping[str, str]:
    return {kind["kind"]: kind["state"] for kind in ran.document["kinds"]}
