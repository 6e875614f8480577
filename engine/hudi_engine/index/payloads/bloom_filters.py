"""Records with the bloom filter of a base file."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.newest import newest_wins
from hudi_engine.index.payloads.records import IS_DELETED, KEY, Wanted, child, records

_WANTED: Final = Wanted("BloomFilterMetadata", (4,))
_SCHEMA: Final = pa.schema(
    [KEY, ("type", pa.string()), ("instant", pa.string()), ("bloom_filter", pa.binary()), IS_DELETED]
)


def _columns(entries: pa.Table, written: str) -> Iterator[list[Any]]:
    for keys, found in records(entries, written, _WANTED):
        yield [keys, *(child(found, name) for name in ("type", "timestamp", "bloomFilter", "isDeleted"))]


BLOOM_FILTERS: Final = Family(_SCHEMA, _columns, newest_wins)
"""`bloom_filter` is what `parse_bloom_filter` reads, `instant` the commit that wrote the file."""
