"""All runs that there ever were in a state folder, though the operator forgets them: looked at again and again."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

_SECONDS_BETWEEN: Final = 0.02


@dataclass(slots=True)
class RunRecord:
    """`began` and `ended` are the engine's, by the records that the keeper writes."""

    name: str
    action: str
    attempt: int
    began: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    said: str = ""


@dataclass(slots=True)
class RunsSeen:
    """Those of one namespace: the folder may be shared. `most_live` is how many lived at one moment at most."""

    folder: Path
    namespace: str
    runs: dict[str, RunRecord] = field(default_factory=dict)
    most_live: int = 0

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_SECONDS_BETWEEN)

    def look(self) -> None:
        for place in self.folder.glob("runs/[!.]*"):
            # It may be forgotten just now, or have just appeared.
            with suppress(FileNotFoundError):
                self._take(place)
        live = [run for run in self.runs.values() if run.began is not None and run.ended is None]
        self.most_live = max(self.most_live, len(live))

    @property
    def is_any_live(self) -> bool:
        return any(run.ended is None for run in self.runs.values())

    def overlapping(self) -> list[tuple[str, str]]:
        """Pairs of runs of which the second began before the first had ended."""
        times = sorted((run.began, run.ended or float("inf"), run.name) for run in self.runs.values() if run.began)
        return [(a[2], b[2]) for a, b in pairwise(times) if b[0] < a[1]]

    def _take(self, place: Path) -> None:
        if place.name not in self.runs:
            order = json.loads((place / "order.json").read_text())
            if order["owner"]["namespace"] != self.namespace:
                return
            action = json.loads(order["request"])["action"]
            self.runs[place.name] = RunRecord(place.name, action, order["attempt"])
        run = self.runs[place.name]
        if run.began is None and (place / "engine").exists():
            run.began = (place / "engine").stat().st_mtime
        if run.ended is None and (place / "exit").exists():
            code, ended = (place / "exit").read_text().split()
            run.exit_code, run.ended = int(code), float(ended)
            run.said = (place / "err").read_text()[-400:]
        if run.ended is None and (place / "lost").exists():
            run.exit_code, run.ended, run.said = -1, (place / "lost").stat().st_mtime, "never started"
