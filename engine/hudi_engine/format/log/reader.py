"""Log files into blocks."""

import struct
from collections.abc import Iterator
from typing import Final

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.log.block import LOG_VERSION, MAGIC, BlockType, Header, HeaderKey, LogBlock

_INT: Final = struct.Struct(">i")
_LONG: Final = struct.Struct(">q")
_LEAST_SIZE: Final = 4 + 4 + 4 + 8 + 4 + 8
"""Version, type, empty header, content length, empty footer, total: what every block has after its size."""
_PLACING: Final = {BlockType.COMMAND: (HeaderKey.COMMAND_BLOCK_TYPE, HeaderKey.TARGET_INSTANT_TIME)}


def read_blocks(data: bytes, *, is_store_atomic: bool, is_archive: bool = False) -> Iterator[LogBlock]:
    """The blocks of a log file in file order, each with the headers that place it among others.

    Where files appear whole or not at all, whatever is no block is `CorruptFile`. Elsewhere a writer may have died
    inside of a block: such a piece, up to the next magic, is given as a block of type CORRUPT (section 5.4, rule 1).
    """
    view = memoryview(data)
    at = 0
    while at < len(data):
        end = _block_end(data, at)
        if end is None:
            if is_store_atomic or (at == 0 and not data.startswith(MAGIC[: len(data)])):
                raise CorruptFile("no whole log block", at)
            # From the next byte on: a piece of five bytes of a magic shares its end with the magic that follows.
            end = data.find(MAGIC, at + 1)
            end = len(data) if end < 0 else end
            yield LogBlock(BlockType.CORRUPT, {}, view[at:end], at)
        else:
            block = _block(data, view, at, end)
            # Those of an archive are of many instants, so only their records tell.
            for key in () if is_archive else _PLACING.get(block.type, (HeaderKey.INSTANT_TIME,)):
                block.require(key)
            yield block
        at = end


def _block_end(data: bytes, at: int) -> int | None:
    """Where the block that begins here ends; None unless both its sizes agree and a magic or the end follows."""
    start = at + len(MAGIC) + _LONG.size
    if data[at : at + len(MAGIC)] != MAGIC or start > len(data):
        return None
    size: int = _LONG.unpack_from(data, at + len(MAGIC))[0]
    end = start + size
    if size < _LEAST_SIZE or end > len(data):
        return None
    (total,) = _LONG.unpack_from(data, end - _LONG.size)
    if total - len(MAGIC) != size:
        return None
    # Fewer bytes than a magic has are the end to Java: what follows the block may be cut, not different.
    if not MAGIC.startswith(data[end : end + len(MAGIC)]) and end + len(MAGIC) <= len(data):
        return None
    return end


def _block(data: bytes, view: memoryview, at: int, end: int) -> LogBlock:
    """The block whose frame `_block_end` found sound."""
    place = at + len(MAGIC) + _LONG.size
    version, ordinal = _INT.unpack_from(data, place)[0], _INT.unpack_from(data, place + 4)[0]
    if version != LOG_VERSION:
        raise Unsupported(f"log format version {version} at offset {at}; {LOG_VERSION} is known")
    if ordinal not in set(BlockType) or ordinal == BlockType.CORRUPT:
        raise Unsupported(f"a log block of type {ordinal} at offset {at}")
    header, place = parse_header(data, place + 8, end)
    if place + _LONG.size > end:
        raise CorruptFile("a log block whose header fills it", at)
    (length,) = _LONG.unpack_from(data, place)
    start = place + _LONG.size
    footer = start + length
    if length < 0 or footer + _INT.size + _LONG.size != end:
        raise CorruptFile(f"a log block with {length} bytes of content, which is not what its size leaves", at)
    if _INT.unpack_from(data, footer)[0] != 0:
        raise Unsupported(f"a log block with a footer at offset {footer}: no key of it is known")
    return LogBlock(BlockType(ordinal), header, view[start:footer], at)


def parse_header(data: bytes, at: int, end: int) -> tuple[Header, int]:
    (count,) = _INT.unpack_from(data, at)
    at += _INT.size
    if not 0 <= count <= (end - at) // (2 * _INT.size):
        raise CorruptFile(f"a log block header of {count} entries", at)
    header: dict[HeaderKey, str] = {}
    for _ in range(count):
        if at + 8 > end:
            raise CorruptFile("a log block header that runs past its block", at)
        key, length = _INT.unpack_from(data, at)[0], _INT.unpack_from(data, at + 4)[0]
        start, at = at + 8, at + 8 + length
        if length < 0 or at > end:
            raise CorruptFile(f"a log block header with a value of {length} bytes", start)
        if key not in set(HeaderKey):
            raise Unsupported(f"a log block header with the key {key} at offset {start - 8}")
        try:
            header[HeaderKey(key)] = data[start:at].decode()
        except UnicodeDecodeError as wrong:
            raise CorruptFile("a log block header that is not UTF-8", start) from wrong
    return header, at
