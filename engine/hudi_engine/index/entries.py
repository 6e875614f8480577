"""Entries of a record index as its writers store them: one value for all keys that came to a file slice at once."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final
from uuid import UUID

from hudi_engine.errors import Contradiction
from hudi_engine.format.avro_encode import Write, compile_encoder, encode_long
from hudi_engine.format.avro_types import Record, Union, parse
from hudi_engine.format.service_records import TABLE_VERSIONS, RecordName, schema_text
from hudi_engine.table.conform import META_COLUMNS

_RECORD_INDEX_TYPE: Final = 5
_AS_UUID, _VERBATIM = 0, 1
_NONE: Final = -1
_UUID: Final = re.compile(
    "([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-(0|[1-9][0-9]{0,9}))?", re.ASCII
)
_LARGEST_INDEX: Final = 2**31 - 1


def _written_schema(table_version: int) -> str:
    """The schema of stored records: Hudi's five columns come first, though they stay null."""
    tree = json.loads(schema_text(RecordName.METADATA_RECORD, table_version))
    meta = [{"name": name, "type": ["null", "string"], "default": None} for name in META_COLUMNS]
    return json.dumps(tree | {"fields": [*meta, *tree["fields"]]}, separators=(",", ":"))


WRITTEN_SCHEMA: Final = {version: _written_schema(version) for version in TABLE_VERSIONS}
"""By table version the Avro schema of values, as 0.15.0, 1.0.2 and 1.1.1 write it, without its comments."""


@cache
def entry_encoder(table_version: int) -> Write:
    """Writes the value of an entry of any index; made once, since that takes longer than many an entry."""
    if table_version not in WRITTEN_SCHEMA:
        raise Contradiction(f"entries for table version {table_version}; known are {TABLE_VERSIONS}")
    return compile_encoder(parse(WRITTEN_SCHEMA[table_version], 0))


@dataclass(frozen=True, slots=True)
class EntryOf:
    """How an entry is written that says one thing, a record: what is before its fields, each of these, and the rest.

    Who writes many of them makes what is the same of all but once.
    """

    before: bytes
    fields: Mapping[str, Write]
    behind: bytes


@cache
def entry_of(table_version: int, entry_type: int, name: str) -> EntryOf:
    """Of entries of this type, which have the field of that name and no other. `fields` are in the order of writing."""
    if table_version not in WRITTEN_SCHEMA:
        raise Contradiction(f"entries for table version {table_version}; known are {TABLE_VERSIONS}")
    entry = parse(WRITTEN_SCHEMA[table_version], 0)
    assert isinstance(entry, Record)
    place = [field.name for field in entry.fields].index(name)
    parts = (bytearray(), bytearray())
    for out, fields in zip(parts, (entry.fields[:place], entry.fields[place + 1 :]), strict=True):
        given = {field.name: {"key": "", "type": entry_type}.get(field.name) for field in fields}
        compile_encoder(replace(entry, fields=fields))(out, given)
    kind = entry.fields[place].type
    assert isinstance(kind, Union)
    ((branch, said),) = ((at, each) for at, each in enumerate(kind.branches) if isinstance(each, Record))
    writes = {field.name: compile_encoder(field.type) for field in said.fields}
    return EntryOf(bytes(parts[0]) + encode_long(branch), writes, bytes(parts[1]))


def value_of(partition: str, file_id: str, instant_ms: int, table_version: int) -> bytes:
    """The value of all keys that a commit put into a file group: where they are, not what they are.

    The key stays empty, as in Hudi: readers take that of the entry. A file id that is a UUID, alone or with a number
    behind, becomes numbers; any other is kept as it is.
    """
    out = bytearray()
    meta = dict.fromkeys(META_COLUMNS)
    location = {"partitionName": partition, **_file_id(file_id), "instantTime": instant_ms}
    record = {"key": "", "type": _RECORD_INDEX_TYPE, "filesystemMetadata": None, "recordIndexMetadata": location}
    entry_encoder(table_version)(out, meta | record)
    return bytes(out)


def _file_id(file_id: str) -> dict[str, object]:
    match = _UUID.fullmatch(file_id)
    index = _NONE if match is None or match[2] is None else int(match[2])
    if match is None or index > _LARGEST_INDEX:
        numbers = {"fileIdHighBits": _NONE, "fileIdLowBits": _NONE, "fileIndex": _NONE}
        return {**numbers, "fileId": file_id, "fileIdEncoding": _VERBATIM}
    high, low = (int.from_bytes(half, "big", signed=True) for half in _halves(UUID(match[1])))
    numbers = {"fileIdHighBits": high, "fileIdLowBits": low, "fileIndex": index}
    return {**numbers, "fileId": "", "fileIdEncoding": _AS_UUID}


def _halves(uuid: UUID) -> tuple[bytes, bytes]:
    return uuid.bytes[:8], uuid.bytes[8:]
