"""A Spark session for a command: what spark-submit gave it, else all processors of this machine."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

from hudi_engine.spark.pod import driver_address

ALONE: Final[Mapping[str, str]] = {
    # The JVM hands keys on and keeps none: with this collector it takes a quarter less memory for that.
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC"
}
"""Settings of a session on this machine alone."""
# Where one of these is set, somebody has settled how Spark's JVM is started; two collectors would not start at all.
_SETTLED_BY: Final = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")


@contextmanager
def session() -> Iterator[SparkSession]:
    """The session, ended with the block. Its master and its settings are spark-submit's, or `local[*]` without them."""
    builder = SparkSession.builder.appName("hudi-engine")
    if not any(os.environ.get(name) for name in _SETTLED_BY):
        builder = builder.config(map=dict(ALONE))
    builder = builder.config(map={**driver_address(os.environ)})
    spark = builder.getOrCreate()
    # Where tasks are processes of this machine, they have this engine by the interpreter that has it here; unless told,
    # PySpark takes whatever `python3` is. Executors elsewhere have their own, which PYSPARK_PYTHON names.
    context = spark.sparkContext
    if (context.master or "").startswith("local") and not os.environ.get("PYSPARK_PYTHON"):
        context.pythonExec = sys.executable
    try:
        yield spark
    finally:
        spark.stop()
