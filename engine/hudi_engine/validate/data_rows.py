"""The rows of the data table, as far as indexes of record keys tell of them."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hudi_engine.errors import CorruptFile
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.merge_mode import require_meta_columns
from hudi_engine.table.snapshot import RowReader
from hudi_engine.validate.fingerprints import Integers, Numbers, combined, fingerprints, texts_of
from hudi_engine.validate.subject import Subject

# What a suspicious row costs in memory beyond its key.
_ROW_BYTES = 160
Flags: TypeAlias = NDArray[np.bool_]


def reader_of(subject: Subject, columns: Sequence[str], what: str) -> RowReader:
    """A reader of record keys and of these columns; `what` is validated, for the message if there are no keys."""
    require_record_keys(subject, what)
    return subject.table.rows(subject.looked_at, [RECORD_KEY, *columns])


def require_record_keys(subject: Subject, what: str) -> None:
    """Refuse to validate what is compared with record keys where the data files have none."""
    require_meta_columns(subject.table.config, subject.table.storage.location, f"{what} is compared with them")


def pieces_of(reader: RowReader, found: FileSlice) -> Iterator[pa.RecordBatch]:
    """The rows of a slice, each with its record key, in pieces that are one array a column."""
    for table in reader.rows_of(found):
        for batch in table.combine_chunks().to_batches():
            if batch.column(RECORD_KEY).null_count:
                raise CorruptFile(f"a row of the file group {found.file_id} has no record key", 0, found.partition)
            yield batch


def place_prints(partitions: pa.Array, file_ids: pa.Array) -> Numbers:
    """One number for each place that a row can be at."""
    return combined(fingerprints(partitions), fingerprints(file_ids))


def key_sizes(keys: pa.Array) -> Integers:
    """About how much memory each row takes if it is suspicious."""
    return texts_of(keys).sizes + _ROW_BYTES
