"""Where scenarios are played, and what is told of them.

In each an index is built, the table validated and the index dropped, with trouble at one point or at many. A point is
an answer to a write, an answer to a read, or an event of a watch, by its number.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.faults.trouble import Trouble
from tests.cluster.kubernetes import Cluster

IS_SOAKING: Final = "HUDI_SOAK" in os.environ
Story = dict[str, Any]


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


def _tree(trouble: Trouble | None) -> dict[str, Any] | None:
    if trouble is None:
        return None
    return {"what": trouble.what, "sort": trouble.sort, "first": trouble.first, "step": trouble.step}


def say(capsys: pytest.CaptureFixture[str], what: str, stories: list[Story]) -> None:
    hit = [story for story in stories if story["hits"]]
    seconds = sorted(story["seconds"] for story in stories)
    with capsys.disabled():
        print(
            f"\n{what}: {len(stories)} scenarios, {sum(story['hits'] for story in hit)} times in {len(hit)} of them, "
            f"{sum(story['starts'] for story in stories)} starts of the operator, of which "
            f"{sum(story['gave_up'] for story in stories)} ended with an error, "
            f"{sum(len(story['runs']) for story in stories)} runs, at most {seconds[-1]:.1f} s each"
        )


def told(stories: list[Story]) -> str:
    return "\n\n".join(
        "\n".join([story["trouble"], *story["wrong"], story["log"]]) for story in stories if story["wrong"]
    )
