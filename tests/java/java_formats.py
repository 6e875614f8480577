"""What Java makes of single files: the proof that ours are read by Hudi's own readers."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.java import objects as java

_READERS = Path(__file__).with_name("readers")


def read_properties(spark: SparkSession, version: str, table: str) -> dict[str, Any]:
    """A table's configuration as Java loads it, and whether Java finds the checksum right."""
    config = java.meta_client(spark, table).getTableConfig()
    properties = java.virtual_machine(spark).java.util.Properties()
    properties.putAll(config.propsMap())
    right = java.package(spark).common.table.HoodieTableConfig.validateChecksum(properties)
    return {"properties": dict(config.propsMap()), "checksum_is_right": right}


def read_hfile(
    spark: SparkSession, version: str, path: str, keys: Sequence[str] | None = None, reader: str = "native"
) -> dict[str, Any]:
    """The entries of an HFile, key and value in base64: all, or those of the keys, which must ascend."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "entries")
        read = compiled(spark, {"native": "NativeHFile", "hbase": "HBaseHFile"}[reader])
        wanted = None if keys is None else lines(spark, folder, keys)
        count = read.apply(java_list(spark, [java.storage(spark, path), path, str(out), wanted]))
        return {"count": count, "entries": [line.split("\t") for line in out.read_text().splitlines()]}


def read_log(spark: SparkSession, version: str, path: str, schema: str | None = None) -> list[dict[str, Any]]:
    """The blocks of a log file: type, header, and records or deletes."""
    hudi = java.package(spark)
    file = hudi.common.model.HoodieLogFile(java.path(spark, path))
    reader = hudi.common.table.log.HoodieLogFormat.newReader(
        java.storage(spark, path), file, _schema(spark, version, schema)
    )
    try:
        return [_block(spark, block) for block in java.drained(reader)]
    finally:
        reader.close()


def bloom(spark: SparkSession, version: str, text: str, kind: str, keys: Sequence[str]) -> list[bool]:
    """Which of the keys may be in the filter; `text` and `kind` as a parquet footer carries them."""
    read = java.package(spark).common.bloom.BloomFilterFactory.fromString(text, kind)
    return [read.mightContain(key) for key in keys]


def _block(spark: SparkSession, block: Any) -> dict[str, Any]:
    kind = block.getBlockType().name()
    header = {entry.getKey().name(): entry.getValue() for entry in java.items(block.getLogBlockHeader().entrySet())}
    read: dict[str, Any] = {"type": kind, "header": header}
    if kind in {"AVRO_DATA_BLOCK", "PARQUET_DATA_BLOCK", "HFILE_DATA_BLOCK"}:
        avro = java.enum(spark, "org.apache.hudi.common.model.HoodieRecord$HoodieRecordType", "AVRO")
        read["records"] = [
            json.loads(each.getData().toString()) for each in java.drained(block.getRecordIterator(avro))
        ]
    elif kind == "DELETE_BLOCK":
        read["deletes"] = [_delete(spark, each) for each in block.getRecordsToDelete()]
    return read


def _delete(spark: SparkSession, record: Any) -> Mapping[str, str]:
    return {
        "key": record.getRecordKey(),
        "partition": record.getPartitionPath(),
        "ordering": compiled(spark, "OrderingText").apply(record),
    }


def _schema(spark: SparkSession, version: str, text: str | None) -> Any:
    if text is None:
        return None
    if version == "1.2.0":
        return java.package(spark).common.schema.HoodieSchema.parse(text)
    return getattr(java.virtual_machine(spark).org.apache.avro, "Schema$Parser")().parse(text)


@cache
def compiled(spark: SparkSession, name: str) -> Any:
    """An instance of one of our Java classes, compiled against the jar in use.

    Once only, as py4j takes classes of one name for one class. What is compiled goes into the worker's own folder.
    """
    folder = tempfile.mkdtemp(dir=Path.cwd())
    machine = java.virtual_machine(spark)
    path = machine.java.lang.System.getProperty("java.class.path")
    options = ["-nowarn", "-cp", path, "-d", folder, str(_READERS / f"{name}.java")]
    # The compiler of this JVM, which is warm already: javac by itself takes seconds to start.
    failed = machine.com.sun.tools.javac.Main.compile(_array(spark, machine.java.lang.String, options))
    assert not failed, f"{name}.java does not compile against this release"
    where = _array(spark, machine.java.net.URL, [machine.java.io.File(folder).toURI().toURL()])
    loader = machine.java.net.URLClassLoader(where, machine.java.lang.ClassLoader.getSystemClassLoader())
    constructor = loader.loadClass(name).getDeclaredConstructor(_array(spark, machine.java.lang.Class, []))
    return constructor.newInstance(_array(spark, machine.java.lang.Object, []))


def _array(spark: SparkSession, kind: Any, elements: Sequence[Any]) -> Any:
    made = spark.sparkContext._gateway.new_array(kind, len(elements))  # type: ignore[union-attr]  # a session that runs
    for place, element in enumerate(elements):
        made[place] = element
    return made


def java_list(spark: SparkSession, elements: Sequence[Any]) -> Any:
    """For what takes its arguments as one list: py4j cannot call a class of ours with several."""
    made = java.virtual_machine(spark).java.util.ArrayList()
    for element in elements:
        made.add(element)
    return made


def lines(spark: SparkSession, folder: str, texts: Sequence[str]) -> Any:
    """A Java list of texts without line breaks, by a file: handing over each by itself takes minutes."""
    file = Path(folder, "lines")
    file.write_text("".join(f"{text}\n" for text in texts))
    machine = java.virtual_machine(spark)
    return machine.java.nio.file.Files.readAllLines(machine.java.io.File(str(file)).toPath())
