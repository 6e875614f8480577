"""What settings of Java's writers do to a record index: each cell of the tables in docs/writers.md."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from hudi_engine.format import properties, service_records
from hudi_engine.format.service_records import RecordName
from tests.interop.jvm import JavaError, Jvm
from tests.interop.live_commits import COMPLETE, IN_FLIGHT, change_properties
from tests.interop.readable import TABLE_VERSIONS

Options = Mapping[str, str]

_ENABLE: Final = "hoodie.metadata.record.index.enable"
_NEW_NAME: Final = "hoodie.metadata.global.record.level.index.enable"
_SETTINGS: Final[dict[str, dict[str, str]]] = {
    "none": {},
    "on": {_ENABLE: "true"},
    "on, async": {_ENABLE: "true", "hoodie.metadata.index.async": "true"},
    "none, keep": {"hoodie.metadata.auto.delete.partitions": "false"},
}
_OF_EACH: Final = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
_FLAGS: Final = {
    "absent": {COMPLETE: "files", IN_FLIGHT: ""},
    "in flight": {COMPLETE: "files", IN_FLIGHT: "record_index"},
    "complete": {COMPLETE: "files,record_index", IN_FLIGHT: ""},
}
# Which flags there are after a commit that came to them; None: those that it found.
_FLAGS_AFTER: Final = {
    "leaves alone": None,
    "logs": None,
    "fails": None,
    "builds": "complete",
    "rebuilds": "complete",
    "deletes": "absent",
}
_REFUSAL: Final = "Partition record_index should be part of inflight metadata partitions here []"
_PAGE: Final = Path(__file__).parents[2] / "docs/writers.md"
_IS_SOAK: Final = bool(os.environ.get("HUDI_SOAK"))
_TYPES: Final = ("MERGE_ON_READ", "COPY_ON_WRITE") if _IS_SOAK else ("MERGE_ON_READ",)


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of a table on the page and what it says of one column."""

    release: str
    streaming: str
    settings: str
    column: str
    outcome: str

    @property
    def options(self) -> Options:
        streams = {"hoodie.metadata.streaming.write.enabled": str(self.streaming == "on").lower()}
        return {**_SETTINGS[self.settings], **(streams if self.streaming else {})}

    def __str__(self) -> str:
        return f"{self.settings}-{'streaming' if self.streaming == 'on' else 'batch'}-{self.column}-{self.outcome}"


def _cells(last_column: str) -> Iterator[Cell]:
    """Those of the table on the page whose last column is called so."""
    lines = iter(_PAGE.read_text().splitlines())
    columns = next(row for row in map(_split, lines) if row[-1:] == [last_column])
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        release, streaming, settings, *outcomes = _split(line)
        for column, outcome in zip(columns[3:], outcomes, strict=True):
            yield Cell(release, streaming, settings, column, outcome)


def _split(line: str) -> list[str]:
    return [text.strip() for text in line.strip("|").split("|")] if line.startswith("|") else []


def _each(cells: list[Cell]) -> pytest.MarkDecorator:
    cases = [(cell.release, kind, cell) for cell in cells for kind in _TYPES]
    return pytest.mark.parametrize(("real_hudi", "table_type", "cell"), cases, indirect=["real_hudi"], ids=str)


_AT_REST = list(_cells("complete"))
_ACROSS = list(_cells("began in flight, completes when complete"))


@dataclass(slots=True)
class States:
    """Tables without, with a growing and with a whole record index, made once and copied for each use."""

    folder: Path
    _made: set[tuple[str, str]] = field(default_factory=set)

    def copy(self, real_hudi: Jvm, table_type: str, state: str) -> "Subject":
        made = self.folder / real_hudi.version / table_type
        if (real_hudi.version, table_type) not in self._made:
            self._make(real_hudi, table_type, made)
            self._made.add((real_hudi.version, table_type))
        used = self.folder / "used"
        shutil.rmtree(used, ignore_errors=True)
        shutil.copytree(made / state, used)
        return Subject(real_hudi, used, table_type)

    def _make(self, real_hudi: Jvm, table_type: str, folder: Path) -> None:
        absent, complete, in_flight = (folder / name for name in ("absent", "complete", "in flight"))
        plain = Subject(real_hudi, absent, table_type)
        plain.commit(range(10), {}, "insert")
        plain.commit((0, 1, 10), {})
        shutil.copytree(absent, complete)
        Subject(real_hudi, complete, table_type).commit((2, 11), _SETTINGS["on"])
        shutil.copytree(complete, in_flight)
        change_properties(in_flight, _FLAGS["in flight"])
        _plan_index(in_flight, TABLE_VERSIONS[real_hudi.version][-1])


