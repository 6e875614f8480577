"""The blocks of a log file by their heads alone, for readers that fetch parts of a large one."""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.log.block import LOG_VERSION, MAGIC, BlockType, LogBlock
from hudi_engine.format.log.reader import parse_header

_SIZE: Final = struct.Struct(">q")
_KINDS: Final = struct.Struct(">ii")
_FOOT: Final = struct.Struct(">iq")
# More than any header: most of it is a schema, of which that of the metadata table has 12 KiB.
_HEAD_BYTES: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class Frame:
    """A block without its content, and where in the file that is."""

    block: LogBlock
    start: int
    length: int


def read_frames(read_range: Callable[[int, int], bytes], file_bytes: int) -> list[Frame] | None:
    """The frames of a file all of whose blocks are sound; None if one is not, so that only the whole file can tell.

    One request a block: each gets the foot of the block before and the head of the next.
    """
    frames: list[Frame] = []
    at = 0
    window = read_range(0, min(_HEAD_BYTES, file_bytes))
    try:
        while at < file_bytes:
            frame, end = _frame(window, at)
            foot = frame.start + frame.length
            if end > file_bytes:
                return None
            window = read_range(foot, min(_FOOT.size + _HEAD_BYTES, file_bytes - foot))
            if _FOOT.unpack_from(window) != (0, end - at - _SIZE.size):  # the size itself is not counted
                return None
            frames.append(frame)
            window, at = window[_FOOT.size :], end
    except (struct.error, CorruptFile, Unsupported):
        return None
    return frames


def _frame(window: bytes, at: int) -> tuple[Frame, int]:
    """The frame whose head the window begins with, and where in the file its block ends."""
    if not window.startswith(MAGIC):
        raise CorruptFile("no magic", at)
    (size,) = _SIZE.unpack_from(window, len(MAGIC))
    place = len(MAGIC) + _SIZE.size
    version, ordinal = _KINDS.unpack_from(window, place)
    if version != LOG_VERSION or ordinal not in set(BlockType) or ordinal == BlockType.CORRUPT:
        raise Unsupported("a block of another version or type")
    header, after = parse_header(window, place + _KINDS.size, len(window))
    (length,) = _SIZE.unpack_from(window, after)
    start, end = at + after + _SIZE.size, at + place + size
    if length < 0 or start + length + _FOOT.size != end:
        raise CorruptFile("a content that does not fill its block", at)
    return Frame(LogBlock(BlockType(ordinal), header, memoryview(b""), at), start, length), end
