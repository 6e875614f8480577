"""Hudi's Java as the peer of a look-up: a process that makes the index and asks it, one JSON line a job.

python -m benchmarks.lookup_peer JAR JOB...      where a JOB is one JSON object
"""

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.spark_jobs import answer_jobs, jvm, jvm_peak
from tests.java import objects as java

_LOCATION = re.compile(
    r"\(([^,()]+),HoodieRecordGlobalLocation\(super=HoodieRecordLocation\(instantTime=(\w*), fileId=([^,]*), "
    r"position=-?\d+\), partitionPath=([^)]*)\)\)"
)


def add_record_index(spark: SparkSession, folder: str) -> dict[str, Any]:
    """An upsert of nothing, whose writer has the index on: it builds what is not there yet."""
    rows = spark.read.format("hudi").load(folder)
    nothing = rows.select([name for name in rows.columns if not name.startswith("_hoodie_")]).limit(0)
    nothing.write.format("hudi").options(
        **{
            "hoodie.table.name": "bench",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "part",
            "hoodie.datasource.write.precombine.field": "seen",
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.metadata.enable": "true",
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.metadata.index.column.stats.enable": "false",
            "hoodie.embed.timeline.server": "false",
            "hoodie.write.markers.type": "DIRECT",
            "hoodie.clean.automatic": "false",
        }
    ).mode("append").save(folder)
    return {}


def locate(spark: SparkSession, folder: str, keys: str, repeat: int) -> dict[str, Any]:
    """Seconds of a look-up in the driver: each time of a new reader, then each time of one that has looked before.

    `keys` is a file with one a line. The answers of the last time go beside it, as parquet.
    """
    machine = java.virtual_machine(spark)
    wanted = machine.java.nio.file.Files.readAllLines(machine.java.io.File(keys).toPath())
    cold = []
    for _ in range(repeat):
        cpu, started = _cpu_seconds(), time.perf_counter()
        reader = _reader(spark, folder)
        _find(spark, reader, wanted)
        cold.append((time.perf_counter() - started, _cpu_seconds() - cpu))
    warm = []
    for _ in range(repeat):
        cpu, started = _cpu_seconds(), time.perf_counter()
        found = _find(spark, reader, wanted)
        warm.append((time.perf_counter() - started, _cpu_seconds() - cpu))
    # One text at once: a call for each location would take a minute.
    answers = _LOCATION.findall(found.toString())
    assert len(answers) == found.size(), f"{len(answers)} of {found.size()} locations were understood"
    names = ("key", "instant", "file_id", "partition")
    columns = zip(*answers, strict=True) if answers else ((),) * len(names)
    pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), f"{keys}.java.parquet")
    return {"cold": cold, "warm": warm, "found": len(answers), "peak_bytes": jvm_peak()}


def _reader(spark: SparkSession, folder: str) -> Any:
    """With the reuse of open files, as the faster of Java's two ways."""
    hudi = java.package(spark)
    hadoop = java.java_context(spark).hadoopConfiguration()
    context = hudi.common.engine.HoodieLocalEngineContext(hudi.hadoop.fs.HadoopFSUtils.getStorageConf(hadoop))
    config = hudi.common.config.HoodieMetadataConfig.newBuilder().enable(True).build()
    return hudi.metadata.HoodieBackedTableMetadata(context, java.storage(spark, folder), config, folder, True)


def _find(spark: SparkSession, reader: Any, keys: Any) -> Any:
    wanted = java.package(spark).common.data.HoodieListData.eager(keys)
    return reader.readRecordIndexLocationsWithKeys(wanted).collectAsList()


def _cpu_seconds() -> float:
    fields = Path(f"/proc/{jvm()}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


JOBS = {job.__name__: job for job in (add_record_index, locate)}


if __name__ == "__main__":
    answer_jobs(JOBS, *sys.argv[1:])
