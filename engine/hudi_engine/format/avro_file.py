"""Avro object containers: how Hudi keeps plans and service metadata, one record to a file.

Section 2.4 of the format notes. Written without a codec, as Java does; read also deflated.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_types
from hudi_engine.format.avro_decode import Read, compile_decoder, read_bytes, read_count, read_long, read_string
from hudi_engine.format.avro_encode import append_long, compile_encoder
from hudi_engine.format.avro_types import AvroType

MAGIC: Final = b"Obj\x01"
_SYNC_BYTES: Final = 16
_MOST_INFLATION: Final = 64
"""How many times larger than its file the inflated content may be; texts and numbers stay far below."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a container says about itself, and where its blocks begin. The schema is text, at `schema_at`."""

    schema: bytes
    schema_at: int
    codec: str
    sync: bytes
    end: int


def read_container(data: bytes, wanted: AvroType | None = None) -> list[object]:
    """Every record of the container, as `wanted` or else as it was written.

    The data must end at the end of a block; anything else is `CorruptFile`.
    """
    header = read_header(data)
    read = _reader(header.schema, header.schema_at, wanted)
    records: list[object] = []
    allowance = _MOST_INFLATION * len(data)
    for count, start, end in _blocks(data, header):
        if header.codec == "null":
            records += _records(read, data, count, start, end)
        else:
            content = _inflated(data[start:end], allowance, start)
            allowance -= len(content)
            try:
                records += _records(read, content, count, 0, len(content))
            except CorruptFile as wrong:  # its offset is one of the inflated content
                raise CorruptFile(f"in the deflated block, {wrong.what}", start) from wrong
    return records


def read_one(data: bytes, wanted: AvroType | None = None) -> object:
    """The one record of a plan or metadata file."""
    records = read_container(data, wanted)
    if len(records) != 1:
        raise CorruptFile(f"{len(records)} records where one is promised", 0)
    return records[0]


def write_container(schema: str, records: Iterable[object]) -> bytes:
    """A container of the records in one block; the same records give the same bytes, the sync marker too."""
    write = compile_encoder(avro_types.parse(schema, 0))
    content, count = bytearray(), 0
    for record in records:
        write(content, record)
        count += 1
    out = bytearray(MAGIC)
    append_long(out, 1)
    for part in (b"avro.schema", schema.encode()):
        append_long(out, len(part))
        out += part
    out.append(0)
    # Java draws it at random; ours depends on the content, so that a repeated write can be told from another one.
    sync = hashlib.blake2b(out + content, digest_size=_SYNC_BYTES).digest()
    out += sync
    if count:
        append_long(out, count)
        append_long(out, len(content))
        out += content + sync
    return bytes(out)


def read_header(data: bytes) -> Header:
    """The container's header; its codec is one that we can read."""
    if data[:4] != MAGIC:
        raise CorruptFile(f"begins with {data[:4]!r}, where an Avro container has {MAGIC!r}", 0)
    try:
        entries, places, at = _metadata(data)
    except IndexError:
        raise CorruptFile("ends inside of the header", len(data)) from None
    if at + _SYNC_BYTES > len(data):
        raise CorruptFile("ends inside of the header", len(data))
    if "avro.schema" not in entries:
        raise CorruptFile("an Avro container without a schema", 4)
    codec = entries.get("avro.codec", b"null")
    if codec not in {b"null", b"deflate"}:
        raise Unsupported(f"the Avro codec {codec[:20]!r}; null and deflate are known")
    sync = data[at : at + _SYNC_BYTES]
    return Header(entries["avro.schema"], places["avro.schema"], codec.decode(), sync, at + _SYNC_BYTES)


@lru_cache(maxsize=32)
def _reader(schema: bytes, offset: int, wanted: AvroType | None) -> Read:
    """A timeline is hundreds of files of a few schemas, and to compile one takes longer than to read a record."""
    return compile_decoder(avro_types.parse(schema, offset), wanted)


def _metadata(data: bytes) -> tuple[dict[str, bytes], dict[str, int], int]:
    entries: dict[str, bytes] = {}
    places: dict[str, int] = {}
    count, at = read_count(data, 4)
    while count:
        for _ in range(count):
            key, at = read_string(data, at)
            places[key] = at
            entries[key], at = read_bytes(data, at)
        count, at = read_count(data, at)
    return entries, places, at


def _blocks(data: bytes, header: Header) -> Iterator[tuple[int, int, int]]:
    """Record count, start and end of each block's content."""
    at = header.end
    while at < len(data):
        begin = at
        try:
            count, at = read_long(data, at)
            size, at = read_long(data, at)
        except IndexError:
            raise CorruptFile("ends inside of a block's head", len(data)) from None
        end = at + size
        if count < 0 or size < 0 or end + _SYNC_BYTES > len(data):
            raise CorruptFile(f"a block of {count} records in {size} bytes, {len(data) - at} bytes left", begin)
        if data[end : end + _SYNC_BYTES] != header.sync:
            raise CorruptFile("a block does not end with the file's sync marker", end)
        yield count, at, end
        at = end + _SYNC_BYTES


def _records(read: Read, data: bytes, count: int, start: int, end: int) -> Iterator[object]:
    # No record is empty, so a count beyond the bytes is a lie.
    if count > end - start:
        raise CorruptFile(f"a block of {count} records in {end - start} bytes", start)
    at = start
    for _ in range(count):
        try:
            record, at = read(data, at)
        except IndexError:
            raise CorruptFile("the data ends inside of a record", len(data)) from None
        if at > end:
            raise CorruptFile("a record that runs past its block", start)
        yield record
    if at != end:
        raise CorruptFile(f"{end - at} bytes left over after a block's records", at)


def _inflated(data: bytes, most: int, offset: int) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(data, max(most, 1))
    except zlib.error as wrong:
        raise CorruptFile("a block that does not inflate", offset) from wrong
    # Up to four bytes may follow: some writers cut zlib's frame off carelessly and leave a part of its checksum.
    if not inflater.eof or len(inflater.unused_data) > 4 or len(content) > most:
        raise CorruptFile("a deflated block that is cut short, followed by more, or inflates beyond reason", offset)
    return content
