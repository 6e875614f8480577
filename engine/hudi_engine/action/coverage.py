"""Which commits of the data an index holds: proved commit by commit, and by what was written (RFC-45, 6.a.i).

That the metadata table has a commit for an instant proves nothing: a writer that began before there was an index
leaves the index out of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hudi_engine.action.metadata_instants import OURS
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.file_view import Completions
from hudi_engine.table.timeline import Timeline

PLAN: Final = "hudi.engine.plan"
ATTEMPT: Final = "hudi.engine.attempt"
UPTO: Final = "hudi.engine.upto"
COVERS: Final = "hudi.engine.covers"
INDEXES: Final = "hudi.engine.indexes"
READ_AT: Final = "hudi.engine.read_at"
DUPLICATES: Final = "hudi.engine.duplicates"
CAUGHT_UP: Final = "hudi.engine.caught_up"
"""Extra metadata of our commits to the metadata table: by which attempt at which plan; of a base what it was made of;
of a catch-up the instant that the index has with it."""

_COMMITS: Final = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
_MOVE_NOTHING: Final = frozenset({"COMPACT", "LOG_COMPACT", "INDEX", "ALTER_SCHEMA"})
_LATE_MS: Final = 10_000
"""How long after its completion time a commit may become visible: Java takes that time, waits, and then writes."""


@dataclass(frozen=True, slots=True)
class Base:
    """Our base of an index, as its commit says. `instant` and `completed_at` are those of that commit.

    It holds every commit up to `upto` that had completed a while before `read_at`, when the timeline was read, and
    those in `covers`.
    """

    index: str
    instant: str
    completed_at: str
    plan: str
    attempt: int
    upto: str
    read_at: str
    covers: frozenset[str]

    @property
    def settled_at(self) -> str:
        """Whatever completed before was seen for sure when the timeline was read."""
        return just_before(self.read_at, _LATE_MS)

    def holds(self, instant: str, completed_at: str | None) -> bool:
        """Whether the base was made of this commit too; an archived one's completion time may not be known."""
        is_early = instant <= self.upto and (completed_at is None or completed_at < self.settled_at)
        return is_early or instant in self.covers


