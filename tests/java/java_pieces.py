"""What Java makes of the smaller things that we write: single records, footers, filters, names."""

import json
import tempfile
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from tests.java import objects as java
from tests.java.java_formats import compiled, lines


def load_properties(spark: SparkSession, version: str, path: str) -> dict[str, str]:
    """A properties file by `java.util.Properties` alone."""
    machine = java.virtual_machine(spark)
    properties = machine.java.util.Properties()
    stream = machine.java.io.FileInputStream(path)
    try:
        properties.load(stream)
    finally:
        stream.close()
    return dict(properties)


def read_record(spark: SparkSession, version: str, path: str, name: str) -> Any:
    """The one service record of an Avro file, by the class that Java generated for it, as JSON."""
    machine = java.virtual_machine(spark)
    kind = getattr(java.package(spark).avro.model, name)._java_lang_class
    reader = machine.org.apache.avro.specific.SpecificDatumReader(kind)
    file = machine.org.apache.avro.file.DataFileReader(machine.java.io.File(path), reader)
    try:
        records = [json.loads(each.toString()) for each in java.drained(file)]
    finally:
        file.close()
    (record,) = records
    return record


def hfile_facts(spark: SparkSession, version: str, path: str, reader: str = "native") -> dict[str, Any]:
    """What Hudi's file reader says of an HFile beside its entries."""
    hudi = java.package(spark)
    config = hudi.common.config.HoodieConfig()
    config.setValue("_hoodie.hfile.use.native.reader", str(reader == "native").lower())
    avro = java.enum(spark, "org.apache.hudi.common.model.HoodieRecord$HoodieRecordType", "AVRO")
    factory = hudi.io.storage.HoodieIOFactory.getIOFactory(java.storage(spark, path)).getReaderFactory(avro)
    file = factory.getFileReader(config, java.path(spark, path), hudi.common.model.HoodieFileFormat.HFILE)
    try:
        return {
            "by": file.getClass().getSimpleName(),
            "schema": json.loads(file.getSchema().toString()),
            "count": file.getTotalRecords(),
            "least_and_greatest": list(file.readMinMaxRecordKeys()),
            "bloom": _filter(file.readBloomFilter()),
        }
    finally:
        file.close()


def parquet_footer(spark: SparkSession, version: str, path: str) -> dict[str, Any]:
    """The bloom filter and the border keys of a base file, as Hudi reads them from its footer."""
    hudi = java.package(spark)
    storage, where = java.storage(spark, path), java.path(spark, path)
    utils = hudi.io.storage.HoodieIOFactory.getIOFactory(storage).getFileFormatUtils(where)
    return {
        "least_and_greatest": list(utils.readMinMaxRecordKeys(storage, where)),
        "bloom": _filter(utils.readBloomFilterFromMetadata(storage, where)),
    }


def might_contain(spark: SparkSession, version: str, text: str, kind: str, keys: Sequence[str]) -> str:
    """A digit for each key, 1 if it may be in the filter."""
    with tempfile.TemporaryDirectory() as folder:
        read = java.package(spark).common.bloom.BloomFilterFactory.fromString(text, kind)
        return str(compiled(spark, "MightContain").apply(read, lines(spark, folder, keys)))


def make_bloom(
    spark: SparkSession, version: str, kind: str, sizes: Sequence[Any], keys: Sequence[str]
) -> dict[str, str]:
    """Java's own filter; `sizes` are how many keys it is made for, the error rate and the most keys."""
    made = java.package(spark).common.bloom.BloomFilterFactory.createBloomFilter(*sizes, kind)
    for key in keys:
        made.add(key)
    return {"kind": made.getBloomFilterTypeCode().name(), "text": made.serializeToString()}


def base_file_name(spark: SparkSession, version: str, parts: Sequence[str]) -> dict[str, str]:
    """The name that Java makes of file id, write token, instant and extension, and what it reads from it again."""
    file_id, token, instant, extension = parts
    utils = java.package(spark).common.fs.FSUtils
    name = utils.makeBaseFileName(instant, token, file_id, f".{extension}")
    return {"name": name, "file_id": utils.getFileId(name), "instant": utils.getCommitTime(name)}


def log_file_name(spark: SparkSession, version: str, parts: Sequence[Any]) -> dict[str, Any]:
    """The same for a log file; the parts are file id, instant, version and write token."""
    file_id, instant, number, token = parts
    hudi = java.package(spark)
    name = hudi.common.fs.FSUtils.makeLogFileName(file_id, ".log", instant, number, token)
    return {"name": name} | log_file_parts(spark, version, name)


def log_file_parts(spark: SparkSession, version: str, name: str) -> dict[str, Any]:
    file = java.package(spark).common.model.HoodieLogFile(java.path(spark, f"file:///t/{name}"))
    return {
        "file_id": file.getFileId(),
        "instant": file.getBaseCommitTime() if version == "0.15.0" else file.getDeltaCommitTime(),
        "version": file.getLogVersion(),
        "write_token": file.getLogWriteToken(),
        "extension": file.getFileExtension(),
        "suffix": file.getSuffix(),
    }


def _filter(bloom: Any) -> dict[str, str] | None:
    return bloom and {"kind": bloom.getBloomFilterTypeCode().name(), "text": bloom.serializeToString()}
