"""What may be left of a build, and what may not."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hudi_engine.action.attempts import FOLDER as ATTEMPTS
from hudi_engine.action.flags import COMPLETE_KEY, IN_FLIGHT_KEY
from hudi_engine.action.strays import instant_of
from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.heartbeat import FOLDER as HEARTBEATS
from hudi_engine.format import properties
from hudi_engine.format.instant_names import Action
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.storage.open import open_storage
from hudi_engine.table.config import PLANS
from hudi_engine.table.properties_file import MAIN, read_properties
from hudi_engine.table.table import open_table
from tests.java.live_checks import run_engine

NAME = "record_index"
DEFINITIONS = ".hoodie/.index_defs/index.json"
_LEFT: Final = {
    "plan": r"\.hoodie/\.index_attempts/plans/[0-9]{17}\.indexing\.(requested|inflight)",
    "file of the index": r"\.hoodie/metadata/[a-z_]+/[^/]+",
    "definition": r"\.hoodie/\.index_defs/index\.json(\.backup)?",
    # Of files that are gone: a completed instant is never taken off a timeline.
    "commit of the base": r"\.hoodie/metadata/\.hoodie/timeline/0{14}[0-9]{3}(_[0-9]{17})?\.deltacommit[a-z.]*",
}
"""What a build may leave, by what it is."""


def content(table: Path) -> Mapping[str, Any]:
    """Every file with what it says, but for heartbeats, records of who works, and the hidden halves of files."""
    return {name: _meaning(path) for name, path in _files(table).items() if not _is_private(name)}


def require_left(before: Mapping[str, Any], table: Path, *may_be: str) -> None:
    """All that was there is as it was, and what came is of these kinds of `_LEFT`: of no effect without a flag."""
    after = dict(content(table))
    found = {_kind_of(name) for name in after.keys() - before.keys()}
    if _without_new_definitions(after, before) != after:
        found.add("definition")
        after = _without_new_definitions(after, before)
    if after[MAIN] != before[MAIN]:
        found.add("flag in flight")
        after[MAIN], before = _without_in_flight(after[MAIN]), {**before, MAIN: _without_in_flight(before[MAIN])}
    assert {name: said for name, said in after.items() if name in before} == before
    assert found <= {*may_be}


def _kind_of(name: str) -> str:
    return next((kind for kind, text in _LEFT.items() if re.fullmatch(text, name)), name)


def _without_new_definitions(after: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    if DEFINITIONS not in before:
        return after
    known, now = before[DEFINITIONS]["indexDefinitions"], after[DEFINITIONS]
    kept = {name: said for name, said in now["indexDefinitions"].items() if name in known}
    return {**after, DEFINITIONS: {**now, "indexDefinitions": kept}}


def _without_in_flight(known: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in known.items() if key != IN_FLIGHT_KEY}


def require_ready_and_nothing_left(table: Path, *names: str) -> None:
    """The indexes, else the record index, are complete and right, and whatever their builds needed beside is gone."""
    names = names or (NAME,)
    code, document = run_engine("validate", str(table), *(word for name in names for word in ("--index", name)))
    assert (code, document["ok"]) == (0, True), document
    assert {check["index"] for check in document["checks"]} == {*names}, document
    assert flags(table, *names) == ({*names}, set())
    metadata = _metadata(table)
    committed = {
        instant.requested_at
        for instant in (*metadata.timeline.instants, *metadata.table.history())
        if instant.is_completed
    }
    files = [file for name in names for file in metadata.table.storage.list(name)]
    found = [file for file in files if instant_of(file) not in {*committed, None}]
    assert not found, f"files of no commit: {found}"
    _require_no_work_left(table, metadata)


def require_nothing_of_it(table: Path, *names: str) -> None:
    """None of these indexes, else no record index, and no trace of one."""
    names = names or (NAME,)
    assert flags(table, *names) == (set(), set())
    folders = tuple(f".hoodie/metadata/{name}/" for name in names)
    assert not [file for file in _files(table) if file.startswith(folders)]
    definitions = table / DEFINITIONS
    defined = json.loads(definitions.read_text())["indexDefinitions"] if definitions.exists() else {}
    assert not {*names} & defined.keys()
    _require_no_work_left(table, _metadata(table))


def flags(table: Path, *names: str) -> tuple[set[str], set[str]]:
    """Which of these indexes, else whether the record index, is complete, and which in flight."""
    known = read_properties(open_storage(str(table), {}), SystemClock()).properties
    lists = (set(known.get(key, "").split(",")) for key in (COMPLETE_KEY, IN_FLIGHT_KEY))
    complete, in_flight = (found & {*(names or (NAME,))} for found in lists)
    return complete, in_flight


def _require_no_work_left(table: Path, metadata: MetadataTable) -> None:
    dead = {instant.requested_at for instant in metadata.data_timeline.pending()}  # writers', whose hearts stay
    left = [name for name in _files(table) if name.startswith((f"{ATTEMPTS}/2", f"{HEARTBEATS}/"))]
    # Hadoop's local file system may write a checksum of a writer's heartbeat while that is being deleted.
    left = [name for name in left if not name.endswith(".crc") and not any(instant in name for instant in dead)]
    assert not left, f"records and heartbeats of nobody: {left}"
    pending = [instant for instant in metadata.data_timeline.pending() if instant.action is Action.INDEXING]
    assert not pending, pending
    assert not metadata.timeline.pending(), metadata.timeline.pending()


def _metadata(table: Path) -> MetadataTable:
    return open_metadata_table(open_table(open_storage(str(table), {}), SystemClock(), {}), BlockCache(1 << 20))


def _meaning(path: Path) -> Any:
    """What the file says, however it is laid out."""
    if path.name == "hoodie.properties":
        return {name: text for name, text in properties.parse(path.read_bytes()).items() if text}
    return json.loads(path.read_text()) if path.name == "index.json" else path.read_bytes()


def _files(table: Path) -> dict[str, Path]:
    return {str(path.relative_to(table)): path for path in table.rglob("*") if path.is_file()}


def _is_private(name: str) -> bool:
    if name.startswith(f"{PLANS}/"):
        return False
    return name.startswith((f"{ATTEMPTS}/", f"{HEARTBEATS}/")) or "/.hudi-engine-" in name or name.endswith(".crc")
