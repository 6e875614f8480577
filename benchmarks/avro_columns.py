"""Avro records into Arrow columns against fastavro, one thread each: `python -m benchmarks.avro_columns`.

Once the rows of a data table's log block, framed by their lengths, and once the values of a record index. fastavro
reads a part of them only and is compared by records per second; its dicts are still no columns then. Seconds are
the processor's, so that other work on the machine disturbs less.
"""

import io
import json
import random
import struct
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import fastavro
import numpy as np

from hudi_engine.format.avro_columns import decode_columns, framed_records

ROWS = 200_000
INDEX_VALUES = 2_000_000
SAMPLE = 20_000
ROUNDS = 5


def run(rows: int = ROWS, index_values: int = INDEX_VALUES) -> dict[str, Any]:
    """Seconds and rates of both sides, and whether the sample came out equal."""
    return {"log_block": _log_block(rows), "record_index": _record_index(index_values)}


def _log_block(count: int) -> dict[str, Any]:
    schema = _row_schema()
    sample = _encoded(schema, _rows(SAMPLE))
    part = b"".join(struct.pack(">i", len(row)) + row for row in sample)
    content = part * (count // SAMPLE)
    text = json.dumps(schema)
    table: list[Any] = []

    def ours() -> None:
        table[:] = [decode_columns(text, content, *framed_records(content, 0, count))]

    return _verdict(schema, sample, count, _best(ours), lambda: table[0]) | {
        "framing_seconds": round(_best(lambda: framed_records(content, 0, count)), 3)
    }


def _record_index(count: int) -> dict[str, Any]:
    schema = _index_schema()
    sample = _encoded(schema, _index_values(SAMPLE))
    content = b"".join(sample) * (count // SAMPLE)
    ends = np.cumsum(np.tile([len(value) for value in sample], count // SAMPLE))
    starts = np.concatenate(([0], ends[:-1]))
    text = json.dumps(schema)
    table: list[Any] = []

    def ours() -> None:
        table[:] = [decode_columns(text, content, starts, ends)]

    def one_column() -> None:
        decode_columns(text, content, starts, ends, ["recordIndexMetadata"])

    return _verdict(schema, sample, count, _best(ours), lambda: table[0]) | {
        "only_the_index_column_seconds": round(_best(one_column), 3)
    }


def _verdict(
    schema: dict[str, Any], sample: list[bytes], count: int, seconds: float, table: Callable[[], Any]
) -> dict[str, Any]:
    parsed = fastavro.parse_schema(schema)
    expected: list[Any] = []

    def theirs() -> None:
        expected[:] = [fastavro.schemaless_reader(io.BytesIO(value), parsed, None) for value in sample]

    theirs_rate, rate = len(sample) / _best(theirs), count / seconds
    return {
        "records": count,
        "bytes_per_record": round(sum(map(len, sample)) / len(sample)),
        "our_seconds": round(seconds, 3),
        "records_per_second": round(rate),
        "fastavro_records_per_second": round(theirs_rate),
        "times_as_fast": round(rate / theirs_rate, 1),
        "equal": table().slice(0, len(sample)).to_pylist() == expected,
    }


def _row_schema() -> dict[str, Any]:
    decimal = {"logicalType": "decimal", "precision": 18, "scale": 2}
    kinds: dict[str, Any] = {
        **{f"meta{at}": "string" for at in range(5)},
        **{f"text{at}": "string" for at in range(4)},
        **{f"number{at}": "long" for at in range(3)},
        "small": "int",
        **{f"measure{at}": "double" for at in range(2)},
        "amount": {"type": "bytes"} | decimal,
        "price": {"type": "fixed", "name": "price", "size": 8} | decimal,
        "at": {"type": "long", "logicalType": "timestamp-micros"},
        "then": {"type": "long", "logicalType": "timestamp-millis"},
        "day": {"type": "int", "logicalType": "date"},
    }
    return _record("row", **{name: ["null", kind] for name, kind in kinds.items()})


def _rows(count: int) -> list[dict[str, Any]]:
    chance, start = random.Random(1), datetime(2026, 1, 1, tzinfo=UTC)
    return [
        {
            **{f"meta{at}": f"20260101120000{row:06d}_{at}" for at in range(5)},
            **{f"text{at}": "t" * chance.randrange(40) if chance.random() < 0.9 else None for at in range(4)},
            **{f"number{at}": chance.randrange(-(1 << chance.randrange(1, 63)), 1 << 62) for at in range(3)},
            "small": chance.randrange(1 << 31),
            **{f"measure{at}": chance.random() if chance.random() < 0.9 else None for at in range(2)},
            "amount": Decimal(chance.randrange(-(10**17), 10**17)).scaleb(-2),
            "price": Decimal(chance.randrange(10**9)).scaleb(-2),
            "at": start + timedelta(microseconds=row),
            "then": start + timedelta(seconds=row) if chance.random() < 0.9 else None,
            "day": date(2026, 1, 1 + row % 28),
        }
        for row in range(count)
    ]


def _index_schema() -> dict[str, Any]:
    """The metadata table's record, without the insides of what a record index leaves null (hudi-format 3.3)."""
    meta = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path")
    long, text = ["null", "long"], ["null", "string"]
    entry = _record(
        "HoodieRecordIndexInfo",
        partitionName=text,
        fileIdHighBits=long,
        fileIdLowBits=long,
        fileIndex=["null", "int"],
        fileId=text,
        instantTime=long,
        fileIdEncoding="int",
        position=long,
    )
    file = _record("HoodieMetadataFileInfo", size="long", isDeleted="boolean")
    return _record(
        "HoodieMetadataRecord",
        **dict.fromkeys((*meta, "_hoodie_file_name"), text),
        key="string",
        type="int",
        filesystemMetadata=["null", {"type": "map", "values": file}],
        BloomFilterMetadata=["null", _record("HoodieMetadataBloomFilter", isDeleted="boolean")],
        ColumnStatsMetadata=["null", _record("HoodieMetadataColumnStats", isDeleted="boolean")],
        recordIndexMetadata=["null", entry],
        SecondaryIndexMetadata=["null", _record("HoodieSecondaryIndexInfo", isDeleted="boolean")],
    )


def _index_values(count: int) -> list[dict[str, Any]]:
    chance = random.Random(1)
    return [
        {
            "key": "",
            "type": 5,
            "recordIndexMetadata": {
                "partitionName": f"2026/01/{row % 28:02d}",
                "fileIdHighBits": chance.getrandbits(64) - (1 << 63),
                "fileIdLowBits": chance.getrandbits(64) - (1 << 63),
                "fileIndex": 0,
                "fileId": "",
                "instantTime": 1767225600000 + row % 7,
                "fileIdEncoding": 0,
                "position": None,
            },
        }
        for row in range(count)
    ]


def _record(record_name: str, /, **fields: Any) -> dict[str, Any]:
    return {
        "type": "record",
        "name": record_name,
        "fields": [{"name": name, "type": kind} for name, kind in fields.items()],
    }


def _encoded(schema: dict[str, Any], rows: list[dict[str, Any]]) -> list[bytes]:
    parsed = fastavro.parse_schema(schema)
    out = []
    for row in rows:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed, row)
        out.append(stream.getvalue())
    return out


def _best(work: Callable[[], None] | Callable[[], Any]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
