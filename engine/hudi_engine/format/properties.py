"""Java properties, read as `java.util.Properties.load` does and written as `store` does (hudi-format 1.1 and 1.3)."""

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

from hudi_engine.errors import CorruptFile

TABLE_NAME = "hoodie.table.name"
DATABASE_NAME = "hoodie.database.name"
TABLE_CHECKSUM = "hoodie.table.checksum"

# Real files have some kilobytes, a very wide schema makes some hundred.
_LONGEST_BYTES = 2 << 20
_MOST_LINES = 100_000
_NATURAL_LINE = re.compile(r"[ \t\f]*([^\r\n]*)(\r\n|\r|\n|\Z)")
_PAIR = re.compile(r"((?:[^\\=: \t\f]+|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_READ_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITE_NAMED = {char: "\\" + name for name, char in _READ_NAMED.items()} | {c: "\\" + c for c in "\\=:#!"}
_MUST_ESCAPE = re.compile(r"[^\x20-\x7e]|[\\=:#!]")
_LINE_BREAK = re.compile(r"[\r\n]+")
_BEYOND_LATIN = re.compile(r"[^\x00-\xff]")


_Origins = list[tuple[int, int]]
"""For each piece of a logical line: its first position in the line, and its offset in the file."""


def parse(data: bytes) -> dict[str, str]:
    """The properties, in the order of the file; of a key that comes twice the last value counts.

    Equal to Java's reading but for two things that Java lets through and nothing could write again: half of a
    surrogate pair is `CorruptFile`, and so is a file above 2 MiB or 100,000 lines.
    """
    if len(data) > _LONGEST_BYTES:
        raise CorruptFile(f"{len(data)} bytes of properties; no table has more than {_LONGEST_BYTES}", _LONGEST_BYTES)
    if data.count(b"\n") + data.count(b"\r") > _MOST_LINES:
        raise CorruptFile(f"more than {_MOST_LINES} lines of properties; no table has so many", len(data))
    properties = {}
    for text, origins in _logical_lines(data.decode("iso-8859-1")):
        pair = next(_PAIR.finditer(text))  # there is one in any text, if only of two empty parts
        key = _unescape(pair[1], 0, origins)
        properties[key] = _unescape(pair[2], pair.start(2), origins)
    return properties


def render(properties: Mapping[str, str], comments: Iterable[str] = ()) -> bytes:
    """The file: a `#` line for each comment, then the properties in their order, Hudi's checksum last.

    Last, because a file cut short anywhere then has no checksum or a wrong one.
    """
    lines = [f"#{_escape_comment(comment)}" for comment in comments]
    for key in sorted(properties, key=lambda key: key == TABLE_CHECKSUM):
        lines.append(_escape(key).replace(" ", "\\ ") + "=" + _escape_value(properties[key]))
    return "".join(line + "\n" for line in lines).encode("iso-8859-1")


def checksum(database: str, table: str) -> int:
    """What Hudi keeps under `hoodie.table.checksum`. It covers the two names and nothing else."""
    return zlib.crc32(f"{database}.{table}".encode())


def expected_checksum(properties: Mapping[str, str]) -> str | None:
    """The checksum that these properties should carry; none without a table name."""
    name = properties.get(TABLE_NAME)
    return None if name is None else str(checksum(properties.get(DATABASE_NAME, ""), name))


def _logical_lines(text: str) -> Iterator[tuple[str, _Origins]]:
    pieces: list[str] = []
    origins: _Origins = []
    length = 0
    for natural in _NATURAL_LINE.finditer(text):
        piece, line_break = natural.groups()
        if not length and (not piece or piece[0] in "#!"):
            continue
        origins.append((length, natural.start(1)))
        is_continued = piece.endswith("\\") and (len(piece) - len(piece.rstrip("\\"))) % 2 == 1
        pieces.append(piece[:-1] if is_continued else piece)
        length += len(pieces[-1])
        # At the end of the file Java ends the line in any case; one of nothing but a backslash counts, as an empty
        # key, unless the file ends with both characters of a Windows line break.
        is_last = natural.end() == len(text) and (length or line_break != "\r\n")
        if is_last or not is_continued:
            yield "".join(pieces), origins
            pieces, origins, length = [], [], 0


def _unescape(text: str, start: int, origins: _Origins) -> str:
    if "\\" not in text:
        return text

    def read(escape: re.Match[str]) -> str:
        what = escape[1]
        if what == "u":
            offset = _offset(start + escape.start(), origins)
            raise CorruptFile("expected four hexadecimal digits after \\u", offset)
        return chr(int(what[1:], 16)) if len(what) == 5 else _READ_NAMED.get(what, what)

    plain = _ESCAPE.sub(read, text)
    if not _SURROGATE.search(plain):
        return plain
    try:
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as half:
        raise CorruptFile("half of a surrogate pair", _offset(start, origins)) from half


def _offset(position: int, origins: _Origins) -> int:
    """Where in the file the character at `position` of a logical line stands."""
    begin, offset = origins[bisect_right(origins, position, key=lambda origin: origin[0]) - 1]
    return offset + position - begin


def _escape_value(value: str) -> str:
    blanks = "\\ " if value.startswith(" ") else ""
    return blanks + _escape(value[1:] if blanks else value)


def _escape(text: str) -> str:
    return _MUST_ESCAPE.sub(lambda found: _WRITE_NAMED.get(found[0]) or _unicode_escapes(found[0]), text)


def _unicode_escapes(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escape_comment(comment: str) -> str:
    one_line = _LINE_BREAK.sub(" ", comment)
    return _BEYOND_LATIN.sub(lambda found: _unicode_escapes(found[0]), one_line)
