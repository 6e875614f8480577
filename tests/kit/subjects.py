"""A table on disk as the subject of a validation."""

from dataclasses import dataclass
from pathlib import Path

from hudi_engine.clock import SystemClock
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.metadata_table import open_metadata_table
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import open_table
from hudi_engine.validate.subject import Sample, Subject, subject_of


@dataclass(slots=True)
class Count:
    """A watch that adds up."""

    seen: int = 0

    def advance(self, count: int) -> None:
        self.seen += count


def subject_at(folder: Path, sample: Sample | None = None) -> Subject:
    """The table in this folder, as it is now."""
    table = open_table(open_storage(str(folder), {}), SystemClock(), {})
    return subject_of(table, open_metadata_table(table, BlockCache(1 << 24)), sample, Count())
