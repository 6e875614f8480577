"""A SparkSession with one Hudi release, for the process that holds it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyspark.sql import SparkSession

Options = Mapping[str, str]

_NOTHING: Options = MappingProxyType({})
_JAVA_OPTIONS = (
    f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
    # py4j calls methods of whatever class it is handed, and Java's streams are of classes that are not public.
    "--add-opens=java.base/java.util.stream=ALL-UNNAMED",
    # Look-ups by bloom filters of the metadata table send their tasks a lock, which Java 17 else lets nobody copy.
    "--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED",
)

# JAVA_TOOL_OPTIONS of a JVM that lives for minutes and makes small commits. With these and a heap that does
# not grow a commit takes 1.25 processor seconds instead of 2.0, and the first one 6.6 instead of 8.
FOR_SMALL_COMMITS = " ".join(
    (
        "-XX:TieredStopAtLevel=1",  # the last tier of compilers costs more than it brings
        "-XX:+UseSerialGC",
        "-XX:NewRatio=1",  # half of the heap is young: next to nothing of a commit is old
        "-XX:MetaspaceSize=256m",  # else the loading of classes leads to full collections
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",  # the classes of Spark and Hudi are as released
    )
)


def start(
    jar: Path, memory: str = "2g", beside: Sequence[Path] = (), hadoop: Options = _NOTHING, zone: str = "UTC"
) -> SparkSession:
    """The session: two cores, UTC but for the JVM's own `zone`, no page to look at, next to no log.

    `beside` are jars that stand on its class path, too, and `hadoop` what Hadoop's file systems are told.
    """
    settings = _settings([jar, *beside], memory, zone) | {
        f"spark.hadoop.{name}": value for name, value in hadoop.items()
    }
    return SparkSession.Builder().config(map=settings).getOrCreate()


def _settings(jars: Sequence[Path], memory: str, zone: str) -> dict[str, Any]:
    return {
        "spark.master": "local[2]",
        "spark.app.name": jars[0].stem,
        "spark.driver.memory": memory,
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.driver.extraJavaOptions": " ".join(
            # A heap of one size: each change of size costs a full collection.
            [f"-Duser.timezone={zone}", f"-Xms{memory}", *_JAVA_OPTIONS]
        ),
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
