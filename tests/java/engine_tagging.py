"""The engine's tagging on a real Spark: what a worker does with a dataframe that a test describes."""

from collections.abc import Sequence
from typing import Any

from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit, spark_partition_id, udf

from hudi_engine.spark.tag import Keys, tag

_COLUMNS = (
    "1 as `dotted.name`",
    "2 as twice",
    "'x' as twice",
    "cast(null as string) as `ticket`",
    "true as truth",
    "cast(1 as tinyint) as tiny",
    "cast(1.5 as float) as single",
    "cast(123456789012345678.125 as decimal(38, 3)) as amount",
    "binary('bytes') as bytes",
    "date'1582-01-01' as day",
    "timestamp'2026-01-01 12:34:56.789012' as moment",
    "timestamp_ntz'2026-01-01 12:34:56.789012' as wall_clock",
    "map('a', array(named_struct('b.c', key, 'd', 1L))) as nested",
    "null as nothing",
)


def tag_by_engine(
    spark: SparkSession, version: str, table: str, keys: Sequence[str | None], partitions: Sequence[str | None]
) -> list[dict[str, Any]]:
    """A row for each key, in the order given, with the task that it was looked up by."""
    rows = list(zip(keys, partitions, range(len(keys)), strict=True))
    df = spark.createDataFrame(rows, "key string, place string, number int")
    tagged = tag(df, table, keys=Keys("key", "place", at_once=1000)).withColumn("task", spark_partition_id())
    names = ("key", "place", "number", "partition", "file_id", "instant", "task")
    return sorted((dict(zip(names, row, strict=True)) for row in tagged.collect()), key=lambda row: row["number"])


def tag_columns_of_every_type(spark: SparkSession, version: str, table: str, keys: Sequence[str]) -> dict[str, Any]:
    """Schema and rows of a dataframe before it was tagged, and, without the tags, after."""
    df = spark.createDataFrame([(key,) for key in keys], "key string not null").selectExpr("key", *_COLUMNS)
    vector = udf(lambda _: Vectors.dense([1.0, 2.0]), Vectors.dense([1.0]).__UDT__)
    df = df.select("*", vector(lit(1)).alias("vector"), col("truth").alias("described", metadata={"said": "so"}))
    tagged = tag(df, table, keys=Keys("key"))
    return {"before": _said(df, len(df.columns)), "after": _said(tagged, len(df.columns))}


def tag_refused(spark: SparkSession, version: str, table: str, columns: Sequence[str]) -> None:
    """Tags a row of these columns by its `key`, for tests of what is refused."""
    tag(spark.range(1).selectExpr(*columns), table, keys=Keys("key"))


def _said(df: DataFrame, width: int) -> dict[str, Any]:
    fields = [field.jsonValue() for field in df.schema.fields]
    return {"fields": fields[:width], "rows": sorted(repr(tuple(row)[:width]) for row in df.collect())}
