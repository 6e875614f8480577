"""The record keys of a file slice: what a record index has entries of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format.hfile.cells import MAX_ROW_BYTES
from hudi_engine.index.entries import value_of
from hudi_engine.index.kinds import IndexKind
from hudi_engine.table.config import TableConfig
from hudi_engine.table.conform import COMMIT_TIME, RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.merge_mode import require_meta_columns
from hudi_engine.table.snapshot import RowReader
from hudi_engine.table.zone import to_ms

DATED: Final = pa.struct([pa.field("key", pa.large_binary()), pa.field("written", pa.int64())])
"""A key, and the digits of the time of the commit that wrote its row, as a number."""
_DIGITS: Final = 17


def require_stored_keys(config: TableConfig, location: str) -> None:
    """Refuse a table whose files do not hold their record keys."""
    require_meta_columns(config, location, "a record index is made of them")


@dataclass(frozen=True, slots=True)
class RecordKeys:
    """`RowEntries` of a record index: the record keys, each with the place of its file slice.

    The reader's columns are those of `columns`.
    """

    index: str = IndexKind.RECORD_INDEX.value
    keeps_newest: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (RECORD_KEY, COMMIT_TIME) if self.keeps_newest else (RECORD_KEY,)

    def keys_of(self, reader: RowReader, found: FileSlice) -> Iterator[Any]:
        return dated_keys_of(reader, found) if self.keeps_newest else keys_of(reader, found)

    def hashed(self, keys: Any) -> Any:
        return keys.field("key") if self.keeps_newest else keys

    def value_of(self, found: FileSlice, table_version: int, zone: ZoneInfo) -> bytes:
        instant_ms = to_ms(found.base_instant, zone)
        if instant_ms is None:
            raise Unsupported(
                f"{found.partition or '.'}/{found.file_id}: its base instant {found.base_instant} names no moment (a "
                "bootstrapped file?), and an entry of a record index holds one. Let Hudi rewrite the file by "
                "clustering."
            )
        return value_of(found.partition, found.file_id, instant_ms, table_version)


def keys_of(reader: RowReader, found: FileSlice) -> Iterator[Any]:
    """The record keys of the slice's rows in pieces, as arrays of large binaries; keys that no index can hold raise.

    The reader's only column is the record key, so that of a slice without logs only that column is read.
    """
    for rows in reader.rows_of(found):
        for chunk in rows[RECORD_KEY].chunks:
            if len(chunk):
                yield _checked(chunk, found)


def dated_keys_of(reader: RowReader, found: FileSlice) -> Iterator[Any]:
    """The same with when each row was written, by the type DATED. The reader has the commit times, too."""
    for rows in reader.rows_of(found):
        for batch in rows.to_batches():
            if len(batch):
                written = _as_number(batch.column(COMMIT_TIME))
                yield pa.StructArray.from_arrays([_checked(batch.column(RECORD_KEY), found), written], fields=[*DATED])


def _as_number(times: Any) -> Any:
    """Instant times as numbers in the same order; nought for what is no time, as bootstrapped files may have it."""
    times = pc.utf8_slice_codeunits(times, 0, _DIGITS)
    is_time = pc.fill_null(pc.match_substring_regex(times, "^[0-9]+$"), False)
    return pc.cast(pc.utf8_rpad(pc.if_else(is_time, times, "0"), _DIGITS, "0"), pa.int64())


def _checked(texts: Any, found: FileSlice) -> Any:
    where = _where(found)
    if texts.null_count:
        raise CorruptFile(
            f"{texts.null_count} of {len(texts)} rows have no {RECORD_KEY}: every row of a Hudi table has one", 0, where
        )
    keys = pc.cast(texts, pa.large_binary())
    sizes = pc.min_max(pc.binary_length(keys)).as_py()
    if sizes["min"] < 1:
        raise Contradiction(f"{where}: a row's {RECORD_KEY} is empty: Hudi's writers refuse such keys, and HFiles, too")
    if sizes["max"] > MAX_ROW_BYTES:
        key = keys[pc.index(pc.binary_length(keys), sizes["max"]).as_py()].as_py()
        raise Unsupported(
            f"{where}: a record key of {len(key)} bytes, beginning {key[:40]!r}: a record index has keys of up to "
            f"{MAX_ROW_BYTES} bytes. Use another index for this table, or shorter keys."
        )
    return keys


def _where(found: FileSlice) -> str:
    """The slice's base file or, if it has none, its first log: whoever looks for the row begins there."""
    if found.base_file is not None:
        return found.base_file.stat.path
    return found.log_files[0].stat.path if found.log_files else f"{found.partition}/{found.file_id}"
