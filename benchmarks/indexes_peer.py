"""Hudi's Java as the peer of builds of other indexes: a process that makes the table and indexes it, a JSON line a job.

python -m benchmarks.indexes_peer HEAP JAR JOB...      where a JOB is one JSON object
"""

import sys
import time
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.peer import made_rows
from benchmarks.processes import cpu_seconds
from benchmarks.record_index_peer import SETTINGS, indexer, make_unindexed
from benchmarks.record_index_peer import build as build_record_index
from benchmarks.spark_jobs import answer_jobs, jvm
from tests.java import objects as java
from tests.java.java_formats import java_list

_SESSION = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    # Else CREATE INDEX makes statistics as well.
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.index.partition.stats.enable": "false",
}
_ENABLED = {
    "bloom_filters": "hoodie.metadata.index.bloom.filter.enable",
    "column_stats": "hoodie.metadata.index.column.stats.enable",
}


def make_with_record_index(spark: SparkSession, folder: str, rows: int, files: int) -> dict[str, Any]:
    """A table with the indexes `files` and `record_index`: Java makes no secondary index where the latter is not.

    A row more is committed last: Java takes the time of the newest completed instant for the indexes that it makes next
    if that is an indexing instant, and they wipe each other.
    """
    make_unindexed(spark, folder, rows - 1, files)
    build_record_index(spark, folder)
    return commit_last(spark, folder, rows - 1)


def commit_last(spark: SparkSession, folder: str, number: int) -> dict[str, Any]:
    settings = {**SETTINGS, "hoodie.metadata.record.index.enable": "true"}
    made_rows(spark, number, number + 1).write.format("hudi").options(**settings).mode("append").save(folder)
    return {}


def build_of_files(spark: SparkSession, folder: str, index: str) -> dict[str, Any]:
    """Seconds of Hudi's own indexer for an index that has entries of files."""
    client = indexer(spark, folder, {_ENABLED[index]: "true"})
    kinds = java_list(spark, [getattr(java.package(spark).metadata.MetadataPartitionType, index.upper())])
    cpu, started = cpu_seconds(jvm()), time.perf_counter()
    client.index(java.value(client.scheduleIndexing(kinds, java_list(spark, []))))
    found = {"seconds": time.perf_counter() - started, "cpu_seconds": cpu_seconds(jvm()) - cpu}
    client.close()
    return found


def build_secondary(spark: SparkSession, folder: str, name: str, column: str) -> dict[str, Any]:
    """Seconds of SQL's CREATE INDEX, which schedules and runs Hudi's indexer; the catalog forgets the table again."""
    for setting in _SESSION.items():
        spark.conf.set(*setting)
    spark.sql(f"CREATE TABLE bench USING hudi LOCATION '{folder}'")
    cpu, started = cpu_seconds(jvm()), time.perf_counter()
    spark.sql(f"CREATE INDEX {name} ON bench ({column})")
    found = {"seconds": time.perf_counter() - started, "cpu_seconds": cpu_seconds(jvm()) - cpu}
    spark.sql("DROP TABLE bench")
    return found


JOBS = {job.__name__: job for job in (make_with_record_index, commit_last, build_of_files, build_secondary)}


if __name__ == "__main__":
    answer_jobs(JOBS, *sys.argv[2:], memory=sys.argv[1])
