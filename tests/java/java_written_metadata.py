"""A Java writer of tables whose metadata table the engine writes to as well."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.golden.lab import Lab, Recipe


def write_rows(
    spark: SparkSession,
    version: str,
    folder: str,
    kind: Sequence[Any],
    rows: Sequence[Mapping[str, Any]],
    how: str = "upsert",
    **options: str,
) -> str:
    """One commit; the answer is its instant. `kind` is the table's version and type.

    `options` are named without `hoodie.` and with `__` for a dot.
    """
    table_version, table_type = kind
    lab = Lab(spark, Path(folder), version, Recipe("written", (version,), table_version, table_type, ()))
    lab.table(
        "id STRING, part STRING, seen BIGINT",
        key="id",
        partition="part",
        metadata__index__column__stats__enable="false",
        parquet__small__file__limit="0",
        **options,
    )
    return lab.write(rows, how)
