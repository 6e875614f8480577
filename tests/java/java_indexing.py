"""What Hudi does itself with indexes beside ours: SQL's CREATE INDEX, and its own indexer."""

from typing import Any

from pyspark.sql import SparkSession

from tests.java import objects as java
from tests.java.java_formats import java_list
from tests.java.live_commits import lab_of

_INDEXER = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.async": "true",
}


def create_index(spark: SparkSession, version: str, table: dict[str, Any], name: str, column: str) -> None:
    """CREATE INDEX, and the table forgotten by Spark's catalog again; its files stay."""
    lab = lab_of(spark, version, **table)
    lab.create_index(name, column)
    lab.sql("DROP TABLE {table}")


def index_by_java(spark: SparkSession, version: str, table: dict[str, Any]) -> str:
    """A record index scheduled and built by Hudi's own indexer; the answer is its instant."""
    lab = lab_of(spark, version, **table)
    hudi = java.package(spark)
    schema = hudi.common.table.TableSchemaResolver(java.meta_client(spark, str(lab.folder))).getTableSchema(False)
    client = hudi.DataSourceUtils.createHoodieClient(
        java.java_context(spark), schema.toString(), str(lab.folder), lab.recipe.name, {**lab.options, **_INDEXER}
    )
    kinds = java_list(spark, [hudi.metadata.MetadataPartitionType.RECORD_INDEX])
    instant = str(java.value(client.scheduleIndexing(kinds, java_list(spark, []))))
    client.index(instant)
    return instant
