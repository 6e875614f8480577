"""Parquet files made to do harm, written by hand: a real writer would need the memory that it costs to read them."""

import struct
from collections.abc import Iterator

from tests.fuzz.bombs import deflated
from tests.fuzz.cases import Case, forged
from tests.fuzz.mutations import varint, zigzag

_SEED = "base"
_GZIP = 2
_NUMBER, _TEXT = 2, 6

Field = tuple[int, int, bytes]


def parquet_files() -> Iterator[Case]:
    for length in (2**31 - 1, 2**31, 2**32 - 1, 0, 13):
        tail = struct.pack("<I", length) + b"PAR1"
        yield forged(_SEED, f"a footer of {length} bytes", b"PAR1" + bytes(64) + tail)
    for what, footer in _footers():
        yield forged(_SEED, what, _file(b"", footer))
    for rows in (100_000_000, 2**31 - 1):
        page = struct.pack("<I", len(varint(rows << 1)) + 1) + varint(rows << 1) + b"\0"
        yield forged(_SEED, f"{rows} nulls in {len(page)} bytes", _column(page, len(page), rows, 0, _NUMBER, len(page)))
    levels = struct.pack("<I", 2) + varint(2) + b"\1"
    size = 600 << 20
    text = deflated(levels + struct.pack("<I", size - 10), size - 10, wbits=31)
    for in_page, in_footer in ((size, size), (2**31 - 1, 2**31 - 1), (100, 100), (100, size)):
        what = f"a text of 600 MB, by its page of {in_page} bytes and by the footer of {in_footer}"
        yield forged(_SEED, what, _column(text, in_page, 1, _GZIP, _TEXT, in_footer))


def _column(page: bytes, raw_bytes: int, rows: int, codec: int, kind: int, in_footer: int) -> bytes:
    """A file with one optional column in one page."""
    about = _struct(_i32(1, rows), _i32(2, 0), _i32(3, 3), _i32(4, 3))
    pages = _struct(_i32(1, 0), _i32(2, raw_bytes), _i32(3, len(page)), (5, 12, about)) + page
    encodings = (2, 9, b"\x25" + zigzag(0) + zigzag(3))
    path = (3, 9, b"\x18" + varint(1) + b"c")
    sizes = (_i64(6, in_footer), _i64(7, len(pages)), _i64(9, 4))
    column = _struct(_i32(1, kind), encodings, path, _i32(4, codec), _i64(5, rows), *sizes)
    chunk = _struct(_i64(2, 4), (3, 12, column))
    group = _struct(_list(1, chunk), _i64(2, in_footer), _i64(3, rows))
    return _file(pages, _struct(_i32(1, 1), _schema(kind), _i64(3, rows), _list(4, group)))


def _footers() -> Iterator[tuple[str, bytes]]:
    for size in (2**20, 2**31 - 1, 2**31):
        huge = b"\xfc" + varint(size)
        rows = (_i32(1, 1), _schema(_NUMBER), _i64(3, 1))
        yield f"a schema of {size} elements", _struct(_i32(1, 1), (2, 9, huge), end=False)
        yield f"a name of {size} bytes", _struct(_i32(1, 1), _list(2, _struct((4, 8, varint(size)), end=False)))
        yield f"{size} row groups", _struct(*rows, (4, 9, huge), end=False)
        yield f"a row group of {size} columns", _struct(*rows, _list(4, _struct((1, 9, huge), end=False)))
        yield f"{size} keys with values", _struct(*rows, (4, 9, b"\x0c"), (5, 9, huge), end=False)
    yield "structs nested without an end", b"\x9c" + b"\x1c" * 200_000
    yield "lists nested without an end", b"\x99" + b"\x19" * 200_000
    yield "maps nested without an end", b"\x9b" + b"\x01\xbb" * 100_000
    for number in (2**60, -1, -(2**60)):
        fields = (_i32(1, 1), _schema(_NUMBER), _i64(3, number))
        yield f"{number} rows and no row group", _struct(*fields, (4, 9, b"\x0c"))
    level = _struct((4, 8, b"\x01g"), _i32(5, 1))
    leaf = _struct(_i32(1, _NUMBER), _i32(3, 1), (4, 8, b"\x01c"))
    depth = 100_000
    schema = (2, 9, b"\xfc" + varint(depth + 1) + level * depth + leaf)
    yield f"{depth} groups, each within the last", _struct(_i32(1, 1), schema, _i64(3, 0), (4, 9, b"\x0c"))


def _schema(kind: int) -> Field:
    root = _struct((4, 8, b"\x01r"), _i32(5, 1))
    return _list(2, root, _struct(_i32(1, kind), _i32(3, 1), (4, 8, b"\x01c")))


def _struct(*fields: Field, end: bool = True) -> bytes:
    """Thrift's compact form: each field is the step from the last one's number, its kind and its value."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out += bytes([(number - last) << 4 | kind]) + value
        last = number
    return bytes(out) + (b"\0" if end else b"")


def _i32(number: int, value: int) -> Field:
    return number, 5, zigzag(value)


def _i64(number: int, value: int) -> Field:
    return number, 6, zigzag(value)


def _list(number: int, *structs: bytes) -> Field:
    return number, 9, bytes([len(structs) << 4 | 12]) + b"".join(structs)


def _file(pages: bytes, footer: bytes) -> bytes:
    return b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1"
