"""Which golden tables have an index, as their own properties say."""

import zipfile
from pathlib import Path

from hudi_engine.format import properties
from tests.golden.names import EXPECTED_NAMES

_HERE = Path(__file__).parent


def tables_with(index: str) -> list[str]:
    """The tables that list the index as complete, and those whose zip went missing, so that a test fails."""
    return [name for name in sorted(EXPECTED_NAMES) if not _zip_of(name).exists() or index in indexes_of(name)]


def indexes_of(name: str) -> list[str]:
    with zipfile.ZipFile(_zip_of(name)) as packed:
        found = properties.parse(packed.read(".hoodie/hoodie.properties"))
    return found.get("hoodie.table.metadata.partitions", "").split(",")


def _zip_of(name: str) -> Path:
    return _HERE / name / "table.zip"
