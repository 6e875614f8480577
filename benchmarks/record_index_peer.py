"""Hudi's Java as the peer of a build: a process that makes the table and indexes it, one JSON line a job.

python -m benchmarks.record_index_peer HEAP JAR JOB...      where a JOB is one JSON object
"""

import sys
import time
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.peer import made_rows
from benchmarks.processes import cpu_seconds
from benchmarks.spark_jobs import answer_jobs, jvm
from tests.java import objects as java
from tests.java.java_formats import java_list

_FILES = 64
SETTINGS = {
    "hoodie.table.name": "bench",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "seen",
    "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
    "hoodie.datasource.write.operation": "bulk_insert",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
}


def make_unindexed(spark: SparkSession, folder: str, rows: int, files: int = _FILES) -> dict[str, Any]:
    """A table whose metadata table has the index `files` only, its keys in no order within a file."""
    # So that each file has rows of one partition, but for those at a border.
    frame = made_rows(spark, 0, rows).repartitionByRange(files, "part", "id")
    settings = {
        **SETTINGS,
        "hoodie.bulkinsert.sort.mode": "NONE",
        "hoodie.bulkinsert.shuffle.parallelism": str(files),
    }
    frame.write.format("hudi").options(**settings).mode("append").save(folder)
    return {}


def build(spark: SparkSession, folder: str) -> dict[str, Any]:
    """Seconds of Hudi's own indexer, which works beside other writers: what its `HoodieIndexer` calls."""
    client = indexer(spark, folder, {})
    kinds = java_list(spark, [java.package(spark).metadata.MetadataPartitionType.RECORD_INDEX])
    cpu, started = cpu_seconds(jvm()), time.perf_counter()
    plan = java.value(client.scheduleIndexing(kinds, java_list(spark, [])))
    client.index(plan)
    found = {"seconds": time.perf_counter() - started, "cpu_seconds": cpu_seconds(jvm()) - cpu}
    client.close()
    return found


def indexer(spark: SparkSession, folder: str, enabled: dict[str, str]) -> Any:
    """Hudi's write client, for which the record index is enabled and what else is."""
    hudi = java.package(spark)
    resolver = hudi.common.table.TableSchemaResolver(java.meta_client(spark, folder))
    settings = {
        **SETTINGS,
        "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
        "hoodie.cleaner.policy.failed.writes": "LAZY",
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
        "hoodie.metadata.record.index.enable": "true",
        "hoodie.metadata.index.async": "true",
        **enabled,
    }
    schema = resolver.getTableSchema(False).toString()
    return hudi.DataSourceUtils.createHoodieClient(java.java_context(spark), schema, folder, "bench", settings)


JOBS = {job.__name__: job for job in (make_unindexed, build)}


if __name__ == "__main__":
    answer_jobs(JOBS, *sys.argv[2:], memory=sys.argv[1])
