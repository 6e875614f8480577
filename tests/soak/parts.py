"""The parts of `make soak`, as `parts.toml` has them."""

import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PARTS: Final = Path(__file__).with_name("parts.toml")


class SoakError(Exception):
    """A soak run cannot begin; the message says what is wrong with what was asked."""


@dataclass(frozen=True, slots=True)
class SoakPart:
    """Either `tests`, the paths that pytest runs, or a `command`."""

    name: str
    tests: tuple[str, ...]
    command: str
    has_seeds: bool


@dataclass(frozen=True, slots=True)
class Soak:
    parts: tuple[SoakPart, ...]
    longest_minutes: float

    def part(self, name: str) -> SoakPart:
        for part in self.parts:
            if part.name == name:
                return part
        raise SoakError(f"no soak part is named {name}; the parts are: {', '.join(part.name for part in self.parts)}")

    def require_short(self, minutes: float) -> None:
        if not 0 < minutes <= self.longest_minutes:
            raise SoakError(f"a run takes more than 0 and at most {self.longest_minutes:g} minutes, not {minutes:g}")


def read_soak(path: Path = PARTS) -> Soak:
    document = tomllib.loads(path.read_text())
    parts = (
        SoakPart(
            entry["name"],
            tuple(shlex.split(entry.get("tests", ""))),
            entry.get("command", ""),
            entry.get("seeds", False),
        )
        for entry in document["part"]
    )
    return Soak(tuple(parts), document["longest_minutes"])
