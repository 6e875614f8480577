"""Scenarios that can be read aloud: each file is commands and what they print, from the first line to the last."""

from pathlib import Path

import pytest

from hudi_engine.action.index import build
from tests.kit.spread import spread
from tests.scenarios.play import REQUEST, Player
from tests.scenarios.transcript import read, replay
from tests.worlds.invariants import require_safe, require_tidy
from tests.worlds.starts import STARTS

_HERE = Path(__file__).parent
SCENARIOS = sorted(_HERE.glob("*/*.txt"))
_NAMES = [f"{path.parent.name}/{path.stem}" for path in SCENARIOS]
_ON_TABLES = spread([(name, start) for name in _NAMES for start in STARTS], each=2)


@pytest.mark.thorough
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_scenario_goes_as_it_is_written(path: Path, request: pytest.FixtureRequest) -> None:
    player = Player()

    found = replay(path, player.play)

    if request.config.getoption("--rewrite"):
        path.write_text(found)
    assert found == path.read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "start"), _ON_TABLES)
def test_a_scenario_leaves_a_right_index_on_every_table(name: str, start: str) -> None:
    player = Player(start=start)

    for passage in read(_HERE / f"{name}.txt"):
        if passage.command[0].startswith("compaction") and start.endswith("cow"):
            continue  # there are no logs to compact
        player.play(passage.command)

    require_safe(player.world, player.built)
    build(player.world.site("last"), REQUEST)
    require_tidy(player.world, player.built)


def test_no_scenario_went_missing() -> None:
    """A scenario that is added or removed changes this number, on purpose."""
    assert {path.parent.name for path in SCENARIOS} == {"rfc45", "rfc79"}
    assert len(SCENARIOS) == 36


def test_every_scenario_and_every_table_is_among_the_cases() -> None:
    assert {name for name, _ in _ON_TABLES} == set(_NAMES)
    assert {start for _, start in _ON_TABLES} == set(STARTS)