@dataclass(frozen=True, slots=True)
class Subject:
    """The table that one commit is made to, and what becomes of its index."""

    jvm: Jvm
    folder: Path
    table_type: str

    def commit(self, numbers: Any, options: Options, how: str = "upsert") -> None:
        self.jvm.commit(table=self._described(options), rows=_rows(numbers), how=how)

    def commit_across(self, numbers: Any, options: Options, changed: Options) -> None:
        self.jvm.commit_across(table=self._described(options), rows=_rows(numbers), changed=changed)

    def outcome_of(self, commit: Callable[[], None], flags: str) -> str:
        """What the commit did, and that the flags are those which follow from that and from what they were."""
        before = self._files()
        try:
            commit()
        except JavaError as failed:
            if _REFUSAL not in str(failed):
                raise
            outcome = "fails"
        else:
            outcome = _outcome(before, self._files())
        expected = _FLAGS[_FLAGS_AFTER[outcome] or flags]
        assert {name: self._properties().get(name, "") for name in expected} == expected, outcome
        return outcome

    def _described(self, options: Options) -> dict[str, Any]:
        version = TABLE_VERSIONS[self.jvm.version][-1]
        described = {"folder": str(self.folder), "table_version": version, "table_type": self.table_type}
        return {**described, "options": {**_OF_EACH, **options}}

    def _files(self) -> set[str]:
        """Of the index; its folder's own file and checksums left out."""
        found = (self.folder / ".hoodie/metadata/record_index").glob("*record-index-*")
        return {file.name for file in found if not file.name.endswith(".crc")}

    def _properties(self) -> Mapping[str, str]:
        return properties.parse((self.folder / ".hoodie/hoodie.properties").read_bytes())


def _outcome(before: set[str], after: set[str]) -> str:
    bases, new_bases = ({name for name in names if name.endswith(".hfile")} for names in (before, after))
    if new_bases - bases:
        # In its place, not beside it.
        assert not bases & new_bases
        return "rebuilds" if bases else "builds"
    if before and not after:
        return "deletes"
    assert before <= after
    return "logs" if after - before else "leaves alone"


def _rows(numbers: Any) -> list[dict[str, Any]]:
    return [{"id": f"k{number:03}", "part": f"p{number % 2}", "seen": 1} for number in numbers]


def _plan_index(table: Path, table_version: int) -> None:
    """The pending instant of who builds the index, below the newest one, as ours is."""
    timeline = table / (".hoodie" if table_version == 6 else ".hoodie/timeline")
    instants = sorted({file.name[:17] for file in timeline.glob("2*")})
    part = {"version": 1, "metadataPartitionPath": "record_index", "indexUptoInstant": instants[0]}
    plan = service_records.encode(RecordName.INDEX_PLAN, {"version": 1, "indexPartitionInfos": [part]}, table_version)
    at = int(instants[-1]) - 1
    (timeline / f"{at}.indexing.requested").write_bytes(plan)
    (timeline / f"{at}.indexing.inflight").write_bytes(b"")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> States:
    return States(tmp_path_factory.mktemp("states"))


def test_the_page_has_every_release_setting_and_state() -> None:
    rows = {(cell.release, cell.streaming, cell.settings) for cell in _AT_REST}

    batch = {(release, "", name) for release in ("0.15.0", "1.0.2") for name in ("none", "on", "on, async")}
    streams = {(release, on, name) for release in ("1.1.1", "1.2.0") for on in ("on", "off") for name in _SETTINGS}
    assert rows == batch | streams - {("1.1.1", on, "none, keep") for on in ("on", "off")}
    assert len(_AT_REST) == 3 * len(rows)
    assert len(_ACROSS) == 2 * len(rows)


@_each([cell for cell in _AT_REST if _IS_SOAK or cell.release in ("0.15.0", "1.2.0")])
def test_a_commit_does_to_the_index_it_finds_what_the_page_says(
    real_hudi: Jvm, table_type: str, cell: Cell, states: States
) -> None:
    subject = states.copy(real_hudi, table_type, cell.column)

    outcome = subject.outcome_of(lambda: subject.commit((0, 1, *range(20, 28)), cell.options), cell.column)

    assert outcome == cell.outcome


# The rest do what those of the same release or the same kind of writing do, and are left to `make soak`.
@_each([cell for cell in _ACROSS if _IS_SOAK or (cell.release in ("0.15.0", "1.2.0") and cell.settings != "on")])
def test_a_commit_that_began_before_a_flag_changed_does_what_the_page_says(
    real_hudi: Jvm, table_type: str, cell: Cell, states: States
) -> None:
    began, ends = ("absent", "in flight") if cell.column == "began before in flight" else ("in flight", "complete")
    subject = states.copy(real_hudi, table_type, "in flight")
    change_properties(subject.folder, _FLAGS[began])

    outcome = subject.outcome_of(lambda: subject.commit_across(range(20, 28), cell.options, _FLAGS[ends]), ends)

    assert outcome == cell.outcome


@pytest.mark.parametrize("real_hudi", ["1.1.1", "1.2.0"], indirect=True)
@pytest.mark.parametrize(("state", "expected"), [("absent", "builds"), ("complete", "logs")])
def test_the_newer_name_of_the_property_means_the_same(
    real_hudi: Jvm, state: str, expected: str, states: States
) -> None:
    subject = states.copy(real_hudi, "MERGE_ON_READ", state)

    outcome = subject.outcome_of(lambda: subject.commit(range(20, 28), {_NEW_NAME: "true"}), state)

    assert outcome == expected
