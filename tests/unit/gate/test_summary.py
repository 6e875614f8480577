"""The table that ends a run."""

from tests.gate.summary import Row, closing_line, summary

_GOOD = Row("check", 4300, (), 58.4, 60)


def test_the_last_line_has_the_sums_of_all_parts() -> None:
    text = summary([_GOOD, Row("cluster", 20, ("tests/a.py::test_b",), 200, 255)])

    assert text.splitlines()[-1] == "4320 passed, 1 failed"


def test_each_part_has_its_counts_its_minutes_and_its_budget() -> None:
    assert "check           4300       0     0:58    1:00" in summary([_GOOD]).splitlines()


def test_a_part_that_takes_a_third_longer_than_its_budget_is_said_to_be_over_it() -> None:
    text = summary([Row("slow", 1, (), 79, 60), Row("within", 1, (), 77, 60)])

    assert [line.split()[0] for line in text.splitlines() if "OVER BUDGET: 1.3 times" in line] == ["slow"]


def test_failures_are_named_before_the_table() -> None:
    lines = summary([Row("cluster", 0, ("tests/a.py::test_b",), 1, 1)]).splitlines()

    assert lines.index("FAILED cluster: tests/a.py::test_b") < lines.index(next(filter(lambda x: "budget" in x, lines)))


def test_waiting_for_downloads_and_notes_stand_with_their_part() -> None:
    lines = summary([Row("s3", 1, (), 30, 60, 125, ("the harness failed 2 tests",))]).splitlines()

    (at,) = (number for number, line in enumerate(lines) if line.endswith("waited 2:05 for downloads"))
    assert lines[at + 1].strip() == "the harness failed 2 tests"


def test_a_program_that_counts_says_so_in_its_last_line() -> None:
    assert closing_line("seed 3\n81 passed, 2 failed\n") == (81, 2)
    assert closing_line("All good\n") is None
    assert closing_line("") is None
