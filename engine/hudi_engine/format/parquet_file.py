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


@contextmanager
def damage_as_corrupt_file() -> Iterator[None]:
    """Arrow raises half a dozen unrelated types for bytes that it cannot decode."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError) as broken:
        raise CorruptFile(f"not readable as Parquet: {broken}", 0) from broken


def open_parquet(source: Any) -> pq.ParquetFile:
    """A Parquet file over a seekable source, its footer checked before Arrow allocates what it asks for."""
    _require_footer(source)
    with damage_as_corrupt_file():
        return pq.ParquetFile(source, pre_buffer=True)


def read_rows(data: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of a small Parquet file."""
    file = open_parquet(io.BytesIO(data))
    missing = set(columns or ()) - set(file.schema_arrow.names)
    if missing:
        raise CorruptFile(f"columns {sorted(missing)} are missing, found {file.schema_arrow.names}", 0)
    with damage_as_corrupt_file():
        return file.read(columns=columns)


def _require_footer(source: Any) -> None:
    size: int = source.seek(0, io.SEEK_END)
    if size < 12:
        raise CorruptFile(f"{size} bytes are too few for a Parquet file", 0)
    source.seek(size - 8)
    tail = source.read(8)
    source.seek(0)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(size - 12, _FOOTER_LIMIT_BYTES):
        raise CorruptFile(f"no Parquet footer: the last 8 bytes are {tail.hex()} in a file of {size} bytes", size - 8)
