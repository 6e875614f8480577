"""The ledger of soak runs."""

from datetime import UTC, datetime
from pathlib import Path

from tests.soak.ledger import Run, add_to_ledger, ages, last_run, oldest_part, read_ledger
from tests.soak.parts import read_soak


def _run(part: str, day: int, **more: object) -> Run:
    fields = {"commit": "abc", "seed": 1, "cases": 12, "left": 0, "minutes": 3.5, "result": "passed", "failed": ()}
    return Run.of({**fields, "part": part, "date": f"2026-11-{day:02}T12:00:00+00:00", **more})


def test_runs_are_added_at_the_end_and_read_back(tmp_path: Path) -> None:
    runs = (_run("chaos", 1), _run("fuzz", 2, failed=("a::b",), next="a::c", left=3))
    for run in runs:
        add_to_ledger(run, tmp_path / "ledger.json")

    assert read_ledger(tmp_path / "ledger.json") == runs


def test_each_run_is_a_line_of_the_file(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        add_to_ledger(_run("chaos", day), tmp_path / "ledger.json")

    assert len((tmp_path / "ledger.json").read_text().splitlines()) == 2 + 3


def test_the_oldest_part_is_one_that_never_ran() -> None:
    assert oldest_part([_run("chaos", 1)], ["chaos", "fuzz"]) == "fuzz"


def test_the_oldest_part_is_the_one_whose_last_run_is_longest_ago() -> None:
    runs = [_run("chaos", 1), _run("fuzz", 2), _run("chaos", 3)]

    assert oldest_part(runs, ["chaos", "fuzz"]) == "fuzz"


def test_the_last_run_of_two_at_the_same_time_is_the_later_line() -> None:
    runs = [_run("chaos", 1, seed=1), _run("chaos", 1, seed=2)]

    assert last_run(runs, "chaos") == runs[1]


def test_ages_are_told_of_parts_that_never_ran_too() -> None:
    now = datetime(2026, 11, 6, tzinfo=UTC)

    assert ages([_run("chaos", 1, left=7)], ["chaos", "fuzz"], now) == [
        "chaos               4 days ago at abc: passed, 12 cases, 7 left, 3.5 minutes",
        "fuzz                never ran",
    ]


def test_the_repository_s_ledger_tells_of_parts_that_there_are() -> None:
    assert {run.part for run in read_ledger()} <= {part.name for part in read_soak().parts}
