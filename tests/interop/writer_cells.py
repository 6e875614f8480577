"""The tables of docs/writers.md: what a commit of a writer with some settings does to an index."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Options = Mapping[str, str]

_PAGE: Final = Path(__file__).parents[2] / "docs/writers.md"
_COLUMNS: Final = ["release", "streaming", "settings"]
_RECORDS: Final = "hoodie.metadata.record.index.enable"
_STATISTICS: Final = "hoodie.metadata.index.column.stats.enable"
_BESIDE: Final = {
    "async": {"hoodie.metadata.index.async": "true"},
    "keep": {"hoodie.metadata.auto.delete.partitions": "false"},
}


@dataclass(frozen=True, slots=True)
class Kind:
    """An index, the property by which a writer keeps it, and which other index it needs."""

    name: str
    enable: str
    needs: str = ""

    @property
    def heading(self) -> str:
        """On the page."""
        return "secondary_index_NAME" if self.needs else self.name

    @property
    def asked(self) -> tuple[str, ...]:
        """Of the engine."""
        column = ("--column", "seen") if self.needs else ()
        return ("--type", self.name, *column)

    def options(self, settings: str) -> Options:
        """`on, async` and the like in Hudi's words. Statistics, on by default or not, are off but in their own."""
        own, *beside = settings.split(", ")
        said = {"none": {}, "off": {self.enable: "false"}, "on": {self.enable: "true"}}[own]
        found = {} if self.enable == _STATISTICS else {_STATISTICS: "false"}
        for each in (said, *(_BESIDE[word] for word in beside)):
            found |= each
        return found


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("record_index", _RECORDS),
        Kind("bloom_filters", "hoodie.metadata.index.bloom.filter.enable"),
        Kind("column_stats", _STATISTICS),
        Kind("secondary_index_by_seen", _RECORDS, needs="record_index"),
    )
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of a table and what it says in one column."""

    kind: Kind
    release: str
    streaming: str
    settings: str
    column: str
    outcome: str

    @property
    def options(self) -> Options:
        streams = {"hoodie.metadata.streaming.write.enabled": str(self.streaming == "on").lower()}
        return {**self.kind.options(self.settings), **(streams if self.streaming else {})}

    @property
    def row(self) -> tuple[str, str, str, str]:
        return self.kind.name, self.release, self.streaming, self.settings

    def __str__(self) -> str:
        streams = "streaming" if self.streaming == "on" else "batch"
        return f"{self.kind.name}-{self.settings}-{streams}-{self.column}-{self.outcome}"


def cells_of(*columns: str) -> list[Cell]:
    """Those of all tables with these columns, each of the kind that the heading above it names."""
    return [cell for cell in _cells() if cell.column in columns]


def _cells() -> Iterator[Cell]:
    kind = ""
    columns: list[str] = []
    for line in _PAGE.read_text().splitlines():
        if line.startswith("#"):
            kind = next((kind.name for kind in KINDS.values() if f"`{kind.heading}`" in line), "")
        row = [text.strip() for text in line.strip("|").split("|")] if line.startswith("|") else []
        if row[:3] == _COLUMNS:
            columns = row[3:]
        elif not row:
            columns = []
        elif columns and kind and not row[0].startswith("--"):
            release, streaming, settings, *outcomes = row
            for column, outcome in zip(columns, outcomes, strict=True):
                yield Cell(KINDS[kind], release, streaming, settings, column, outcome)
