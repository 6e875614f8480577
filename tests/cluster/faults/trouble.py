"""What goes wrong between the operator and the API server, and when."""

from dataclasses import dataclass
from enum import StrEnum


class Sort(StrEnum):
    """What is numbered, each for itself, in the order in which it happens. Renewals of a Lease are not."""

    WRITE = "write"
    READ = "read"
    EVENT = "event"  # of a watch


class What(StrEnum):
    KILL = "kill"  # the operator, by kill -9: the server has done what was asked, and the answer never arrives
    DROP = "drop"  # the connection, before the server hears of the request
    LOSE = "lose"  # the connection, after the server has done what was asked
    CONFLICT = "409"
    GONE = "410"
    INVALID = "422"
    TOO_MANY = "429"
    BROKEN = "500"
    REPEAT = "repeat"  # an event comes twice
    STALE = "stale"  # after an event the one before it of the same object comes again
    LATE = "late"  # an event comes a while later


CODES = {
    What.CONFLICT: (409, "Conflict"),
    What.GONE: (410, "Expired"),
    What.INVALID: (422, "Invalid"),
    What.TOO_MANY: (429, "TooManyRequests"),
    What.BROKEN: (500, "InternalError"),
}
LATE_SECONDS = 0.7


@dataclass(frozen=True, slots=True)
class Trouble:
    """It happens to the one with this number, or from there on to every so manieth; of several the next each time."""

    whats: tuple[What, ...]
    sort: Sort
    first: int
    step: int | None = None

    def of(self, sort: Sort, number: int, hits: int) -> What | None:
        """The trouble for the call of that number, after so many hits; None if the call passes."""
        if sort is not self.sort or number < self.first:
            return None
        is_hit = number == self.first if self.step is None else (number - self.first) % self.step == 0
        return self.whats[hits % len(self.whats)] if is_hit else None

    def __str__(self) -> str:
        of = (
            f"{self.sort} {self.first}" if self.step is None else f"every {self.step}. {self.sort} from {self.first} on"
        )
        return f"{', '.join(self.whats)} at {of}"
