"""Whenever an operator dies, the next one does what is left to do, and nothing twice."""

import random

import pytest

from hudi_operator.reconcile.home import HomeError
from tests.kit.soak import is_soak
from tests.unit.operator.crash.ground import Fate, Ground, Killed
from tests.unit.operator.crash.lives import EXPECTED, RECORDS, play


def calls() -> int:
    """How many calls a life without trouble makes."""
    _, (fate,), _ = play(lambda: [Fate()])
    return fate.calls


def wrong(ground: Ground) -> list[str]:
    """All that should not have happened."""
    found = []
    if ground.started != EXPECTED:
        found.append(f"runs: {dict(ground.started)}, expected {EXPECTED}")
    if ground.most_live > 1:
        found.append(f"{ground.most_live} runs lived at once")
    if RECORDS in ground.resources:
        found.append("the index is still there")
    return found


def test_a_life_without_trouble_does_each_thing_once() -> None:
    ground, _, lives = play(lambda: [Fate()])

    assert wrong(ground) == []
    assert lives == 1
    assert calls() > 20


@pytest.mark.thorough
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("error", [Killed, HomeError])
def test_killed_or_refused_at_any_one_call(error: type[BaseException], is_after: bool) -> None:
    for number in range(1, calls() + 1):
        ground, (fate,), _ = play(lambda number=number: [Fate(number, is_after, error)])  # type: ignore[misc]  # bound at once

        assert fate.has_hit, number
        assert wrong(ground) == [], number


@pytest.mark.thorough
def test_killed_at_any_two_calls() -> None:
    most, step = calls(), 1 if is_soak() else 2
    for first in range(1, most + 1, 2 * step):
        for second in range(1, most + 2 - first, 3 * step):
            ground, _, _ = play(lambda a=first, b=second: [Fate(a, is_after=True), Fate(b, is_after=True)])  # type: ignore[misc]  # bound at once

            assert wrong(ground) == [], (first, second)


def test_killed_again_and_again_it_arrives() -> None:
    ground, _, lives = play(lambda: [Fate(4, is_after=True) for _ in range(100)])

    assert wrong(ground) == []
    assert lives > 5


@pytest.mark.thorough
def test_two_operators_that_both_think_that_they_lead_do_each_thing_once() -> None:
    dice = random.Random(6)
    most = calls()
    for _ in range(100):
        at = [dice.randint(1, most) for _ in range(4)]
        ground, _, _ = play(lambda at=at: [Fate(number, is_after=True) for number in at], at_once=2)  # type: ignore[misc]  # bound at once

        assert wrong(ground) == [], at
