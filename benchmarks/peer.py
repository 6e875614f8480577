"""Spark with Hudi as a benchmark's peer: a process that makes tables and reads them, one JSON line a job.

python -m benchmarks.peer JAR JOB...      where a JOB is one JSON object
"""

import sys
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.spark_jobs import answer_jobs, jvm_peak

_FILES = 64
_PARTITIONS = 10


def make_copy_on_write(spark: SparkSession, folder: str, rows: int) -> dict[str, Any]:
    _write(made_rows(spark, 0, rows), folder, "COPY_ON_WRITE", "bulk_insert")
    return {}


def make_merge_on_read(spark: SparkSession, folder: str, rows: int, updates: int) -> dict[str, Any]:
    _write(made_rows(spark, 0, rows), folder, "MERGE_ON_READ", "bulk_insert")
    changed = made_rows(spark, 0, rows).where(f"pmod(hash(id), {rows}) < {updates}").selectExpr("*").drop("seen")
    _write(changed.selectExpr("*", "cast(2 as bigint) as seen"), folder, "MERGE_ON_READ", "upsert")
    return {}


def expect(spark: SparkSession, folder: str, out: str) -> dict[str, Any]:
    """The rows as Spark sees them, for the comparison."""
    spark.read.format("hudi").load(folder).write.parquet(out)
    return {}


def read(spark: SparkSession, folder: str, repeat: int) -> dict[str, Any]:
    """Every column of every row, each time anew: the first time, as in any new job, and the best of those after it."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        spark.read.format("hudi").load(folder).write.format("noop").mode("overwrite").save()
        seconds.append(time.perf_counter() - started)
    rows = spark.read.format("hudi").load(folder).count()
    return {"first_seconds": seconds[0], "warm_seconds": min(seconds[1:]), "rows": rows, "peak_bytes": jvm_peak()}


def made_rows(spark: SparkSession, start: int, end: int) -> DataFrame:
    text = [f"concat('text {n} ', hex(hash(n, {n}))) as text_{n}" for n in range(6)]
    numbers = [f"hash(n, {n + 10}) / 7.0D as number_{n}" for n in range(4)]
    return (
        spark.range(start, end, 1, _FILES)
        .selectExpr("id as n")
        .selectExpr(
            "concat(substr(sha1(cast(n as string)), 1, 8), '-', substr(sha1(cast(n as string)), 9, 4), '-4000-8000-', "
            "substr(sha1(cast(n as string)), 13, 12)) as id",
            f"concat('p', n % {_PARTITIONS}) as part",
            "n as count",
            "cast(n % 1000 as int) as small",
            "cast(n / 100 as decimal(18,2)) as price",
            "timestamp_micros(1700000000000000 + n * 1000) as placed",
            "date_add(date'2024-01-01', cast(n % 365 as int)) as day",
            "n % 3 = 0 as flag",
            *text,
            *numbers,
            "cast(1 as bigint) as seen",
        )
    )


def _write(frame: DataFrame, folder: str, table_type: str, operation: str) -> None:
    frame.write.format("hudi").options(
        **{
            "hoodie.table.name": "bench",
            "hoodie.datasource.write.table.type": table_type,
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "part",
            "hoodie.datasource.write.precombine.field": "seen",
            "hoodie.datasource.write.operation": operation,
            "hoodie.bulkinsert.shuffle.parallelism": str(_FILES),
            "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT",
            "hoodie.upsert.shuffle.parallelism": "4",
            "hoodie.metadata.enable": "false",
            "hoodie.embed.timeline.server": "false",
            "hoodie.write.markers.type": "DIRECT",
            "hoodie.compact.inline": "false",
        }
    ).mode("append").save(folder)


JOBS = {job.__name__: job for job in (make_copy_on_write, make_merge_on_read, expect, read)}


if __name__ == "__main__":
    answer_jobs(JOBS, *sys.argv[1:])
