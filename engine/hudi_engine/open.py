"""The way in for programs.

from hudi_engine.open import open_table
trips = open_table("s3a://lake/trips")
trips.index("record_index").locate(["trip-1", "trip-2"])
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, overload

from hudi_engine.clock import SystemClock
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.index import Index
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.index.record_index import RecordIndex
from hudi_engine.index.zone_of_entries import zone_settled
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import Table
from hudi_engine.table.table import open_table as open_table_at

CACHE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class IndexedTable:
    """A table with its metadata table, both as they were when this was made; `refreshed` shows news."""

    table: Table
    metadata: MetadataTable

    @overload
    def index(self, name: Literal["record_index"]) -> RecordIndex: ...
    @overload
    def index(self, name: str) -> Index | RecordIndex: ...
    def index(self, name: str) -> Index | RecordIndex:
        """A complete index by its name, which is that of its folder."""
        index = self.metadata.index(name)
        return RecordIndex(index, self.table.zone) if index.kind is IndexKind.RECORD_INDEX else index

    def refreshed(self) -> "IndexedTable":
        """The same table as it is now. What was read of files that have not changed is not read again."""
        table = self.table.reopened()
        return IndexedTable(table, open_metadata_table(table, self.metadata.cache))


def open_table(location: str, conf: Mapping[str, str] | None = None, cache_bytes: int = CACHE_BYTES) -> IndexedTable:
    """The table at a path or URL. `conf` has properties by Hudi's or Hadoop's own names.

    Blocks of indexes stay in memory up to `cache_bytes`; a look-up needs little beside them, however large the index.
    """
    cache = BlockCache(cache_bytes)
    table = zone_settled(open_table_at(open_storage(location, conf or {}), SystemClock(), conf or {}), cache)
    return IndexedTable(table, open_metadata_table(table, cache))
