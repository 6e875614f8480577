"""The results of one pytest run: lines of JSON that `plugin.py` writes while the tests run, and their sums."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Result:
    """One phase of one test: it began, or how it ended. `harness_error` is empty if the harness is not at fault."""

    test: str
    phase: str
    outcome: str = ""
    harness_error: str = ""

    @classmethod
    def of_line(cls, line: str) -> Self:
        fields: dict[str, Any] = json.loads(line)
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Tally:
    """`harness_errors` holds, for each test that failed by the harness alone, the words of its first error.

    Each of these tests is in `failed`, too. `unfinished` tests began and have no result.
    """

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    harness_errors: dict[str, str]
    unfinished: tuple[str, ...]


def tally_of(results: Iterable[Result]) -> Tally:
    by_test: dict[str, list[Result]] = {}
    for result in results:
        by_test.setdefault(result.test, []).append(result)
    ended = {test: [each for each in found if each.phase != "begin"] for test, found in by_test.items()}
    # A skipped test proves nothing, so only `passed` is no failure.
    wrong = {test: [each for each in found if each.outcome != "passed"] for test, found in ended.items()}
    finished = {test for test, found in ended.items() if wrong[test] or _has_torn_down(found)}
    return Tally(
        tuple(test for test in by_test if test in finished and not wrong[test]),
        tuple(test for test, found in wrong.items() if found),
        {
            test: found[0].harness_error
            for test, found in wrong.items()
            if found and all(each.harness_error for each in found)
        },
        tuple(test for test in by_test if test not in finished),
    )


def _has_torn_down(found: Iterable[Result]) -> bool:
    return any(each.phase == "teardown" for each in found)
