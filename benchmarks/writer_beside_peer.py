"""A real Java writer that upserts a few rows again and again until it is told to stop.

python -m benchmarks.writer_beside_peer HEAP JAR JOB      where JOB is a JSON object
"""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.peer import made_rows
from benchmarks.spark_jobs import answer_jobs

ROWS_OF_A_COMMIT = 100
_PARTITIONS = 10
_WARM_COMMITS = 5
_SETTINGS = {
    "hoodie.table.name": "bench",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "seen",
    "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.simple.index.parallelism": "2",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    # What docs/writers.md says that a writer of this release needs beside a lock.
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.async": "true",
    "hoodie.metadata.streaming.write.enabled": "false",
}


def write(spark: SparkSession, folder: str, rows: int, lock: Mapping[str, str]) -> dict[str, Any]:
    """When each commit began and ended, without those by which everything was loaded and compiled.

    Beside the table a file `ready` tells of these, and a file `stop` ends it.
    """
    ready, stop = (Path(folder).with_name(name) for name in ("ready", "stop"))
    commits: list[tuple[float, float]] = []
    number = 0
    while not stop.exists():
        began = time.time()
        _commit(spark, folder, rows, number, {**_SETTINGS, **lock})
        number += 1
        if number > _WARM_COMMITS:
            commits.append((began, time.time()))
        elif number == _WARM_COMMITS:
            ready.touch()
    return {"commits": commits}


def _commit(spark: SparkSession, folder: str, rows: int, number: int, settings: Mapping[str, str]) -> None:
    """Half of them new, half of them there already, all of one partition."""
    span = ROWS_OF_A_COMMIT // 2 * _PARTITIONS
    first = number * span
    changed = made_rows(spark, first % rows, first % rows + span)
    new = made_rows(spark, rows + first, rows + first + span)
    batch = changed.union(new).where(f"part = 'p{number % _PARTITIONS}'").coalesce(1)
    batch.write.format("hudi").options(**settings).mode("append").save(folder)


if __name__ == "__main__":
    answer_jobs({write.__name__: write}, *sys.argv[2:], memory=sys.argv[1])
