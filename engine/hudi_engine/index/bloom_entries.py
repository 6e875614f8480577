"""Entries of the `bloom_filters` index as its writers store them: one for each base file that has a filter."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from hudi_engine.errors import Contradiction
from hudi_engine.format.bloom_footer import StoredFilter
from hudi_engine.index.entries import entry_encoder
from hudi_engine.index.keys import bloom_filter_key
from hudi_engine.table.conform import META_COLUMNS

_BLOOM_FILTER: Final = 4


@dataclass(frozen=True, slots=True)
class FileFilter:
    """The filter of one base file, and the instant of the commit that brought it into the index."""

    partition: str
    file_name: str
    instant: str
    filter: StoredFilter


def bloom_entries(filters: Iterable[FileFilter], table_version: int) -> pa.Table:
    """Keys and values, keys ascending. A filter has some 430 kB as a rule: give as many at a time as memory holds.

    The type is that of the filter. Java writes the one that its configuration names for new files, so that it cannot
    read the entry of a file that has another.
    """
    write = entry_encoder(table_version)
    blank = dict.fromkeys((*META_COLUMNS, "filesystemMetadata"))
    entries: dict[bytes, bytes] = {}
    for each in filters:
        key = bloom_filter_key(each.partition, each.file_name).encode()
        if key in entries:
            raise Contradiction(f"two bloom filters for {each.partition or '.'}/{each.file_name}; give each file once")
        text, type_code = each.filter.text, each.filter.type_code
        stored = {"type": type_code, "timestamp": each.instant, "bloomFilter": text, "isDeleted": False}
        out = bytearray()
        write(out, {**blank, "key": "", "type": _BLOOM_FILTER, "BloomFilterMetadata": stored})
        entries[key] = bytes(out)
    keys = sorted(entries)
    values = [entries[key] for key in keys]
    return pa.table({"key": pa.array(keys, pa.large_binary()), "value": pa.array(values, pa.large_binary())})
