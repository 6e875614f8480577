"""Tables whose record index lost keys by the doing of Hudi 1.2.0 alone, its own indexer included.

The indexer is called as Hudi's own `HoodieIndexer` calls it. What others do meanwhile is held back until it must
happen, so each table comes out the same every time. Nothing here reads an index to say which keys are lost.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from tests.golden.lab import Lab, Recipe
from tests.java import objects as java
from tests.java.java_formats import java_list

_SCHEMA = "id string, part string, city string, seen long"
_OLD, _NEW = range(300), range(300, 500)
_LONG = 120.0  # seconds that no step of these takes


def lose_keys_beside_a_writer(spark: SparkSession, version: str, folder: str) -> dict[str, Any]:
    """The index is built while an older commit is still being written.

    That commit's writer began before there was an index, and leaves it out of its own commit to the metadata table;
    the indexer then sees that there is such a commit and takes the keys for indexed.
    """
    lab = _table(spark, version, folder)
    lab.write(_rows(_OLD), "insert")
    with _writer_held_back(lab, _rows(_NEW)) as go_on:
        indexer = _indexer(lab)
        instant = _scheduled(lab, indexer)
        with ThreadPoolExecutor(1) as other:
            indexing = other.submit(indexer.index, instant)
            _wait_until(lambda: indexing.done() or any(_metadata_commits(lab).glob(f"{instant}_*.deltacommit")))
            # From here on the indexer waits for the older commit, whose heartbeat it sees.
            go_on()
            indexing.result(timeout=_LONG)
    return _outcome(lab, [*_OLD, *_NEW], _NEW)


def lose_keys_to_the_next_index(spark: SparkSession, version: str, folder: str) -> dict[str, Any]:
    """The index is built, nothing is committed, then CREATE INDEX makes another.

    That one takes the time of the last completed instant for its own. It is that of the first index, whose commit to
    the metadata table is therefore rolled back, its base files deleted with it.
    """
    lab = _table(spark, version, folder)
    lab.write(_rows(_OLD), "insert")
    indexer = _indexer(lab)
    indexer.index(_scheduled(lab, indexer))
    lab.create_index("by_city", "city")
    lab.sql("DROP TABLE {table}")  # of Spark's catalog only: the files are elsewhere and stay
    return _outcome(lab, _OLD, _OLD)


def _table(spark: SparkSession, version: str, folder: str) -> Lab:
    lab = Lab(spark, Path(folder), version, Recipe("lost_keys", (version,), 9, "COPY_ON_WRITE", ()))
    lab.require_writer(version)
    several_writers = {
        "write__concurrency__mode": "optimistic_concurrency_control",
        "cleaner__policy__failed__writes": "LAZY",
        "write__lock__provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    }
    few_indexes = {"metadata__index__column__stats__enable": "false", "parquet__small__file__limit": "0"}
    lab.table(_SCHEMA, key="id", partition="part", **several_writers, **few_indexes)
    return lab


@contextmanager
def _writer_held_back(lab: Lab, rows: Sequence[Mapping[str, Any]]) -> Iterator[Callable[[], None]]:
    """A commit that has begun in both tables and waits for its rows, until the function that this yields is called.

    Of a bulk insert of records in no order the rows are not asked for before.
    """
    with TemporaryDirectory() as scratch, ThreadPoolExecutor(1) as other:
        gate, lines = Path(scratch, "gate"), Path(scratch, "rows.json")
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows))

        def when_open(seen: int, gate: str = str(gate)) -> int:
            _wait_until(Path(gate).exists)
            return seen

        lab.spark.sparkContext.pythonExec = sys.executable  # else whatever `python3` is on the PATH
        frame = lab.spark.read.schema(lab.schema).json(str(lines)).coalesce(1)
        frame = frame.withColumn("seen", udf(when_open, "long")("seen"))
        settings = {
            **lab.options,
            "hoodie.datasource.write.operation": "bulk_insert",
            "hoodie.datasource.write.row.writer.enable": "false",
            "hoodie.bulkinsert.sort.mode": "NONE",
        }
        begun = set(_metadata_commits(lab).glob("*.requested"))
        writing = other.submit(
            lambda: frame.write.format("hudi").options(**settings).mode("append").save(str(lab.folder))
        )
        try:
            _wait_until(lambda: writing.done() or set(_metadata_commits(lab).glob("*.requested")) > begun)
            yield gate.touch
        finally:
            gate.touch()
            writing.result(timeout=_LONG)


def _indexer(lab: Lab) -> Any:
    """A write client that builds a record index beside others."""
    hudi = java.package(lab.spark)
    resolver = hudi.common.table.TableSchemaResolver(java.meta_client(lab.spark, str(lab.folder)))
    settings = {
        **lab.options,
        "hoodie.metadata.record.index.enable": "true",
        "hoodie.metadata.index.async": "true",
    }
    return hudi.DataSourceUtils.createHoodieClient(
        java.java_context(lab.spark),
        resolver.getTableSchema(False).toString(),
        str(lab.folder),
        lab.recipe.name,
        settings,
    )


def _scheduled(lab: Lab, indexer: Any) -> str:
    kinds = [java.package(lab.spark).metadata.MetadataPartitionType.RECORD_INDEX]
    plan = indexer.scheduleIndexing(java_list(lab.spark, kinds), java_list(lab.spark, []))
    return str(java.value(plan))


def _metadata_commits(lab: Lab) -> Path:
    return lab.folder / ".hoodie/metadata/.hoodie/timeline"


def _outcome(lab: Lab, rows: Sequence[int], lost: Sequence[int]) -> dict[str, Any]:
    """How many rows the table has and which keys the index has not, though everything says that it is complete."""
    properties = lab.properties()
    assert "record_index" in properties["hoodie.table.metadata.partitions"].split(","), properties
    assert not properties.get("hoodie.table.metadata.partitions.inflight"), properties
    assert all(each["state"] == "COMPLETED" for each in lab.instants()), lab.instants()
    return {"rows": len(rows), "lost": [_key(number) for number in lost]}


def _rows(numbers: Sequence[int]) -> list[dict[str, Any]]:
    return [{"id": _key(n), "part": f"p{n % 2}", "city": f"city {n % 7}", "seen": 1} for n in numbers]


def _key(number: int) -> str:
    return f"key-{number:05d}"


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _LONG
    while not is_so():
        assert time.monotonic() < end, "a step of this recipe took too long"
        time.sleep(0.05)
