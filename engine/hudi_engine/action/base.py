"""RFC-45, run, step 4.a: the base files of indexes, made of all that is committed at one moment.

Nobody looks at them while they are made: their index is not flagged, and their metadata instant is not committed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hudi_engine.action.coverage import Held, held_by
from hudi_engine.action.execute import Run
from hudi_engine.action.keeping import BaseOrder
from hudi_engine.action.keepings import keeping_of
from hudi_engine.action.metadata_commit import WrittenFile
from hudi_engine.action.metadata_logs import write_init_logs
from hudi_engine.action.plans import PlannedIndex
from hudi_engine.index.files import listings
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class BuiltBase:
    """Files that are written and not committed, and which commits of the data they were made of.

    `duplicates` counts by index the keys that have several rows, where there are any.
    All indexes are of one snapshot, and `upto` is the plan's for each of them.
    """

    indexes: tuple[PlannedIndex, ...]
    files: tuple[WrittenFile, ...]
    held: Held
    table_version: int
    duplicates: Mapping[str, int]

    @property
    def upto(self) -> str:
        return self.indexes[0].upto


def build_base(run: Run, indexes: Sequence[PlannedIndex]) -> BuiltBase:
    """The bases of indexes, of the data files that the `files` index has, judged by one reading of the timeline."""
    metadata = run.site.metadata()
    order = BaseOrder(metadata, snapshot_of(metadata), run.attempt.base_instant, run.attempt.number)
    made = {index.name: _made(run, index, order) for index in indexes}
    files = tuple(file for each in made.values() for file in each.files)
    duplicates = {name: each.duplicates for name, each in made.items() if each.duplicates}
    timeline, completions = order.snapshot.timeline, order.snapshot.view.completions
    held = held_by(timeline, completions, indexes[0].upto)
    return BuiltBase(tuple(indexes), files, held, metadata.data.config.version, duplicates)


@dataclass(frozen=True, slots=True)
class _Written:
    files: tuple[WrittenFile, ...]
    duplicates: int


def _made(run: Run, index: PlannedIndex, order: BaseOrder) -> _Written:
    made = keeping_of(index, run.site.conf).make(run.site, order)
    run.liveness.require_alive()
    logs = write_init_logs(order.metadata, index.name, made.file_ids, order.instant)
    files = (WrittenFile(index.name, each.file_id, each.path, each.size_bytes, each.entries) for each in made.files)
    return _Written((*files, *logs), made.duplicates)


def snapshot_of(metadata: MetadataTable) -> Snapshot:
    """All that is committed, by the timeline that the metadata table was judged by. No folder is listed."""
    table, timeline = metadata.data, metadata.data_timeline
    view = table.view(timeline)
    instant = max(view.visible_instants)
    slices = table.slices(view, listings(metadata.index(IndexKind.FILES)), instant)
    return Snapshot(instant, timeline, view, tuple(slices))
