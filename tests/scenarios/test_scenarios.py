"""Scenarios that can be read aloud: each file is commands and what they print, from the first line to the last."""

from pathlib import Path

import pytest

from tests.scenarios.play import Player
from tests.scenarios.transcript import replay

_HERE = Path(__file__).parent
SCENARIOS = sorted(_HERE.glob("*/*.txt"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_scenario_goes_as_it_is_written(path: Path, request: pytest.FixtureRequest) -> None:
    player = Player()

    found = replay(path, player.play)

    if request.config.getoption("--rewrite"):
        path.write_text(found)
    assert found == path.read_text()


def test_no_scenario_went_missing() -> None:
    assert {path.parent.name for path in SCENARIOS} == {"rfc45", "rfc79"}
    assert len(SCENARIOS) >= 20
