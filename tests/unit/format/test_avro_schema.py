"""Avro schemas as Arrow schemas and back."""

import json
import zipfile
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_schema
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import decode_avro_records
from hudi_engine.format.log.writer import avro_block

Json = Any
FIXED = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
EACH = {
    "boolean": ("boolean", pa.bool_()),
    "int": ("int", pa.int32()),
    "long": ("long", pa.int64()),
    "float": ("float", pa.float32()),
    "double": ("double", pa.float64()),
    "bytes": ("bytes", pa.binary()),
    "string": ("string", pa.string()),
    "date": ({"type": "int", "logicalType": "date"}, pa.date32()),
    "time-millis": ({"type": "int", "logicalType": "time-millis"}, pa.time32("ms")),
    "time-micros": ({"type": "long", "logicalType": "time-micros"}, pa.time64("us")),
    "timestamp-millis": ({"type": "long", "logicalType": "timestamp-millis"}, pa.timestamp("ms", "UTC")),
    "timestamp-micros": ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC")),
    "local-timestamp-millis": ({"type": "long", "logicalType": "local-timestamp-millis"}, pa.timestamp("ms")),
    "local-timestamp-micros": ({"type": "long", "logicalType": "local-timestamp-micros"}, pa.timestamp("us")),
}


def schema_of(**columns: Json) -> str:
    fields = [{"name": name, "type": kind} for name, kind in columns.items()]
    return json.dumps({"type": "record", "name": "t_record", "namespace": "hoodie.t", "fields": fields})


@pytest.mark.parametrize("name", EACH)
def test_each_type_has_one_arrow_type_and_comes_back(name: str) -> None:
    avro, arrow = EACH[name]

    schema = avro_schema.to_arrow(schema_of(a=avro, b=["null", avro]))

    assert schema == pa.schema([pa.field("a", arrow, nullable=False), pa.field("b", arrow)])
    back = json.loads(avro_schema.from_arrow(schema, "t_record", "hoodie.t"))
    assert [field["type"] for field in back["fields"]] == [avro, ["null", avro]]


@pytest.mark.parametrize(
    ("avro", "arrow"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}, pa.decimal128(10, 2)),
        (
            {"type": "fixed", "name": "f", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 4},
            pa.decimal128(20, 4),
        ),
        ({"type": "fixed", "name": "f", "size": 9}, pa.binary(9)),
        ({"type": "string", "logicalType": "uuid"}, pa.string()),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, pa.string()),
        ({"type": "int", "logicalType": "timestamp-micros"}, pa.int32()),
        ({"type": "string", "logicalType": "made up"}, pa.string()),
        ({"type": "string", "avro.java.string": "String"}, pa.string()),
    ],
    ids=str,
)
def test_types_that_only_avro_has_are_read(avro: Json, arrow: pa.DataType) -> None:
    assert avro_schema.to_arrow(schema_of(a=avro)).field("a").type == arrow


PLAIN = st.sampled_from([arrow for _, arrow in EACH.values()]) | st.builds(
    pa.decimal128, st.integers(5, 38), st.integers(0, 5)
)
NULLABLE = st.booleans()


def structs(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    fields = st.lists(st.tuples(inner, NULLABLE), min_size=1, max_size=3)
    return fields.map(lambda each: pa.struct([pa.field(f"x{i}", *pair) for i, pair in enumerate(each)]))


ARROW = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        structs(inner),
        st.builds(lambda kind, null: pa.list_(pa.field("element", kind, null)), inner, NULLABLE),
        st.builds(lambda kind, null: pa.map_(pa.string(), pa.field("value", kind, null)), inner, NULLABLE),
    ),
    max_leaves=6,
)


@FIXED
@given(st.lists(st.tuples(ARROW, NULLABLE), min_size=1, max_size=5))
def test_an_arrow_schema_survives_the_way_through_avro(columns: list[tuple[pa.DataType, bool]]) -> None:
    schema = pa.schema([pa.field(f"c{i}", kind, null) for i, (kind, null) in enumerate(columns)])

    again = avro_schema.to_arrow(avro_schema.from_arrow(schema, "t_record", "hoodie.t"))

    assert again == schema


