"""What a validation finds: one value for each way in which an index and the data disagree."""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """How an index lies."""

    MISSING = "missing"  # the data have it, the index does not
    WRONG = "wrong"  # both have it, and the index says something else
    GHOST = "ghost"  # the index has it, the data do not
    DUPLICATE = "duplicate"  # an entry twice in an index


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One disagreement. `place` is `partition/file id` (or the file) that `key` is or should be at."""

    index: str
    fault: Fault
    key: str
    place: str
    found: str
    expected: str

    def __str__(self) -> str:
        """One line for people, whatever the key holds."""
        says = f"{self.index}: {self.fault} {self.key!r} at {self.place or '.'!r}"
        return f"{says}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class DuplicateKey:
    """A record key of several rows, which is no fault of an index: a record index leads to one of them."""

    key: str


def place_of(partition: str, file: str) -> str:
    """A file or file group in one word; that of an unpartitioned table is its name alone."""
    return f"{partition}/{file}" if partition else file
