"""Definitions of indexes on disk: one added or removed, all others and whatever else the file says kept.

Call these under the table's lock: Hudi itself reads the whole file, changes it and writes it back.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from hudi_engine.errors import AlreadyExists, CorruptFile
from hudi_engine.format import json_text
from hudi_engine.index.definitions import (
    DEFAULT_PATH,
    FIRST_WITH_DEFINITIONS,
    IndexDefinition,
    backup_of,
    parse_definitions,
    read_definitions,
)
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.properties_file import update_properties
from hudi_engine.table.table import Table

PATH_KEY: Final = "hoodie.table.index.defs.path"

_ALL: Final = "indexDefinitions"
_FIRST_WITH_VERSIONS: Final = 9


def write_definition(table: Table, definition: IndexDefinition) -> None:
    """The definition in the table's file, in the shape of its version; version 6 has no such file and gets none.

    Repeating it changes nothing. Of an index that is defined already, properties that we do not know are kept.
    """
    if table.config.version < FIRST_WITH_DEFINITIONS:
        return
    tree = _read(table)
    known = tree.get(_ALL) or {}
    entry = {**(known.get(definition.name) or {}), **_entry(definition, table.config.version)}
    _write(table, tree, {**known, definition.name: entry})
    if not table.config.properties.get(PATH_KEY):
        update_properties(table.storage, {PATH_KEY: DEFAULT_PATH}, table.clock, table.known_zone)


def remove_definition(table: Table, name: str) -> None:
    """The file without that definition; nothing happens if there is none."""
    tree = _read(table)
    known = tree.get(_ALL) or {}
    if name in known:
        _write(table, tree, {key: value for key, value in known.items() if key != name})
    else:
        _forget_backup(table)


def _entry(definition: IndexDefinition, table_version: int) -> dict[str, object]:
    entry: dict[str, object] = {
        "indexName": definition.name,
        "indexType": definition.index_type,
        "indexFunction": definition.function,
        "sourceFields": list(definition.source_fields),
        "indexOptions": dict(definition.options),
    }
    return entry | ({"version": str(definition.version)} if table_version >= _FIRST_WITH_VERSIONS else {})


def _path(table: Table) -> str:
    return table.config.properties.get(PATH_KEY) or DEFAULT_PATH


def _read(table: Table) -> dict[str, Any]:
    """All that the file says; what we could not keep as it is meant is refused."""
    path = _path(table)
    data = read_definitions(table.storage, path)
    try:
        parse_definitions(data)
    except CorruptFile as corrupt:
        raise corrupt.in_file(path) from corrupt
    return cast(dict[str, Any], json_text.parse(data, path)) if data else {}


def _write(table: Table, tree: Mapping[str, Any], definitions: Mapping[str, Any]) -> None:
    """The new content, or nothing if it says the same; a crash in between leaves the old one as backup."""
    if tree.get(_ALL) != definitions:
        text = json.dumps({**tree, _ALL: definitions}, indent=2, separators=(",", " : "), ensure_ascii=False)
        storage, path = table.storage, _path(table)
        if before := read_definitions(storage, path):
            storage.replace(backup_of(path), before)
            storage.replace(path, text.encode())
        else:
            _begin(storage, path, text.encode())
    _forget_backup(table)


def _begin(storage: Storage, path: str, data: bytes) -> None:
    """The first definitions of a table have no backup, without which half a file could not be mended."""
    try:
        storage.create(path, data)
    except AlreadyExists:  # and is empty
        storage.replace(path, data)


def _forget_backup(table: Table) -> None:
    """Remove the backup, if there is one; a file that was cut short gets its content first."""
    storage, path = table.storage, _path(table)
    backup = backup_of(path)
    if any(file.path == backup for file in storage.list(backup.rpartition("/")[0])):
        whole = read_definitions(storage, path)
        if whole and storage.read(path) != whole:
            storage.replace(path, whole)
        storage.delete(backup)
