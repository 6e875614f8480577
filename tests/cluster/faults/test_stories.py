"""The operator is killed, lied to and cut off at every point, and each thing is done once all the same.

The gate has one story of each kind of trouble; a soak has one of each trouble at each point.
"""

from typing import Final

import pytest

from tests.cluster.faults.theatre import IS_SOAKING, Theatre, require_right
from tests.cluster.faults.trouble import Sort, Trouble, What

_BETWEEN_DEATHS: Final = 10
_REFUSALS: Final = (What.CONFLICT, What.GONE, What.INVALID, What.TOO_MANY, What.BROKEN, What.DROP, What.LOSE)
_LIES: Final = (What.REPEAT, What.STALE, What.LATE)
_CUTS: Final = (What.DROP, What.GONE)

pytestmark = pytest.mark.timeout(7200 if IS_SOAKING else 300)


@pytest.mark.parametrize("sort", [Sort.WRITE, Sort.EVENT])
def test_killed_after_answers_or_events_the_operator_goes_on_where_it_was(theatre: Theatre, sort: Sort) -> None:
    deaths = [_every(What.KILL, sort=sort, first=1, step=_BETWEEN_DEATHS)]
    if IS_SOAKING:
        deaths += [_every(What.KILL, sort=sort, first=first, step=_BETWEEN_DEATHS) for first in range(2, 11)]
        deaths += [_once(What.KILL, sort, number) for number in range(1, theatre.numbers[sort] + 1)]

    stories = theatre.play(deaths)

    require_right(f"killed after some {sort}", stories)
    assert all(story["hits"] > 1 for story in stories[:10]), "too few deaths to tell anything"


def test_of_two_operators_one_works_and_the_other_takes_over(theatre: Theatre) -> None:
    last = theatre.numbers["write"] if IS_SOAKING else 5
    deaths = [_once(What.KILL, Sort.WRITE, number) for number in range(5, last + 1)]

    stories = theatre.play(deaths, operators=2)

    require_right("two operators", stories)
    assert all(story["hits"] for story in stories)


def test_writes_that_fail_in_each_way_are_made_up_for(theatre: Theatre) -> None:
    troubles = [_every(*_REFUSALS, sort=Sort.WRITE, first=1, step=3)]
    if IS_SOAKING:
        numbers = range(1, theatre.numbers["write"] + 1)
        troubles += [_every(what, sort=Sort.WRITE, first=1, step=3) for what in _REFUSALS]
        troubles += [_once(what, Sort.WRITE, number) for what in _REFUSALS for number in numbers]

    stories = theatre.play(troubles)

    require_right("writes that failed", stories)
    assert stories[0]["hits"] >= len(_REFUSALS)


def test_reads_that_fail_only_delay(theatre: Theatre) -> None:
    """A start lists three kinds, and ends with an error if a list is refused: it must not be every third read."""
    troubles = [_every(What.TOO_MANY, What.LOSE, sort=Sort.READ, first=1, step=5)]
    if IS_SOAKING:
        troubles += [_every(what, sort=Sort.READ, first=1, step=5) for what in _REFUSALS]

    stories = theatre.play(troubles)

    require_right("reads that failed", stories)
    assert stories[0]["hits"] >= 2


@pytest.mark.parametrize(("whats", "step"), [(_LIES, 1), (_CUTS, 3)], ids=["lies", "cuts"])
def test_events_that_are_repeated_stale_late_or_lost_change_nothing(
    theatre: Theatre, whats: tuple[What, ...], step: int
) -> None:
    troubles = [_every(*whats, sort=Sort.EVENT, first=1, step=step)]
    if IS_SOAKING:
        troubles += [_every(what, sort=Sort.EVENT, first=1, step=step) for what in whats]

    stories = theatre.play(troubles)

    require_right("events", stories)
    assert stories[0]["hits"] >= len(whats)


def _every(*whats: What, sort: Sort, first: int, step: int) -> Trouble:
    return Trouble(whats, sort, first, step)


def _once(what: What, sort: Sort, number: int) -> Trouble:
    return Trouble((what,), sort, number)
