"""The entries of a secondary index: of every row the value of one column with the record key behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from hudi_engine.compute.keys import DATED
from hudi_engine.errors import Unsupported
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.keys import hashed_part
from hudi_engine.index.secondary_entries import secondary_entry_keys, secondary_value
from hudi_engine.index.secondary_values import Column
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader


@dataclass(frozen=True, slots=True)
class SecondaryKeys:
    """`RowEntries` of a secondary index of this name and column; the reader's columns are those of `columns`.

    Rows of one key and value have the same entry: where it may be there more than once, any of them counts.
    """

    index: str
    column: Column
    keeps_newest: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((RECORD_KEY, self.column.top)))

    def keys_of(self, reader: RowReader, found: FileSlice) -> Iterator[Any]:
        for rows in reader.rows_of(found):
            for batch in rows.to_batches():
                if keys := self.of(batch, f"{found.partition or '.'}/{found.file_id}"):
                    yield _dated(keys) if self.keeps_newest else keys

    def of(self, rows: pa.RecordBatch, where: str) -> Any:
        """The keys of these rows' entries; `where` they are is said with what cannot be indexed."""
        try:
            values = self.column.texts_as_java(rows.column(self.column.top))
            return secondary_entry_keys(values, rows.column(RECORD_KEY), self.column.version)
        except Unsupported as refused:
            raise Unsupported(f"{where}: {refused}") from refused

    def hashed(self, keys: Any) -> Any:
        plain = keys.field("key") if self.keeps_newest else keys
        return plain if self.column.version is IndexVersion.V1 else hashed_part(plain)

    def value_of(self, found: FileSlice, table_version: int, zone: ZoneInfo) -> bytes:
        return secondary_value(table_version)


def _dated(keys: Any) -> Any:
    return pa.StructArray.from_arrays([keys, pa.repeat(pa.scalar(0, pa.int64()), len(keys))], fields=[*DATED])
