"""A SparkSession with one Hudi release, for the process that holds it."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_JAVA_OPTIONS = (
    "-Duser.timezone=UTC",
    f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
    # py4j calls methods of whatever class it is handed, and Java's streams are of classes that are not public.
    "--add-opens=java.base/java.util.stream=ALL-UNNAMED",
)


def start(jar: Path, memory: str = "2g") -> SparkSession:
    """The session: two cores, UTC everywhere, no page to look at, next to no log."""
    return SparkSession.Builder().config(map=_settings(jar, memory)).getOrCreate()


def _settings(jar: Path, memory: str) -> dict[str, Any]:
    return {
        "spark.master": "local[2]",
        "spark.app.name": jar.stem,
        "spark.driver.memory": memory,
        "spark.driver.extraClassPath": str(jar),
        "spark.driver.extraJavaOptions": " ".join(_JAVA_OPTIONS),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
    }
