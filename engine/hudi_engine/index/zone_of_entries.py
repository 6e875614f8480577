"""The time zone of a LOCAL timeline, as its record index tells it: the entries hold instants as moments."""

from itertools import islice
from typing import Final

import pyarrow.compute as pc

from hudi_engine.errors import Contradiction, CorruptFile, NotFound, Unsupported
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.table.config import TimelineZone
from hudi_engine.table.table import Table
from hudi_engine.table.zone import ZONE_KEY, Sighting, fits
from hudi_engine.table.zone_evidence import FoundZone, Times, narrowed, offsets_text, sightings_of

_NAME: Final = IndexKind.RECORD_INDEX
_TOLD_BY: Final = f"entries of the index {_NAME} hold instants of the timeline"
_SHARDS: Final = 4
_ENOUGH: Final = 100  # moments of each of these shards


def zone_settled(table: Table, cache: BlockCache) -> Table:
    """The table, with what its record index tells of the zone if nothing else makes the zone certain."""
    if table.known_zone is not None or _NAME not in table.config.readable_indexes:
        return table
    try:
        metadata = open_metadata_table(table, cache)
        sightings = entry_sightings(metadata)
    except (CorruptFile, NotFound, Unsupported, Contradiction):
        return table  # an index that cannot be read tells nothing; whoever reads it is told why
    times = Times([instant.requested_at for instant in metadata.data_timeline.instants], table.clock.now_ms())
    return table.in_zone(narrowed(FoundZone(table.zone, table.zone_evidence), sightings, _TOLD_BY, times))


def refuse_entries_elsewhere(metadata: MetadataTable) -> None:
    """Refuse a LOCAL timeline whose record index has its instants as moments of another zone than the table's."""
    table = metadata.data
    if table.config.timeline_zone is TimelineZone.UTC:
        return
    elsewhere = [seen for seen in entry_sightings(metadata) if not fits(table.zone, seen)]
    if elsewhere:
        raise Contradiction(
            f"{table.storage.location}: hoodie.table.timeline.timezone is LOCAL, and its zone is {table.zone.key}, as "
            f"{table.zone_evidence}; but {_TOLD_BY} at {offsets_text(elsewhere)}. If the entries are right, set "
            f"{ZONE_KEY} to the zone that the writers' JVMs run in. If the zone is right, drop the index {_NAME} and "
            "build it again: `hudi-engine validate` finds its entries wrong."
        )


def entry_sightings(metadata: MetadataTable) -> tuple[Sighting, ...]:
    """The evidence of some entries of the record index. Entries of archived instants are no evidence."""
    instants = {instant.requested_at for instant in metadata.data_timeline.instants}
    shards = (shard for group in metadata.index(_NAME).groups.values() for shard in group)
    pieces = (rows for shard in islice(shards, _SHARDS) for rows in islice(shard.scan(), 1))
    moments = {moment for rows in pieces for moment in pc.unique(rows["instant_ms"]).to_pylist()[:_ENOUGH]}
    return sightings_of(moments, instants)
