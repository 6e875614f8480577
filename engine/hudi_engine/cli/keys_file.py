"""Record keys out of a file, in batches: memory does not grow with the file."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import typer

from hudi_engine.errors import CorruptFile
from hudi_engine.format import json_text

STDIN = Path("-")
_OPTION = "--keys-file"
# Some 200,000 keys of UUIDs: enough to share the blocks of an index, little beside the cache of blocks.
_BATCH_BYTES = 8 << 20
_BATCH_KEYS = 200_000


def key_batches(path: Path) -> Iterator[pa.Array]:
    """The keys in their order, as large strings.

    One a line, in UTF-8; a line ends with LF or CR LF, and an empty one is no key. Of a file whose name ends in
    `.json` they are the texts of one list, which can hold any character.
    """
    try:
        yield from _listed(path) if path.suffix == ".json" else _lines(path)
    except OSError as refused:
        raise typer.BadParameter(f"{path}: {os.strerror(refused.errno or 0)}", param_hint=_OPTION) from refused


def _lines(path: Path) -> Iterator[pa.Array]:
    offset = 0
    with _opened(path) as file:
        while lines := file.readlines(_BATCH_BYTES):
            data = b"".join(lines)
            keys = _split(_text(data, path, offset))
            if len(keys):
                yield keys
            offset += len(data)


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path == STDIN else path.open("rb")


def _text(data: bytes, path: Path, offset: int) -> str:
    try:
        # Editors of Windows put a mark in front of the first line.
        return data.decode("utf-8-sig" if offset == 0 else "utf-8")
    except UnicodeDecodeError as wrong:
        raise CorruptFile("a record key that is not UTF-8", offset + wrong.start, str(path)) from wrong


def _split(text: str) -> Any:
    lines = pc.split_pattern(pa.array([text], pa.large_string()), "\n").flatten()
    if "\r" in text:
        lines = pc.replace_substring_regex(lines, r"\r\z", "")
    return lines.filter(pc.not_equal(lines, ""))


def _listed(path: Path) -> Iterator[pa.Array]:
    try:
        keys = json_text.parse(path.read_bytes(), "the list of record keys")
    except CorruptFile as corrupt:
        raise corrupt.in_file(str(path)) from corrupt
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise CorruptFile('no list of texts, expected ["key", …]', 0, str(path))
    for start in range(0, len(keys), _BATCH_KEYS):
        yield pa.array(keys[start : start + _BATCH_KEYS], pa.large_string())
