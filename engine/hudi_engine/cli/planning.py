"""What building an index would take, and by which name a person approves of it; nothing is written."""

import hashlib
import json
from dataclasses import dataclass

from hudi_engine.action.base import snapshot_of
from hudi_engine.action.plans import pending_plans
from hudi_engine.action.schedule import IndexRequest, refuse_unbuildable
from hudi_engine.cli.asked import index_request_of, owner
from hudi_engine.cli.compute_choice import threads
from hudi_engine.compute.estimate import Estimate, Limits, estimate
from hudi_engine.compute.key_texts import refuse_mixed_keys
from hudi_engine.concurrency.lock import lock_of
from hudi_engine.contract import JobReport, JobRequest, KindReport, Outcome
from hudi_engine.errors import NotFound, PlanChanged
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.metadata_table import open_metadata_table
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table

NOTHING_TO_DO = 3
_CACHE_BYTES = 16 << 20
_HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Planned:
    """What a build would take. `hash` is the same as long as that stays of the same size and shape."""

    figures: Estimate
    hash: str


def plan_build(table: Table, request: JobRequest) -> Planned | None:
    """Of what is asked for, refused as the build itself would be; None if all of it is complete already."""
    asked = index_request_of(request)
    refuse_unbuildable(table, asked)
    lock_of(request.conf, table, owner())
    if all(kind in table.config.readable_indexes for kind in asked.kinds):
        return None
    refuse_mixed_keys(table)
    reader = table.rows(_snapshot(table), [RECORD_KEY])
    limits = Limits(threads(), request.memory_bytes)
    figures = estimate(reader, asked.is_partitioned, request.conf, limits)
    return Planned(figures, _hash(asked, figures))


def report_plan(table: Table, request: JobRequest) -> JobReport:
    """The plan as a job reports it."""
    planned = plan_build(table, request)
    if planned is None:
        kinds = tuple(KindReport(name, Outcome.SKIPPED) for name in request.kinds)
        told = "; ".join(f"{name}: complete already" for name in request.kinds)
        return JobReport(Outcome.SKIPPED, NOTHING_TO_DO, reason=f"nothing to do: {told}", kinds=kinds)
    figures = planned.figures
    return JobReport(
        Outcome.PLANNED,
        kinds=tuple(
            KindReport(name, Outcome.PLANNED, keys=figures.keys, shards=figures.shards) for name in request.kinds
        ),
        plan_hash=planned.hash,
        read_bytes=figures.read_bytes,
        write_bytes=figures.write_bytes,
        memory_bytes=figures.memory_bytes,
        seconds_expected=round(figures.seconds, 3),
    )


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
    return any(plan.of(kind.value) for plan in plans for kind in asked.kinds)


def _snapshot(table: Table) -> Snapshot:
    try:
        return snapshot_of(open_metadata_table(table, BlockCache(_CACHE_BYTES)))
    except NotFound:
        # Without a metadata table a build makes one first, of what the folders show.
        return table.snapshot()


def _hash(asked: IndexRequest, figures: Estimate) -> str:
    """Commits that add a little leave it as it is: of the number of keys only the power of two counts."""
    facts = [
        sorted(kind.value for kind in asked.kinds),
        figures.shards,
        asked.is_partitioned,
        figures.keys.bit_length(),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_HASH_DIGITS]
