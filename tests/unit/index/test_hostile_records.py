"""Records from anybody become rows or are refused by name: never anything else, never slowly."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.index.column_stats import between, may_hold
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of
from hudi_engine.index.typed_bounds import bounds_as
from tests.unit.index.metadata_records import entries_of, schema_of, stats
from tests.unit.index.test_payloads import location

RECORDS = {
    IndexKind.FILES: (2, "filesystemMetadata", {"a": {"size": 7, "isDeleted": False}}),
    IndexKind.COLUMN_STATS: (
        3,
        "ColumnStatsMetadata",
        stats(
            minValue=("StringWrapper", "a"),
            maxValue=("LongWrapper", 5),
            isTightBound=False,
            valueType={"typeOrdinal": 7, "additionalInfo": "5,2"},
        ),
    ),
    IndexKind.BLOOM_FILTERS: (
        4,
        "BloomFilterMetadata",
        {"type": "SIMPLE", "timestamp": "1", "bloomFilter": b"AA==", "isDeleted": False},
    ),
    IndexKind.RECORD_INDEX: (5, "recordIndexMetadata", {**location(), "position": None}),
    IndexKind.SECONDARY_INDEX: (7, "SecondaryIndexMetadata", {"isDeleted": False}),
}
COLUMN_TYPES = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.decimal128(5, 2),
    pa.timestamp("us"),
    pa.date32(),
    pa.binary(),
)


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
def test_a_damaged_record_is_refused_or_still_one_of_its_kind(kind: IndexKind, data: st.DataObject) -> None:
    number, name, value = RECORDS[kind]
    entries = entries_of("1.2.0", number, {"k": (name, value)})
    octets = bytearray(entries["value"][0].as_py())
    for place in data.draw(st.lists(st.integers(0, len(octets) - 1), min_size=1, max_size=3)):
        octets[place] = data.draw(st.integers(0, 255))
    damaged = entries.set_column(1, "value", pa.array([bytes(octets)], pa.large_binary()))
    family = family_of(kind)

    try:
        rows = family.decode(damaged, schema_of("1.2.0"))
        merged = family.merge([rows, rows, rows])
    except (CorruptFile, Unsupported):
        return

    rows.validate(full=True)
    merged.validate(full=True)
    if kind is IndexKind.COLUMN_STATS:
        for column_type in COLUMN_TYPES:
            for bounds in bounds_as(merged, column_type):
                bounds.validate(full=True)
            may_hold(merged, between(pa.field("c", column_type), None, None))


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize(
    "schema",
    [
        '"int"',
        '{"type": "record", "name": "r", "fields": []}',
        '{"type": "record", "name": "r", "fields": [{"name": "type", "type": "string"}]}',
        "{",
    ],
)
def test_a_schema_that_is_not_the_metadata_tables_is_refused(kind: IndexKind, schema: str) -> None:
    entries = pa.table({"key": pa.array([b"k"], pa.large_binary()), "value": pa.array([b""], pa.large_binary())})

    with pytest.raises((CorruptFile, Unsupported)):
        family_of(kind).decode(entries, schema)


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("inner", ["int", "string", "null", {"type": "array", "items": "int"}])
def test_a_field_of_another_type_is_refused(kind: IndexKind, inner: object) -> None:
    number, name, _ = RECORDS[kind]
    fields = [{"name": "type", "type": "int"}, {"name": name, "type": inner}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    entries = pa.table(
        {
            "key": pa.array([b"k"], pa.large_binary()),
            "value": pa.array([bytes([number * 2]) + b"\0" * (inner != "null")], pa.large_binary()),
        }
    )

    with pytest.raises((CorruptFile, Unsupported)):
        family_of(kind).decode(entries, schema)
