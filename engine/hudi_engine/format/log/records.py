"""The records inside of Avro data blocks, both ways."""

import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_types
from hudi_engine.format.avro_decode import Read, compile_decoder
from hudi_engine.format.avro_encode import compile_encoder
from hudi_engine.format.avro_types import Record
from hudi_engine.format.log.block import CONTENT_VERSION, BlockType, HeaderKey, LogBlock

_INT: Final = struct.Struct(">i")
_HEAD: Final = struct.Struct(">ii")
_READABLE_VERSIONS: Final = frozenset({1, 2, 3})
"""The layout of Avro content has been the same in all of them."""


def decode_avro_records(block: LogBlock, wanted: Record | None = None) -> Iterator[dict[str, object]]:
    """The records of an Avro or change-data block, one by one: by the schema in its header, or made into `wanted`.

    Every record fills the length before it and the records fill the block, or it is `CorruptFile`.
    """
    if block.type not in {BlockType.AVRO_DATA, BlockType.CDC_DATA}:
        raise Unsupported(f"a {block.type.name} block where records in Avro are wanted")
    schema = block.require(HeaderKey.SCHEMA)
    try:
        read = _reader(schema, wanted)
    except CorruptFile as wrong:  # its offset is one of the text
        raise CorruptFile(f"in the header SCHEMA, {wrong.what}", block.offset) from wrong
    _, count = records_head(block)
    return _records(read, bytes(block.content), count, block.offset)


def records_head(block: LogBlock) -> tuple[int, int]:
    """Where in the content of an Avro block its first record's length stands, and how many records there are."""
    content = block.content
    if len(content) < _HEAD.size:
        raise CorruptFile("an Avro block without its record count", block.offset)
    version, count = _HEAD.unpack_from(content)
    if version not in _READABLE_VERSIONS:
        raise Unsupported(f"the content version {version} in the Avro block at offset {block.offset}")
    # Every record has a length and a byte at least, so a larger count is not to be believed.
    if not 0 <= count <= len(content) // (_INT.size + 1):
        raise CorruptFile(f"an Avro block of {count} records in {len(content)} bytes", block.offset)
    return _HEAD.size, count


def encode_avro_records(schema: str, records: Iterable[object]) -> bytes:
    """The content of an Avro block whose header SCHEMA is this text."""
    write = compile_encoder(avro_types.parse(schema, 0))
    out, count = bytearray(_HEAD.size), 0
    for record in records:
        start = len(out)
        out += b"\0\0\0\0"
        write(out, record)
        _INT.pack_into(out, start, len(out) - start - _INT.size)
        count += 1
    _HEAD.pack_into(out, 0, CONTENT_VERSION, count)
    return bytes(out)


@lru_cache(maxsize=16)
def _reader(schema: str, wanted: Record | None) -> Read:
    kind = avro_types.parse(schema, 0)
    if not isinstance(kind, Record):
        raise CorruptFile("the schema is not that of a record", 0)
    return compile_decoder(kind, wanted)


def _records(read: Read, content: bytes, count: int, offset: int) -> Iterator[dict[str, object]]:
    at = _HEAD.size
    for number in range(count):
        try:
            start = at + _INT.size
            end = start + _INT.unpack_from(content, at)[0]
            record, at = read(content, start)
        except (IndexError, struct.error):
            raise CorruptFile(f"the block ends inside of its record {number}", offset) from None
        except CorruptFile as wrong:  # its offset is one of the content
            raise CorruptFile(f"record {number} of the block: {wrong.what}", offset) from wrong
        if at != end:
            raise CorruptFile(f"record {number} of the block does not fill its length", offset)
        yield record  # type: ignore[misc]  # a decoder of a record gives a dict
    if at != len(content):
        raise CorruptFile("bytes left over after the block's last record", offset)
