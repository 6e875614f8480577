"""A real Hudi writer (Java, on Spark) that commits to one table without pause, and says so line by line.

    python -m tools.demo.writer JAR FOLDER

It first makes the table. Commands come on standard input, one JSON document a line; events leave on what was standard
output when we started: by the time Spark starts that name leads to standard error, so nothing that Java prints can come
between two of them.

    {"do": "commit wrongly"}      one commit of a job that lacks the index's settings
    {"do": "find", "keys": […]}   where Java finds them by its own reader of the record index
    {"do": "count"}               how many rows and how many different keys Spark reads
    {"do": "end"}
"""

import json
import os
import queue
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from pyspark.sql import SparkSession

from tools import spark_session
from tools.demo.orders import BATCH, KEYS_AT_FIRST, LOCK, REGIONS, WRONG_SETTINGS, key_of, region_of

_SCHEMA = "order_id STRING, region STRING, status STRING, amount DOUBLE, changed BIGINT"
_CHANGED = 200
_TABLE = {
    "hoodie.table.name": "orders",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "order_id",
    "hoodie.datasource.write.partitionpath.field": "region",
    "hoodie.datasource.write.precombine.field": "changed",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.simple.index.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "4",
    "hoodie.parquet.small.file.limit": "0",
}
# What docs/writers.md says that a writer of Hudi 1.2.0 needs, beside the lock.
_RIGHT_SETTINGS = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.async": "true",
    "hoodie.metadata.streaming.write.enabled": "false",
}


@dataclass(slots=True)
class Writer:
    """Writes orders 0, 1, 2, … and never deletes one, so that their number says which keys must be there."""

    spark: SparkSession
    folder: str
    events: TextIO
    keys: int = 0
    _chance: random.Random = field(default_factory=lambda: random.Random(20260131))

    def make_table(self) -> None:
        nth = f"cast(id div {BATCH} % {len(REGIONS)} as int) + 1"
        frame = self.spark.range(KEYS_AT_FIRST).selectExpr(
            "concat('order-', lpad(id, 9, '0')) AS order_id",
            f"element_at(split('{','.join(REGIONS)}', ','), {nth}) AS region",
            "'new' AS status",
            "round(id % 9973 / 7, 2) AS amount",
            "0L AS changed",
        )
        self._save(frame, "bulk_insert", _RIGHT_SETTINGS, KEYS_AT_FIRST)

    def commit(self, settings: Mapping[str, str] = _RIGHT_SETTINGS) -> None:
        """A batch of new orders and changes of some that there are.

        All of one region, as such jobs are as a rule: a commit reads the keys of each region that it changes.
        """
        region = region_of(self.keys)
        known = [number for number in range(self.keys) if region_of(number) == region]
        rows = [_row(number, "new") for number in range(self.keys, self.keys + BATCH)]
        rows += [_row(number, "paid") for number in self._chance.sample(known, _CHANGED)]
        with tempfile.TemporaryDirectory() as folder:
            lines = Path(folder, "rows.json")
            lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
            frame = self.spark.read.schema(_SCHEMA).json(str(lines)).coalesce(1)
            self._save(frame, "upsert", settings, len(rows))

    def find(self, keys: list[str]) -> None:
        """By Java's own reader of the record index: partition, file group and instant of each key that it has."""
        hudi, machine = self.hudi, self._machine
        context = hudi.client.common.HoodieSparkEngineContext(self.spark.sparkContext._jsc)
        config = hudi.common.config.HoodieMetadataConfig.newBuilder().enable(True).build()
        storage = hudi.storage.HoodieStorageUtils.getStorage(hudi.storage.StoragePath(self.folder), self._hadoop())
        metadata = hudi.metadata.HoodieBackedTableMetadata(context, storage, config, self.folder)
        try:
            asked = machine.java.util.ArrayList()
            for key in keys:
                asked.add(key)
            pairs = metadata.readRecordIndexLocationsWithKeys(hudi.common.data.HoodieListData.eager(asked))
            found = {pair.getLeft(): _place(pair.getRight()) for pair in pairs.collectAsList()}
        finally:
            metadata.close()
        self.say({"event": "found", "places": found})

    def count(self) -> None:
        frame = self.spark.read.format("hudi").load(self.folder)
        (row,) = frame.selectExpr("count(*) AS rows", "count(DISTINCT order_id) AS keys").collect()
        self.say({"event": "counted", "rows": row["rows"], "keys": row["keys"]})

    def say(self, event: Mapping[str, Any]) -> None:
        print(json.dumps(event), file=self.events, flush=True)

    def _save(self, frame: Any, operation: str, settings: Mapping[str, str], rows: int) -> None:
        options = {**_TABLE, **LOCK, **settings, "hoodie.datasource.write.operation": operation}
        began = time.time()
        frame.write.format("hudi").options(**options).mode("append").save(self.folder)
        self.keys += BATCH if self.keys else KEYS_AT_FIRST
        said = {"event": "commit", "began": began, "ended": time.time(), "rows": rows, "keys": self.keys}
        self.say({**said, "is_right": settings is _RIGHT_SETTINGS})

    @property
    def hudi(self) -> Any:
        """`org.apache.hudi` as a tree of names."""
        return self._machine.org.apache.hudi

    @property
    def _machine(self) -> Any:
        machine: Any = self.spark._jvm
        return machine

    def _hadoop(self) -> Any:
        return self.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(self.spark.sparkContext._jsc.hadoopConfiguration())


def _row(number: int, status: str) -> dict[str, Any]:
    place = {"order_id": key_of(number), "region": region_of(number)}
    return {**place, "status": status, "amount": number % 9973 / 7, "changed": time.time_ns()}


def _place(location: Any) -> list[str]:
    return [location.getPartitionPath(), location.getFileId(), location.getInstantTime()]


def _listen(lines: Iterable[str], commands: "queue.SimpleQueue[dict[str, Any]]") -> None:
    for line in lines:
        commands.put(json.loads(line))
    commands.put({"do": "end"})  # whoever started us is gone


def _write_until_told(writer: Writer) -> None:
    commands: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, commands), daemon=True).start()
    while True:
        if commands.empty():
            writer.commit()
            continue
        match commands.get():
            case {"do": "commit wrongly"}:
                writer.commit(WRONG_SETTINGS)
            case {"do": "find", "keys": keys}:
                writer.find(keys)
            case {"do": "count"}:
                writer.count()
            case {"do": "end"}:
                return
            case other:
                raise ValueError(f"{other}: no such command; the docstring of {__name__} has them all")


def main(jar: str, folder: str) -> None:
    with os.fdopen(os.dup(1), "w") as events:
        os.dup2(2, 1)
        spark = spark_session.start(Path(jar), memory="1g")
        writer = Writer(spark, folder, events)
        jar_of = writer.hudi.common.table.HoodieTableMetaClient._java_lang_class.getPackage()
        writer.say({"event": "started", "hudi": jar_of.getImplementationVersion()})
        writer.make_table()
        _write_until_told(writer)
        spark.stop()
        writer.say({"event": "ended"})


if __name__ == "__main__":
    main(*sys.argv[1:])
