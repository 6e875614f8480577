"""Entries of the `files` index as its writers store them: one for each partition, and one that lists the partitions."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from hudi_engine.format.avro_encode import Write
from hudi_engine.index.entries import entry_encoder
from hudi_engine.index.keys import ALL_PARTITIONS
from hudi_engine.index.name_ids import partition_identifier
from hudi_engine.table.conform import META_COLUMNS

_LIST_OF_PARTITIONS, _PARTITION = 1, 2
_PAYLOADS: Final = ("BloomFilterMetadata", "ColumnStatsMetadata", "recordIndexMetadata")

Sizes = Mapping[str, int]
"""The files of one partition by name, with their sizes in bytes."""


def files_entries(partitions: Mapping[str, Sizes], table_version: int) -> pa.Table:
    """Keys and values, keys ascending, that say of each partition which files it has."""
    write = entry_encoder(table_version)
    named = {partition_identifier(partition): sizes for partition, sizes in partitions.items()}
    values = {name: _value(write, _PARTITION, sizes) for name, sizes in named.items()}
    values[ALL_PARTITIONS] = _value(write, _LIST_OF_PARTITIONS, dict.fromkeys(named, 0))
    entries = sorted((key.encode(), value) for key, value in values.items())
    columns = (pa.array(column, pa.large_binary()) for column in zip(*entries, strict=True))
    return pa.table(dict(zip(("key", "value"), columns, strict=True)))


def _value(write: Write, kind: int, sizes: Sizes) -> bytes:
    files = {name: {"size": size, "isDeleted": False} for name, size in sizes.items()}
    blank = dict.fromkeys((*META_COLUMNS, *_PAYLOADS))
    out = bytearray()
    write(out, {**blank, "key": "", "type": kind, "filesystemMetadata": files})
    return bytes(out)
