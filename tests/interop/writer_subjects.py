"""Tables on which settings of Java's writers are tried: without an index, with one in flight, with one complete."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.interop.readable import TABLE_VERSIONS
from tests.interop.writer_cells import KINDS, Kind, Options
from tests.java.jvm import JavaError, Jvm
from tests.java.remains import flags
from tests.kit.engine import Engine, Pause

# The flag is set, and nothing that commits from now on has been looked at.
IN_FLIGHT: Final = Pause("in flight", "^catch up$")
_OF_EACH: Final = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.parquet.small.file.limit": "0",
    # Without it the tasks of a writer find no metadata table to update a secondary index by.
    "hoodie.embed.timeline.server": "true",
}
_WITHOUT: Final = {"hoodie.metadata.index.column.stats.enable": "false"}
_ALONE: Final = {"hudi.engine.single.writer": "true"}
_REFUSALS: Final = (
    "should be part of inflight metadata partitions here []",
    "Column stats partition must be enabled to generate partition stats",
)
# Which flag there is after a commit that came to another.
_BECOMES: Final = {"builds": "complete", "rebuilds": "complete", "deletes": "absent"}


@dataclass(slots=True)
class States:
    """Tables to whose index the engine has done nothing, half of its work and all of it: made once, copied for use."""

    folder: Path
    _made: set[Path] = field(default_factory=set)

    def copy(self, jvm: Jvm, kind: Kind, table_type: str, state: str) -> "Subject":
        written = self.folder / jvm.version / table_type
        self._once(written / "absent", lambda folder: _write(Subject(jvm, kind, folder, table_type)))
        needed = written / kind.needs / "absent"  # the same for one that needs none
        self._once(needed, lambda folder: _build(written / "absent", folder, KINDS[kind.needs]))
        made = written / kind.name
        if state != "absent":
            self._once(made, lambda folder: _build_held(needed, folder, kind))
        used = self.folder / "used"
        shutil.rmtree(used, ignore_errors=True)
        shutil.copytree(needed if state == "absent" else made / state, used)
        return Subject(jvm, kind, used, table_type)

    def _once(self, folder: Path, make: Callable[[Path], None]) -> None:
        if folder not in self._made:
            make(folder)
            self._made.add(folder)


@dataclass(frozen=True, slots=True)
class Subject:
    """The table that a commit is made to, and what becomes of its index."""

    jvm: Jvm
    kind: Kind
    folder: Path
    table_type: str
    lock: Options = field(default_factory=dict)

    def commit(self, numbers: Iterable[int], options: Options, how: str = "upsert") -> None:
        self.jvm.commit(table=self.described(options), rows=_rows(numbers), how=how)

    def begin(self, numbers: Iterable[int], options: Options) -> Callable[[], None]:
        """A commit that has begun; the answer ends it."""
        name = self.jvm.begin_commit(table=self.described(options), rows=_rows(numbers))
        return lambda: self.jvm.end_commit(name=name)

    def outcome_of(self, commit: Callable[[], None], before: frozenset[str] | None = None) -> str:
        """What it did to the files of the index that were there before, and that the flag follows from that."""
        found, flag = self.files() if before is None else before, self.flag
        try:
            commit()
        except JavaError as failed:
            if not any(words in str(failed) for words in _REFUSALS):
                raise
            outcome = "fails"
        else:
            outcome = _outcome(found, self.files())
        assert self.flag == _BECOMES.get(outcome, flag), outcome
        lost = self.kind.needs and not flags(self.folder, self.kind.needs)[0]
        return f"{outcome}, {self.kind.needs} is deleted" if lost else outcome

    def described(self, options: Options) -> Mapping[str, Any]:
        version = TABLE_VERSIONS[self.jvm.version][-1]
        described = {"folder": str(self.folder), "table_version": version, "table_type": self.table_type}
        return {**described, "options": {**_OF_EACH, **self.lock, **options}}

    @property
    def flag(self) -> str:
        complete, in_flight = flags(self.folder, self.kind.name)
        return "complete" if complete else "in flight" if in_flight else "absent"

    def files(self) -> frozenset[str]:
        """Of the index; its folder's own file and checksums left out."""
        found = (file.name for file in (self.folder / ".hoodie/metadata" / self.kind.name).glob("*"))
        return frozenset(name for name in found if not name.endswith(".crc") and "partition_metadata" not in name)


def _write(subject: Subject) -> None:
    """Logs, and base files of two commits."""
    subject.commit(range(10), _WITHOUT, "insert")
    subject.commit((0, 1, 10), _WITHOUT)


def _build(table: Path, folder: Path, kind: Kind) -> None:
    shutil.copytree(table, folder)
    with Engine(folder, _ALONE, asked=kind.asked) as engine:
        assert engine.end().code == 0


def _build_held(table: Path, folder: Path, kind: Kind) -> None:
    """The table as it is while the engine waits in the middle, and as it is when the engine has ended."""
    complete = folder / "complete"
    shutil.copytree(table, complete)
    with Engine(complete, _ALONE, [IN_FLIGHT], asked=kind.asked) as engine:
        assert engine.pauses(IN_FLIGHT.name)
        shutil.copytree(complete, folder / "in flight")
        engine.go_on(IN_FLIGHT.name)
        assert engine.end().code == 0


def _outcome(before: frozenset[str], after: frozenset[str]) -> str:
    if not before <= after:
        return "rebuilds" if after else "deletes"
    if before == after:
        return "leaves alone"
    return "logs" if before else "builds"


def _rows(numbers: Iterable[int]) -> list[dict[str, Any]]:
    return [{"id": f"k{number:03}", "part": f"p{number % 2}", "seen": 1} for number in numbers]
