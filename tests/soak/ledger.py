"""What soak runs found, and when: `ledger.json`, one line a run, in the repository.

A run adds its line; whoever ran it commits it. A failed line stays: the test and the fix that came of it follow.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

LEDGER: Final = Path(__file__).with_name("ledger.json")


@dataclass(frozen=True, slots=True)
class Run:
    """`cases` ran, `left` of the part's did not. The next run begins with the test `next`; with the first if empty."""

    part: str
    commit: str
    date: str
    seed: int
    cases: int
    left: int
    minutes: float
    result: str
    failed: tuple[str, ...] = ()
    next: str = ""

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Self:
        return cls(**{**fields, "failed": tuple(fields["failed"])})


def read_ledger(path: Path = LEDGER) -> tuple[Run, ...]:
    return tuple(map(Run.of, json.loads(path.read_text()))) if path.exists() else ()


def add_to_ledger(run: Run, path: Path = LEDGER) -> None:
    """A line for each run keeps the changes of two branches apart."""
    lines = (json.dumps(asdict(each), ensure_ascii=False) for each in (*read_ledger(path), run))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def last_run(runs: Iterable[Run], part: str) -> Run | None:
    """The run of the part with the latest date; of two with the same date, the later line."""
    found = sorted((run for run in runs if run.part == part), key=lambda run: run.date)
    return found[-1] if found else None


def oldest_part(runs: Sequence[Run], parts: Sequence[str]) -> str:
    """The part that never ran or, if all did, the one that ran longest ago."""
    return min(parts, key=lambda part: run.date if (run := last_run(runs, part)) else "")


def ages(runs: Sequence[Run], parts: Sequence[str], now: datetime) -> list[str]:
    """For each part when it last ran, and how that ended."""
    return [f"{part:<20}{_age(last_run(runs, part), now)}" for part in parts]


def _age(run: Run | None, now: datetime) -> str:
    if run is None:
        return "never ran"
    days = (now - datetime.fromisoformat(run.date)).days
    left = f", {run.left} left" if run.left else ""
    return f"{days} days ago at {run.commit}: {run.result}, {run.cases} cases{left}, {run.minutes:g} minutes"