def test_names_inside_are_those_of_spark() -> None:
    with zipfile.ZipFile(Path(__file__).parent / "data" / "log_files.zip") as zipped:
        (block,) = read_blocks(zipped.read("v9_avro/1"), is_store_atomic=True)
    written = json.loads(block.require(HeaderKey.SCHEMA))
    for field in written["fields"]:
        field.pop("doc", None)

    ours = avro_schema.from_arrow(avro_schema.to_arrow(block.require(HeaderKey.SCHEMA)), "t_record", "hoodie.t")

    assert json.loads(ours) == written


def test_decoded_records_go_into_arrow_as_they_are() -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10}
    text = schema_of(
        **{name.replace("-", "_"): ["null", avro] for name, (avro, _) in EACH.items()},
        decimal=["null", decimal],
        list=["null", {"type": "array", "items": ["null", "int"]}],
        map=["null", {"type": "map", "values": "long"}],
    )
    row = {
        "boolean": True,
        "int": -1,
        "long": 2**62,
        "float": 0.5,
        "double": 1e300,
        "bytes": b"\0",
        "string": "ü",
        "date": 19724,
        "time_millis": 1,
        "time_micros": 1,
        "timestamp_millis": 1704067200001,
        "timestamp_micros": 1704067200000001,
        "local_timestamp_millis": 1704067200001,
        "local_timestamp_micros": -1,
        "decimal": Decimal("1234567890123456789012345678.0123456789"),
        "list": [1, None],
        "map": {"k": 1},
    }
    data = avro_block(text, [row, dict.fromkeys(row)], {HeaderKey.INSTANT_TIME: "1"}, 9)
    (block,) = read_blocks(data, is_store_atomic=True)

    table = pa.Table.from_pylist(list(decode_avro_records(block)), avro_schema.to_arrow(text))

    first, second = table.to_pylist()
    assert first["date"] == date(2024, 1, 2)
    assert first["time_micros"] == time(0, 0, 0, 1)
    assert first["timestamp_micros"] == datetime(2024, 1, 1, 0, 0, 0, 1, UTC)
    assert first["local_timestamp_micros"] == datetime(1969, 12, 31, 23, 59, 59, 999999)
    assert first["decimal"] == row["decimal"]
    assert (first["list"], first["map"]) == ([1, None], [("k", 1)])
    assert set(second.values()) == {None}


@pytest.mark.parametrize(
    "avro", [["int", "string"], ["null", "int", "string"], ["null"], {"type": "array", "items": ["int", "string"]}]
)
def test_a_union_of_several_types_is_no_column(avro: Json) -> None:
    with pytest.raises(Unsupported):
        avro_schema.to_arrow(schema_of(a=avro))


@pytest.mark.parametrize("text", ['"int"', "{", "{}", '{"type":"record","name":"R","fields":[1]}'])
def test_what_is_no_record_schema_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptFile):
        avro_schema.to_arrow(text)


@pytest.mark.parametrize(
    "kind",
    [
        pa.uint32(),
        pa.int8(),
        pa.timestamp("ns"),
        pa.timestamp("us", "Europe/Zurich"),
        pa.large_string(),
        pa.decimal256(40, 1),
        pa.map_(pa.int32(), pa.int32()),
        pa.null(),
    ],
    ids=str,
)
def test_an_arrow_type_that_avro_would_change_is_refused(kind: pa.DataType) -> None:
    with pytest.raises(Unsupported, match="column a"):
        avro_schema.from_arrow(pa.schema([pa.field("a", kind)]), "t_record", "hoodie.t")


def test_a_name_that_avro_does_not_allow_is_refused() -> None:
    with pytest.raises(Unsupported, match="a b"):
        avro_schema.from_arrow(pa.schema([pa.field("a b", pa.int32())]), "t_record", "hoodie.t")
