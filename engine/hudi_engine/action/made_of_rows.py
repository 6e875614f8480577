"""RFC-45, run, step 4.a, of an index with an entry for each row: all slices of the snapshot, spread over its shards."""

from collections.abc import Mapping

from hudi_engine.action.keeping import BaseOrder, Made
from hudi_engine.action.site import Site
from hudi_engine.compute.order import BuildOrder, RowEntries
from hudi_engine.compute.shard_names import shard_file_ids
from hudi_engine.table.snapshot import RowReader


def made_of_rows(
    site: Site, order: BaseOrder, reader: RowReader, counts: Mapping[str | None, int], entries: RowEntries
) -> Made:
    """The base of such an index; `counts` has the number of shards by data partition, or under None of the table's."""
    table = order.metadata.data
    # Base files may be of instants that were archived long ago, when clocks were set otherwise.
    table.require_certain_zone(found.base_instant for found in order.snapshot.slices)
    build = BuildOrder(
        reader=reader,
        slices=order.snapshot.slices,
        shard_counts=counts,
        instant=order.instant,
        attempt=order.attempt,
        table_version=table.config.version,
        zone=table.zone,
        created_ms=site.clock.now_ms(),
        entries=entries,
    )
    built = site.compute.build(build, site.storage, site.watch)
    return Made(built.files, shard_file_ids(counts, entries.index), built.duplicates)
