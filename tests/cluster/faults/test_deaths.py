"""The operator is killed at every point, alone and beside another, and each thing is done once all the same."""

from typing import Final

import pytest

from tests.cluster.faults.theatre import IS_SOAKING, Theatre, say, told
from tests.cluster.faults.trouble import Sort, Trouble, What

_BETWEEN_DEATHS: Final = 10
# Of ten series of deaths those that are played where not all are.
_FIRST_DEATHS: Final = range(1, _BETWEEN_DEATHS + 1) if IS_SOAKING else (1, 6)

pytestmark = pytest.mark.timeout(7200)


@pytest.mark.parametrize("sort", [Sort.WRITE, Sort.EVENT])
def test_killed_after_any_answer_or_event_the_operator_goes_on_where_it_was(
    theatre: Theatre, sort: Sort, capsys: pytest.CaptureFixture[str]
) -> None:
    """When soaking every number is hit in one of the scenarios, by the first death or a later one, and as the only one.

    The last are not sure to be: a write that was killed after is not made again, and how often progress is told of
    depends on how fast the machine was without trouble.
    """
    deaths = [Trouble(What.KILL, sort, first, step=_BETWEEN_DEATHS) for first in _FIRST_DEATHS]
    once = [Trouble(What.KILL, sort, number) for number in range(1, theatre.numbers[sort] + 1)] if IS_SOAKING else []

    stories = theatre.play([*deaths, *once])

    say(capsys, f"killed after some {sort}", stories)
    assert not [story for story in stories if story["wrong"]], told(stories)
    hit = {
        trouble.first + _BETWEEN_DEATHS * time
        for trouble, story in zip(deaths, stories, strict=False)
        for time in range(story["hits"])
    }
    numbers = range(1, theatre.numbers[sort] - 2 * _BETWEEN_DEATHS)
    assert all(story["hits"] > 1 for story in stories[: len(deaths)]), "too few deaths to tell anything"
    assert {number for number in numbers if (number - 1) % _BETWEEN_DEATHS + 1 in _FIRST_DEATHS} <= hit


def test_of_two_operators_one_works_and_the_other_takes_over(
    theatre: Theatre, capsys: pytest.CaptureFixture[str]
) -> None:
    step = 1 if IS_SOAKING else 40
    deaths = [Trouble(What.KILL, Sort.WRITE, number) for number in range(5, theatre.numbers["write"] + 1, step)]

    stories = theatre.play([None, *deaths], operators=2)

    say(capsys, "two operators", stories)
    assert not [story for story in stories if story["wrong"]], told(stories)
    assert all(story["hits"] for story in stories[1:])
