"""A golden table in memory, for what dies in the middle of a change."""

import zipfile
from pathlib import Path

from hudi_engine.clock import HandClock
from hudi_engine.storage.memory import MemoryStorage

_HERE = Path(__file__).parent
UNPACKED_AT_MS = 1_900_000_000_000
"""Long after every instant of a golden table: files that were copied say nothing about their writers' zone."""


def golden_in_memory(name: str) -> MemoryStorage:
    """The table's files, as if they had just been copied."""
    storage = MemoryStorage(HandClock(UNPACKED_AT_MS))
    with zipfile.ZipFile(_HERE / name / "table.zip") as packed:
        for entry in packed.infolist():
            if not entry.is_dir():
                storage.create(entry.filename, packed.read(entry))
    return storage.restarted()
