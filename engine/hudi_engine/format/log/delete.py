"""Delete blocks: keys to forget, each with the ordering value that the deletion carries."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, cast

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.avro_decode import Read, compile_decoder, decode
from hudi_engine.format.avro_encode import compile_encoder
from hudi_engine.format.log.block import CONTENT_VERSION, BlockType, LogBlock
from hudi_engine.format.service_records import NEWEST, RecordName, record_type
from hudi_engine.format.service_schemas import NAMESPACE

_HEAD: Final = struct.Struct(">ii")


class OrderingKind(StrEnum):
    """The Java class of an ordering value. Values of different kinds do not compare, not even int and long."""

    BOOLEAN = "BooleanWrapper"
    INT = "IntWrapper"
    LONG = "LongWrapper"
    FLOAT = "FloatWrapper"
    DOUBLE = "DoubleWrapper"
    BYTES = "BytesWrapper"
    STRING = "StringWrapper"
    DATE = "DateWrapper"
    DECIMAL = "DecimalWrapper"
    TIME_MICROS = "TimeMicrosWrapper"
    TIMESTAMP_MICROS = "TimestampMicrosWrapper"
    LOCAL_DATE = "LocalDateWrapper"
    ARRAY = "ArrayWrapper"


@dataclass(frozen=True, slots=True)
class OrderingValue:
    """Days since 1970 for dates, microseconds for times, a `Decimal` of scale 15, a tuple of values for an array."""

    kind: OrderingKind
    value: object


COMMIT_TIME: Final = OrderingValue(OrderingKind.INT, 0)
"""What a deletion carries that has no ordering of its own: it wins over all that is older."""


@dataclass(frozen=True, slots=True)
class DeletedKey:
    """A record to forget. `ordering` None means the same as `COMMIT_TIME`."""

    key: str
    partition: str | None
    ordering: OrderingValue | None


def decode_deletes(block: LogBlock) -> list[DeletedKey]:
    """The keys of a delete block of content version 3; older ones are serialised Java objects, which is Unsupported."""
    if block.type is not BlockType.DELETE:
        raise Unsupported(f"a {block.type.name} block where a delete block is wanted")
    content = bytes(block.content)
    if len(content) < _HEAD.size:
        raise CorruptFile("a delete block without its length", block.offset)
    version, length = _HEAD.unpack_from(content)
    if version != CONTENT_VERSION:
        raise Unsupported(f"a delete block of content version {version} at offset {block.offset}")
    if length != len(content) - _HEAD.size:
        raise CorruptFile(f"a delete block with a length of {length} for {len(content)} bytes", block.offset)
    try:
        value = decode(_reader(), content, _HEAD.size, len(content))
    except CorruptFile as wrong:  # its offset is one of the content
        raise CorruptFile(f"in the delete block, {wrong.what}", block.offset) from wrong
    rows = cast(dict[str, list[dict[str, object]]], value)["deleteRecordList"]
    return [_deleted(row, block.offset) for row in rows]


def encode_deletes(deletes: Iterable[DeletedKey], table_version: int) -> bytes:
    """The content of a delete block; an array of ordering values needs table version 9.

    A deletion without an ordering is written with `COMMIT_TIME`: Java writes none without, and 0.15 merges none.
    """
    kind = record_type(RecordName.DELETE_LIST, table_version)
    rows = [
        {"recordKey": each.key, "partitionPath": each.partition, "orderingVal": _wrapped(each.ordering or COMMIT_TIME)}
        for each in deletes
    ]
    out = bytearray(_HEAD.size)
    compile_encoder(kind)(out, {"deleteRecordList": rows})
    _HEAD.pack_into(out, 0, CONTENT_VERSION, len(out) - _HEAD.size)
    return bytes(out)


@cache
def _reader() -> Read:
    return compile_decoder(record_type(RecordName.DELETE_LIST, NEWEST))


def _deleted(row: dict[str, object], offset: int) -> DeletedKey:
    key, partition = row["recordKey"], row["partitionPath"]
    if not isinstance(key, str):
        raise CorruptFile("a deletion without a record key", offset)
    return DeletedKey(key, cast(str | None, partition), _ordering(row["orderingVal"]))


def _ordering(branch: object) -> OrderingValue | None:
    if branch is None:
        return None
    name, inner = cast(tuple[str, dict[str, object]], branch)
    kind = OrderingKind(name.rpartition(".")[2])
    if kind is OrderingKind.ARRAY:
        values = cast(list[object] | None, inner["wrappedValues"]) or []
        return OrderingValue(kind, tuple(_ordering(value) for value in values))
    return OrderingValue(kind, inner["value"])


def _wrapped(ordering: OrderingValue | None) -> object:
    if ordering is None:
        return None
    if ordering.kind is OrderingKind.TIME_MICROS:
        raise Unsupported("a deletion ordered by a time of day: no Hudi writes one, and since 1.1 none can read it")
    name = f"{NAMESPACE}.{ordering.kind}"
    if ordering.kind is OrderingKind.ARRAY:
        values = cast(tuple[OrderingValue | None, ...], ordering.value)
        return name, {"wrappedValues": [_wrapped(value) for value in values]}
    return name, {"value": ordering.value}
