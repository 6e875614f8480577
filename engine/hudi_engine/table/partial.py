"""Keys that got partial updates, which carry some columns only: folded row by row, as Hudi does.

`MERGE INTO` on merge-on-read tables of Hudi 1.0 and newer logs such rows. They are few beside whole rows, and each may
depend on every one before it, so this is the one place where rows are merged as Python values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: `row` holds the columns that it carries, None for a deletion; `rank` orders versions."""

    row: Row | None
    rank: int
    is_commit_time_delete: bool = False
    is_from_delete_block: bool = False


def fold(base: Version | None, changes: list[Version], *, is_ordered: bool) -> Row | None:
    """The record after these changes, oldest first; None if it is deleted. Columns that nobody wrote are left out."""
    current = changes[0]
    for change in changes[1:]:
        current = _laid_over(current, change, is_ordered=is_ordered)
    if base is not None:
        current = _overlaid(base, current, is_ordered=is_ordered)
    return current.row


def _laid_over(current: Version, change: Version, *, is_ordered: bool) -> Version:
    if change.is_from_delete_block:
        return change if not is_ordered or _deletes(current, change) else current
    return _overlaid(current, change, is_ordered=is_ordered)


def _deletes(current: Version, delete: Version) -> bool:
    if current.is_commit_time_delete:
        return False
    return delete.is_commit_time_delete or delete.rank >= current.rank


def _overlaid(older: Version, newer: Version, *, is_ordered: bool) -> Version:
    """Java's `partialMerge`: the version that wins gets from the other the columns that it does not carry."""
    if is_ordered and (older.is_commit_time_delete or newer.is_commit_time_delete):
        return newer
    winner, other = (older, newer) if is_ordered and older.rank > newer.rank else (newer, older)
    if winner.row is None or other.row is None:
        return winner
    return Version({**other.row, **winner.row}, winner.rank)
