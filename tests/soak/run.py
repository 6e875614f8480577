"""Runs one soak part, and says what the ledger gets to know of it."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.gate.parts import ROOT, program
from tests.gate.processes import Ended, run_shown
from tests.gate.results import Result, Tally, tally_of
from tests.gate.summary import closing_line
from tests.kit.soak import SEED, SOAK
from tests.soak.parts import SoakPart

_LONGEST_TEST_SECONDS: Final = 1200
# A test that begins in the last moment may still run for so long, and a command may take its own time.
_MOST_MORE_SECONDS: Final = 1800


@dataclass(frozen=True, slots=True)
class Order:
    """`begin` is the test to begin with; empty for the first."""

    part: SoakPart
    minutes: float
    seed: int
    begin: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    cases: int
    failed: tuple[str, ...]
    left: tuple[str, ...]
    minutes: float


def run_order(order: Order, folder: Path) -> Outcome:
    """Its output is shown, and kept in the folder."""
    return _run_tests(order, folder) if order.part.tests else _run_command(order, folder)


def _run_command(order: Order, folder: Path) -> Outcome:
    command = order.part.command.format(seconds=f"{order.minutes * 60:g}", seed=order.seed)
    log = folder / f"soak-{order.part.name}.log"
    ended = _shown(program(command), log, order)
    passed, failed = closing_line(log.read_text(errors="replace")) or (int(ended.code == 0), int(ended.code != 0))
    wrong = (f"{command} (exit code {ended.code})",) if ended.code else ()
    return Outcome(passed + failed, wrong, (), ended.seconds / 60)


def _run_tests(order: Order, folder: Path) -> Outcome:
    results, items = (folder / f"soak-{order.part.name}.{kind}" for kind in ("results", "items"))
    for file in (results, items):
        file.unlink(missing_ok=True)
    command = _pytest(order, results, items)
    ended = _shown(command, folder / f"soak-{order.part.name}.log", order)
    tally = tally_of(map(Result.of_line, _lines(results)))
    wrong = tally.failed if tally.failed or ended.code == 0 else (f"pytest ended with exit code {ended.code}",)
    return Outcome(len(tally.passed) + len(tally.failed), wrong, tests_left(_lines(items), tally), ended.seconds / 60)


def tests_left(items: Sequence[str], tally: Tally) -> tuple[str, ...]:
    """Those without a result, in the order in which they would have run."""
    done = {*tally.passed, *tally.failed}
    return tuple(name for name in items if name not in done)


def _pytest(order: Order, results: Path, items: Path) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup"]
    command += [f"--timeout={_LONGEST_TEST_SECONDS}", f"--gate-results={results}"]
    command += [f"--soak-seconds={order.minutes * 60:g}", f"--soak-items={items}", f"--hypothesis-seed={order.seed}"]
    command += ["--soak-shuffle"] if order.part.has_seeds else [f"--soak-from={order.begin}"]
    return [*command, *order.part.tests]


def _shown(command: Sequence[str], log: Path, order: Order) -> Ended:
    return run_shown(command, log, ROOT, _environment(order), order.minutes * 60 + _MOST_MORE_SECONDS)


def _environment(order: Order) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "TZ": "UTC", SOAK: "1", SEED: str(order.seed)}


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
