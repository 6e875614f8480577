"""A Spark session for a command: what spark-submit gave it, else all processors of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def session() -> Iterator[SparkSession]:
    """The session, ended with the block. Its master and its settings are spark-submit's, or `local[*]` without them."""
    spark = SparkSession.builder.appName("hudi-engine").getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
