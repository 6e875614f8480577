"""Records of the metadata table as each release writes them: its schema, and values in the bytes of Avro."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hudi_engine.format.avro_encode import compile_encoder
from hudi_engine.format.avro_types import parse

RELEASES = ("0.15.0", "1.0.2", "1.1.1", "1.2.0")
META_COLUMNS = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
_MODEL = "org.apache.hudi.avro.model."
_SIMPLE = {
    "BooleanWrapper": "boolean",
    "IntWrapper": "int",
    "LongWrapper": "long",
    "FloatWrapper": "float",
    "DoubleWrapper": "double",
    "BytesWrapper": "bytes",
    "StringWrapper": "string",
    "DateWrapper": "int",
    "DecimalWrapper": {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
    "TimeMicrosWrapper": {"type": "long", "logicalType": "time-micros"},
    "TimestampMicrosWrapper": "long",
    "LocalDateWrapper": "int",
}


def schema_of(release: str) -> str:
    """The schema that this release writes, as section 3.3 has it."""
    is_1_0, is_1_1 = release != "0.15.0", release not in ("0.15.0", "1.0.2")
    meta = [_maybe(f"_hoodie_{name}", "string") for name in META_COLUMNS]
    index = [
        _maybe("partitionName", "string"),
        _maybe("fileIdHighBits", "long"),
        _maybe("fileIdLowBits", "long"),
        _maybe("fileIndex", "int"),
        _maybe("fileId", "string"),
        _maybe("instantTime", "long"),
        {"name": "fileIdEncoding", "type": "int", "default": 0},
    ]
    fields = [
        *meta,
        {"name": "key", "type": "string"},
        {"name": "type", "type": "int"},
        _files(),
        _maybe("BloomFilterMetadata", _record("BloomFilter", _bloom_fields())),
        _maybe("ColumnStatsMetadata", _record("ColumnStats", _stats_fields(is_1_0, is_1_1))),
        _maybe("recordIndexMetadata", _record("RecordIndexInfo", [*index, *([_maybe("position", "long")] * is_1_0)])),
    ]
    if is_1_0:
        deleted = _record("SecondaryIndexInfo", [{"name": "isDeleted", "type": "boolean"}])
        fields.append(_maybe("SecondaryIndexMetadata", deleted))
    return json.dumps(_record("MetadataRecord", fields))


def entries_of(release: str, kind: int, values: Mapping[str, tuple[str, Any]]) -> pa.Table:
    """Entries of an HFile: of each key the field that its record has, and what the field says."""
    write = compile_encoder(parse(schema_of(release), 0))
    written = []
    for name, value in values.values():
        out = bytearray()
        write(out, {**_EMPTY, "key": "", "type": kind, name: value} if release != "0.15.0" else _old(kind, name, value))
        written.append(bytes(out))
    keys = [key.encode() for key in values]
    return pa.table({"key": pa.array(keys, pa.large_binary()), "value": pa.array(written, pa.large_binary())})


def stats(**given: Any) -> dict[str, Any]:
    """The statistics of a column; bounds are given as pairs of wrapper and value."""
    wrapped = {
        name: None if value is None else (f"{_MODEL}{value[0]}", {"value": value[1]})
        for name in ("minValue", "maxValue")
        for value in [given.pop(name, None)]
    }
    counts = dict.fromkeys(("valueCount", "nullCount", "totalSize", "totalUncompressedSize"), 1)
    return {"fileName": "f", "columnName": "c", **counts, "isDeleted": False, **wrapped, **given}


_PAYLOADS = (
    "filesystemMetadata",
    "BloomFilterMetadata",
    "ColumnStatsMetadata",
    "recordIndexMetadata",
    "SecondaryIndexMetadata",
)
_EMPTY: dict[str, Any] = {f"_hoodie_{name}": None for name in META_COLUMNS} | dict.fromkeys(_PAYLOADS)


def _old(kind: int, name: str, value: Any) -> dict[str, Any]:
    empty = {key: None for key in _EMPTY if key != "SecondaryIndexMetadata"}
    return {**empty, "key": "", "type": kind, name: value}


def _files() -> dict[str, Any]:
    info = _record("FileInfo", [{"name": "size", "type": "long"}, {"name": "isDeleted", "type": "boolean"}])
    return {"name": "filesystemMetadata", "type": ["null", {"type": "map", "values": info}]}


def _bloom_fields() -> list[dict[str, Any]]:
    kinds = {"type": "string", "timestamp": "string", "bloomFilter": "bytes", "isDeleted": "boolean"}
    return [{"name": name, "type": kind} for name, kind in kinds.items()]


def _stats_fields(is_1_0: bool, is_1_1: bool) -> list[dict[str, Any]]:
    names = [name for name in _SIMPLE if is_1_0 or name != "LocalDateWrapper"]
    wrappers: list[Any] = [
        {"type": "record", "name": name, "namespace": _MODEL[:-1], "fields": [{"name": "value", "type": _SIMPLE[name]}]}
        for name in names
    ]
    if is_1_1:
        every = {"type": "array", "items": ["null", *(_MODEL + name for name in names)]}
        wrappers.append(_record_named("ArrayWrapper", [_maybe("wrappedValues", every)]))
    again = [wrapper["name"] if "." in wrapper["name"] else _MODEL + wrapper["name"] for wrapper in wrappers]
    fields: list[dict[str, Any]] = [
        _maybe("fileName", "string"),
        _maybe("columnName", "string"),
        {"name": "minValue", "type": ["null", *wrappers]},
        {"name": "maxValue", "type": ["null", *again]},
        *(_maybe(name, "long") for name in ("valueCount", "nullCount", "totalSize", "totalUncompressedSize")),
        {"name": "isDeleted", "type": "boolean"},
    ]
    if is_1_0:
        fields.append({"name": "isTightBound", "type": "boolean", "default": False})
    if is_1_1:
        info = [{"name": "typeOrdinal", "type": "int"}, _maybe("additionalInfo", "string")]
        fields.append(_maybe("valueType", _record("ValueTypeInfo", info)))
    return fields


def _record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return _record_named(f"Hoodie{name}", fields)


def _record_named(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "namespace": _MODEL[:-1], "fields": fields}


def _maybe(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None}
