"""Progress of a validation."""

from typing import Protocol


class Watch(Protocol):
    """Who wants to know how far a validation is. Called from the thread that reads its result."""

    def advance(self, count: int) -> None:
        """`count` more rows or entries were looked at."""
