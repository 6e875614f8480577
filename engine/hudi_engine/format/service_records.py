"""The records of Hudi's timeline: plans, service metadata, commit metadata, archived and history entries.

Sections 2.4 to 2.8 and appendix A of the format notes. A value is a dict with every field of its record, those left
out filled with their defaults; a union of more than two types is a pair of branch name and value.
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final, cast

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_file, avro_types, json_text
from hudi_engine.format.avro_types import Array, AvroType, MapOf, Record, Union
from hudi_engine.format.service_schemas import NAMESPACE, RECORDS

TABLE_VERSIONS: Final = (6, 8, 9)
NEWEST: Final = TABLE_VERSIONS[-1]
_BRANCH: Final = re.compile(r"(\|\w+)@(\d+)")


class RecordName(StrEnum):
    """The records that stand alone in a file, a block or a row."""

    INDEX_PLAN = "HoodieIndexPlan"
    INDEX_COMMIT = "HoodieIndexCommitMetadata"
    COMMIT = "HoodieCommitMetadata"
    REPLACE_COMMIT = "HoodieReplaceCommitMetadata"
    REQUESTED_REPLACE = "HoodieRequestedReplaceMetadata"
    COMPACTION_PLAN = "HoodieCompactionPlan"
    CLEANER_PLAN = "HoodieCleanerPlan"
    CLEAN = "HoodieCleanMetadata"
    ROLLBACK_PLAN = "HoodieRollbackPlan"
    ROLLBACK = "HoodieRollbackMetadata"
    RESTORE_PLAN = "HoodieRestorePlan"
    RESTORE = "HoodieRestoreMetadata"
    SAVEPOINT = "HoodieSavepointMetadata"
    ARCHIVED_ENTRY = "HoodieArchivedMetaEntry"
    HISTORY_INSTANT = "HoodieLSMTimelineInstant"
    DELETE_LIST = "HoodieDeleteRecordList"
    METADATA_RECORD = "HoodieMetadataRecord"


def encode(name: RecordName, value: Mapping[str, object], table_version: int) -> bytes:
    """The file of one record, with the fields that a table of this version may have.

    A field that the version lacks is refused unless it is null; so is one that the record does not have at all.
    """
    schema = schema_text(name, table_version)
    if schema != schema_text(name, NEWEST):
        newest, target = record_type(name, NEWEST), record_type(name, table_version)
        value = cast(Mapping[str, object], _without_absent(value, newest, target))
    return avro_file.write_container(schema, [value])


def decode(name: RecordName, data: bytes) -> dict[str, object]:
    """The one record of a file, whichever release wrote it: fields it lacks have their defaults, unknown ones are
    left out."""
    return cast(dict[str, object], avro_file.read_one(data, record_type(name, NEWEST)))


@cache
def schema_text(name: RecordName, table_version: int) -> str:
    """The record's Avro schema as Java embeds it, without the comments."""
    if table_version not in TABLE_VERSIONS:
        raise Unsupported(f"service records of table version {table_version}; {TABLE_VERSIONS} are known")
    trees: dict[str, dict[str, object]] = {}
    for line in RECORDS.strip().replace("|\n    ", "|").replace("\n    ", " ").splitlines():
        title, _, fields = line.partition(": ")
        trees[title] = {
            "type": "record",
            "name": title,
            "namespace": NAMESPACE,
            "fields": [_field(field, table_version) for field in fields.split("; ") if _is_in(field, table_version)],
        }
    return json.dumps(_inlined(trees[name], trees, set()), separators=(",", ":"))


@cache
def record_type(name: RecordName, table_version: int) -> Record:
    """The record's parsed schema."""
    return cast(Record, avro_types.parse(schema_text(name, table_version), 0))


def decode_commit_json(name: RecordName, data: bytes) -> dict[str, object]:
    """Commit metadata of timeline layout 1, in the shape that `decode` gives for layout 2."""
    return cast(dict[str, object], _json_reader(name)(json_text.parse(data, "commit metadata")))


def encode_commit_json(name: RecordName, value: Mapping[str, object]) -> bytes:
    """Commit metadata of timeline layout 1: pretty JSON. Nulls are left out, as is the record's version."""
    avro_file.write_container(schema_text(name, NEWEST), [value])  # refuses what Java could not read back
    kept = {key: _without_nulls(item) for key, item in value.items() if key != "version" and item is not None}
    return json.dumps(kept, indent=2, separators=(",", " : "), ensure_ascii=False).encode()


def _is_in(text: str, table_version: int) -> bool:
    _, _, since = text.rpartition("@")
    return not since.isdigit() or int(since) <= table_version


