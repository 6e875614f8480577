"""Hudi's Java objects through py4j, and the turning of Java collections into Python's."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


def virtual_machine(spark: SparkSession) -> Any:
    return spark._jvm


def package(spark: SparkSession) -> Any:
    """`org.apache.hudi` as a tree of names."""
    return virtual_machine(spark).org.apache.hudi


def java_context(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc


def engine_context(spark: SparkSession) -> Any:
    return package(spark).client.common.HoodieSparkEngineContext(java_context(spark))


def path(spark: SparkSession, name: str) -> Any:
    return package(spark).storage.StoragePath(name)


def storage(spark: SparkSession, name: str) -> Any:
    return package(spark).storage.HoodieStorageUtils.getStorage(path(spark, name), configuration(spark))


def meta_client(spark: SparkSession, table: str) -> Any:
    builder = package(spark).common.table.HoodieTableMetaClient.builder()
    return builder.setConf(configuration(spark)).setBasePath(table).build()


def items(collection: Any) -> Iterator[Any]:
    """The elements of a Java stream or list."""
    return drained(collection.iterator())


def drained(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()


def value(option: Any) -> Any:
    """What a Hudi Option holds, or None."""
    return option.get() if option.isPresent() else None


def enum(spark: SparkSession, name: str, constant: str) -> Any:
    """A constant of an enum that is nested in a class: `Outer$Inner`."""
    found = virtual_machine(spark).java.lang.Class.forName(name).getEnumConstants()
    return next(each for each in found if each.name() == constant)


def configuration(spark: SparkSession) -> Any:
    hadoop = java_context(spark).hadoopConfiguration()
    return package(spark).hadoop.fs.HadoopFSUtils.getStorageConf(hadoop)
