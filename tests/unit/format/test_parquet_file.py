"""Parquet that is whole, and Parquet that is not."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.clock import HandClock
from hudi_engine.errors import CorruptFile, NotFound
from hudi_engine.format.parquet_file import damage_as_corrupt_file, open_parquet, read_rows
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.storage.memory import MemoryStorage

ROWS = pa.table({"key": ["a", "b", None], "value": [1, 2, 3], "many": [[1], [], None]})


def _written(rows: pa.Table = ROWS) -> bytes:
    data = io.BytesIO()
    pq.write_table(rows, data)
    return data.getvalue()


WHOLE = _written()


def test_rows_are_read_back() -> None:
    assert read_rows(WHOLE) == ROWS


def test_columns_are_chosen() -> None:
    assert read_rows(WHOLE, ["value"]) == ROWS.select(["value"])


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    with pytest.raises(CorruptFile, match=r"columns \['other'\] are missing, found \['key', 'value', 'many'\]"):
        read_rows(WHOLE, ["key", "other"])


def test_a_file_cut_short_anywhere_is_corrupt() -> None:
    for length in range(len(WHOLE)):
        with pytest.raises(CorruptFile):
            read_rows(WHOLE[:length])


@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_a_flipped_bit_gives_rows_or_a_corrupt_file(bit: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[bit // 8] ^= 1 << bit % 8

    try:
        read_rows(bytes(damaged)).validate(full=True)
    except (CorruptFile, pa.ArrowInvalid):
        return  # rows that are none are whoever uses them to refuse; nothing else may come out


@pytest.mark.parametrize("length", [0, len(WHOLE), 1 << 26, (1 << 32) - 1])
def test_a_footer_length_that_cannot_be_is_refused_before_it_is_read(length: int) -> None:
    damaged = WHOLE[:-8] + length.to_bytes(4, "little") + b"PAR1"

    with pytest.raises(CorruptFile):
        read_rows(damaged)


def test_bytes_that_are_no_parquet_say_what_stands_at_the_end() -> None:
    with pytest.raises(CorruptFile, match="no Parquet footer: the last 8 bytes are 7878787878787878 in a file of 100"):
        read_rows(b"x" * 100)


def test_a_stored_file_is_read_in_ranges_by_the_size_that_was_listed() -> None:
    storage = MemoryStorage(HandClock())
    storage.create("f.parquet", WHOLE)

    file = open_parquet(StoredFile(storage, "f.parquet", len(WHOLE)))

    assert file.read() == ROWS


def test_a_stored_file_shorter_than_listed_is_corrupt_and_named() -> None:
    storage = MemoryStorage(HandClock())
    storage.create("f.parquet", WHOLE)

    with pytest.raises(CorruptFile, match=r"f\.parquet"):
        open_parquet(StoredFile(storage, "f.parquet", len(WHOLE) + 1))


def test_a_fault_of_the_store_in_the_middle_of_reading_is_not_taken_for_damage() -> None:
    storage = MemoryStorage(HandClock())
    storage.create("f.parquet", WHOLE)
    file = open_parquet(StoredFile(storage, "f.parquet", len(WHOLE)))
    storage.delete("f.parquet")

    with pytest.raises(NotFound, match=r"f\.parquet"), damage_as_corrupt_file():
        file.read()


def test_a_stored_file_seeks_and_ends_like_a_file() -> None:
    storage = MemoryStorage(HandClock())
    storage.create("f", b"0123456789")
    file = StoredFile(storage, "f", 10)

    assert file.seek(-3, io.SEEK_END) == 7
    assert (file.read(2), file.read(), file.read(), file.tell()) == (b"78", b"9", b"", 10)
    assert file.seek(-99, io.SEEK_CUR) == 0
    assert file.seek(20) == 20
    assert file.read(1) == b""
