"""What indexes a table has beyond those of every table, as its file of definitions says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from hudi_engine.errors import Contradiction, CorruptFile, NotFound, Unsupported
from hudi_engine.format import json_text
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.storage.protocol import Storage

DEFAULT_PATH: Final = ".hoodie/.index_defs/index.json"
"""Where Hudi writes the definitions, unless `hoodie.table.index.defs.path` says otherwise."""

FIRST_WITH_DEFINITIONS: Final = 8
"""The table version since which there is such a file."""

_WHAT: Final = "the definitions of indexes"


class IndexVersion(StrEnum):
    """How an index is written. The second knows types of values (statistics), or puts a value's keys into one shard."""

    V1 = "V1"
    V2 = "V2"


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """One index. `index_type` is what an expression index is made of: statistics of columns or bloom filters."""

    name: str
    kind: IndexKind
    index_type: str
    function: str = ""
    source_fields: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    version: IndexVersion = IndexVersion.V1

    @property
    def is_partitioned(self) -> bool:
        """Whether a record index is one for each partition; elsewhere it says nothing."""
        return self.options.get("isPartitioned", "false").lower() == "true"


def backup_of(path: str) -> str:
    """Where the definitions stand as they were, while the file at `path` is being replaced."""
    return f"{path}.backup"


def read_definitions(storage: Storage, path: str) -> bytes:
    """The file's content, or its backup's if a write to it was cut short; empty if there is no file.

    Hudi's own writers overwrite it in place and without a lock (HUDI-9094), so that it may be torn for a moment.
    """
    data = _content(storage, path)
    try:
        parse_definitions(data)
    except CorruptFile as corrupt:
        backup = _content(storage, backup_of(path))
        if not backup:
            raise corrupt.in_file(path) from corrupt
        return backup
    return data


def _content(storage: Storage, path: str) -> bytes:
    try:
        return storage.read(path)
    except NotFound:
        return b""


def parse_definitions(data: bytes) -> Mapping[str, IndexDefinition]:
    """The definitions by name. A version that is missing is the first, as before Hudi 1.1; empty bytes define nothing.

    Kinds and versions that are not known are `Unsupported`: their keys could be anywhere.
    """
    if not data:
        return {}
    tree = _mapping(json_text.parse(data, _WHAT), "at the top")
    found = _mapping(tree.get("indexDefinitions"), "under indexDefinitions")
    return {name: _definition(name, value) for name, value in found.items() if value is not None}


def _definition(name: str, value: object) -> IndexDefinition:
    tree = _mapping(value, f"for {name}")
    said = _text(tree, "indexName", name)
    if said != name:
        raise Contradiction(f"{_WHAT} have an index {said!r} under the name {name!r}; drop and create that index again")
    version = _text(tree, "version", name) or IndexVersion.V1
    if version not in set(IndexVersion):
        raise Unsupported(
            f"the index {name} has version {version!r}, expected one of {', '.join(IndexVersion)}. "
            "Use a newer engine; nothing was changed."
        )
    return IndexDefinition(
        name=name,
        kind=kind_of(name),
        index_type=_text(tree, "indexType", name),
        function=_text(tree, "indexFunction", name),
        source_fields=_texts(tree.get("sourceFields"), name),
        options=_options(tree.get("indexOptions"), name),
        version=IndexVersion(version),
    )


def _mapping(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict | None):
        raise CorruptFile(f"{_WHAT}: {value!r:.100} {where}, expected an object", 0)
    return value or {}


def _text(tree: Mapping[str, object], field: str, name: str) -> str:
    value = tree.get(field)
    if not isinstance(value, str | None):
        raise CorruptFile(f"{_WHAT}: {field} of {name} is {value!r:.100}, expected a text", 0)
    return value or ""


def _texts(values: object, name: str) -> tuple[str, ...]:
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise CorruptFile(f"{_WHAT}: sourceFields of {name} are {values!r:.100}, expected a list of texts", 0)
    return tuple(values)


def _options(values: object, name: str) -> Mapping[str, str]:
    options = _mapping(values, f"under indexOptions of {name}")
    return {key: value for key in options if (value := _text(options, key, name))}
