"""Binary files made to do harm, the same ones that `make fuzz` begins with."""

import io
import struct
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.errors import CorruptFile, EngineError
from hudi_engine.format.avro_columns import framed_records
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.parquet_file import read_rows
from tests.fuzz.cases import Case
from tests.fuzz.crafted import hfiles
from tests.fuzz.crafted_parquet import parquet_files


@pytest.mark.parametrize(("forgeries", "read"), [(hfiles, read_hfile), (parquet_files, read_rows)])
def test_forged_files_are_refused(forgeries: Callable[[], Iterator[Case]], read: Callable[[bytes], object]) -> None:
    cases = list(forgeries())

    assert len(cases) > 20
    for case in cases:
        with pytest.raises(EngineError):
            read(case.data)


def test_a_count_that_is_too_small_loses_no_record_without_a_word() -> None:
    content = b"".join(struct.pack(">i", 1) + b"x" for _ in range(3))

    with pytest.raises(CorruptFile, match="the last record ends at 10 of 15 bytes"):
        framed_records(content, 0, 2)


@pytest.mark.parametrize("text", ["one", "zürich"])
def test_a_text_in_parquet_that_is_not_utf_8_is_corrupt(text: str) -> None:
    data = io.BytesIO()
    rows = pa.table({"text": ["one", "zürich"]})
    pq.write_table(rows, data, compression="none", use_dictionary=False, write_statistics=False)
    damaged = bytearray(data.getvalue())
    damaged[damaged.index(text.encode()) + 1] = 0xFF

    with pytest.raises(CorruptFile, match=r"not readable as Parquet: .*UTF8"):
        read_rows(bytes(damaged))


def test_a_flipped_bit_in_a_page_is_found_by_its_checksum() -> None:
    data = io.BytesIO()
    rows = pa.table({"number": pa.array(range(1000), pa.int64())})
    pq.write_table(rows, data, compression="none", use_dictionary=False, write_page_checksum=True)
    damaged = bytearray(data.getvalue())
    damaged[damaged.index(struct.pack("<q", 500))] ^= 1

    with pytest.raises(CorruptFile, match="CRC"):
        read_rows(bytes(damaged))
