"""What a person asks first about a table: what is pending and is it alive, which indexes stand, who holds a lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hudi_engine.format.instant_names import Instant, State, instant_file
from hudi_engine.format.names import parse_base_file, parse_log_file
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_HEARTBEATS = ".hoodie/.heartbeat"
_METADATA = ".hoodie/metadata"
# Where Hudi's own lock providers keep their lock when it lies in the table.
_LOCK_FILES = (".hoodie/lock", ".hoodie/.locks/table_lock.json")
LOCK_PREFIX = "hoodie.write.lock."
CONCURRENCY_MODE = "hoodie.write.concurrency.mode"


class IndexState(StrEnum):
    READY = "ready"
    IN_FLIGHT = "in flight"
    NOT_LISTED = "not listed"  # there, though hoodie.properties does not know of it
    MISSING = "missing"  # listed, though there is nothing


@dataclass(frozen=True, slots=True)
class IndexHealth:
    name: str
    state: IndexState
    shards: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PendingInstant:
    """`heartbeat_age_seconds` None: its writer never beat, which under eager cleaning is no sign of death."""

    instant: Instant
    age_seconds: float
    heartbeat_age_seconds: float | None


@dataclass(frozen=True, slots=True)
class LockHealth:
    """The lock settings given to us, and lock files that lie in the table."""

    settings: Mapping[str, str]
    files: tuple[str, ...]


def pending_instants(table: Table, timeline: Timeline) -> tuple[PendingInstant, ...]:
    """What has begun and not ended, oldest first."""
    now = table.clock.now_ms()
    beats = {file.name: file.modified_ms for file in table.storage.list(_HEARTBEATS)}
    found = []
    for instant in timeline.pending():
        oldest = min(
            timeline.files[name].modified_ms
            for state in (State.REQUESTED, State.INFLIGHT)
            if (name := instant_file(instant.in_state(state))) in timeline.files
        )
        beat = beats.get(instant.requested_at)
        age = None if beat is None else (now - beat) / 1000
        found.append(PendingInstant(instant, (now - oldest) / 1000, age))
    return tuple(found)


def index_health(table: Table) -> tuple[IndexHealth, ...]:
    """Every index that is listed or that lies in the metadata table, by name."""
    listed = dict.fromkeys(table.config.inflight_indexes, IndexState.IN_FLIGHT)
    listed |= dict.fromkeys(table.config.readable_indexes, IndexState.READY)
    stored = {file.name for file in table.storage.list(_METADATA) if file.is_folder and file.name != ".hoodie"}
    return tuple(_index(table, name, listed.get(name)) for name in sorted(listed.keys() | stored))


def lock_health(table: Table, conf: Mapping[str, str]) -> LockHealth:
    settings = {key: value for key, value in conf.items() if key.startswith(LOCK_PREFIX) or key == CONCURRENCY_MODE}
    folders = {path.rpartition("/")[0] for path in _LOCK_FILES}
    there = {file.path for folder in folders for file in table.storage.list(folder)}
    return LockHealth(settings, tuple(path for path in _LOCK_FILES if path in there))


def _index(table: Table, name: str, listed: IndexState | None) -> IndexHealth:
    files = [file for file in table.storage.list(f"{_METADATA}/{name}") if not file.is_folder]
    parsed = [(parse_base_file(file.name) or parse_log_file(file.name), file.size_bytes) for file in files]
    shards = {name.file_id for name, _ in parsed if name is not None}
    if listed is None:
        state = IndexState.NOT_LISTED
    else:
        state = listed if shards else IndexState.MISSING
    return IndexHealth(name, state, len(shards), sum(size for name, size in parsed if name is not None))
