"""The last 4096 bytes of an HFile: where everything is."""

from dataclasses import dataclass

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.hfile.block import Codec, codec_of
from hudi_engine.format.hfile.wire import Bytes, encode_field, encode_varint, fields, varint

TRAILER_BYTES = 4096
MAGIC = b'TRABLK"$'
MAJOR_VERSION = 3
COMPARATOR = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"
NO_OFFSET = 0xFFFF_FFFF_FFFF_FFFF
MAX_INDEX_LEVELS = 16

COMPRESSION_CODEC = 12
ENCRYPTION_KEY = 13


@dataclass(frozen=True, slots=True)
class Trailer:
    """Where the parts of an HFile are and how many; offsets count from the start of the file."""

    file_info_offset: int
    load_on_open_offset: int
    index_bytes: int
    uncompressed_bytes: int
    data_index_count: int
    meta_index_count: int
    entry_count: int
    index_levels: int
    first_data_offset: int
    last_data_offset: int
    codec: Codec


def parse_trailer(tail: Bytes, file_bytes: int) -> Trailer:
    """The trailer of a file of `file_bytes`, of which `tail` holds at least the last 4096."""
    start = len(tail) - TRAILER_BYTES
    origin = file_bytes - len(tail)
    if start < 0:
        raise CorruptFile(f"{file_bytes} bytes are too few for an HFile", 0)
    trailer = memoryview(tail)[start:]
    if trailer[:8] != MAGIC:
        raise CorruptFile(f"no HFile trailer: it begins with {bytes(trailer[:8])!r}", origin + start)
    major = int.from_bytes(trailer[-3:], "big")
    if major != MAJOR_VERSION:
        raise Unsupported(f"an HFile of version {major}.{trailer[-4]}: only version 3 is read")
    try:
        found = _numbers(trailer)
    except CorruptFile as broken:
        raise CorruptFile(broken.what, origin + start + broken.offset) from broken
    return _checked(found, origin + start)


def _numbers(trailer: memoryview) -> dict[int, int]:
    length, at = varint(trailer, len(MAGIC))
    found = {}
    for number, value in fields(trailer[:-4], at, at + length):
        if number == ENCRYPTION_KEY and value:
            raise Unsupported("an encrypted HFile")
        if isinstance(value, int):
            found[number] = value
    return found


def _checked(found: dict[int, int], end: int) -> Trailer:
    """A trailer whose numbers can be true of a file of which it begins at `end`."""
    codec = codec_of(found.pop(COMPRESSION_CODEC, Codec.NONE))
    trailer = Trailer(
        file_info_offset=found.get(1, 0),
        load_on_open_offset=found.get(2, 0),
        index_bytes=found.get(3, 0),
        uncompressed_bytes=found.get(4, 0),
        data_index_count=found.get(5, 0),
        meta_index_count=found.get(6, 0),
        entry_count=found.get(7, 0),
        index_levels=found.get(8, 0),
        first_data_offset=found.get(9, 0),
        last_data_offset=found.get(10, 0),
        codec=codec,
    )
    if not 0 <= trailer.load_on_open_offset <= end:
        raise CorruptFile(f"the index is said to start at {trailer.load_on_open_offset}", end)
    # Every block has a header, so there cannot be more of them than headers fit into the file.
    most = end // 33
    if trailer.data_index_count > most or trailer.meta_index_count > most:
        raise CorruptFile(f"{trailer.data_index_count} blocks in a file of {end} bytes", end)
    if not 1 <= trailer.index_levels <= MAX_INDEX_LEVELS:
        raise CorruptFile(f"an index of {trailer.index_levels} levels", end)
    return trailer


def encode_trailer(trailer: Trailer) -> bytes:
    """The 4096 bytes with every field set, which each Hudi release accepts."""
    values: tuple[int | bytes, ...] = (
        trailer.file_info_offset,
        trailer.load_on_open_offset,
        trailer.index_bytes,
        trailer.uncompressed_bytes,
        trailer.data_index_count,
        trailer.meta_index_count,
        trailer.entry_count,
        trailer.index_levels,
        trailer.first_data_offset,
        trailer.last_data_offset,
        COMPARATOR,
        int(trailer.codec),
    )
    message = b"".join(encode_field(place, value) for place, value in enumerate(values, 1))
    body = MAGIC + encode_varint(len(message)) + message
    return body.ljust(TRAILER_BYTES - 4, b"\0") + MAJOR_VERSION.to_bytes(4, "big")
