"""The keys of a slice are those of its rows, or it is said why they cannot be indexed, and where."""

import pyarrow as pa
import pytest

from hudi_engine.compute.keys import keys_of, require_stored_keys
from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from tests.unit.compute.tables import INSTANT, KeyTable, file_id

PATH = f"p/{file_id(1)}_0-1-1_{INSTANT}.parquet"


def read(keys: pa.Array | list[str]) -> list[bytes]:
    table = KeyTable.of({("p", file_id(1)): keys})
    (found,) = table.reader.snapshot.slices
    return [key for piece in keys_of(table.reader, found) for key in piece.to_pylist()]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()]
)
def test_keys_are_read_however_their_column_is_typed(kind: pa.DataType) -> None:
    texts = ["a", "é", "\U0001f600", "a\0", "x" * 32767]

    assert read(pa.array(texts).cast(kind)) == [text.encode() for text in texts]


def test_a_file_without_rows_has_no_keys() -> None:
    assert read([]) == []


def test_a_row_without_a_key_is_named_by_its_file() -> None:
    with pytest.raises(CorruptFile, match="1 of 2 rows have no _hoodie_record_key") as refused:
        read(pa.array(["a", None]))

    assert refused.value.path == PATH


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(Contradiction, match=f"{PATH}: a row's _hoodie_record_key is empty"):
        read(["a", ""])


def test_a_key_that_is_too_long_for_an_hfile_is_refused() -> None:
    with pytest.raises(Unsupported, match=rf"{PATH}: a record key of 32768 bytes, beginning b'xxx.*up to 32767 bytes"):
        read(["a", "x" * 32768])


def test_a_file_without_the_column_is_named() -> None:
    table = KeyTable.of({("p", file_id(1)): ["a"]})
    (found,) = table.reader.snapshot.slices
    other = KeyTable.of({("p", file_id(1)): ["a"]})
    table.storage.replace(PATH, _renamed(other.storage.read(PATH)))

    with pytest.raises(CorruptFile, match="no _hoodie_record_key"):
        list(keys_of(table.reader, found))


def _renamed(parquet: bytes) -> bytes:
    # As long as the column's name, so that no size in the footer changes.
    return parquet.replace(b"_hoodie_record_key", b"_hoodie_record_kez")


def test_a_table_whose_files_do_not_hold_keys_is_refused_by_the_property_that_says_so() -> None:
    table = KeyTable.of({}, {"hoodie.populate.meta.fields": "false"})

    with pytest.raises(Unsupported, match=r"memory:table: hoodie\.populate\.meta\.fields=false"):
        require_stored_keys(table.reader.config, table.storage.location)


def test_a_table_that_does_not_say_so_holds_its_keys() -> None:
    require_stored_keys(KeyTable.of({}).reader.config, "anywhere")
