"""Indexes that are built by one run: whenever an operator dies, there is no second run and none is lost."""

import random
from collections.abc import Mapping
from functools import partial

import pytest

from hudi_engine.contract import Action
from hudi_operator.reconcile.home import HomeError
from hudi_operator.resources.model import Ref
from tests.unit.operator.crash.ground import Fate, Ground, Killed
from tests.unit.operator.crash.lives import BLOOMS, RECORDS, STATS, ground_of_three, play

KINDS = {"record_index", "column_stats", "bloom_filters"}
TOGETHER = {(RECORDS, Action.BUILD): 1}
# The run for all of them, then one for each.
APART = {(RECORDS, Action.BUILD): 2, (STATS, Action.BUILD): 1, (BLOOMS, Action.BUILD): 1}


def calls(failures: int) -> int:
    _, (fate,), _ = play(lambda: [Fate()], begin=partial(ground_of_three, failures))
    return fate.calls


def wrong(ground: Ground, expected: Mapping[tuple[Ref, Action], int]) -> list[str]:
    """All that should not have happened."""
    found = []
    if ground.started != expected:
        found.append(f"runs: {dict(ground.started)}, expected {expected}")
    if ground.most_live > 1:
        found.append(f"{ground.most_live} runs lived at once")
    if ground.complete != KINDS:
        found.append(f"complete are {ground.complete}")
    return found


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("error", [Killed, HomeError])
@pytest.mark.parametrize(
    ("failures", "expected"),
    [pytest.param(0, TOGETHER, id="well"), pytest.param(1, APART, id="failed", marks=pytest.mark.thorough)],
)
def test_killed_or_refused_at_any_one_call_it_is_one_run_and_after_a_failure_one_for_each(
    failures: int, expected: Mapping[tuple[Ref, Action], int], error: type[BaseException], is_after: bool
) -> None:
    begin = partial(ground_of_three, failures)
    for number in range(1, calls(failures) + 1):
        ground, (fate,), _ = play(lambda number=number: [Fate(number, is_after, error)], begin=begin)  # type: ignore[misc]  # bound at once

        assert fate.has_hit, number
        assert wrong(ground, expected) == [], number


def test_two_operators_that_both_think_that_they_lead_begin_one_run() -> None:
    dice = random.Random(7)
    most = calls(0)
    for _ in range(20):
        at = [dice.randint(1, most) for _ in range(4)]
        fates = [Fate(number, is_after=True) for number in at]
        ground, _, _ = play(lambda fates=fates: fates, at_once=2, begin=ground_of_three)  # type: ignore[misc]  # bound at once

        assert wrong(ground, TOGETHER) == [], at
