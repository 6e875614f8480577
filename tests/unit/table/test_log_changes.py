"""Logged deletions of every shape, sound and unsound."""

import io
import math
from collections.abc import Mapping
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_schema
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import DeletedKey, OrderingKind, OrderingValue
from hudi_engine.format.log.writer import avro_block
from hudi_engine.table.conform import with_meta_columns
from tests.kit.made_table import COLUMNS, FILE_ID, MadeTable, at, stored
from tests.unit.table.test_merge import Change, _one

MARKER = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}


def _rows_after(
    column: pa.Field, value: object, properties: Mapping[str, str] | None = None
) -> list[dict[str, object]]:
    """A table of one row after a logged version of it with one more column."""
    made = MadeTable(8, properties=dict(properties or {}))
    made.partition()
    made.base(at(1), [("a", 5, "base")])
    made.complete(at(1))
    schema = avro_schema.from_arrow(with_meta_columns(COLUMNS).append(column), "row", "made")
    (record,) = stored([("a", 6, "logged")], at(2)).to_pylist()
    block = avro_block(schema, [{**record, column.name: value}], {HeaderKey.INSTANT_TIME: at(2)}, 8)
    made.storage.create(f".{FILE_ID}_{at(2)}.log.1_0-1-1", block)
    made.complete(at(2))
    return made.rows()


@pytest.mark.parametrize(
    ("column", "value", "properties", "is_deletion"),
    [
        (pa.field("_hoodie_is_deleted", pa.bool_()), True, {}, True),
        (pa.field("_hoodie_is_deleted", pa.bool_()), False, {}, False),
        (pa.field("_hoodie_is_deleted", pa.bool_()), None, {}, False),
        (pa.field("_hoodie_operation", pa.string()), "D", {}, True),
        (pa.field("_hoodie_operation", pa.string()), "-U", {}, True),
        (pa.field("_hoodie_operation", pa.string()), "U", {}, False),
        (pa.field("_hoodie_operation", pa.string()), None, {}, False),
        (pa.field("op", pa.string()), "D", MARKER, True),
        (pa.field("op", pa.string()), "U", MARKER, False),
        (pa.field("op", pa.string()), "D", {}, False),
        (pa.field("op", pa.string()), "D", {f"hoodie.record.merge.property.{k}": v for k, v in MARKER.items()}, True),
        (pa.field("op", pa.int64()), 7, {**MARKER, "hoodie.payload.delete.marker": "7"}, True),
    ],
)
def test_a_row_may_be_a_deletion(
    column: pa.Field, value: object, properties: dict[str, str], is_deletion: bool
) -> None:
    assert [row["note"] for row in _rows_after(column, value, properties)] == ([] if is_deletion else ["logged"])


@pytest.mark.parametrize(
    ("column", "value", "properties"),
    [
        (pa.field("_hoodie_is_deleted", pa.string()), "maybe", {}),
        (pa.field("_hoodie_is_deleted", pa.list_(pa.int32())), [1], {}),
        (pa.field("_hoodie_operation", pa.int32()), 1, {}),
        (pa.field("op", pa.list_(pa.int32())), [1], MARKER),
    ],
)
def test_a_column_that_cannot_mark_deletions_is_refused_with_its_file(
    column: pa.Field, value: object, properties: dict[str, str]
) -> None:
    with pytest.raises(Unsupported, match=r"\.log\.1_0-1-1: a column that marks deletions"):
        _rows_after(column, value, properties)


def _after_deletion(kind: pa.DataType, ordering: OrderingValue) -> list[dict[str, object]]:
    """A table of one row, from before there was an ordering column, after a deletion of it."""
    columns = pa.schema([("id", pa.string()), ("seen", kind), ("note", pa.string())])
    made = MadeTable(8)
    made.partition()
    base = io.BytesIO()
    pq.write_table(stored([("a", None, "base")], at(1)).drop_columns(["seen"]), base)
    made.storage.create(f"{FILE_ID}_0-1-1_{at(1)}.parquet", base.getvalue())
    made.complete(at(1), schema=columns)
    made.log(at(2), [], deletes=[DeletedKey("a", "", ordering), DeletedKey("b", "", None)])
    made.complete(at(2), schema=columns)
    return made.rows()


@pytest.mark.parametrize(
    ("kind", "ordering"),
    [
        (pa.int64(), OrderingValue(OrderingKind.LONG, 2**63 - 1)),
        (pa.int64(), OrderingValue(OrderingKind.STRING, "of another class")),
        (pa.timestamp("us", "UTC"), OrderingValue(OrderingKind.TIMESTAMP_MICROS, 2**63 - 1)),
        (pa.timestamp("ms", "UTC"), OrderingValue(OrderingKind.LONG, -(2**63))),
        (pa.date32(), OrderingValue(OrderingKind.DATE, 2**31 - 1)),
        (pa.decimal128(10, 2), OrderingValue(OrderingKind.DECIMAL, Decimal("1.500000000000000"))),
        (pa.binary(), OrderingValue(OrderingKind.BYTES, b"\xff")),
        (pa.float64(), OrderingValue(OrderingKind.DOUBLE, math.nan)),
    ],
)
def test_a_deletion_with_any_value_of_its_type_is_applied(kind: pa.DataType, ordering: OrderingValue) -> None:
    assert _after_deletion(kind, ordering) == []


@pytest.mark.parametrize("value", ["1.505", "123456789012"])
def test_a_deletion_whose_value_its_column_cannot_hold_is_corrupt_and_its_file_named(value: str) -> None:
    with pytest.raises(CorruptFile, match=r"\.log\.1_0-1-1: .* an ordering value that is no decimal128\(10, 2\)"):
        _after_deletion(pa.decimal128(10, 2), OrderingValue(OrderingKind.DECIMAL, Decimal(value)))


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.struct([("a", pa.int32())])])
def test_an_ordering_column_that_has_no_order_is_refused(kind: pa.DataType) -> None:
    with pytest.raises(Unsupported, match="rows are ordered by seen, of the type"):
        _after_deletion(kind, OrderingValue(OrderingKind.LONG, 1))


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize(
    ("lesser", "greater"),
    [(1.0, math.nan), (math.inf, math.nan), (-0.0, 0.0), (-1.0, -0.0), (-math.inf, -5.0), (-2.0, -1.0), (1.0, 2.0)],
)
def test_numbers_with_a_point_compare_as_java_compares_them(lesser: float, greater: float, kind: pa.DataType) -> None:
    assert _one(Change("a", greater, 0), Change("a", lesser, 1), kind=kind) == 0
    assert _one(Change("a", lesser, 0), Change("a", greater, 1), kind=kind) == 1
