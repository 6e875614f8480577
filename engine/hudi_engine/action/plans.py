"""Index plans on the data timeline: asked for, running, done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_engine.errors import CorruptFile
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State, instant_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.kinds import is_index_name
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline, require_content

IS_PARTITIONED = "isPartitioned"
"""The option of a record index that is kept by data partition, as its definition has it, too."""
COLUMNS = "sourceFields"
"""The option that names the columns of an index, parted by commas."""
ADDS = "hudi.engine.adds"
"""The option of an index that is complete, and of more columns once the plan is: which of its columns are new."""


@dataclass(frozen=True, slots=True)
class PlannedIndex:
    """One index of a plan: built of all that was committed up to and with `upto`, and caught up with the rest."""

    name: str
    upto: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(filter(None, self.options.get(COLUMNS, "").split(",")))

    @property
    def is_addition(self) -> bool:
        return ADDS in self.options


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """What `t.indexing.requested` says."""

    requested_at: InstantTime
    indexes: tuple[PlannedIndex, ...]

    def of(self, name: str) -> PlannedIndex | None:
        return next((index for index in self.indexes if index.name == name), None)


def read_plan(table: Table, timeline: Timeline, instant: Instant) -> IndexPlan:
    """The plan of an indexing instant in whatever state it is."""
    return IndexPlan(instant.requested_at, table.record(plan_path(table, timeline, instant), _indexes))


def plan_path(table: Table, timeline: Timeline, instant: Instant) -> str:
    """The file that says what is planned: where this timeline has it, since Hudi's own plans are not where ours are."""
    requested = instant.in_state(State.REQUESTED)
    found = timeline.files.get(instant_file(requested))
    return table.path_of(requested) if found is None else found.path


def _indexes(data: bytes) -> tuple[PlannedIndex, ...]:
    record: Any = service_records.decode(RecordName.INDEX_PLAN, require_content(data))
    return tuple(_planned(info) for info in record["indexPartitionInfos"] or ())


def pending_plans(table: Table, timeline: Timeline) -> dict[Instant, IndexPlan]:
    """Every plan that is asked for or runs, by its instant, the oldest first."""
    pending = (instant for instant in timeline.of(Action.INDEXING) if not instant.is_completed)
    return {instant: read_plan(table, timeline, instant) for instant in pending}


def plan_bytes(plan: IndexPlan, table_version: int) -> bytes:
    """The content of `t.indexing.requested`."""
    infos = [_info(index.name, index.upto, index.options) for index in plan.indexes]
    return service_records.encode(RecordName.INDEX_PLAN, {"indexPartitionInfos": infos}, table_version)


def outcome_bytes(plan: IndexPlan, caught_up_to: Mapping[str, str], table_version: int) -> bytes:
    """The content of the completed instant: each index with what it is caught up to (field failure 39)."""
    infos = [_info(index.name, caught_up_to[index.name], index.options) for index in plan.indexes]
    return service_records.encode(RecordName.INDEX_COMMIT, {"indexPartitionInfos": infos}, table_version)


def _info(name: str, upto: str, options: Mapping[str, str]) -> dict[str, object]:
    # A plan of version 6 has no place for options; none of its kinds has any.
    extra = {"extraMetadata": dict(options)} if options else {}
    return {"metadataPartitionPath": name, "indexUptoInstant": upto, **extra}


def _planned(info: Mapping[str, Any]) -> PlannedIndex:
    name = info["metadataPartitionPath"] or ""
    if not is_index_name(name):  # whoever takes such a plan back would delete another folder's files
        raise CorruptFile(f"a plan for {name!r}, which is no index that Hudi makes. Remove it if no indexer runs", 0)
    return PlannedIndex(name, info["indexUptoInstant"] or "", info["extraMetadata"] or {})
