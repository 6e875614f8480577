"""Small files that real Hudi wrote, out of the golden tables and the data of the unit tests."""

import zipfile
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

_TESTS = Path(__file__).parents[1]
_PROPERTIES = ".hoodie/hoodie.properties"


@cache
def unit_data(archive: str) -> Mapping[str, bytes]:
    """The files of one of `tests/unit/format/data/*.zip`."""
    return _unzipped(_TESTS / "unit" / "format" / "data" / f"{archive}.zip")


@cache
def golden(table: str) -> Mapping[str, bytes]:
    """The files of a golden table, without those of its metadata table."""
    files = _unzipped(_TESTS / "golden" / table / "table.zip")
    root = next(name for name in files if name.endswith(_PROPERTIES) and "metadata" not in name)
    root = root.removesuffix(_PROPERTIES)
    return {
        name.removeprefix(root): data for name, data in files.items() if "/metadata/" not in name.removeprefix(root)
    }


@cache
def with_metadata(table: str) -> Mapping[str, bytes]:
    """The files of a golden table with those of its metadata table, without Hadoop's checksums."""
    files = _unzipped(_TESTS / "golden" / table / "table.zip")
    return {name: data for name, data in files.items() if not name.endswith(".crc")}


@cache
def metadata_logs(table: str) -> Mapping[str, bytes]:
    """Log files of a golden table's metadata table: blocks of HFiles."""
    files = _unzipped(_TESTS / "golden" / table / "table.zip")
    return {name: data for name, data in files.items() if "/metadata/" in name and ".log." in name}


def smallest(files: Mapping[str, bytes], pattern: str) -> bytes:
    """The content of the smallest file of this name that has any."""
    found = [data for name, data in files.items() if data and fnmatch(name, pattern)]
    if not found:
        raise FileNotFoundError(f"no seed {pattern}: the data that this run is about have changed")
    return min(found, key=lambda data: (len(data), data))


def _unzipped(path: Path) -> Mapping[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
