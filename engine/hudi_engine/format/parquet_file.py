"""Parquet by Arrow, with every way in which a damaged file can fail turned into one error."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.errors import CorruptFile

# A footer of 64 MiB would describe some hundred thousand row groups; more is damage.
_FOOTER_LIMIT_BYTES = 64 << 20
_MAGIC = b"PAR1"
_BATCH_ROWS = 32 * 1024
# What a file may become in memory: rows of Hudi differ in their keys at least, so real ones stay far below.
_CELLS_OF_LITTLE = 1 << 25
_CELLS_PER_BYTE = 64
_BYTES_OF_LITTLE = 128 << 20
_BYTES_PER_BYTE = 256


@contextmanager
def damage_as_corrupt_file() -> Iterator[None]:
    """Arrow raises half a dozen unrelated types for bytes that it cannot decode."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError) as broken:
        raise CorruptFile(f"not readable as Parquet: {broken}", 0) from broken


def open_parquet(source: Any) -> pq.ParquetFile:
    """A Parquet file over a seekable source, its footer checked before Arrow allocates what it asks for."""
    size_bytes, footer_bytes = _require_footer(source)
    with damage_as_corrupt_file():
        file = pq.ParquetFile(
            source,
            pre_buffer=True,
            page_checksum_verification=True,
            # Nothing in the footer is longer than the footer, whatever it says of itself.
            thrift_string_size_limit=footer_bytes,
            thrift_container_size_limit=footer_bytes,
        )
        _require_honest_counts(file.metadata, size_bytes)
    return file


def read_rows(data: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of a small Parquet file, and nothing in them that Arrow would stumble over later: texts are UTF-8."""
    file = open_parquet(io.BytesIO(data))
    missing = set(columns or ()) - set(file.schema_arrow.names)
    if missing:
        raise CorruptFile(f"columns {sorted(missing)} are missing, found {file.schema_arrow.names}", 0)
    with damage_as_corrupt_file():
        rows = file.read(columns=columns)
        rows.validate(full=True)
    return rows


def batches(file: pq.ParquetFile, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The rows of these columns in pieces, on the caller's thread; without columns there are still as many rows."""
    pieces = file.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False)
    while True:
        with damage_as_corrupt_file():
            batch = next(pieces, None)
            if batch is None:
                return
            batch.validate(full=True)
        yield pa.Table.from_batches([batch])


def _require_honest_counts(about: pq.FileMetaData, size_bytes: int) -> None:
    """Refuse what would fill the memory: Arrow makes room for as many values as the footer and the pages count."""
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    if about.num_rows != sum(group.num_rows for group in groups) or any(group.num_rows < 0 for group in groups):
        raise CorruptFile(f"{about.num_rows} rows, which is not what the row groups have", size_bytes)
    cells = about.num_rows * about.num_columns
    if cells > max(_CELLS_OF_LITTLE, _CELLS_PER_BYTE * size_bytes):
        raise CorruptFile(f"{about.num_rows} rows of {about.num_columns} columns in {size_bytes} bytes", size_bytes)
    raw_bytes = sum(max(0, group.total_byte_size) for group in groups)
    if raw_bytes > max(_BYTES_OF_LITTLE, _BYTES_PER_BYTE * size_bytes):
        raise CorruptFile(f"{size_bytes} bytes that are said to unpack to {raw_bytes}", size_bytes)


def _require_footer(source: Any) -> tuple[int, int]:
    """The size of the file and of its footer."""
    size: int = source.seek(0, io.SEEK_END)
    if size < 12:
        raise CorruptFile(f"{size} bytes are too few for a Parquet file", 0)
    source.seek(size - 8)
    tail = source.read(8)
    source.seek(0)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(size - 12, _FOOTER_LIMIT_BYTES):
        raise CorruptFile(f"no Parquet footer: the last 8 bytes are {tail.hex()} in a file of {size} bytes", size - 8)
    return size, length
