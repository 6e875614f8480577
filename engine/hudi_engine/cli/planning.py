"""What building indexes would take, and by which name a person approves of it; nothing is written."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hudi_engine.action.additions import ADDED_TO, lacks_entries
from hudi_engine.action.asked_again import refuse_stale
from hudi_engine.action.base import snapshot_of
from hudi_engine.action.plans import pending_plans
from hudi_engine.action.schedule import IndexRequest, additions, refuse_mixed, refuse_unbuildable
from hudi_engine.cli.asked import index_request_of, owner
from hudi_engine.cli.processors import threads
from hudi_engine.compute.estimate import Estimate, FileSizes, Limits, estimate, estimate_of_files
from hudi_engine.concurrency.heartbeat import Heartbeats, own_lease
from hudi_engine.concurrency.lock import lock_of
from hudi_engine.contract import JobReport, JobRequest, KindReport, Outcome
from hudi_engine.errors import NotFound, PlanChanged
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.index.metadata_table import open_metadata_table
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table

_CACHE_BYTES = 16 << 20
_HASH_DIGITS = 16
# A filter for 60,000 keys; what an entry of statistics has, compressed; Hudi's own columns beside the table's.
_OF_BLOOM_FILTERS = FileSizes(1, 430_000, has_logs=False)
_STATISTICS_BYTES = 60
_MOST_COLUMNS = 35


@dataclass(frozen=True, slots=True)
class Planned:
    """What a build would take, by the names of its indexes. `hash` stays the same as long as sizes and shapes do."""

    indexes: Mapping[str, Estimate]
    hash: str

    @property
    def figures(self) -> Estimate:
        """All of them together: one is made after the other."""
        each = tuple(self.indexes.values())
        return Estimate(
            keys=sum(one.keys for one in each),
            shards=sum(one.shards for one in each),
            read_bytes=sum(one.read_bytes for one in each),
            write_bytes=sum(one.write_bytes for one in each),
            memory_bytes=max(one.memory_bytes for one in each),
            seconds=sum(one.seconds for one in each),
        )


def plan_build(table: Table, request: JobRequest) -> Planned | None:
    """Of what is asked for, refused as the build itself would be; None if all of it is complete already."""
    asked = index_request_of(request)
    refuse_unbuildable(table, asked, request.conf)
    refuse_stale(table, Heartbeats(table.storage, table.clock, own_lease(request.conf)), asked.names)
    lock_of(request.conf, table, owner())
    names = [
        name for name in asked.names if name not in table.config.readable_indexes or _is_added_to(table, asked, name)
    ]
    if not names:
        return None
    refuse_mixed(table, asked)
    snapshot = _snapshot(table)
    figures = {name: _figures(table, snapshot, request, name) for name in names}
    return Planned(figures, _hash(asked, figures))


def report_plan(table: Table, request: JobRequest) -> JobReport:
    """The plan as a job reports it."""
    planned = plan_build(table, request)
    if planned is None:
        return unchanged(dict.fromkeys(request.kinds, "complete already"))
    figures = planned.figures
    return JobReport(
        Outcome.PLANNED,
        kinds=tuple(
            KindReport(name, Outcome.PLANNED, keys=one.keys, shards=one.shards) for name, one in planned.indexes.items()
        ),
        plan_hash=planned.hash,
        read_bytes=figures.read_bytes,
        write_bytes=figures.write_bytes,
        memory_bytes=figures.memory_bytes,
        seconds_expected=round(figures.seconds, 3),
    )


def unchanged(reasons: Mapping[str, str], plan: str | None = None) -> JobReport:
    """The report of a request that the table satisfies already: a success, as with `kubectl apply`."""
    kinds = tuple(KindReport(name, Outcome.UNCHANGED) for name in reasons)
    told = "; ".join(f"{name}: {why}" for name, why in reasons.items())
    return JobReport(Outcome.UNCHANGED, reason=f"nothing to do: {told}", instant=plan, kinds=kinds)


def require_planned(table: Table, request: JobRequest) -> None:
    """Refuse, before anything is written, a build that is not the one that was planned.

    A plan that stands on the timeline was begun by an earlier call that asked this already: it is gone on with.
    """
    if request.plan_hash is None or _is_begun(table, index_request_of(request)):
        return
    planned = plan_build(table, request)
    if planned is not None and planned.hash != request.plan_hash:
        figures = planned.figures
        raise PlanChanged(
            f"{table.storage.location}: plan_hash is {request.plan_hash}, and what would be built now is "
            f"{planned.hash}: about {figures.keys:,} keys in {figures.shards:,} shards. Nothing was written; plan "
            "again, and have that plan approved."
        )


def _is_begun(table: Table, asked: IndexRequest) -> bool:
    plans = pending_plans(table, table.timeline()).values()
    return any(plan.of(name) for plan in plans for name in asked.names)


def _snapshot(table: Table) -> Snapshot:
    try:
        return snapshot_of(open_metadata_table(table, BlockCache(_CACHE_BYTES)))
    except NotFound:
        # Without a metadata table a build makes one first, of what the folders show.
        return table.snapshot()


def _is_added_to(table: Table, asked: IndexRequest, name: str) -> bool:
    if name != ADDED_TO or name not in asked.columns:
        return False
    metadata = open_metadata_table(table, BlockCache(_CACHE_BYTES))
    return name in additions(metadata, asked, is_lacking=lacks_entries(metadata, asked.columns[name]))


def _figures(table: Table, snapshot: Snapshot, request: JobRequest, name: str) -> Estimate:
    limits = Limits(threads(), request.memory_bytes)
    match kind_of(name):
        case IndexKind.BLOOM_FILTERS:
            return estimate_of_files(snapshot.slices, _OF_BLOOM_FILTERS, 4, limits)
        case IndexKind.COLUMN_STATS:
            columns = len(request.columns.get(name, ())) or min(len(table.row_schema(snapshot).names), _MOST_COLUMNS)
            return estimate_of_files(snapshot.slices, FileSizes(columns, _STATISTICS_BYTES, has_logs=True), 2, limits)
        case IndexKind.PARTITION_STATS:
            columns = min(len(table.row_schema(snapshot).names), _MOST_COLUMNS)
            partitions = len({found.partition for found in snapshot.slices})
            files = estimate_of_files(snapshot.slices, FileSizes(columns, _STATISTICS_BYTES, has_logs=True), 1, limits)
            keys = partitions * columns
            return replace(files, keys=keys, write_bytes=keys * _STATISTICS_BYTES)
        case kind:
            reader = table.rows(snapshot, [RECORD_KEY])
            is_partitioned = kind is IndexKind.RECORD_INDEX and index_request_of(request).is_partitioned
            return estimate(reader, is_partitioned, request.conf, limits)


def _hash(asked: IndexRequest, figures: Mapping[str, Estimate]) -> str:
    """Commits that add a little leave it as it is: of the number of keys only the power of two counts."""
    facts: list[object] = [
        sorted(asked.names),
        sum(one.shards for one in figures.values()),
        asked.is_partitioned,
        sum(one.keys for one in figures.values()).bit_length(),
    ]
    if asked.columns:
        facts.append(sorted((name, list(columns)) for name, columns in asked.columns.items()))
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_HASH_DIGITS]
