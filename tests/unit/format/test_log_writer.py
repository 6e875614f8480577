"""Blocks that we write, read back; that Java reads them is the business of tests/interop."""

import struct
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.delete import (
    COMMIT_TIME,
    DeletedKey,
    OrderingKind,
    OrderingValue,
    decode_deletes,
)
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import decode_avro_records
from hudi_engine.format.log.writer import avro_block, delete_block, hfile_block, rollback_block, write_block

SCHEMA = '{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"]}]}'
AT: dict[HeaderKey, str] = {HeaderKey.INSTANT_TIME: "20240101000000000"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FIXED = settings(
    max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def only(data: bytes) -> LogBlock:
    (block,) = read_blocks(data, is_store_atomic=True)
    return block


@FIXED
@given(st.lists(st.none() | TEXT, max_size=5))
def test_records_come_back_as_they_went(values: list[str | None]) -> None:
    rows = [{"a": value} for value in values]

    block = only(avro_block(SCHEMA, rows, AT, 9))

    assert block.header == {**AT, HeaderKey.SCHEMA: SCHEMA}
    assert list(decode_avro_records(block)) == rows


PLAIN = st.one_of(
    st.builds(OrderingValue, st.just(OrderingKind.BOOLEAN), st.booleans()),
    st.builds(OrderingValue, st.just(OrderingKind.INT), st.integers(-(2**31), 2**31 - 1)),
    st.builds(OrderingValue, st.just(OrderingKind.LONG), st.integers(-(2**63), 2**63 - 1)),
    st.builds(OrderingValue, st.just(OrderingKind.FLOAT), st.floats(width=32, allow_nan=False)),
    st.builds(OrderingValue, st.just(OrderingKind.DOUBLE), st.floats(allow_nan=False)),
    st.builds(OrderingValue, st.just(OrderingKind.BYTES), st.binary(max_size=5)),
    st.builds(OrderingValue, st.just(OrderingKind.STRING), TEXT),
    st.builds(OrderingValue, st.just(OrderingKind.DATE), st.integers(-(2**31), 2**31 - 1)),
    st.builds(
        OrderingValue,
        st.just(OrderingKind.DECIMAL),
        st.decimals(-(10**15) + 1, 10**15 - 1, places=15, allow_nan=False, allow_infinity=False),
    ),
    st.builds(OrderingValue, st.just(OrderingKind.TIMESTAMP_MICROS), st.integers(-(2**63), 2**63 - 1)),
)
ARRAY = st.lists(
    st.none() | PLAIN | st.builds(OrderingValue, st.just(OrderingKind.LOCAL_DATE), st.integers(-(2**31), 2**31 - 1)),
    max_size=3,
).map(lambda values: OrderingValue(OrderingKind.ARRAY, tuple(values)))


@FIXED
@given(st.lists(st.builds(DeletedKey, TEXT, st.none() | TEXT, st.none() | PLAIN | ARRAY), max_size=4))
def test_deletions_come_back_with_the_kind_of_their_ordering(deletes: list[DeletedKey]) -> None:
    expected = [replace(each, ordering=each.ordering or COMMIT_TIME) for each in deletes]
    assert decode_deletes(only(delete_block(deletes, AT, 9))) == expected


def test_a_time_of_day_is_read_and_not_written() -> None:
    ordering = OrderingValue(OrderingKind.TIME_MICROS, 3)
    written = b"\x02\x02\x02k\0\x14\x06\0"

    block = only(write_block(BlockType.DELETE, AT, struct.pack(">ii", 3, len(written)) + written, 9))

    assert decode_deletes(block) == [DeletedKey("k", None, ordering)]
    with pytest.raises(Unsupported, match="time of day"):
        delete_block([DeletedKey("k", None, ordering)], AT, 9)


def test_the_branch_numbers_of_ordering_values_are_those_of_java() -> None:
    """The list carries no schema, so a reader knows the type by the number alone."""
    values = [
        (1, OrderingKind.BOOLEAN, True),
        (2, OrderingKind.INT, 0),
        (3, OrderingKind.LONG, 0),
        (4, OrderingKind.FLOAT, 0.0),
        (5, OrderingKind.DOUBLE, 0.0),
        (6, OrderingKind.BYTES, b""),
        (7, OrderingKind.STRING, ""),
        (8, OrderingKind.DATE, 0),
        (9, OrderingKind.DECIMAL, Decimal(0)),
        (11, OrderingKind.TIMESTAMP_MICROS, 0),
        (12, OrderingKind.ARRAY, ()),
    ]

    for number, kind, value in values:
        block = only(delete_block([DeletedKey("k", None, OrderingValue(kind, value))], AT, 9))
        # Versions and length; one item; branch and text of the key; branch of the partition; branch of the ordering.
        assert bytes(block.content[8:13]) == b"\x02\x02\x02k\x00"
        assert block.content[13] == 2 * number


def test_an_array_of_ordering_values_needs_table_version_nine() -> None:
    deletes = [DeletedKey("k", "p", OrderingValue(OrderingKind.ARRAY, (COMMIT_TIME,)))]

    for table_version in (6, 8):
        with pytest.raises(Contradiction, match="orderingVal"):
            delete_block(deletes, AT, table_version)


@pytest.mark.parametrize("value", ["1.0000000000000001", "1e15", "-1e15", "1e999999", "1e-999999", "NaN", "Infinity"])
def test_a_decimal_that_java_would_round_is_not_written(value: str) -> None:
    deletes = [DeletedKey("k", "p", OrderingValue(OrderingKind.DECIMAL, Decimal(value)))]

    with pytest.raises(Contradiction):
        delete_block(deletes, AT, 9)


@pytest.mark.parametrize(
    "inside",
    [
        b"",
        struct.pack(">ii", 3, 5) + b"\0",
        struct.pack(">ii", 3, -1) + b"\0",
        struct.pack(">ii", 3, 1) + b"\x02",
        struct.pack(">ii", 3, 2) + b"\0\0",
        struct.pack(">ii", 3, 5) + b"\x02\0\0\0\0",
        struct.pack(">ii", 3, 7) + b"\x02\x02\x02k\0\x1a\0",
    ],
)
def test_a_delete_block_of_other_bytes_is_corrupt(inside: bytes) -> None:
    block = only(write_block(BlockType.DELETE, AT, inside, 9))

    with pytest.raises(CorruptFile):
        decode_deletes(block)


def test_an_hfile_block_holds_the_file_untouched() -> None:
    block = only(hfile_block(b"DATABLK*...", SCHEMA, AT, 8))

    assert block.type is BlockType.HFILE_DATA
    assert bytes(block.content) == b"DATABLK*..."
    assert block.header[HeaderKey.SCHEMA] == SCHEMA


def test_a_rollback_block_is_as_hudi_writes_it() -> None:
    block = only(rollback_block("20240102000000000", "20240101000000000", 6))

    assert block.header == {
        HeaderKey.INSTANT_TIME: "20240102000000000",
        HeaderKey.TARGET_INSTANT_TIME: "20240101000000000",
        HeaderKey.COMMAND_BLOCK_TYPE: "0",
    }
    assert len(block.content) == 0


@pytest.mark.parametrize(
    ("key", "table_version"),
    [
        (HeaderKey.IS_PARTIAL, 6),
        (HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS, 6),
        (HeaderKey.BLOCK_IDENTIFIER, 6),
        (HeaderKey.BLOCK_IDENTIFIER, 9),
    ],
)
def test_a_header_key_that_old_readers_die_of_is_not_written(key: HeaderKey, table_version: int) -> None:
    with pytest.raises(Contradiction, match=key.name):
        avro_block(SCHEMA, [], {**AT, key: "x"}, table_version)


def test_a_block_without_its_instant_is_not_written() -> None:
    with pytest.raises(Contradiction, match="INSTANT_TIME"):
        avro_block(SCHEMA, [], {}, 9)


@pytest.mark.parametrize("table_version", [5, 7, 10])
def test_blocks_of_other_table_versions_are_not_written(table_version: int) -> None:
    with pytest.raises(Unsupported):
        rollback_block("2", "1", table_version)
