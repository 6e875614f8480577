"""The parts of the gate, as `budgets.toml` has them."""

import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
BUDGETS: Final = Path(__file__).with_name("budgets.toml")
_PROCESSES: Final = ("-n", "2")
_SLOWEST: Final = ("--durations=12", "--durations-min=20")


class GateError(Exception):
    """The gate cannot begin; the message says what is wrong with what was asked, or with `budgets.toml`."""


@dataclass(frozen=True, slots=True)
class Part:
    """`commands` are programs; `tests` are the paths that pytest then runs with `options`."""

    name: str
    budget_seconds: float
    commands: tuple[str, ...]
    tests: tuple[str, ...]
    options: tuple[str, ...]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    parts: tuple[Part, ...]
    downloads: Mapping[str, str]
    ceiling: float
    least_ceiling_seconds: float
    longest_test_seconds: float
    root: Path = ROOT

    def ceiling_seconds(self, part: Part) -> float:
        """A part that takes so long hangs. Empty caches and other load make short parts several times as long."""
        return max(self.ceiling * part.budget_seconds, self.least_ceiling_seconds)

    def chosen(self, names: Sequence[str]) -> tuple[Part, ...]:
        """The parts of these names, in the order of the file; all of them if none is named."""
        known = [part.name for part in self.parts]
        if unknown := sorted(set(names) - set(known)):
            raise GateError(f"no part is named {', '.join(unknown)}; the parts are: {', '.join(known)}")
        return tuple(part for part in self.parts if not names or part.name in names)


def read_gate(path: Path = BUDGETS) -> Gate:
    return gate_of(tomllib.loads(path.read_text()))


def gate_of(document: Mapping[str, Any]) -> Gate:
    gate = Gate(
        tuple(_part_of(each) for each in document["part"]),
        document["downloads"],
        document["ceiling"],
        document["least_ceiling_seconds"],
        document["longest_test_seconds"],
    )
    for part in gate.parts:
        if unknown := sorted(set(part.needs) - set(gate.downloads)):
            raise GateError(f"part {part.name} needs {', '.join(unknown)}, which [downloads] does not have")
    return gate


def _part_of(entry: Mapping[str, Any]) -> Part:
    return Part(
        entry["name"],
        entry["budget_seconds"],
        tuple(entry.get("commands", ())),
        tuple(shlex.split(entry.get("tests", ""))),
        tuple(shlex.split(entry.get("options", ""))),
        tuple(entry.get("needs", ())),
    )


def require_paths_are_there(gate: Gate) -> None:
    """A part that lost its folder would pass with fewer tests, or fail late with pytest's own words."""
    for part in gate.parts:
        for path in part.tests:
            if not (gate.root / path).exists():
                raise GateError(
                    f"part {part.name} runs {path}, which does not exist: correct its `tests` in {BUDGETS.name}"
                )


def program(command: str) -> list[str]:
    """The words of a command. Its program is the one of this Python environment."""
    name, *arguments = shlex.split(command)
    return [sys.executable if name == "python" else str(Path(sys.executable).with_name(name)), *arguments]


def pytest_command(part: Part, what: Sequence[str], results: Path, longest_test_seconds: float) -> list[str]:
    """`what` is paths or node ids. The results of its tests are in the file `results` afterwards."""
    seconds = min(longest_test_seconds, part.budget_seconds)
    limits = (f"--timeout={seconds:g}", f"--gate-results={results}")
    return [sys.executable, "-m", "pytest", "-q", *_PROCESSES, *_SLOWEST, *limits, *part.options, *what]
