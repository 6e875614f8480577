"""Records that stand one after the other, each behind its length (hudi-format 5.3)."""

import struct

import numpy as np

from hudi_engine.errors import CorruptFile
from hudi_engine.format.avro_columns.cursor import Longs

_LENGTH = struct.Struct(">i")


def framed_records(content: bytes | memoryview, start: int, count: int) -> tuple[Longs, Longs]:
    """Where each of `count` records starts and ends: the first length is at `start`, the last record ends the bytes."""
    if not 0 <= count <= (len(content) - start) // _LENGTH.size:
        raise CorruptFile(f"a count of {count} records with {len(content) - start} bytes left", start)
    ends: list[int] = []
    position = start
    length_at = _LENGTH.unpack_from
    try:
        for _ in range(count):
            (length,) = length_at(content, position)
            if length < 0:
                raise CorruptFile(f"a record of {length} bytes", position)
            position += 4 + length
            ends.append(position)
    except struct.error:
        raise CorruptFile("the records end early", position) from None
    # Not fewer either: a count that is too small would lose records without a word.
    if position != len(content):
        raise CorruptFile(f"the last record ends at {position} of {len(content)} bytes", position)
    made = np.array(ends, dtype=np.int64)
    starts = np.empty_like(made)
    starts[:1] = start + 4
    starts[1:] = made[:-1] + 4
    return starts, made
