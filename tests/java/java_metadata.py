"""What Java finds in the indexes of a table's metadata table, by its own reader and merge."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.java import objects as java
from tests.java.java_formats import compiled, java_list


def metadata_entries(spark: SparkSession, version: str, table: str, out: str) -> dict[str, int]:
    """Every live entry of every index that is ready, in `out/<index>.jsonl`; the answer is how many each has."""
    Path(out).mkdir(exist_ok=True)
    write = compiled(spark, "MetadataEntries")
    counts = {}
    for index in ready_indexes(spark, table):
        metadata = _metadata(spark, table)
        counts[index] = write.apply(java_list(spark, [metadata, index, str(Path(out, f"{index}.jsonl"))]))
        metadata.close()
    return counts


def ready_indexes(spark: SparkSession, table: str) -> list[str]:
    return sorted(java.items(java.meta_client(spark, table).getTableConfig().getMetadataPartitions()))


def listed_files(spark: SparkSession, version: str, table: str) -> dict[str, dict[str, int]]:
    """Per data partition the name and size of each file, by the methods that all of Hudi lists files with."""
    metadata = _metadata(spark, table)
    try:
        return {
            partition: {
                file.getPath().getName(): file.getLength()
                for file in java.items(metadata.getAllFilesInPartition(_within(spark, table, partition)))
            }
            for partition in java.items(metadata.getAllPartitionPaths())
        }
    finally:
        metadata.close()


def metadata_lookup(
    spark: SparkSession, version: str, table: str, keys_file: str, out: str, partition: str | None = None
) -> int:
    """Writes a JSON line for each key that the record index has; `keys_file` holds a JSON list, so any key at all.

    The data partition is for an index by partition, which only 1.1 and later know.
    """
    metadata = _metadata(spark, table)
    try:
        look_up = compiled(spark, "RecordLookup")
        return int(look_up.apply(java_list(spark, [metadata, keys_file, out, partition])))
    finally:
        metadata.close()


def secondary_lookup(
    spark: SparkSession, version: str, table: str, index: str, values: Sequence[str | None]
) -> list[list[Any]]:
    """For each value, in the order given, the value and the ascending keys of the records that have it."""
    metadata = _metadata(spark, table)
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "values.json"), Path(folder, "found.json")
        given.write_text(json.dumps(list(values)))
        compiled(spark, "SecondaryLookup").apply(java_list(spark, [metadata, index, str(given), str(found)]))
        metadata.close()
        read: list[list[Any]] = json.loads(found.read_text())
    return read


def tag(
    spark: SparkSession, version: str, table: str, keys: Sequence[str], partitions: Sequence[str], **options: str
) -> list[dict[str, str | None]]:
    """Where the writer of this release would put records of these keys and partitions, by the record index.

    A key that is somewhere else already comes with the partition where it is. `options` are named without `hoodie.`
    and with `__` for a dot.
    """
    hudi = java.package(spark)
    config = java.meta_client(spark, table).getTableConfig()
    kept = {"datasource__write__table__type": config.getTableType().name()}
    if version != "0.15.0":
        kept["write__table__version"] = str(config.getTableVersion().versionCode())
    settings = {f"hoodie.{name.replace('__', '.')}": text for name, text in (_TAGGING | kept | options).items()}
    client = hudi.DataSourceUtils.createHoodieClient(java.java_context(spark), _NO_FIELDS, table, "tagged", settings)
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "keys.json"), Path(folder, "found.json")
        given.write_text(json.dumps(list(zip(keys, partitions, strict=True))))
        context = java.engine_context(spark)
        compiled(spark, "TagKeys").apply(java_list(spark, [client.getConfig(), context, str(given), str(found)]))
        client.close()
        read: list[dict[str, str | None]] = json.loads(found.read_text())
    return sorted(read, key=lambda each: (str(each["key"]), str(each["partition"])))


# Java asks for a schema, and for no field of it as long as nothing moves.
_NO_FIELDS = '{"type": "record", "name": "Nothing", "fields": []}'
_TAGGING = {
    "metadata__enable": "true",
    "embed__timeline__server": "false",
    "index__type": "RECORD_INDEX",
    "write__auto__upgrade": "false",
    "datasource__write__payload__class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
}


def _metadata(spark: SparkSession, table: str) -> Any:
    hudi = java.package(spark)
    config = hudi.common.config.HoodieMetadataConfig.newBuilder().enable(True).build()
    return hudi.metadata.HoodieBackedTableMetadata(
        java.engine_context(spark), java.storage(spark, table), config, table
    )


def _within(spark: SparkSession, table: str, partition: str) -> Any:
    return java.path(spark, f"{table}/{partition}" if partition else table)
