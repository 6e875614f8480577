"""Metadata tables for the tests of what changes them: the golden ones that have a record index, in memory."""

import pyarrow as pa

from hudi_engine.clock import HandClock
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.entries import value_of
from hudi_engine.index.metadata_table import MetadataTable, open_metadata_table
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.table import open_table
from tests.golden.in_memory import UNPACKED_AT_MS

INDEXED = {6: "v6_cow_indexed", 8: "v8_mor_indexed", 9: "v9_mor_indexed"}
VERSIONS = tuple(INDEXED)
INDEX = "record_index"
LATER_MS = UNPACKED_AT_MS + 3_600_000
COMPLETED_AT = "20990101000000000"
FILE_ID = "5fef950f-d85c-4083-8a08-7df520c80eb9-0"


def opened(storage: Storage) -> MetadataTable:
    """The metadata table as it is now."""
    return open_metadata_table(open_table(storage, HandClock(LATER_MS), {}), BlockCache(1 << 20))


def puts_of(keys: list[str], table_version: int, partition: str = "p") -> pa.Table:
    """Entries that send each of the keys, which ascend, to one file group."""
    value = value_of(partition, FILE_ID, 1_900_000_000_000, table_version)
    return pa.table(
        {
            "key": pa.array([key.encode() for key in keys], pa.large_binary()),
            "value": pa.array([value] * len(keys), pa.large_binary()),
        }
    )
