"""A scenario file: commands, and under a line of dashes what they print."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_RULE: Final = "----"


@dataclass(frozen=True, slots=True)
class Passage:
    """Comments, a command with its further lines, and what it printed."""

    comments: tuple[str, ...]
    command: tuple[str, ...]
    printed: tuple[str, ...]

    def text(self) -> str:
        return "\n".join([*self.comments, *self.command, _RULE, *self.printed])


def read(path: Path) -> list[Passage]:
    """The passages of a file; blank lines are between them and nowhere else."""
    pieces = [piece for piece in path.read_text().strip().split("\n\n") if piece.strip()]
    return [_passage(piece.splitlines(), path) for piece in pieces]


def replay(path: Path, play: Callable[[tuple[str, ...]], list[str]]) -> str:
    """The whole file as it would be with what the commands print now."""
    found = [Passage(each.comments, each.command, tuple(play(each.command))) for each in read(path)]
    return "\n\n".join(passage.text() for passage in found) + "\n"


def _passage(lines: list[str], path: Path) -> Passage:
    comments = tuple(line for line in lines if line.startswith("#"))
    rest = [line for line in lines if not line.startswith("#")]
    at = rest.index(_RULE) if _RULE in rest else len(rest)
    assert at, f"{path}: comments without a command: {comments}"
    return Passage(comments, tuple(rest[:at]), tuple(rest[at + 1 :]))
