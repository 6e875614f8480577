"""The table at the end of a run of the gate, and its closing line. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_OVER_BUDGET: Final = 1.3
_MOST_FAILURES: Final = 100
_CLOSING_LINE: Final = re.compile(r"(\d+) passed, (\d+) failed")
_WAITED_WORTH_A_NOTE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """How one part ended. `waited_seconds` for downloads are not in `seconds`."""

    part: str
    passed: int
    failed: tuple[str, ...]
    seconds: float
    budget_seconds: float
    waited_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def is_over_budget(self) -> bool:
        return self.seconds > _OVER_BUDGET * self.budget_seconds


def summary(rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Failures, the table, `notes`, and as the last line the sums that CI reads."""
    lines = [*_failures(rows), "", f"{'part':<12}{'passed':>8}{'failed':>8}{'minutes':>9}{'budget':>8}"]
    for row in rows:
        lines.append(_line(row))
        lines += [f"{'':<14}{note}" for note in row.notes]
    seconds, budget = sum(row.seconds for row in rows), sum(row.budget_seconds for row in rows)
    passed, failed = sum(row.passed for row in rows), sum(len(row.failed) for row in rows)
    lines += [f"{'sum':<12}{passed:>8}{failed:>8}{minutes(seconds):>9}{minutes(budget):>8}", *notes]
    return "\n".join([*lines, f"{passed} passed, {failed} failed"])


def closing_line(output: str) -> tuple[int, int] | None:
    """The counts that a program printed as its last line; None if that line has none."""
    lines = output.strip().splitlines()
    found = _CLOSING_LINE.fullmatch(lines[-1].strip()) if lines else None
    return None if found is None else (int(found[1]), int(found[2]))


def minutes(seconds: float) -> str:
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def _line(row: Row) -> str:
    verdict = [f"OVER BUDGET: {row.seconds / row.budget_seconds:.1f} times"] if row.is_over_budget else []
    if row.waited_seconds > _WAITED_WORTH_A_NOTE_SECONDS:
        verdict.append(f"waited {minutes(row.waited_seconds)} for downloads")
    counts = f"{row.part:<12}{row.passed:>8}{len(row.failed):>8}"
    return f"{counts}{minutes(row.seconds):>9}{minutes(row.budget_seconds):>8}  {'; '.join(verdict)}".rstrip()


def _failures(rows: Sequence[Row]) -> list[str]:
    found = [f"FAILED {row.part}: {each}" for row in rows for each in row.failed]
    return [
        "",
        *found[:_MOST_FAILURES],
        *([f"… and {len(found) - _MOST_FAILURES} more"] if found[_MOST_FAILURES:] else []),
    ]
