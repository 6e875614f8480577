"""Records with the bloom filter of a base file."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from hudi_engine.index.payloads.newest import newest_wins
from hudi_engine.index.payloads.records import IS_DELETED, KEY, Wanted, child, deletions, records, rows_of

_WANTED: Final = Wanted("BloomFilterMetadata", (4,))
_SCHEMA: Final = pa.schema(
    [KEY, ("type", pa.string()), ("instant", pa.string()), ("bloom_filter", pa.binary()), IS_DELETED]
)


class BloomFiltersFamily:
    """`bloom_filter` is what `parse_bloom_filter` reads, `instant` the commit that wrote the file."""

    schema = _SCHEMA

    def decode(self, entries: pa.Table, written: str) -> pa.Table:
        return rows_of(_SCHEMA, _columns(entries, written))

    def deleted(self, keys: pa.Array) -> pa.Table:
        return deletions(_SCHEMA, keys)

    def merge(self, layers: Sequence[pa.Table]) -> pa.Table:
        return newest_wins(layers)


def _columns(entries: pa.Table, written: str) -> Iterator[list[Any]]:
    for keys, found in records(entries, written, _WANTED):
        yield [keys, *(child(found, name) for name in ("type", "timestamp", "bloomFilter", "isDeleted"))]
