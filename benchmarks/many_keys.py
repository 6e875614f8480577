"""A record index of 100 million keys within a memory limit: whether its rate is that of five million.

    python -m benchmarks.many_keys [--keys N] [--validate]

Both tables are made here, by this engine and without a JVM: ten data files a million keys, the keys in no order. Each
index is built by the command itself, in a process of its own, which gets half of the limit for the keys that it holds;
what it and all that it starts have in memory at most at one moment is compared with the limit. Prints keys a second, of
the clock and of the processors, and their ratio to the small table's, and writes benchmarks/out/many_keys.json. A goal
that is missed is said to be; too much memory and, with `--validate`, an index that is not what the rows say are
failures. Wants 30 GB of disk, and a quarter of an hour.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.goals import Goal, at_least, at_most, finish
from benchmarks.processes import run_watched
from hudi_engine.format import avro_schema
from hudi_engine.format.names import PARTITION_METAFILE, BaseFileName
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.conform import META_COLUMNS, with_meta_columns
from tests.worlds.instants import InstantFiles, encode_commit
from tools.parts import cached

OUT = Path(__file__).parent / "out" / "many_keys.json"
MANY, FEW = 100_000_000, 5_000_000
MEMORY, LIMIT_BYTES = "1g", 2 << 30
SLOWEST = 0.75  # a goal: of the small table's rate
_KEYS_OF_A_FILE = 100_000
_PARTITIONS = 10
_INSTANT, _COMPLETED = "20260101000000000", "20260101000100000"
_PROPERTIES = """\
hoodie.table.name=many
hoodie.table.type=COPY_ON_WRITE
hoodie.table.version=9
hoodie.timeline.layout.version=2
hoodie.table.recordkey.fields=id
hoodie.table.partition.fields=part
hoodie.table.ordering.fields=seen
hoodie.record.merge.mode=EVENT_TIME_ORDERING
hoodie.table.initial.version=9
hoodie.archivelog.folder=history
"""
_SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("seen", pa.int64())])
Found = dict[str, Any]


def main() -> None:
    asked = argparse.ArgumentParser(description="see the module's text")
    asked.add_argument("--keys", type=int, default=MANY)
    asked.add_argument("--validate", action="store_true", help="compare the index with all rows, too")
    options = asked.parse_args()
    few, many = (measure(keys, is_validated=options.validate) for keys in (FEW, options.keys))
    document = {
        "limit_bytes": LIMIT_BYTES,
        "few": few,
        "many": many,
        "rate_of_few": {name: round(many[name] / few[name], 3) for name in ("keys_a_second", "keys_a_cpu_second")},
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2))
    finish(goals(document), {f"index of {each['keys']:,} keys": each["is_valid"] is not False for each in (few, many)})
    assert many["peak_bytes"] <= LIMIT_BYTES, "more memory than was allowed"


def goals(document: Found) -> Iterator[Goal]:
    few, many = (f"{document[each]['keys']:,}" for each in ("few", "many"))
    for name, found in document["rate_of_few"].items():
        yield at_least(f"{name.replace('_', ' ')}, {many} to {few}", found, SLOWEST)
    yield at_most(f"memory for {many} keys", round(document["many"]["peak_bytes"] / 2**20), LIMIT_BYTES >> 20, "MiB")


def measure(keys: int, *, is_validated: bool) -> Found:
    table = made(keys)
    command = ("index", "build", str(table), "--type", "record_index", "--memory", MEMORY, "--single-writer", "--json")
    began, used = time.perf_counter(), _cpu_seconds()
    measured = run_watched("hudi_engine.cli.main", *command)
    seconds, cpu_seconds = time.perf_counter() - began, _cpu_seconds() - used
    (report,) = [answer for answer in measured.answers if "outcome" in answer]
    assert report["outcome"] == "ready", report
    is_valid = _engine("validate", str(table), "--index", "record_index") if is_validated else None
    assert _engine("index", "drop", str(table), "--type", "record_index", "--single-writer")
    return {
        "is_valid": is_valid,
        "keys": keys,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "keys_a_second": round(keys / seconds),
        "keys_a_cpu_second": round(keys / cpu_seconds),
        "peak_bytes": measured.peak_bytes,
    }


def _engine(*words: str) -> bool:
    """Whether it has done that, and found nothing wrong."""
    command = [sys.executable, "-m", "hudi_engine.cli.main", *words]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def made(keys: int) -> Path:
    """The table, made unless it is in the cache."""
    return cached("bench", f"many-{keys}", lambda folder: _make(folder / f"many-{keys}", keys))


def _make(table: Path, keys: int) -> None:
    storage = LocalStorage(str(table))
    storage.create(".hoodie/hoodie.properties", _PROPERTIES.encode())
    stats: dict[str, list[Found]] = {}
    for place in range(_PARTITIONS):
        (table / f"p{place}").mkdir(parents=True)
        storage.create(f"p{place}/{PARTITION_METAFILE}", f"commitTime={_INSTANT}\npartitionDepth=1\n".encode())
    for stat in _data_files(table, keys):
        stats.setdefault(str(stat["partitionPath"]), []).append(stat)
    timeline = InstantFiles(storage, ".hoodie/timeline", 9)  # type: ignore[arg-type]  # any store will do
    timeline.begin(_INSTANT, "commit", b"")
    record = encode_commit("BULK_INSERT", stats, {"schema": avro_schema.from_arrow(_SCHEMA, "row", "many")})
    timeline.complete(_INSTANT, "commit", RecordName.COMMIT, record, [_COMPLETED])


def _data_files(table: Path, keys: int) -> Iterator[Found]:
    for number, start in enumerate(range(0, keys, _KEYS_OF_A_FILE)):
        partition, file_id = f"p{number % _PARTITIONS}", f"{UUID(int=number + 1)}-0"
        name = str(BaseFileName(file_id, "0-0-0", _INSTANT, "parquet"))
        rows = _rows(np.arange(start, min(start + _KEYS_OF_A_FILE, keys), dtype=np.uint64), partition, name)
        pq.write_table(rows, table / partition / name, compression="snappy")
        size_bytes = (table / partition / name).stat().st_size
        yield {
            "fileId": file_id,
            "path": f"{partition}/{name}",
            "partitionPath": partition,
            "prevCommit": "null",
            "numWrites": len(rows),
            "numInserts": len(rows),
            "totalWriteBytes": size_bytes,
            "fileSizeInBytes": size_bytes,
        }


def _rows(numbers: Any, partition: str, name: str) -> pa.Table:
    """Keys of 32 hexadecimal digits: each number times two odd ones, which leaves all of them different."""
    parts = [numbers * np.uint64(0x9E3779B97F4A7C15), numbers * np.uint64(0xC2B2AE3D27D4EB4F)]
    digits = np.stack([part.astype(">u8") for part in parts], axis=1).tobytes().hex()
    keys = pa.array([digits[at : at + 32] for at in range(0, len(digits), 32)], pa.string())
    time_, part, file = (pa.repeat(pa.scalar(text), len(keys)) for text in (_INSTANT, partition, name))
    meta = dict(zip(META_COLUMNS, (time_, time_, keys, part, file), strict=True))
    columns = {**meta, "id": keys, "part": part, "seen": pa.array(numbers.astype(np.int64))}
    return pa.table(columns, schema=with_meta_columns(_SCHEMA))


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    main()