@dataclass(frozen=True, slots=True)
class Held:
    """What a base made of one reading of the timeline holds: `read_at` is the last completion that it shows."""

    read_at: str
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """A completed commit to the metadata table that changes the index, for the commit of the data `instant`."""

    instant: str
    completed_at: str
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the commits that the base does not hold. `proofs` are by instant, `files` lie in the index."""

    commits: Mapping[Instant, CommitMetadata]
    proofs: Mapping[str, tuple[Proof, ...]]
    files: frozenset[str]


def held_by(timeline: Timeline, completions: Completions, upto: str) -> Held:
    """What is to be recorded with a base that is made of all that this reading shows to be completed.

    A commit that completes while the timeline is read may have a completion time before that of others that were
    seen: whatever completed last is named one by one.
    """
    read_at = max((completions.completed_at[i.requested_at] for i in timeline.completed()), default="")
    settled_at = just_before(read_at, _LATE_MS)
    completed = {i.requested_at: completions.completed_at[i.requested_at] for i in completed_writes(timeline)}
    return Held(read_at, tuple(sorted(i for i, at in completed.items() if i > upto or at >= settled_at)))


def completed_writes(timeline: Timeline) -> tuple[Instant, ...]:
    """What may have moved records; of an upgraded table, too."""
    return tuple(i for i in timeline.of(*_COMMITS) if i.is_completed)


def base_of(index: str, commit: CommitMetadata, instant: str, completed_at: str) -> Base | None:
    """The base that a commit to the metadata table made; None if it did not make one of this index."""
    extra = commit.extra
    named = extra[INDEXES].split(",") if INDEXES in extra else [stat.partition for stat in commit.stats]
    if UPTO not in extra or PLAN not in extra or index not in named:
        return None
    covers = frozenset(filter(None, extra.get(COVERS, "").split(",")))
    read_at = extra.get(READ_AT, "")
    number = extra.get(ATTEMPT, "0")
    attempt = int(number) if number.isascii() and number.isdecimal() else 0
    # The archive of version 6 may not know when a commit completed; no proof was made before the base was read.
    return Base(index, instant, completed_at or read_at, extra[PLAN], attempt, extra[UPTO], read_at, covers)


def duplicates_of(commit: CommitMetadata) -> Mapping[str, int]:
    """By index how many record keys had several rows when the commit made its base, where any had."""
    pairs = (pair.rpartition("=") for pair in commit.extra.get(DUPLICATES, "").split(",") if pair)
    return {name: int(count) for name, _, count in pairs if count.isascii() and count.isdecimal()}


def find_base(metadata: MetadataTable, plan: str, index: str) -> Base | None:
    """The base of an index that the last attempt at this plan has committed, wherever its commit is by now."""
    completed_at = metadata.view.completions.completed_at
    of_the_data = {instant.requested_at for instant in metadata.data_timeline.instants}
    commits = [
        (instant.requested_at, completed_at[instant.requested_at], metadata.table.commit(instant))
        for instant in metadata.timeline.of(Action.DELTA_COMMIT)
        if instant.is_completed and instant.requested_at not in of_the_data
    ]
    # The archiver of the metadata table begins with the lowest times, so with this one.
    commits += [
        (instant.requested_at, instant.completed_at or "", commit)
        for instant, commit in metadata.table.archived_commits(*OURS)
    ]
    bases = (base_of(index, commit, instant, at) for instant, at, commit in commits)
    ours = (base for base in bases if base is not None and base.plan == plan)
    return max(ours, key=lambda base: base.completed_at, default=None)


def proof_of(base: Base, commit: CommitMetadata, instant: str, completed_at: str) -> Proof | None:
    """What a commit to the metadata table proves: its own instant's entries, or those that we derived for another."""
    caught_up = commit.extra.get(CAUGHT_UP)
    if PLAN in commit.extra:
        is_ours = commit.extra[PLAN] == base.plan and commit.extra.get(ATTEMPT) == str(base.attempt)
        if caught_up is None or not is_ours:
            return None
    files = frozenset(stat.path for stat in commit.stats if stat.partition == base.index)
    # Log files of an index that was there before say nothing of the one that was made since.
    if not files or completed_at <= base.completed_at:
        return None
    return Proof(caught_up or instant, completed_at, files)


def unproven(evidence: Evidence, concerns: Callable[[CommitMetadata], bool]) -> tuple[Instant, ...]:
    """The commits of which the index may lack entries, by requested time, of those that concern it.

    Files that a proof names must still be there: undoing an earlier build may have deleted them, and then the index
    lacks what they said. If a compaction has taken them in, deriving finds nothing missing.
    """
    lacking = (
        instant
        for instant, commit in evidence.commits.items()
        if concerns(commit) and not _is_proven(evidence, instant)
    )
    return tuple(sorted(lacking, key=lambda instant: instant.requested_at))


def _is_proven(evidence: Evidence, instant: Instant) -> bool:
    return any(proof.files <= evidence.files for proof in evidence.proofs.get(instant.requested_at, ()))


def moves_records(commit: CommitMetadata) -> bool:
    """Whether rows may be elsewhere after this commit than before; an empty one has nothing that could be."""
    return commit.operation not in _MOVE_NOTHING and bool(commit.stats or commit.replaced)


def undone(base: Base, timeline: Timeline, targets: Iterable[str]) -> tuple[str, ...]:
    """Commits that the base holds and that are there no more; `targets` are what rollbacks and restores undid since.

    What has left the timeline above its first active write was not archived.
    """
    there = {instant.requested_at for instant in completed_writes(timeline)}
    border = timeline.first_write_still_active()
    gone = {each for each in (*base.covers, base.upto) if each >= border and each not in there}
    undone_since = {each for each in targets if each not in there and (each <= base.upto or each in base.covers)}
    return tuple(sorted(gone | undone_since))


def just_before(instant: str, milliseconds: int) -> str:
    """The time so much before an instant's, in the instant's own zone; of what names no moment, the instant."""
    try:
        moment = datetime.strptime(instant[:17].ljust(17, "0"), "%Y%m%d%H%M%S%f") - timedelta(milliseconds=milliseconds)
    except ValueError:
        return instant
    return f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"
