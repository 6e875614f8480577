"""What a benchmark is to reach, told beside what it has found."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table as Grid

MOST_OF_JAVAS_BYTES: Final = 1.05
MOST_OF_JAVAS_MEMORY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, and what it is to be: at least so much or, where less is better, at most."""

    name: str
    found: float
    wanted: float
    is_less_better: bool
    unit: str

    @property
    def is_met(self) -> bool:
        return self.found <= self.wanted if self.is_less_better else self.found >= self.wanted

    @property
    def row(self) -> tuple[str, str, str, str]:
        bound = f"{'at most' if self.is_less_better else 'at least'} {self.wanted:,g} {self.unit}"
        return self.name, f"{self.found:,g} {self.unit}", bound, "met" if self.is_met else "MISSED"


def at_least(name: str, found: float, wanted: float, unit: str = "x") -> Goal:
    return Goal(name, found, wanted, False, unit)


def at_most(name: str, found: float, wanted: float, unit: str = "x") -> Goal:
    return Goal(name, found, wanted, True, unit)


def finish(goals: Iterable[Goal], equal: Mapping[str, Any]) -> None:
    """Prints every goal, and ends the process with 1 if something is not equal: speed depends on the machine."""
    grid = Grid()
    for column in ("", "found", "goal", ""):
        grid.add_column(column, justify="right" if column else "left")
    for goal in goals:
        grid.add_row(*goal.row)
    Console(width=120).print(grid)
    if wrong := [name for name, is_equal in equal.items() if not is_equal]:
        sys.exit(f"NOT equal: {', '.join(wrong)}")
