"""What Java writers do to a live table: one commit at a time, or one that is held back while the table changes."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from hudi_engine.format import properties
from tests.golden.lab import Lab, Recipe
from tests.kit.wait import wait_until

SCHEMA = "id STRING, part STRING, seen BIGINT"
COMPLETE, IN_FLIGHT = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"
_PROPERTIES = ".hoodie/hoodie.properties"
_LONG = 120.0  # seconds that no step of these takes


def commit(
    spark: SparkSession, version: str, table: dict[str, Any], rows: Sequence[Mapping[str, Any]], how: str
) -> str:
    """One commit of these rows; the answer is the newest completed instant then."""
    return lab_of(spark, version, **table).write(rows, how)


def change_properties(table: Path, changed: Mapping[str, str]) -> None:
    """Puts values into `hoodie.properties`; its checksum is of the names of table and database alone."""
    file = table / _PROPERTIES
    aside = file.with_name("changing.properties")
    aside.write_bytes(properties.render({**_properties_of(table), **changed}))
    aside.replace(file)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _properties_of(table: Path) -> Mapping[str, str]:
    return properties.parse((table / _PROPERTIES).read_bytes())


def lab_of(
    spark: SparkSession,
    version: str,
    folder: str,
    table_version: int,
    table_type: str,
    options: Mapping[str, str],
    schema: str = SCHEMA,
) -> Lab:
    recipe = Recipe("live", (version,), table_version, table_type, ())
    lab = Lab(spark, Path(folder), version, recipe, url=folder if "://" in folder else "")
    lab.table(schema, key="id", partition="part")
    lab.options |= options
    return lab


@contextmanager
def held_back(lab: Lab, rows: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """A commit that writes and gets its rows only at the end.

    Of a bulk insert of records in no order the rows are asked for last: the instant is in flight by then, the metadata
    table's too where the writer streams, and 1.1 and later have read the table properties that they complete it with.
    """
    with TemporaryDirectory() as scratch, ThreadPoolExecutor(1) as other:
        asked, gate, lines = Path(scratch, "asked"), Path(scratch, "gate"), Path(scratch, "rows.json")
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows))

        def when_open(seen: int, asked: str = str(asked), gate: str = str(gate)) -> int:
            Path(asked).touch()
            wait_until(Path(gate).exists, _LONG, what="a held commit: the test that lets it have its rows")
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
        writing = other.submit(
            lambda: frame.write.format("hudi").options(**settings).mode("append").save(str(lab.folder))
        )
        try:
            wait_until(lambda: writing.done() or asked.exists(), _LONG, what="a held commit: its question for rows")
            yield
        finally:
            gate.touch()
            writing.result(timeout=_LONG)
