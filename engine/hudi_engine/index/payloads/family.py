"""What every family of records of the metadata table can do."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hudi_engine.index.payloads.newest import newest_wins
from hudi_engine.index.payloads.records import deletions, rows_of


@dataclass(frozen=True, slots=True)
class Family:
    """How the records of one kind of index become typed rows, and how newer rows change older ones (section 3.6).

    Rows are tables of `schema`: first the record's key, last whether it was deleted. `columns` makes them, in pieces,
    of an HFile's entries and the Avro schema that wrote their values.

    `merge` says what a base file, the first layer, and logs, the oldest first, say together; in no order that means
    anything. As Hudi does, logs are merged with each other before they are with the base; where that matters, so that
    the answer is the one that its readers and its compaction give. Deletions stay, marked as such, for the caller to
    drop: those of merged logs count against a base that they are merged with later.
    """

    schema: pa.Schema
    columns: Callable[[pa.Table, str], Iterator[list[Any]]]
    merge: Callable[[Sequence[pa.Table]], pa.Table]

    @property
    def has_newest_only(self) -> bool:
        """Whether the newest row of a key is all that counts, so that it need not be sought in older layers."""
        return self.merge is newest_wins

    def decode(self, entries: pa.Table, written: str) -> pa.Table:
        """The rows of an HFile's entries, columns `key` and `value`, which the Avro schema `written` wrote."""
        return rows_of(self.schema, self.columns(entries, written))

    def deleted(self, keys: pa.Array) -> pa.Table:
        """Rows that delete these whole records, as a delete block says."""
        return deletions(self.schema, keys)
