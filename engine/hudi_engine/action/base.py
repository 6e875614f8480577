"""RFC-45, run, step 4.a: the base files of an index, made of all that is committed at one moment.

Nobody looks at them while they are made: their index is not flagged, and their metadata instant is not committed.
"""

from dataclasses import dataclass

from hudi_engine.action.coverage import Held, held_by
from hudi_engine.action.execute import Run
from hudi_engine.action.metadata_commit import WrittenFile
from hudi_engine.action.metadata_logs import write_init_logs
from hudi_engine.action.plans import PlannedIndex
from hudi_engine.action.schedule import IS_PARTITIONED
from hudi_engine.compute.estimate import shard_counts
from hudi_engine.compute.order import BuildOrder
from hudi_engine.compute.shard_names import shard_file_ids
from hudi_engine.index.files import listings
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class BuiltBase:
    """Files that are written and not committed, and which commits of the data they were made of."""

    index: PlannedIndex
    files: tuple[WrittenFile, ...]
    keys: int
    held: Held
    table_version: int


def build_base(run: Run, index: PlannedIndex) -> BuiltBase:
    """The base of one index, of the data files that the `files` index has, judged by one reading of the timeline."""
    site, metadata = run.site, run.site.metadata()
    snapshot = snapshot_of(metadata)
    order = plan_base(run, index, metadata, snapshot)
    built = site.compute.build(order, site.storage, site.watch)
    run.liveness.require_alive()
    logs = write_init_logs(metadata, index.name, shard_file_ids(order.shard_counts), order.instant)
    files = [WrittenFile(index.name, file.file_id, file.path, file.size_bytes, file.entries) for file in built.files]
    return BuiltBase(
        index=index,
        files=(*files, *logs),
        keys=built.keys,
        held=held_by(snapshot.timeline, snapshot.view.completions, index.upto),
        table_version=metadata.data.config.version,
    )


def plan_base(run: Run, index: PlannedIndex, metadata: MetadataTable, snapshot: Snapshot) -> BuildOrder:
    """What is to be built: every slice of the snapshot, spread over as many shards as its rows will need."""
    table, site = metadata.data, run.site
    reader = table.rows(snapshot, [RECORD_KEY])
    is_partitioned = index.options.get(IS_PARTITIONED) == "true"
    return BuildOrder(
        reader=reader,
        slices=snapshot.slices,
        shard_counts=shard_counts(reader, is_partitioned, site.conf),
        instant=run.attempt.base_instant,
        attempt=run.attempt.number,
        table_version=table.config.version,
        zone=table.zone,
        created_ms=site.clock.now_ms(),
    )


def snapshot_of(metadata: MetadataTable) -> Snapshot:
    """All that is committed, by the timeline that the metadata table was judged by. No folder is listed."""
    table, timeline = metadata.data, metadata.data_timeline
    view = table.view(timeline)
    instant = max(view.visible_instants)
    slices = table.slices(view, listings(metadata.index(IndexKind.FILES)), instant)
    return Snapshot(instant, timeline, view, tuple(slices))
