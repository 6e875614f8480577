"""The timeline as one immutable snapshot: what was asked for, what runs, what is done."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_engine.errors import CorruptFile
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State, parse_instant
from hudi_engine.storage.protocol import FileStat

WRITES = frozenset(
    {
        Action.COMMIT,
        Action.DELTA_COMMIT,
        Action.COMPACTION,
        Action.LOG_COMPACTION,
        Action.REPLACE_COMMIT,
        Action.CLUSTERING,
    }
)
_RANK = {State.REQUESTED: 0, State.INFLIGHT: 1, State.COMPLETED: 2}


@dataclass(frozen=True, slots=True)
class Timeline:
    """Each instant once, in its highest state, by requested time. `files` has every state file that was seen."""

    instants: tuple[Instant, ...]
    files: Mapping[str, FileStat]

    def completed(self) -> tuple[Instant, ...]:
        return tuple(instant for instant in self.instants if instant.is_completed)

    def pending(self) -> tuple[Instant, ...]:
        return tuple(instant for instant in self.instants if not instant.is_completed)

    def of(self, *actions: Action) -> tuple[Instant, ...]:
        return tuple(instant for instant in self.instants if instant.action in actions)

    def writes(self) -> tuple[Instant, ...]:
        return self.of(*WRITES)

    def find(self, requested_at: str) -> Instant | None:
        return next((instant for instant in self.instants if instant.requested_at == requested_at), None)

    def last_without_holes(self) -> Instant | None:
        """The last completed write before the earliest pending one (RFC-45, the base instant of an index)."""
        last = None
        for write in self.writes():
            if not write.is_completed:
                break
            last = write
        return last

    def first_write_still_active(self) -> InstantTime:
        """The border below which every instant counts as completed: archiving takes nothing that is pending.

        The archiver stops at savepoints, so a savepointed instant at the head may be older than archived ones:
        it does not mark the border (Java's `getFirstNonSavepointCommit`). Empty if there is no write at all.
        """
        saved = {instant.requested_at for instant in self.of(Action.SAVEPOINT) if instant.is_completed}
        return next((i.requested_at for i in self.writes() if i.requested_at not in saved), InstantTime(""))


def read_timeline(files: Iterable[FileStat]) -> Timeline:
    """The timeline that a listing of its folder shows; unknown actions and empty completed plans are refused."""
    highest: dict[tuple[str, Action], Instant] = {}
    seen: dict[str, FileStat] = {}
    for file in files:
        instant = None if file.is_folder else parse_instant(file.name)
        if instant is None:
            continue
        seen[file.name] = file
        known = highest.get(instant.identity)
        if known is None or _RANK[instant.state] > _RANK[known.state]:
            highest[instant.identity] = instant
    ordered = sorted(highest.values(), key=lambda instant: (instant.requested_at, instant.action))
    return Timeline(tuple(ordered), seen)


def require_content(data: bytes) -> bytes:
    """A plan is never empty; zero bytes are a crash between create and write (field failure 29)."""
    if not data:
        raise CorruptFile(
            "an empty file where a record was expected: the writer died between creating and filling it. "
            "Let a Hudi writer with this action roll it back or remove it",
            0,
        )
    return data
