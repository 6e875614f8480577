"""The process behind `conftest.Builder`: builds record indexes by Spark and by threads, one JSON line per request.

    python -m tests.spark.building SETTINGS

SETTINGS is a JSON object of Spark's settings. Requests come on standard input.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from hudi_engine.compute.keys import RecordKeys
from hudi_engine.compute.local import LocalCompute
from hudi_engine.compute.order import BuildOrder, Compute
from hudi_engine.errors import EngineError
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.open import open_table
from hudi_engine.spark.compute import SparkCompute
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.table import Table
from hudi_engine.watch import Watch

INSTANT = "00000000000000500"


class Told(Watch):
    """All that a build said of its progress, the steps and rows of each phase together."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, int | None]] = []
        self.steps: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.said: list[str] = []

    def begin(self, phase: str, total: int | None = None) -> None:
        self.phases.append((phase, total))

    def advance(self, steps: int, rows: int = 0) -> None:
        assert steps >= 0
        self.steps[self.phases[-1][0]] += steps
        self.rows[self.phases[-1][0]] += rows

    def say(self, what: str) -> None:
        self.said.append(what)


def build(session: SparkSession, how: str, table: str, memory_bytes: int, **order: Any) -> dict[str, Any]:
    """The files of a build by Spark or, for `local`, by threads, which are gone afterwards, and what it told."""
    opened = open_table(table).table
    watch = Told()
    with tempfile.TemporaryDirectory() as scratch:
        computes: dict[str, Compute] = {
            "spark": SparkCompute(session, table, {}, memory_bytes),
            "local": LocalCompute(2, memory_bytes, Path(scratch)),
        }
        try:
            built = computes[how].build(_order(opened, **order), opened.storage, watch)
        except EngineError as error:
            return {"error": type(error).__name__, "said": str(error), "left": _taken(opened.storage)}
    return {
        "files": {file.file_id: [file.path, file.size_bytes, file.entries] for file in built.files},
        "keys": built.keys,
        "stored": _taken(opened.storage),
        "said": watch.said,
        "duplicates": built.duplicates,
        "phases": [[name, total, watch.steps[name], watch.rows[name]] for name, total in watch.phases],
    }


def _order(
    table: Table,
    shards: int,
    *,
    is_partitioned: bool = False,
    is_first_slice_twice: bool = False,
    keeps_newest: bool = False,
) -> BuildOrder:
    snapshot = table.snapshot()
    slices = snapshot.slices[:1] * is_first_slice_twice + snapshot.slices
    entries = RecordKeys(keeps_newest=keeps_newest)
    partitions = sorted({found.partition for found in slices}) if is_partitioned else [None]
    return BuildOrder(
        reader=table.rows(snapshot, entries.columns),
        slices=slices,
        shard_counts=dict.fromkeys(partitions, shards),
        instant=INSTANT,
        attempt=1,
        table_version=table.config.version,
        zone=table.zone,
        created_ms=1,
        entries=entries,
    )


def _taken(storage: Storage) -> dict[str, str]:
    """The digests of what our instant has in the index's folder, which is then as it was before."""
    found = {}
    for file in storage.list(f"{FOLDER}/record_index"):
        if INSTANT in file.name:
            found[file.path.removeprefix(f"{FOLDER}/")] = hashlib.sha256(storage.read(file.path)).hexdigest()
            storage.delete(file.path)
    return found


def main(settings: str) -> None:
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        session = SparkSession.Builder().config(map=json.loads(settings)).getOrCreate()
        for line in sys.stdin:
            print(json.dumps(build(session, **json.loads(line))), file=answers, flush=True)
        session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
