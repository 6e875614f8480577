"""What is validated: one table as of one timeline, whole or as a sample of its file groups."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hudi_engine.errors import NotFound
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table
from hudi_engine.validate.watch import Watch


@dataclass(frozen=True, slots=True)
class Sample:
    """`count` file groups of the data table, chosen by chance; the same `seed` chooses the same ones."""

    count: int
    seed: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A table, its metadata table and the data's snapshot, all three judged by one reading of the timeline.

    `listings` has what lay in each partition when the snapshot was made, `slices` those looked at: all of the
    snapshot's, or a sample of them.
    """

    table: Table
    metadata: MetadataTable
    snapshot: Snapshot
    listings: Mapping[str, tuple[FileStat, ...]]
    slices: tuple[FileSlice, ...]
    watch: Watch

    @property
    def is_sample(self) -> bool:
        return len(self.slices) < len(self.snapshot.slices)

    @property
    def looked_at(self) -> Snapshot:
        """The snapshot cut to the slices looked at, for a reader of rows."""
        return replace(self.snapshot, slices=self.slices)


def subject_of(table: Table, metadata: MetadataTable, sample: Sample | None, watch: Watch) -> Subject:
    """The table as the metadata table saw it.

    The metadata table counts exactly the commits that one reading of the data's timeline calls completed. The data
    are read by that same reading, not by a newer one: a commit that lands meanwhile is in neither side, so that a
    live writer makes no false alarm. Only files that vanish can disturb it, which `unless_files_vanish` reports.
    """
    timeline = metadata.data_timeline
    with unless_files_vanish():
        view = table.view(timeline)
        instant = max(view.visible_instants, default="")
        listings = table.partitions()
        slices = tuple(table.slices(view, listings, instant))
    snapshot = Snapshot(instant, timeline, view, slices)
    if sample is not None and sample.count < len(slices):
        chosen = sorted(random.Random(sample.seed).sample(range(len(slices)), sample.count))
        slices = tuple(slices[number] for number in chosen)
    return Subject(table, metadata, snapshot, listings, slices, watch)


@contextmanager
def unless_files_vanish() -> Iterator[None]:
    """Files are listed before they are read: one that is gone was cleaned meanwhile, which says nothing of an index."""
    try:
        yield
    except NotFound as gone:
        raise NotFound(
            f"a file vanished while it was validated ({gone}). The cleaner, a rollback or a restore removed it since "
            "the timeline was read: run the validation again, and if it happens each time, while no writer runs."
        ) from gone
