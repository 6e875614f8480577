"""Records of secondary indexes: all that they say is in their key."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.newest import newest_wins
from hudi_engine.index.payloads.records import IS_DELETED, KEY, Wanted, child, records

_WANTED: Final = Wanted("SecondaryIndexMetadata", (7,))
_SCHEMA: Final = pa.schema([KEY, IS_DELETED])


def _columns(entries: pa.Table, written: str) -> Iterator[list[Any]]:
    for keys, found in records(entries, written, _WANTED):
        yield [keys, child(found, "isDeleted")]


SECONDARY_INDEX: Final = Family(_SCHEMA, _columns, newest_wins)
