"""The operator is lied to and cut off at every point, and each thing is done once all the same."""

from typing import Final

import pytest

from tests.cluster.faults.theatre import IS_SOAKING, Theatre, say, told
from tests.cluster.faults.trouble import Sort, Trouble, What

_REFUSALS: Final = (What.CONFLICT, What.GONE, What.INVALID, What.TOO_MANY, What.BROKEN, What.DROP, What.LOSE)
_OFTEN: Final = _REFUSALS if IS_SOAKING else (What.TOO_MANY, What.LOSE)

pytestmark = pytest.mark.timeout(7200)


def test_a_write_that_fails_is_made_up_for(theatre: Theatre, capsys: pytest.CaptureFixture[str]) -> None:
    step = 1 if IS_SOAKING else theatre.numbers["write"]
    troubles = [
        Trouble(what, Sort.WRITE, number)
        for offset, what in enumerate(_REFUSALS)
        for number in range(1 + 5 * offset % step, theatre.numbers["write"] + 1, step)
    ]

    stories = theatre.play(troubles)

    say(capsys, "a write that failed", stories)
    assert not [story for story in stories if story["wrong"]], told(stories)


@pytest.mark.parametrize(("sort", "step"), [(Sort.WRITE, 3), (Sort.READ, 5)])
def test_an_api_server_that_fails_every_few_times_only_delays(
    theatre: Theatre, sort: Sort, step: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A start lists three kinds, and ends with an error if a list is refused: it must not be every third read."""
    stories = theatre.play(Trouble(what, sort, first=1, step=step) for what in _OFTEN)

    say(capsys, f"every {step}. {sort} that failed", stories)
    assert not [story for story in stories if story["wrong"]], told(stories)


@pytest.mark.parametrize("what", [What.REPEAT, What.STALE, What.LATE, What.DROP, What.GONE])
def test_events_that_are_repeated_stale_late_or_lost_change_nothing(
    theatre: Theatre, what: What, capsys: pytest.CaptureFixture[str]
) -> None:
    stories = theatre.play([Trouble(what, Sort.EVENT, first=1, step=3 if what in (What.DROP, What.GONE) else 1)])

    say(capsys, f"events: {what}", stories)
    assert not [story for story in stories if story["wrong"]], told(stories)
    assert stories[0]["hits"] > 2
