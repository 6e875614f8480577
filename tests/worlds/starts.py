"""Small tables of real Hudi as files in memory: what every world begins with."""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from hudi_engine.clock import HandClock
from hudi_engine.format import properties
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.zone import to_ms
from tests.golden.unpack import unpack

STARTS: Final = {
    "v6_cow": "v6_cow_services",
    "v6_mor": "v6_mor_rolled_back",
    "v8_cow": "v8_cow_orders",
    "v8_mor": "v8_mor_rolled_back",
    "v9_cow": "v9_cow_rolled_back",
    "v9_mor": "v9_mor_services",
}
"""Table version and type, and the golden table of which the world has a copy."""
_PROPERTIES: Final = ".hoodie/hoodie.properties"
_METADATA: Final = ".hoodie/metadata"
_DEFINITIONS: Final = ".hoodie/.index_defs/index.json"
_KEPT: Final = ("files",)
_INSTANT: Final = re.compile(r"([0-9]{17})(?:_([0-9]{17}))?\..*")


@dataclass(frozen=True, slots=True)
class Stored:
    """One file as a store keeps it."""

    data: bytes
    modified_ms: int


Files = Mapping[str, Stored]


@cache
def files_of(start: str) -> Files:
    """The files of a golden table, of whose indexes only `files` is left."""
    with tempfile.TemporaryDirectory() as folder:
        table = unpack(STARTS[start], Path(folder))
        found = {
            str(path.relative_to(table)): Stored(path.read_bytes(), path.stat().st_mtime_ns // 1_000_000)
            for path in sorted(table.rglob("*"))
            if path.is_file() and not path.name.endswith(".crc")
        }
    return _without_other_indexes(_with_timeline_times(found))


def stored_in(storage: MemoryStorage) -> dict[str, Stored]:
    """Every file of a store, by its path."""
    found: dict[str, Stored] = {}
    folders = [""]
    while folders:
        for child in storage.list(folders.pop()):
            if child.is_folder:
                folders.append(child.path)
            else:
                found[child.path] = Stored(storage.read(child.path), child.modified_ms)
    return dict(sorted(found.items()))


def put(files: Files, clock: HandClock) -> MemoryStorage:
    """A store with these files, each as old as it was; the clock ends at the youngest."""
    storage = MemoryStorage(clock)
    for path, file in sorted(files.items(), key=lambda item: item[1].modified_ms):
        clock.advance(max(0, file.modified_ms - clock.now_ms()))
        storage.create(path, file.data)
    return storage


def _with_timeline_times(files: Files) -> Files:
    """Instants as old as their names say, completed ones as their completion; all else is as old as the first."""
    times = {path: moment for path in files if (moment := _named_moment(path))}
    first = min(times.values())
    return {path: Stored(file.data, times.get(path, first)) for path, file in files.items()}


def _named_moment(path: str) -> int | None:
    match = _INSTANT.fullmatch(path.rpartition("/")[2]) if path.startswith(".hoodie/") else None
    return to_ms(match[2] or match[1], ZoneInfo("UTC")) if match else None


def _without_other_indexes(files: Files) -> Files:
    kept = {path: file for path, file in files.items() if not _is_of_another_index(path)}
    lines = properties.parse(kept[_PROPERTIES].data)
    lines |= {"hoodie.table.metadata.partitions": ",".join(_KEPT), "hoodie.table.metadata.partitions.inflight": ""}
    kept[_PROPERTIES] = Stored(properties.render(lines, ["of a golden table"]), kept[_PROPERTIES].modified_ms)
    if _DEFINITIONS in kept:
        tree = json.loads(kept[_DEFINITIONS].data)
        tree["indexDefinitions"] = {}
        kept[_DEFINITIONS] = Stored(json.dumps(tree).encode(), kept[_DEFINITIONS].modified_ms)
    return kept


def _is_of_another_index(path: str) -> bool:
    folder = path.removeprefix(f"{_METADATA}/").partition("/")[0]
    return path.startswith(f"{_METADATA}/") and folder not in {".hoodie", *_KEPT}
