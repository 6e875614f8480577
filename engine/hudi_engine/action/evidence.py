"""What the timelines, active and archived, say about commits that an index may lack."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hudi_engine.action.coverage import (
    Base,
    Evidence,
    Proof,
    completed_writes,
    just_before,
    proof_of,
)
from hudi_engine.action.keeping import ROWS, Traits
from hudi_engine.action.metadata_instants import LAST, SOLO, first_write
from hudi_engine.action.reading import Archived, Reading
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.table import Table

_LATE_MS = 3_600_000  # how much older than the base's newest commit one may be that came to light after it
_SERVICES = (Action.CLEAN, Action.ROLLBACK)


@dataclass(slots=True)
class Records:
    """Reads what commits say, each once: a completed commit never changes. Cleans count, too, where files do."""

    traits: Traits = ROWS
    _said: dict[tuple[str, Instant], CommitMetadata] = field(default_factory=dict)
    _undone: dict[Instant, frozenset[str]] = field(default_factory=dict)
    _archived: dict[tuple[str, str], Archived] = field(default_factory=dict)

    def evidence(self, reading: Reading) -> Evidence:
        """All about the completed commits that the base does not hold."""
        commits = dict(self._lacking(reading))
        proofs: dict[str, tuple[Proof, ...]] = {}
        for proof in self._proofs(reading, {instant.requested_at for instant in commits}):
            proofs[proof.instant] = (*proofs.get(proof.instant, ()), proof)
        listing = reading.metadata.table.storage.list(reading.base.index)
        return Evidence(commits, proofs, frozenset(file.path for file in listing))

    def targets(self, reading: Reading) -> frozenset[str]:
        """The instants that rollbacks and restores undid since the base was read."""
        metadata, base = reading.metadata, reading.base
        completed_at = reading.view.completions.completed_at
        found: set[str] = set()
        for instant in metadata.data_timeline.of(Action.ROLLBACK, Action.RESTORE):
            if instant.is_completed and completed_at[instant.requested_at] > base.read_at:
                if instant not in self._undone:
                    self._undone[instant] = metadata.data.undone(instant)
                found |= self._undone[instant]
        return frozenset(found)

    def archived_targets(self, metadata: MetadataTable, base: Base) -> frozenset[str]:
        """Those of which the archiver has taken the rollback meanwhile; it never takes a restore."""
        archived = self.archived(metadata, base)
        return frozenset(
            target for i, said in archived if (i.completed_at or LAST) > base.read_at for target in said.undone
        )

    def archived(self, metadata: MetadataTable, base: Base) -> Archived:
        """What the archiver has taken of the data's timeline, of which the base may not know."""
        return self._archived_since(metadata.data, metadata.data_timeline.first_write_still_active(), base)

    def _lacking(self, reading: Reading) -> Iterator[tuple[Instant, CommitMetadata]]:
        metadata, base = reading.metadata, reading.base
        completed_at = reading.view.completions.completed_at
        for instant in completed_writes(metadata.data_timeline):
            if not base.holds(instant.requested_at, completed_at[instant.requested_at]):
                yield instant, self._commit(metadata.data, instant)
        if self.traits.is_of_files:
            for clean, cleaned in reading.cleans:
                yield clean, CommitMetadata(operation=Action.CLEAN.name, cleaned=cleaned)
        active = {instant.requested_at for instant in metadata.data_timeline.instants}
        for instant, commit in self.archived(metadata, base):
            is_known = instant.requested_at in active or base.holds(instant.requested_at, instant.completed_at)
            if instant.action not in _SERVICES and not is_known:
                yield instant, commit

    def _proofs(self, reading: Reading, instants: set[str]) -> Iterator[Proof]:
        metadata, base = reading.metadata, reading.base
        completed_at = metadata.view.completions.completed_at
        of_the_data = {instant.requested_at for instant in metadata.data_timeline.instants}
        commits: list[tuple[Instant, str, CommitMetadata]] = []
        for instant in metadata.timeline.of(Action.DELTA_COMMIT):
            time = instant.requested_at
            is_ours = time not in of_the_data and not time.startswith(SOLO)
            if instant.is_completed and (time in instants or is_ours):
                commits.append((instant, completed_at[time], self._commit(metadata.table, instant)))
        for instant, commit in self._archived_since(metadata.table, first_write(metadata), base):
            commits.append((instant, instant.completed_at or "", commit))
        for instant, at, commit in commits:
            proof = proof_of(base, commit, instant.requested_at, at)
            if proof is not None:
                yield proof

    def _commit(self, table: Table, instant: Instant) -> CommitMetadata:
        key = (table.storage.location, instant)
        if key not in self._said:
            self._said[key] = table.commit(instant)
        return self._said[key]

    def _archived_since(self, table: Table, border: str, base: Base) -> Archived:
        """What was archived of commits after the base; only as the timeline gets a new first write there is news."""
        first = just_before(base.upto, _LATE_MS)
        if border <= first:
            return ()
        key = (table.storage.location, border)
        if key not in self._archived:
            self._archived[key] = tuple(table.archived_commits(first, LAST))
        return self._archived[key]
