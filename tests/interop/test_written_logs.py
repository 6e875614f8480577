"""Log files from us: Java sees the same blocks, headers, records and deletions."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.format import avro_types
from hudi_engine.format.avro_encode import compile_encoder
from hudi_engine.format.hfile.block import Codec
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey, OrderingKind, OrderingValue
from hudi_engine.format.log.writer import avro_block, delete_block, hfile_block, rollback_block
from hudi_engine.format.names import LogFileName
from tests.interop.readable import every_release_and_table_version
from tests.java.jvm import Jvm

INSTANT, LATER, LAST = "20261118122523995", "20261118122524995", "20261118122525995"
HEADER = {HeaderKey.INSTANT_TIME: INSTANT}
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "row",
        "namespace": "hoodie.written",
        "fields": [
            {"name": "key", "type": "string"},
            {"name": "yes", "type": "boolean"},
            {"name": "small", "type": "int"},
            {"name": "large", "type": ["null", "long"], "default": None},
            {"name": "half", "type": "float"},
            {"name": "third", "type": ["null", "double"], "default": None},
            {"name": "texts", "type": {"type": "array", "items": ["null", "string"]}},
            {"name": "counts", "type": {"type": "map", "values": "long"}},
            {
                "name": "inner",
                "type": [
                    "null",
                    {
                        "type": "record",
                        "name": "inner",
                        "fields": [{"name": "text", "type": ["null", "string"], "default": None}],
                    },
                ],
                "default": None,
            },
        ],
    },
    separators=(",", ":"),
)
RECORDS: list[dict[str, Any]] = [
    {
        "key": f"ключ {number:05}",
        "yes": number % 2 == 0,
        "small": -number,
        "large": None if number % 3 == 0 else (1 << 62) + number,
        "half": number / 2,
        "third": None if number % 3 == 1 else -number / 3,
        "texts": [None, "", f"t{number}", '北\u0001"'],
        "counts": {"один": number, "": -1},
        "inner": None if number % 3 == 2 else {"text": None if number % 2 else "ß"},
    }
    for number in range(300)
]
# What each kind of ordering value is to Java: its class and how that prints.
ORDERINGS: list[tuple[OrderingValue | None, str]] = [
    (None, "Integer 0"),
    (COMMIT_TIME, "Integer 0"),
    (OrderingValue(OrderingKind.BOOLEAN, value=True), "Boolean true"),
    (OrderingValue(OrderingKind.INT, -(1 << 31)), "Integer -2147483648"),
    (OrderingValue(OrderingKind.LONG, 5), "Long 5"),
    (OrderingValue(OrderingKind.LONG, (1 << 63) - 1), "Long 9223372036854775807"),
    (OrderingValue(OrderingKind.FLOAT, 1.5), "Float 1.5"),
    (OrderingValue(OrderingKind.DOUBLE, -0.1), "Double -0.1"),
    (OrderingValue(OrderingKind.BYTES, b"\x00\xff"), "ByteBuffer 00ff"),
    (OrderingValue(OrderingKind.STRING, "ß 北"), "String ß 北"),
    (OrderingValue(OrderingKind.DATE, -1), "Date 1969-12-31"),
    (OrderingValue(OrderingKind.DECIMAL, Decimal("-12.345000000000000")), "BigDecimal -12.345000000000000"),
    (OrderingValue(OrderingKind.TIMESTAMP_MICROS, 1_700_000_000_123_456), "Timestamp 2023-11-14 22:13:20.123456"),
]
ARRAYS: list[tuple[OrderingValue | None, str]] = [
    (
        OrderingValue(
            OrderingKind.ARRAY, (OrderingValue(OrderingKind.LONG, 7), OrderingValue(OrderingKind.STRING, "b"))
        ),
        "ArrayComparable[Long 7, String b]",
    ),
    (
        OrderingValue(
            OrderingKind.ARRAY, (OrderingValue(OrderingKind.LOCAL_DATE, 365), OrderingValue(OrderingKind.INT, 1))
        ),
        "ArrayComparable[LocalDate 1971-01-01, Integer 1]",
    ),
]
# Release 0.15.0 makes other classes of the same numbers.
OLD_CLASSES = {
    "Date 1969-12-31": "LocalDate 1969-12-31",
    "Timestamp 2023-11-14 22:13:20.123456": "Instant 2023-11-14T22:13:20.123456Z",
}
NOON_MS = 1_800_000_000_000


def log_file(folder: Path, data: bytes) -> str:
    file = folder / str(LogFileName("5fef950f-d85c-4083-8a08-7df520c80eb9-0", INSTANT, 1, "0-1-2"))
    file.write_bytes(data)
    return str(file)


@every_release_and_table_version
def test_java_reads_each_record_of_an_avro_block(real_hudi: Jvm, table_version: int, tmp_path: Path) -> None:
    path = log_file(tmp_path, avro_block(SCHEMA, RECORDS, HEADER, table_version))

    (block,) = real_hudi.read_log(path=path)

    assert block == {
        "type": "AVRO_DATA_BLOCK",
        "header": {"INSTANT_TIME": INSTANT, "SCHEMA": SCHEMA},
        "records": RECORDS,
    }


@pytest.mark.parametrize("codec", list(Codec), ids=lambda codec: codec.name)
@every_release_and_table_version
def test_java_reads_each_record_of_an_hfile_block(
    real_hudi: Jvm, table_version: int, codec: Codec, tmp_path: Path
) -> None:
    path = log_file(tmp_path, hfile_block(hfile_of(RECORDS, codec), SCHEMA, HEADER, table_version))

    (block,) = real_hudi.read_log(path=path)

    assert block == {
        "type": "HFILE_DATA_BLOCK",
        "header": {"INSTANT_TIME": INSTANT, "SCHEMA": SCHEMA},
        "records": RECORDS,
    }


@every_release_and_table_version
def test_java_reads_each_kind_of_ordering_in_a_delete_block(real_hudi: Jvm, table_version: int, tmp_path: Path) -> None:
    cases = ORDERINGS + (ARRAYS if table_version == 9 else [])
    deletes = [DeletedKey(f"key é {at}", "a/b=ß" if at % 2 else "", each) for at, (each, _) in enumerate(cases)]
    path = log_file(tmp_path, delete_block(deletes, HEADER, table_version))
    classes = OLD_CLASSES if real_hudi.version == "0.15.0" else {}

    (block,) = real_hudi.read_log(path=path)

    assert block == {
        "type": "DELETE_BLOCK",
        "header": {"INSTANT_TIME": INSTANT},
        "deletes": [
            {"key": each.key, "partition": each.partition, "ordering": classes.get(text, text)}
            for each, (_, text) in zip(deletes, cases, strict=True)
        ],
    }


@every_release_and_table_version
def test_java_reads_many_blocks_of_one_file_in_their_order(real_hudi: Jvm, table_version: int, tmp_path: Path) -> None:
    header = {HeaderKey.INSTANT_TIME: LATER, HeaderKey.COMPACTED_BLOCK_TIMES: f"{INSTANT},{LATER}"}
    more = {HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: INSTANT, HeaderKey.IS_PARTIAL: "true"}
    parts = [
        avro_block(SCHEMA, RECORDS[:2], header, table_version),
        delete_block([], HEADER, table_version),
        avro_block(SCHEMA, [], HEADER, table_version),
        rollback_block(LAST, LATER, table_version),
        hfile_block(hfile_of(RECORDS[2:3], Codec.GZ), SCHEMA, HEADER, table_version),
        avro_block(SCHEMA, RECORDS[3:4], {**HEADER, **(more if table_version > 6 else {})}, table_version),
    ]

    blocks = real_hudi.read_log(path=log_file(tmp_path, b"".join(parts)))

    first, plain = {"INSTANT_TIME": INSTANT}, {"INSTANT_TIME": INSTANT, "SCHEMA": SCHEMA}
    partial = {key.name: value for key, value in more.items()} if table_version > 6 else {}
    assert blocks == [
        {
            "type": "AVRO_DATA_BLOCK",
            "header": {"INSTANT_TIME": LATER, "COMPACTED_BLOCK_TIMES": f"{INSTANT},{LATER}", "SCHEMA": SCHEMA},
            "records": RECORDS[:2],
        },
        {"type": "DELETE_BLOCK", "header": first, "deletes": []},
        {"type": "AVRO_DATA_BLOCK", "header": plain, "records": []},
        {
            "type": "COMMAND_BLOCK",
            "header": {"INSTANT_TIME": LAST, "TARGET_INSTANT_TIME": LATER, "COMMAND_BLOCK_TYPE": "0"},
        },
        {"type": "HFILE_DATA_BLOCK", "header": plain, "records": RECORDS[2:3]},
        {"type": "AVRO_DATA_BLOCK", "header": plain | partial, "records": RECORDS[3:4]},
    ]


def hfile_of(records: list[dict[str, Any]], codec: Codec) -> bytes:
    write = compile_encoder(avro_types.parse(SCHEMA, 0))
    values = []
    for record in records:
        value = bytearray()
        write(value, record)
        values.append(bytes(value))
    keys = [record["key"].encode() for record in records]
    return write_hfile(pa.table({"key": keys, "value": pa.array(values, pa.binary())}), Recipe(SCHEMA, NOON_MS, codec))