def _field(text: str, table_version: int) -> dict[str, object]:
    name, _, rest = text.partition(": ")
    kind, _, default = rest.partition("=")
    kind = _BRANCH.sub(lambda found: found[1] if int(found[2]) <= table_version else "", kind)
    kind = kind.partition("@")[0]
    field: dict[str, object] = {"name": name, "type": _type(kind.removesuffix("!"))}
    if default:
        field["default"] = json.loads(default.partition("@")[0])
    elif kind.endswith("?"):
        field["default"] = None
    return field


def _type(text: str) -> object:
    if text.endswith("?"):
        return ["null", _type(text[:-1])]
    if text.startswith("map<"):
        return {"type": "map", "values": _type(text[4:-1]), "avro.java.string": "String"}
    if text.startswith("array<"):
        return {"type": "array", "items": _type(text[6:-1])}
    if "|" in text:
        return [_type(branch) for branch in text.split("|")]
    return _SPECIAL.get(text, text)


_SPECIAL: Final[dict[str, object]] = {
    "string": {"type": "string", "avro.java.string": "String"},
    "decimal(30,15)": {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
    "time-micros": {"type": "long", "logicalType": "time-micros"},
}


def _inlined(tree: object, trees: Mapping[str, dict[str, object]], seen: set[str]) -> object:
    """Each record written out where it is first met, by name after that."""
    match tree:
        case str() if tree in trees and tree not in seen:
            inner = {key: value for key, value in trees[tree].items() if key != "namespace"}
            return _inlined(inner, trees, seen)
        case dict():
            if tree.get("type") == "record":
                seen.add(str(tree["name"]))
            return {
                key: value if key in {"name", "default"} else _inlined(value, trees, seen)
                for key, value in tree.items()
            }
        case list():
            return [_inlined(item, trees, seen) for item in tree]
        case _:
            return tree


def _without_absent(value: object, newest: AvroType, target: AvroType) -> object:
    """The value without the nulls of fields that the target lacks; anything else is left for the encoder to refuse."""
    match newest, target, value:
        case Record(_, new_fields), Record(_, fields), Mapping():
            known = {field.name: field.type for field in fields}
            types = {field.name: field.type for field in new_fields}
            return {
                key: _without_absent(item, types[key], known[key]) if key in known else item
                for key, item in value.items()
                if item is not None or key in known or key not in types
            }
        case Array(new_items), Array(items), list() | tuple():
            return [_without_absent(item, new_items, items) for item in value]
        case MapOf(new_values), MapOf(values), Mapping():
            return {key: _without_absent(item, new_values, values) for key, item in value.items()}
        case Union(new_branches), Union(branches), _ if len(new_branches) == len(branches) == 2:
            other = 0 if new_branches[1] == avro_types.NULL else 1
            return _without_absent(value, new_branches[other], branches[other])
        case _:
            return value


ReadJson = Callable[[object], object]


@cache
def _json_reader(name: RecordName) -> ReadJson:
    return _json_reader_of(record_type(name, NEWEST), name)


def _json_reader_of(kind: AvroType, place: str) -> ReadJson:
    """Jackson's way: what is lacking has its default, what is not known is passed over."""
    match kind:
        case Record(_, fields):
            steps = tuple((f.name, _json_reader_of(f.type, f"{place}.{f.name}"), f.default) for f in fields)
            return _checked(dict, place, lambda tree: _json_record(tree, steps))
        case MapOf(values):
            read = _json_reader_of(values, place)
            return _checked(dict, place, lambda tree: {key: read(item) for key, item in tree.items()})
        case Array(items):
            read = _json_reader_of(items, place)
            return _checked(list, place, lambda tree: [read(item) for item in tree])
        case Union(branches):
            inner = next(branch for branch in branches if branch != avro_types.NULL)
            read = _json_reader_of(inner, place)
            return lambda tree: None if tree is None else read(tree)
        case _:
            wanted = {"string": str, "boolean": bool}.get(avro_types.branch_name(kind), int)
            return _checked(wanted, place, lambda tree: tree)


def _json_record(tree: Mapping[str, object], steps: tuple[tuple[str, ReadJson, object], ...]) -> dict[str, object]:
    return {name: read(tree[name]) if name in tree else default for name, read, default in steps}


def _checked(wanted: type, place: str, read: Callable[[Any], object]) -> ReadJson:
    def read_checked(tree: object) -> object:
        # A number beyond 64 bits is a text in all but name; Java overflows on it, so no writer makes one.
        if type(tree) is not wanted or (wanted is int and abs(cast(int, tree)) >= 1 << 63):
            raise CorruptFile(f"{place} is a {type(tree).__name__} in JSON, where {wanted.__name__} is wanted", 0)
        return read(tree)

    return read_checked


def _without_nulls(tree: object) -> object:
    match tree:
        case Mapping():
            return {key: _without_nulls(item) for key, item in tree.items() if item is not None}
        case list() | tuple():
            return [_without_nulls(item) for item in tree]
        case _:
            return tree
