"""Runs one part of the gate: its commands, then its tests, and those tests once more that the harness failed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.gate.downloads import Downloads
from tests.gate.parts import Gate, Part, program, pytest_command
from tests.gate.processes import Ended, run_shown
from tests.gate.results import Result, Tally, tally_of
from tests.gate.summary import Row, closing_line, minutes

_PYTEST_RAN: Final = (0, 1)  # all passed, or some failed; else pytest itself could not do its work


@dataclass(slots=True)
class PartRun:
    """One part while it runs. `passed` counts tests, commands, and the cases of a command that counts them."""

    part: Part
    gate: Gate
    folder: Path
    environment: Mapping[str, str]
    began: float
    passed: int
    failed: list[str]
    notes: list[str]

    def run(self) -> None:
        for command in self.part.commands:
            self._run_command(command)
        if self.part.tests:
            self._run_tests()

    def _run_command(self, command: str) -> None:
        log = self._log(command)
        ended = self._shown(program(command), command, log)
        counts = closing_line(log.read_text(errors="replace"))
        self.passed += counts[0] if counts else int(ended.code == 0)
        if ended.code != 0:
            self.failed += [f"{command} (exit code {ended.code})"] * max(1, counts[1] if counts else 1)

    def _run_tests(self) -> None:
        first = self._tests(self.part.tests, "tests")
        self.passed += len(first.passed)
        self.failed += [test for test in first.failed if test not in first.harness_errors]
        if first.harness_errors:
            self._run_again(first.harness_errors)

    def _run_again(self, harness_errors: Mapping[str, str]) -> None:
        """Both outcomes are reported: the words of the harness, and how many of the tests then passed."""
        selection = self.folder / f"{self.part.name}.again"
        selection.write_text("".join(f"{test}\n" for test in harness_errors))
        again = self._tests([f"@{selection}"], "once more, after errors of the harness")
        self.passed += len(again.passed)
        self.failed += [test for test in harness_errors if test not in again.passed]
        self.notes.append(
            f"the harness failed {len(harness_errors)} tests; of these run again {len(again.passed)} passed"
        )
        self.notes += sorted({_first_line(words) for words in harness_errors.values()})

    def _tests(self, what: Sequence[str], title: str) -> Tally:
        results = self.folder / f"{self.part.name}.results"
        results.unlink(missing_ok=True)
        command = pytest_command(self.part, what, results, self.gate.longest_test_seconds)
        ended = self._shown(command, title, self._log(title))
        lines = results.read_text().splitlines() if results.exists() else []
        tally = tally_of(map(Result.of_line, lines))
        if ended.was_stopped:
            self.failed += [f"{test} (ran when the part was ended)" for test in tally.unfinished]
        elif ended.code not in _PYTEST_RAN or (ended.code and not tally.failed):
            self.failed.append(f"pytest {' '.join(what)} ended with exit code {ended.code}")
        return tally

    def _log(self, title: str) -> Path:
        return self.folder / f"{self.part.name}-{title.split(maxsplit=1)[0]}.log"

    def _shown(self, command: Sequence[str], title: str, log: Path) -> Ended:
        print(f"\n=== {self.part.name}: {title}", flush=True)
        ceiling = self.gate.ceiling_seconds(self.part)
        left = self.began + ceiling - time.monotonic()
        ended = run_shown(command, log, self.gate.root, self.environment, max(left, 0))
        if ended.was_stopped:
            self.failed.append(f"{title}: ended because the part took {minutes(ceiling)} and still went on")
        return ended


def run_part(part: Part, gate: Gate, downloads: Downloads, folder: Path, environment: Mapping[str, str]) -> Row:
    """The time for which the part waits for downloads is no time of the part."""
    waited = downloads.wait_for(part.needs)
    running = PartRun(part, gate, folder, environment, time.monotonic(), 0, [], [])
    if missing := downloads.failed(part.needs):
        running.failed.append(f"{part.name}: not run, because {', '.join(missing)} could not be downloaded or built")
    else:
        running.run()
    seconds = time.monotonic() - running.began
    return Row(
        part.name, running.passed, tuple(running.failed), seconds, part.budget_seconds, waited, tuple(running.notes)
    )


def _first_line(words: str) -> str:
    return next((line for line in words.splitlines() if line.strip()), "no message")[:200]
