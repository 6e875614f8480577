"""Where scenarios are played, and what is told of them.

In each an index is built, the table validated and the index dropped, with trouble at one point or at many. A point is
an answer to a write, an answer to a read, or an event of a watch, by its number.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from tests.cluster.faults.trouble import Trouble
from tests.cluster.kubernetes import Cluster
from tests.kit.soak import is_soak

IS_SOAKING: Final = is_soak()
Story = dict[str, Any]


class Theatre:
    """Where scenarios are played."""

    def __init__(self, cluster: Cluster, table: Path) -> None:
        self._cluster = cluster
        self._table = table
        self.numbers: dict[str, int] = {}

    def play(self, troubles: Iterable[Trouble | None], operators: int = 1) -> list[Story]:
        wishes = [json.dumps({"trouble": trouble and asdict(trouble), "operators": operators}) for trouble in troubles]
        player = (sys.executable, "-m", "tests.cluster.faults.play")
        said = self._cluster.run([*player, self._cluster.folder, self._table, *wishes])
        return [json.loads(line) for line in said.splitlines()]


def require_right(what: str, stories: list[Story]) -> None:
    """Everything happened as without trouble. What did happen is printed: a failure shows it, and so does `-s`."""
    seconds = max(story["seconds"] for story in stories)
    print(
        f"{what}: {len(stories)} stories, hit {sum(story['hits'] for story in stories)} times, "
        f"{sum(story['starts'] for story in stories)} starts of the operator, of which "
        f"{sum(story['gave_up'] for story in stories)} ended with an error, "
        f"{sum(len(story['runs']) for story in stories)} runs, at most {seconds:.1f} s each"
    )
    assert not [story for story in stories if story["wrong"]], _told(stories)


def _told(stories: list[Story]) -> str:
    return "\n\n".join(
        "\n".join([story["trouble"], *story["wrong"], story["log"]]) for story in stories if story["wrong"]
    )
