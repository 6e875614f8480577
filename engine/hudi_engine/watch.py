"""Progress of long work, for whoever shows it."""

from typing import Protocol


class Watch(Protocol):
    """Who wants to know how far a piece of work is. Called from the thread that does the work."""

    def begin(self, phase: str, total: int | None = None) -> None:
        """A phase begins, of `total` steps if anybody knows; the phase before, if any, is done."""

    def advance(self, steps: int, rows: int = 0) -> None:
        """So many more steps of the phase are done, and so many more rows."""

    def say(self, what: str) -> None:
        """A sentence worth a line of its own: who is waited for, what was taken over, what is falling behind."""


class Unwatched:
    """Nobody wants to know."""

    def begin(self, phase: str, total: int | None = None) -> None: ...
    def advance(self, steps: int, rows: int = 0) -> None: ...
    def say(self, what: str) -> None: ...
