"""The operator is killed, lied to and cut off at every point, and each thing is done once all the same.

A point is an answer to a write, an answer to a read, or an event of a watch, by its number. In each scenario an index
is built, the table validated and the index dropped, with trouble at one point or at many.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.faults.trouble import Sort, Trouble, What
from tests.cluster.kubernetes import Cluster
from tests.golden.unpack import unpack

_IS_SOAKING: Final = "HUDI_SOAK" in os.environ
_BETWEEN_DEATHS: Final = 10
# Of ten series of deaths, and of seven sorts of failure, those that are played where not all are.
_FIRST_DEATHS: Final = range(1, _BETWEEN_DEATHS + 1) if _IS_SOAKING else (1, 4, 8)
_TABLE: Final = "v9_cow_orders"
_REFUSALS: Final = (What.CONFLICT, What.GONE, What.INVALID, What.TOO_MANY, What.BROKEN, What.DROP, What.LOSE)
_OFTEN: Final = _REFUSALS if _IS_SOAKING else (What.TOO_MANY, What.LOSE)

Story = dict[str, Any]
pytestmark = pytest.mark.timeout(7200)


class Theatre:
    """Where scenarios are played."""

    def __init__(self, cluster: Cluster, table: Path) -> None:
        self._cluster = cluster
        self._table = table
        self.numbers: dict[str, int] = {}

    def play(self, troubles: Iterable[Trouble | None], operators: int = 1) -> list[Story]:
        wishes = [json.dumps({"trouble": _tree(trouble), "operators": operators}) for trouble in troubles]
        player = (sys.executable, "-m", "tests.cluster.faults.play")
        said = self._cluster.run([*player, self._cluster.folder, self._table, *wishes])
        return [json.loads(line) for line in said.splitlines()]


@pytest.fixture(scope="module")
def theatre(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Theatre:
    """With how many points there are when nothing goes wrong."""
    theatre = Theatre(cluster, unpack(_TABLE, tmp_path_factory.mktemp("faults")))
    (story,) = theatre.play([None])
    assert not story["wrong"], _told([story])
    theatre.numbers = story["numbers"]
    return theatre


@pytest.mark.parametrize("sort", [Sort.WRITE, Sort.EVENT])
def test_killed_after_any_answer_or_event_the_operator_goes_on_where_it_was(
    theatre: Theatre, sort: Sort, capsys: pytest.CaptureFixture[str]
) -> None:
    """When soaking every number is hit in one of the scenarios, by the first death or a later one, and as the only one.

    The last few are not sure to be: a write that was killed after is not made again.
    """
    deaths = [Trouble(What.KILL, sort, first, step=_BETWEEN_DEATHS) for first in _FIRST_DEATHS]
    once = [Trouble(What.KILL, sort, number) for number in range(1, theatre.numbers[sort] + 1)] if _IS_SOAKING else []

    stories = theatre.play([*deaths, *once])

    _say(capsys, f"killed after some {sort}", stories)
    assert not [story for story in stories if story["wrong"]], _told(stories)
    hit = {
        trouble.first + _BETWEEN_DEATHS * time
        for trouble, story in zip(deaths, stories, strict=False)
        for time in range(story["hits"])
    }
    numbers = range(1, theatre.numbers[sort] - _BETWEEN_DEATHS)
    assert {number for number in numbers if (number - 1) % _BETWEEN_DEATHS + 1 in _FIRST_DEATHS} <= hit


def test_a_write_that_fails_is_made_up_for(theatre: Theatre, capsys: pytest.CaptureFixture[str]) -> None:
    step = 1 if _IS_SOAKING else theatre.numbers["write"]
    troubles = [
        Trouble(what, Sort.WRITE, number)
        for offset, what in enumerate(_REFUSALS)
        for number in range(1 + 5 * offset % step, theatre.numbers["write"] + 1, step)
    ]

    stories = theatre.play(troubles)

    _say(capsys, "a write that failed", stories)
    assert not [story for story in stories if story["wrong"]], _told(stories)


@pytest.mark.parametrize(("sort", "step"), [(Sort.WRITE, 3), (Sort.READ, 5)])
def test_an_api_server_that_fails_every_few_times_only_delays(
    theatre: Theatre, sort: Sort, step: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A start lists three kinds, and ends with an error if a list is refused: it must not be every third read."""
    stories = theatre.play(Trouble(what, sort, first=1, step=step) for what in _OFTEN)

    _say(capsys, f"every {step}. {sort} that failed", stories)
    assert not [story for story in stories if story["wrong"]], _told(stories)


@pytest.mark.parametrize("what", [What.REPEAT, What.STALE, What.LATE, What.DROP, What.GONE])
def test_events_that_are_repeated_stale_late_or_lost_change_nothing(
    theatre: Theatre, what: What, capsys: pytest.CaptureFixture[str]
) -> None:
    stories = theatre.play([Trouble(what, Sort.EVENT, first=1, step=3 if what in (What.DROP, What.GONE) else 1)])

    _say(capsys, f"events: {what}", stories)
    assert not [story for story in stories if story["wrong"]], _told(stories)
    assert stories[0]["hits"] > 2


def test_of_two_operators_one_works_and_the_other_takes_over(
    theatre: Theatre, capsys: pytest.CaptureFixture[str]
) -> None:
    step = 1 if _IS_SOAKING else 40
    deaths = [Trouble(What.KILL, Sort.WRITE, number) for number in range(5, theatre.numbers["write"] + 1, step)]

    stories = theatre.play([None, *deaths], operators=2)

    _say(capsys, "two operators", stories)
    assert not [story for story in stories if story["wrong"]], _told(stories)
    assert all(story["hits"] for story in stories[1:])


def _tree(trouble: Trouble | None) -> dict[str, Any] | None:
    if trouble is None:
        return None
    return {"what": trouble.what, "sort": trouble.sort, "first": trouble.first, "step": trouble.step}


def _say(capsys: pytest.CaptureFixture[str], what: str, stories: list[Story]) -> None:
    hit = [story for story in stories if story["hits"]]
    seconds = sorted(story["seconds"] for story in stories)
    with capsys.disabled():
        print(
            f"\n{what}: {len(stories)} scenarios, {sum(story['hits'] for story in hit)} times in {len(hit)} of them, "
            f"{sum(story['starts'] for story in stories)} starts of the operator, of which "
            f"{sum(story['gave_up'] for story in stories)} ended with an error, "
            f"{sum(len(story['runs']) for story in stories)} runs, at most {seconds[-1]:.1f} s each"
        )


def _told(stories: list[Story]) -> str:
    return "\n\n".join(
        "\n".join([story["trouble"], *story["wrong"], story["log"]]) for story in stories if story["wrong"]
    )
