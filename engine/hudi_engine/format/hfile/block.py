"""Blocks: a header of 33 bytes, a payload that may be compressed, and room for checksums."""

import struct
from dataclasses import dataclass
from enum import IntEnum

import deflate
from isal import igzip_lib

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.hfile.wire import Bytes

DATA = b"DATABLK*"
META = b"METABLKc"
ROOT_INDEX = b"IDXROOT2"
LEAF_INDEX = b"IDXLEAF2"
INTERMEDIATE_INDEX = b"IDXINTE2"
FILE_INFO = b"FILEINF2"
ENCODED_DATA = b"DATABLKE"

HEADER = struct.Struct(">8siiqBii")
NO_CHECKSUM = 0
BYTES_PER_CHECKSUM = 16384

# Hudi's blocks hold 1 MiB or one cell; this only keeps a hostile file from filling the memory.
MAX_BLOCK_BYTES = 64 << 20
# Deflate cannot do better: a header that claims more is lying, and is found out before memory is spent on it.
MAX_DEFLATE_RATIO = 1032
# Of a record index smaller than isal makes it, which is what keeps our files within 5% of Java's, whose blocks of 1 MiB
# take less; the next level that gains anything takes nearly twice as long.
_LEVEL = 1


class Codec(IntEnum):
    """How payloads are compressed: the two ways that every Hudi release reads."""

    GZ = 1
    NONE = 2


OTHER_CODECS = {0: "LZO", 3: "SNAPPY", 4: "LZ4", 5: "BZIP2", 6: "ZSTD"}


def codec_of(number: int) -> Codec:
    """The codec that a trailer names."""
    if number in OTHER_CODECS:
        raise Unsupported(f"an HFile compressed with {OTHER_CODECS[number]}: only GZ and NONE are read")
    try:
        return Codec(number)
    except ValueError:
        raise Unsupported(f"an HFile with compression codec number {number}, which is not known") from None


@dataclass(frozen=True, slots=True)
class Block:
    """A block that is still packed: its payload as stored, what that unpacks to, and where the next block starts."""

    stored: memoryview
    raw_bytes: int
    end: int
    place: int

    def unpack(self, codec: Codec) -> Bytes:
        """The payload. Never more than the header promises, which is less than a hostile file would like."""
        if codec is Codec.NONE:
            return self.stored
        inflater = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            # One byte more than promised is asked for, so that the end of the member is reached, or too much seen.
            raw: bytes = inflater.decompress(self.stored, self.raw_bytes + 1)
        except igzip_lib.error as broken:  # type: ignore[misc]  # its stub says that this is an instance
            raise CorruptFile(f"a payload that is no gzip: {broken}", self.place) from broken
        if not inflater.eof or len(raw) != self.raw_bytes or inflater.unused_data:
            raise CorruptFile(f"a payload that is not one gzip member of {self.raw_bytes} bytes", self.place)
        return raw


def parse_block(data: Bytes, at: int, expected: tuple[bytes, Codec], origin: int = 0) -> Block:
    """The block of the expected kind and codec at `data[at]`; `origin` is where `data` starts in its file."""
    kind, codec = expected
    place = origin + at
    start = at + HEADER.size
    if at < 0 or start > len(data):
        raise CorruptFile(f"the data end inside the header of a {kind.decode()} block", place)
    magic, on_disk, raw_bytes, _, _, _, with_header = HEADER.unpack_from(data, at)
    if magic != kind:
        raise _wrong_kind(magic, kind, place)
    if not 0 <= on_disk <= len(data) - start:
        raise CorruptFile(f"a block of {on_disk} bytes where {len(data) - start} are left", place)
    stored_bytes = with_header - HEADER.size
    if not 0 <= stored_bytes <= on_disk:
        raise CorruptFile(f"a payload of {stored_bytes} bytes in a block of {on_disk}", place)
    most = stored_bytes if codec is Codec.NONE else min(MAX_BLOCK_BYTES, MAX_DEFLATE_RATIO * stored_bytes)
    if not 0 <= raw_bytes <= most or (codec is Codec.NONE and raw_bytes < most):
        raise CorruptFile(f"{stored_bytes} stored bytes that claim to unpack to {raw_bytes}", place)
    return Block(memoryview(data)[start : start + stored_bytes], raw_bytes, start + on_disk, place)


def _wrong_kind(magic: bytes, kind: bytes, place: int) -> CorruptFile | Unsupported:
    if magic == ENCODED_DATA:
        return Unsupported(f"a data block with HBase's own encoding at offset {place}: Hudi never writes them")
    return CorruptFile(f"a block begins with {magic!r} where {kind!r} was expected", place)


def pack(raw: Bytes, codec: Codec) -> Bytes:
    """A payload as it is stored."""
    return raw if codec is Codec.NONE else bytes(deflate.gzip_compress(raw, _LEVEL))


def encode_block(kind: bytes, raw_bytes: int, stored: Bytes, previous: int = -1) -> tuple[bytes, Bytes, bytes]:
    """The parts of a block around a payload packed from `raw_bytes`; `previous` is where the last of its kind began."""
    with_header = HEADER.size + len(stored)
    checksums = bytes(-(-with_header // BYTES_PER_CHECKSUM) * 4)
    on_disk = len(stored) + len(checksums)
    header = HEADER.pack(kind, on_disk, raw_bytes, previous, NO_CHECKSUM, BYTES_PER_CHECKSUM, with_header)
    return header, stored, checksums
