"""Golden tables with entries of one index changed on disk, as a bug or a lost write would leave them.

Every function works on an unpacked table (`tests/golden/unpack.py`) and edits the stored files of the index where they
lie: base HFiles and the HFile blocks of logs keep their names and headers, delete blocks stay as they are. An entry is
a dict, its Avro value by the schema of its file, with the real key under `key`. Values of a union of several records
are pairs of the record's full name and a dict: `("org.apache.hudi.avro.model.IntWrapper", {"value": 3})`; dates,
decimals and times are the plain numbers and bytes that are stored.
"""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa

from hudi_engine.format.hfile.read import HFile, read_hfile
from hudi_engine.format.hfile.write import Recipe, write_hfile
from hudi_engine.format.log.block import BlockType, LogBlock
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.writer import write_block
from hudi_engine.format.names import parse_base_file, parse_log_file

Entry = dict[str, Any]
Change = Callable[[list[Entry]], list[Entry]]
Edit = Callable[[Entry], None]
_TABLE_VERSION = 9  # of the block headers that may be written: older logs have fewer, and theirs are kept


def rewrite_index(table: Path, index: str, change: Change) -> None:
    """Pass the entries of every HFile of the index, base or log block, through `change`; what it gives is stored.

    It is called once for each HFile, the shards by name and each shard's files oldest first.
    """
    for file in shard_files(table, index):
        _rewrite(file, change)


def entries(table: Path, index: str) -> list[Entry]:
    """Every stored entry, newer ones after those they replace; nothing is merged."""
    found: list[Entry] = []

    def look(stored: list[Entry]) -> list[Entry]:
        found.extend(stored)
        return stored

    for file in shard_files(table, index):
        _visit(file, look)
    return found


def remove_entry(table: Path, index: str, key: str) -> None:
    """No HFile of the index has the key any more."""
    assert any(entry["key"] == key for entry in entries(table, index)), key
    rewrite_index(table, index, lambda stored: [entry for entry in stored if entry["key"] != key])


def change_entry(table: Path, index: str, key: str, edit: Edit) -> None:
    """The entry of the key is edited in place, in every HFile that has it."""
    changed = []

    def edited(stored: list[Entry]) -> list[Entry]:
        for entry in stored:
            if entry["key"] == key:
                edit(entry)
                changed.append(entry)
        return stored

    rewrite_index(table, index, edited)
    assert changed, key


def add_entry(table: Path, index: str, entry: Entry, hashed: str | None = None) -> None:
    """One more entry in the newest HFile of its key's shard; a V2 secondary index goes by `hashed`, value and `$`."""
    shards = _shards(table, index)
    number = shard_number(entry["key"] if hashed is None else hashed, len(shards))
    holders = [file for file in shards[number] if _has_hfile(file)]
    assert holders, f"shard {number} of {index} holds no HFile: choose a key of another shard"
    last = _count_hfiles(holders[-1]) - 1
    calls = iter(range(last + 1))

    def added(stored: list[Entry]) -> list[Entry]:
        rest = [old for old in stored if old["key"] != entry["key"]]
        return [*rest, entry] if next(calls) == last else stored

    _rewrite(holders[-1], added)


def shard_number(key: str, shard_count: int) -> int:
    """Java's rule: `String.hashCode` over UTF-16, its absolute value, the remainder made positive."""
    state = 0
    units = key.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        state = (31 * state + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    signed = state - (1 << 32) if state >> 31 else state
    return abs(signed) % shard_count


def shard_files(table: Path, index: str) -> list[Path]:
    """The base and log files of the index: shards by name, each shard's files by instant and version."""
    return [file for files in _shards(table, index) for file in files]


def _shards(table: Path, index: str) -> list[list[Path]]:
    folder = table / ".hoodie/metadata" / index
    assert folder.is_dir(), folder
    shards: dict[str, list[tuple[str, int, Path]]] = {}
    for file in folder.iterdir():
        if base := parse_base_file(file.name):
            shards.setdefault(base.file_id, []).append((base.instant, 0, file))
        elif log := parse_log_file(file.name):
            shards.setdefault(log.file_id, []).append((log.instant, log.version, file))
    return [[file for *_, file in sorted(shards[name])] for name in sorted(shards)]


def _rewrite(file: Path, change: Change) -> None:
    data = _visit(file, change)
    file.write_bytes(data)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _visit(file: Path, change: Change) -> bytes:
    """The content of the file with its HFiles passed through `change`."""
    if file.suffix == ".hfile":
        return _changed(file.read_bytes(), change)
    return b"".join(_changed_block(block, change) for block in _blocks(file))


def _changed_block(block: LogBlock, change: Change) -> bytes:
    content = bytes(block.content)
    if block.type is BlockType.HFILE_DATA:
        content = _changed(content, change)
    return write_block(block.type, block.header, content, _TABLE_VERSION)


def _blocks(file: Path) -> Iterator[LogBlock]:
    return read_blocks(file.read_bytes(), is_store_atomic=True)


def _has_hfile(file: Path) -> bool:
    return _count_hfiles(file) > 0


def _count_hfiles(file: Path) -> int:
    return 1 if file.suffix == ".hfile" else sum(block.type is BlockType.HFILE_DATA for block in _blocks(file))


def _changed(data: bytes, change: Change) -> bytes:
    hfile = read_hfile(data)
    schema = _schema(hfile)
    stored = change([_decoded(*pair, schema) for pair in _pairs(hfile)])
    rows = sorted(_encoded(entry, schema) for entry in stored)
    table = pa.table(
        {
            "key": pa.array([key for key, _ in rows], pa.large_binary()),
            "value": pa.array([value for _, value in rows], pa.large_binary()),
        }
    )
    return write_hfile(table, Recipe(schema=hfile.info["schema"].decode(), created_ms=0))


def _pairs(hfile: HFile) -> Iterator[tuple[bytes, bytes]]:
    return zip(hfile.entries["key"].to_pylist(), hfile.entries["value"].to_pylist(), strict=True)


def _schema(hfile: HFile) -> Any:
    return fastavro.parse_schema(_plain(json.loads(hfile.info["schema"])))


def _plain(schema: Any) -> Any:
    """The schema without logical types, whose Python values do not hold all that can be stored."""
    match schema:
        case dict():
            return {name: _plain(part) for name, part in schema.items() if name != "logicalType"}
        case list():
            return [_plain(part) for part in schema]
        case _:
            return schema


def _decoded(key: bytes, value: bytes, schema: Any) -> Entry:
    entry = fastavro.schemaless_reader(
        io.BytesIO(value), schema, None, return_record_name=True, return_record_name_override=True
    )
    assert isinstance(entry, dict)
    return {**entry, "key": key.decode()}


def _encoded(entry: Entry, schema: Any) -> tuple[bytes, bytes]:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, {**entry, "key": ""})
    return str(entry["key"]).encode(), out.getvalue()
