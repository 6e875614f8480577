"""Blocks into bytes. A log file is its blocks one after the other, nothing before, between or after."""

import struct
from collections.abc import Iterable
from typing import Final

from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.format.log.block import LOG_VERSION, MAGIC, ROLLBACK, BlockType, Header, HeaderKey
from hudi_engine.format.log.delete import DeletedKey, encode_deletes
from hudi_engine.format.log.records import encode_avro_records

_LEGAL_SINCE: Final[dict[HeaderKey, int]] = {
    HeaderKey.INSTANT_TIME: 6,
    HeaderKey.TARGET_INSTANT_TIME: 6,
    HeaderKey.SCHEMA: 6,
    HeaderKey.COMMAND_BLOCK_TYPE: 6,
    HeaderKey.COMPACTED_BLOCK_TIMES: 6,
    HeaderKey.RECORD_POSITIONS: 6,
    HeaderKey.IS_PARTIAL: 8,
    HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: 8,
}
_WRITABLE_VERSIONS: Final = (6, 8, 9)


def avro_block(schema: str, records: Iterable[object], header: Header, table_version: int) -> bytes:
    """An Avro data block; `header` needs INSTANT_TIME, and SCHEMA is added."""
    content = encode_avro_records(schema, records)
    return write_block(BlockType.AVRO_DATA, {**header, HeaderKey.SCHEMA: schema}, content, table_version)


def hfile_block(hfile: bytes, schema: str, header: Header, table_version: int) -> bytes:
    """A data block around a whole HFile; `header` needs INSTANT_TIME, and SCHEMA is added."""
    return write_block(BlockType.HFILE_DATA, {**header, HeaderKey.SCHEMA: schema}, hfile, table_version)


def delete_block(deletes: Iterable[DeletedKey], header: Header, table_version: int) -> bytes:
    """A delete block; `header` needs INSTANT_TIME. Java puts the SCHEMA there too, and reads it without."""
    return write_block(BlockType.DELETE, header, encode_deletes(deletes, table_version), table_version)


def rollback_block(instant: str, target: str, table_version: int) -> bytes:
    """A command block by which `instant`, a rollback, undoes the earlier blocks of `target`."""
    header = {
        HeaderKey.INSTANT_TIME: instant,
        HeaderKey.TARGET_INSTANT_TIME: target,
        HeaderKey.COMMAND_BLOCK_TYPE: ROLLBACK,
    }
    return write_block(BlockType.COMMAND, header, b"", table_version)


def write_block(kind: BlockType, header: Header, content: bytes, table_version: int) -> bytes:
    """One block, with no header key that a reader of this table version would not know."""
    if table_version not in _WRITABLE_VERSIONS:
        raise Unsupported(f"log blocks for table version {table_version}; {_WRITABLE_VERSIONS} can be written")
    if HeaderKey.INSTANT_TIME not in header:
        raise Contradiction(f"a {kind.name} block without the header INSTANT_TIME, which every reader asks for")
    for key in header:
        if _LEGAL_SINCE.get(key, table_version + 1) > table_version:
            raise Contradiction(f"the block header {key.name} in a table of version {table_version}")
    entries = bytearray(struct.pack(">i", len(header)))
    for key, value in header.items():
        encoded = value.encode()
        entries += struct.pack(">ii", key, len(encoded)) + encoded
    body = b"".join(
        (struct.pack(">ii", LOG_VERSION, kind), entries, struct.pack(">q", len(content)), content, bytes(4))
    )
    size = len(body) + 8
    return b"".join((MAGIC, struct.pack(">q", size), body, struct.pack(">q", size + len(MAGIC))))
