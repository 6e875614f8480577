"""A little that unpacks to a lot, made without ever having the lot."""

import struct
import zlib

_PIECE = 1 << 20


def deflated(head: bytes, zeros: int, wbits: int = -zlib.MAX_WBITS) -> bytes:
    """The bytes of `head` and so many zeros: as one gzip member with `wbits` 31, else as a bare stream."""
    zipper = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    start = zipper.compress(head) + zipper.flush(zlib.Z_FULL_FLUSH)
    # After a full flush a piece means the same wherever it stands, so one is enough.
    piece = zipper.compress(bytes(_PIECE)) + zipper.flush(zlib.Z_FULL_FLUSH)
    rest = zipper.compress(bytes(zeros % _PIECE)) + zipper.flush()
    stream = start + piece * (zeros // _PIECE) + rest
    if wbits < 0:
        return stream
    checksum = zlib.crc32(head)
    for _ in range(zeros // _PIECE):
        checksum = zlib.crc32(bytes(_PIECE), checksum)
    checksum = zlib.crc32(bytes(zeros % _PIECE), checksum)
    size = (len(head) + zeros) & 0xFFFF_FFFF
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stream + struct.pack("<II", checksum, size)
