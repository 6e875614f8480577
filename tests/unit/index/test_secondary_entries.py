"""Entries of secondary indexes made of the rows: those of real Hudi, in the shards where it has them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hudi_engine.errors import Unsupported
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.indexable import require_indexable
from hudi_engine.index.keys import split_secondary_keys
from hudi_engine.index.kinds import IndexKind, shard_name_of
from hudi_engine.index.payloads import family_of
from hudi_engine.index.secondary_entries import secondary_entry_keys, secondary_shard_numbers, secondary_value
from hudi_engine.index.secondary_values import Column
from hudi_engine.open import IndexedTable, open_table
from hudi_engine.table.conform import RECORD_KEY
from tests.golden.unpack import unpack
from tests.golden.with_index import tables_with

V1, V2 = IndexVersion.V1, IndexVersion.V2
ACCOUNTS = ("amount", "opened", "owner", "ratio")
INDEXES = [
    *(("v8_cow_secondary", f"secondary_index_by_{name}") for name in ACCOUNTS),
    ("v8_mor_indexed", "secondary_index_by_celsius"),
    ("v9_mor_indexed", "secondary_index_by_celsius"),
    *(("v9_mor_secondary", f"secondary_index_by_{name}") for name in ACCOUNTS),
]
each_index = pytest.mark.parametrize(("name", "index"), INDEXES)
each_version = pytest.mark.parametrize("version", [V1, V2])


def test_all_golden_indexes_are_listed() -> None:
    found = {(name, index) for name, index in INDEXES for listed in [tables_with(index)] if name in listed}
    names = {index for _, index in INDEXES}

    assert found == {(name, index) for index in names for name in tables_with(index)}


def entry_keys(opened: IndexedTable, index: str) -> Any:
    """Of every row of the newest snapshot."""
    definition = opened.metadata.index(index).definition
    assert definition is not None
    table = opened.table
    snapshot = table.snapshot()
    rows, version = table.row_schema(snapshot), table.config.version
    column = require_indexable(
        definition, rows, version, has_record_index="record_index" in opened.metadata.index_names
    )
    stored = pa.concat_tables(table.rows(snapshot, [RECORD_KEY, column.top]).tables()).combine_chunks()
    values = column.texts_as_java(pa.concat_arrays(stored[column.top].chunks))
    return secondary_entry_keys(values, pa.concat_arrays(stored[RECORD_KEY].chunks), definition.version)


@pytest.mark.thorough
@each_index
def test_entries_and_their_shards_are_those_of_the_golden_index(name: str, index: str, tmp_path: Path) -> None:
    opened = open_table(str(unpack(name, tmp_path)))
    found = opened.metadata.index(index)
    shards = found.groups[None]
    assert found.definition is not None

    keys = entry_keys(opened, index)

    numbers = secondary_shard_numbers(keys, found.definition.version, len(shards))
    ours = sorted(
        (key.decode(), shard_name_of(index, number))
        for key, number in zip(keys.to_pylist(), numbers.tolist(), strict=True)
    )
    java = (
        (key, each.file_slice.file_id) for each in shards for rows in each.scan() for key in rows["key"].to_pylist()
    )
    assert ours == sorted(java)
    assert len(ours) >= 18


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "name"), [(8, "v8_mor_indexed"), (9, "v9_mor_indexed")])
def test_the_value_is_that_of_java_to_the_byte(version: int, name: str, tmp_path: Path) -> None:
    table = unpack(name, tmp_path)

    checked = 0
    for path in (table / ".hoodie/metadata/secondary_index_by_celsius").glob("*.hfile"):
        for value in read_hfile(path.read_bytes(), 1).entries["value"].to_pylist():
            # Four meta columns are null; the fifth is, too, unless compaction put the name of the HFile there.
            rest = value.partition(b".hfile")[2] if value[:5] == b"\0\0\0\0\2" else value[5:]
            assert secondary_value(version) == bytes(5) + rest
            checked += 1
    assert checked > 0


@pytest.mark.parametrize("version", [8, 9])
def test_an_entry_is_read_back(version: int) -> None:
    entries = pa.table({"key": pa.array([b"a$k"], pa.large_binary()), "value": pa.array([secondary_value(version)])})
    entries = entries.cast(pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())]))

    rows = family_of(IndexKind.SECONDARY_INDEX).decode(entries, WRITTEN_SCHEMA[version])

    assert rows.to_pylist() == [{"key": "a$k", "is_deleted": False}]


def test_version_6_has_no_such_entries() -> None:
    with pytest.raises(Unsupported, match="for table version 6"):
        secondary_value(6)


TEXTS = ["", "$", "\\", "a$b", "a\\$b\\\\", "Łódź 😀", "\U0010ffff\uffff", "\n", " "]
ESCAPED = ["", "\\$", "\\\\", "a\\$b", "a\\\\\\$b\\\\\\\\", "Łódź 😀", "\U0010ffff\uffff", "\n", " "]


@each_version
def test_values_and_record_keys_are_escaped_alike(version: IndexVersion) -> None:
    keys = secondary_entry_keys(pa.array(TEXTS), pa.array(TEXTS), version)

    assert keys.type == pa.large_binary()
    assert [key.decode() for key in keys.to_pylist()] == [f"{text}${text}" for text in ESCAPED]
    assert [part.to_pylist() for part in split_secondary_keys(keys)] == [TEXTS, TEXTS]


def test_a_null_has_an_entry_in_the_second_version_alone() -> None:
    values, record_keys = pa.array(["a", None, ""]), pa.array(["1", "2", "3"])

    assert secondary_entry_keys(values, record_keys, V1).to_pylist() == [b"a$1", b"$3"]
    assert secondary_entry_keys(values, record_keys, V2).to_pylist() == [b"a$1", b"\0$2", b"$3"]


def test_nul_is_escaped_in_the_second_version_and_refused_in_the_first() -> None:
    values, record_keys = pa.array(["\0", "a\0b", "c"]), pa.array(["1", "2", "\0"])

    assert secondary_entry_keys(values, record_keys, V2).to_pylist() == [b"\\\0$1", b"a\\\0b$2", b"c$\\\0"]
    for row in range(3):
        with pytest.raises(Unsupported, match="NUL"):
            secondary_entry_keys(values.slice(row, 1), record_keys.slice(row, 1), V1)
    assert secondary_entry_keys(pa.array([None], pa.string()), pa.array(["\\0"]), V1).to_pylist() == []


def test_a_key_that_no_hfile_can_hold_is_refused_by_its_beginning() -> None:
    values = pa.array(["short", "long" * 8192])

    with pytest.raises(Unsupported, match="32770 bytes, beginning b'longlong"):
        secondary_entry_keys(values, pa.array(["1", "2"]), V2)


def test_the_second_version_keeps_a_value_in_one_shard_and_the_first_spreads_it() -> None:
    values, record_keys = pa.array(["a$"] * 64), pa.array([str(number) for number in range(64)])

    first, second = (
        secondary_shard_numbers(secondary_entry_keys(values, record_keys, version), version, 8) for version in (V1, V2)
    )

    assert (len(set(first.tolist())), len(set(second.tolist()))) == (8, 1)


LONGS = [2**63 - 1, -(2**63), 0, -1]
MICROSECONDS = [-1, 1_700_000_000_123_456, None]
SPELLED = [
    (pa.array(TEXTS), TEXTS),
    (pa.array(LONGS), [str(number) for number in LONGS]),
    (pa.array([-128, None, 127], pa.int8()), ["-128", None, "127"]),
    (
        pa.array([-0.0, float("nan"), float("inf"), 1e-5, 1e10, None], from_pandas=False),
        ["-0.0", "NaN", "Infinity", "1.0E-5", "1.0E10", None],
    ),
    (pa.array([0.1, 3.4028235e38], pa.float32()), ["0.1", "3.4028235E38"]),
    (pa.array(MICROSECONDS, pa.timestamp("us", "UTC")), ["-1", "1700000000123456", None]),
]


@each_version
@pytest.mark.parametrize(("values", "texts"), SPELLED, ids=lambda value: str(getattr(value, "type", "")))
def test_values_are_spelled_as_hudi_spells_them(
    values: pa.Array, texts: list[str | None], version: IndexVersion
) -> None:
    assert Column(("c",), values.type, version).texts_as_java(values).to_pylist() == texts


def test_dates_are_texts_in_the_first_version_and_days_in_the_second() -> None:
    days = pa.array([-719_162, -1, 0, 19_782, 2_932_896, None], pa.int32()).cast(pa.date32())

    first, second = (Column(("c",), days.type, version).texts_as_java(days).to_pylist() for version in (V1, V2))

    assert first == ["0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31", None]
    assert second == ["-719162", "-1", "0", "19782", "2932896", None]


@pytest.mark.parametrize("day", [-719_163, 2_932_897])
def test_a_date_whose_year_has_not_four_digits_is_refused_where_it_would_be_a_text(day: int) -> None:
    days = pa.array([0, day], pa.int32()).cast(pa.date32())

    with pytest.raises(Unsupported, match=f"a date {day} days from 1970"):
        Column(("c",), days.type, V1).texts_as_java(days)


def test_a_value_inside_of_a_struct_is_spelled_and_null_with_its_struct() -> None:
    values = pa.array([{"b": 1.0}, {"b": None}, None], pa.struct([("b", pa.float64())]))

    assert Column(("top", "b"), pa.float64(), V2).texts_as_java(values).to_pylist() == ["1.0", None, None]


def test_both_spellings_of_a_fraction_are_one_value_to_a_validation() -> None:
    column = Column(("c",), pa.float64(), V2)
    values = pa.array([2e23, 5e-324, 4.342637611108189e16])

    assert column.agreed(column.texts_as_java(values)).equals(column.texts(values))
    assert pc.all(pc.not_equal(column.texts_as_java(values), column.texts(values))).as_py()
