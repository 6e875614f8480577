"""What Spark finds by a predicate, and in how many files it looks for that."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession


def rows_where(
    spark: SparkSession, version: str, table: str, predicates: Sequence[str], options: Mapping[str, str]
) -> list[dict[str, Any]]:
    """For each predicate the ascending keys of the rows that match, and how many files, or slices, were looked into.

    Rows that do not say their key have it in `id`.
    """
    rows = spark.read.format("hudi").options(**options).load(table)
    key = "_hoodie_record_key" if "_hoodie_record_key" in rows.columns else "id"
    return [_found(rows.where(predicate).select(key)) for predicate in predicates]


def rows_that_are(
    spark: SparkSession, version: str, table: str, predicates: Sequence[str], options: Mapping[str, str]
) -> list[list[str]]:
    """For each predicate the ascending keys of the rows of which it is true, found by a look at all rows in one go."""
    rows = spark.read.format("hudi").options(**options).load(table)
    answers = rows.selectExpr("_hoodie_record_key", *(f"({each})" for each in predicates)).collect()
    return [sorted(row[0] for row in answers if row[place]) for place in range(1, len(predicates) + 1)]


def _found(rows: Any) -> dict[str, Any]:
    keys = sorted(row[0] for row in rows.collect())
    return {"keys": keys, "files": _files(rows._jdf.queryExecution().executedPlan())}


def _files(plan: Any) -> int:
    """The files that the scans of an executed plan were left with."""
    metrics = plan.metrics()
    own = int(metrics.apply("numFiles").value()) if metrics.contains("numFiles") else 0
    children = plan.children()
    return own + sum(_files(children.apply(place)) for place in range(children.size()))
