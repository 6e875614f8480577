"""An index of rows built by a cluster: they are read where executors are, and each shard is written by one task.

from hudi_engine.spark.compute import SparkCompute
compute = SparkCompute(spark, "s3a://lake/trips", conf={}, memory_bytes=512 << 20)
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from hudi_engine.compute.duplicates import Duplicates
from hudi_engine.compute.file_entries import Room, build_of_files
from hudi_engine.compute.keys import require_stored_keys
from hudi_engine.compute.order import BuildOrder, Built, FileOrder
from hudi_engine.compute.shard import ShardResult, ShardWriter, built_of
from hudi_engine.compute.shard_names import ShardAttempt, groups_of, shard_file_ids
from hudi_engine.spark.build_tasks import Build, NumberedSlice, Reading, ShippedReader, Writing
from hudi_engine.spark.jobs import Job, Phase
from hudi_engine.storage.protocol import Storage
from hudi_engine.watch import Watch

# Enough that executors end at about the same time, few enough that what they send each other stays in large pieces.
_TASKS_PER_CORE: Final = 4
# A task that is lost is done again: not too much of it.
_LARGEST_TASK_BYTES: Final = 4 << 30


@dataclass(frozen=True, slots=True)
class SparkCompute:
    """`Compute` by the executors of a Spark session, where this engine is installed, too.

    Executors open the table by `location` and `conf`, which is sent to them, secrets included. The keys that a task
    holds take about `memory_bytes` in its Python process; the rest is in Spark's folders for such things. Memory holds
    beside that what is read at a time of a file (of a slice with logs all of it). The driver holds the slices of the
    order, one value for each, and what became of each shard.

    However often Spark tries a task again or twice at once, a shard has one file.
    """

    spark: SparkSession
    location: str
    conf: Mapping[str, str]
    memory_bytes: int

    def build(self, order: BuildOrder, storage: Storage, watch: Watch) -> Built:
        require_stored_keys(order.reader.config, storage.location)
        with ExitStack() as after:
            results: list[ShardResult] = self._job(order, after).run(self.spark.sparkContext, watch)
        duplicates = Duplicates()
        for result in results:
            duplicates.add(result.duplicates)
        return built_of([each.file for each in results if each.file is not None], duplicates, order, storage, watch)

    def build_of_files(self, order: FileOrder[Any], storage: Storage, watch: Watch) -> Built:
        """By threads of the driver: footers of thousands of files are less work than tasks for them."""
        return build_of_files(order, storage, watch, Room(self.memory_bytes, Path(tempfile.gettempdir())))

    def _job(self, order: BuildOrder, after: ExitStack) -> Job:
        """What tells what became of the shards, by their places."""
        context = self.spark.sparkContext
        read, written = context.accumulator(0), context.accumulator(0)
        build = self._build(order)
        shared = context.broadcast(build)
        after.callback(shared.destroy)
        tasks = list(_tasks(order, context.defaultParallelism * _TASKS_PER_CORE)) or [[]]
        shards = len(build.targets)
        parcels = context.parallelize(tasks, len(tasks)).mapPartitions(Reading(shared, read))
        results = parcels.partitionBy(shards, _same).mapPartitionsWithIndex(Writing(shared, written))
        phases = (
            Phase("read record keys", len(tasks), lambda: read.value),
            Phase("write shards", shards, lambda: written.value),
        )
        name = f"{order.entries.index} of {self.location}, {order.instant}, attempt {order.attempt}"
        return Job(name, phases, results.collect)

    def _build(self, order: BuildOrder) -> Build:
        return Build(
            entries=order.entries,
            reader=ShippedReader.of(order.reader, self.location, self.conf),
            writer=ShardWriter.of(order),
            groups=groups_of(order.shard_counts),
            targets=tuple(
                # Of no task's try in particular: all write to one name, of which `WrittenOnce` makes one file.
                ShardAttempt(file_id, place, order.attempt, 0, order.instant, order.entries.index)
                for place, file_id in enumerate(shard_file_ids(order.shard_counts, order.entries.index))
            ),
            memory_bytes=self.memory_bytes,
        )


def _tasks(order: BuildOrder, wanted: int) -> Iterator[list[NumberedSlice]]:
    """The slices in about so many parts of about the same size, more if these became too large."""
    total = sum(found.size_bytes for found in order.slices)
    most = min(-(-total // max(wanted, 1)), _LARGEST_TASK_BYTES)
    part: list[NumberedSlice] = []
    part_bytes = 0
    for number, found in enumerate(order.slices):
        if part and part_bytes + found.size_bytes > most:
            yield part
            part, part_bytes = [], 0
        part.append(NumberedSlice(number, found))
        part_bytes += found.size_bytes
    if part:
        yield part


def _same(place: int) -> int:
    return place
