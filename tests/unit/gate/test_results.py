"""Sums of what pytest reports test by test."""

import json

from tests.gate.results import Result, tally_of


def _passed(test: str) -> list[Result]:
    return [Result(test, "begin"), *(Result(test, phase, "passed") for phase in ("setup", "call", "teardown"))]


def test_a_test_passed_if_all_of_its_phases_did() -> None:
    assert tally_of(_passed("a")).passed == ("a",)


def test_a_test_whose_teardown_fails_counts_once_and_as_failed() -> None:
    tally = tally_of([*_passed("a")[:-1], Result("a", "teardown", "failed")])

    assert (tally.passed, tally.failed) == ((), ("a",))


def test_a_skipped_test_counts_as_failed() -> None:
    assert tally_of([Result("a", "begin"), Result("a", "setup", "skipped")]).failed == ("a",)


def test_a_file_that_cannot_be_collected_counts_as_failed() -> None:
    assert tally_of([Result("tests/a.py", "collect", "failed")]).failed == ("tests/a.py",)


def test_a_test_that_began_and_never_ended_is_unfinished() -> None:
    tally = tally_of([*_passed("a"), Result("b", "begin"), Result("b", "setup", "passed")])

    assert (tally.passed, tally.failed, tally.unfinished) == (("a",), (), ("b",))


def test_a_test_that_failed_by_the_harness_alone_is_told_apart() -> None:
    tally = tally_of(
        [
            Result("a", "setup", "failed", "no JVM"),
            Result("b", "call", "failed", "no JVM"),
            Result("b", "teardown", "failed"),
        ]
    )

    assert tally.failed == ("a", "b")
    assert tally.harness_errors == {"a": "no JVM"}


def test_a_line_of_the_file_is_a_result() -> None:
    line = json.dumps({"test": "a", "phase": "call", "outcome": "passed", "harness_error": ""})

    assert Result.of_line(line) == Result("a", "call", "passed")
