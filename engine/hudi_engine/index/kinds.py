"""The kinds of index that a metadata table has, and the names of their shards."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hudi_engine.errors import Unsupported


class IndexKind(StrEnum):
    """By the folder of the index; of the last two a folder has a name of its own behind the kind."""

    FILES = "files"
    COLUMN_STATS = "column_stats"
    PARTITION_STATS = "partition_stats"
    BLOOM_FILTERS = "bloom_filters"
    RECORD_INDEX = "record_index"
    SECONDARY_INDEX = "secondary_index"
    EXPRESSION_INDEX = "expr_index"


_NAMED: Final = (IndexKind.SECONDARY_INDEX, IndexKind.EXPRESSION_INDEX)
_SHARD: Final = re.compile(r"(?P<index>.+?)-(?P<number>[0-9]{4,9})(?:-[0-9]+)?", re.ASCII | re.DOTALL)
_RECORD_INDEX_SHARD: Final = "record-index-"
_PREFIXES: Final = {
    IndexKind.FILES: "files-",
    IndexKind.COLUMN_STATS: "col-stats-",
    IndexKind.PARTITION_STATS: "partition-stats-",
    IndexKind.BLOOM_FILTERS: "bloom-filters-",
}
_ESCAPED: Final = re.compile("%([0-9a-fA-F]{2})")
# What Java's `escapeFileName` escapes: as in names of partitions, and what parts the names of files.
_TO_ESCAPE: Final = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^_-]""")
MOST_SHARDS: Final = 10_000
"""With five digits the order of file ids would no longer be that of their numbers, by which keys find their shard."""


@dataclass(frozen=True, slots=True)
class ShardName:
    """The file id of a shard: its number, and the partition whose keys it holds if its index is one per partition."""

    number: int
    partition: str | None = None


def kind_of(name: str) -> IndexKind:
    """What the index with this name, which is its folder's, is; `Unsupported` for names that Hudi 1.2 does not have."""
    for kind in IndexKind:
        if _is_of(kind, name):
            return kind
    raise Unsupported(
        f"an index named {name!r}; known are {', '.join(IndexKind)}, the last two followed by a name. "
        "Use a newer engine for it; all other indexes of the table can be read."
    )


def is_index_name(name: str) -> bool:
    """Whether an index may have this name: of what has another the files are not an index's, and are not deleted."""
    return "/" not in name and any(_is_of(kind, name) for kind in IndexKind)


def _is_of(kind: IndexKind, name: str) -> bool:
    return name.startswith(f"{kind}_") if kind in _NAMED else name == kind


def parse_shard_name(file_id: str) -> ShardName:
    """What the file id of a shard says. The partition of a partitioned record index is given without its escapes."""
    match = _SHARD.fullmatch(file_id)
    if match is None:
        raise Unsupported(f"a file group {file_id!r} in the metadata table; expected a name that ends in a number")
    index, number = match["index"], int(match["number"])
    # Java counts dashes too: those of the partition are escaped, so that a fourth tells of it.
    if file_id.startswith(_RECORD_INDEX_SHARD) and file_id.count("-") == 4:
        return ShardName(number, _unescaped(index.removeprefix(_RECORD_INDEX_SHARD)))
    return ShardName(number)


def record_index_shard(name: ShardName) -> str:
    """The file id of a shard of a record index: what `parse_shard_name` reads."""
    if name.partition is None:
        return _numbered(_RECORD_INDEX_SHARD, name.number)
    if "." in name.partition:
        raise Unsupported(
            f"a record index that is kept per partition, and a partition {name.partition!r}, whose name has a dot: no "
            "Hudi reads the logs of its shards, so that updates would be lost. Use a global record index."
        )
    return _numbered(f"{_RECORD_INDEX_SHARD}{_escaped(name.partition)}-", name.number)


def shard_name_of(index_name: str, number: int) -> str:
    """The file id of a shard of any index that is one for the whole table."""
    kind = kind_of(index_name)
    if kind is IndexKind.RECORD_INDEX:
        return record_index_shard(ShardName(number))
    if kind is IndexKind.SECONDARY_INDEX:
        return secondary_shard_name(index_name, number)
    if kind not in _PREFIXES:
        raise Unsupported(f"shards of {index_name}: indexes of kind {kind} are read, not made. Leave it out.")
    return _numbered(_PREFIXES[kind], number)


def secondary_shard_name(index_name: str, number: int) -> str:
    """The file id of a shard of a secondary index, which has the index's name in it."""
    if re.search("[./]", index_name):
        raise Unsupported(
            f"an index named {index_name!r}: no Hudi reads the logs of shards whose names have a dot or a slash in "
            "them, so that updates would be lost. Give it another name."
        )
    return _numbered(index_name.replace("_", "-") + "-", number)


def shard_file_id(index_name: str, name: ShardName) -> str:
    """The file id of a shard of any index: what `parse_shard_name` reads."""
    return shard_name_of(index_name, name.number) if name.partition is None else record_index_shard(name)


def shards_by_partition(file_ids: Sequence[str]) -> Mapping[str | None, tuple[int, ...]]:
    """For each partition the places in `file_ids`, which ascend, of the shards that its keys are spread over.

    All shards are those of None if the index is one for the whole table.
    """
    found: dict[str | None, list[int]] = {}
    for place, file_id in enumerate(file_ids):
        found.setdefault(parse_shard_name(file_id).partition, []).append(place)
    return {partition: tuple(places) for partition, places in found.items()}


def _numbered(prefix: str, number: int) -> str:
    if not 0 <= number < MOST_SHARDS:
        raise Unsupported(f"a shard numbered {number}: an index has {MOST_SHARDS} at most, numbered from 0")
    return f"{prefix}{number:04d}-0"


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _escaped(text: str) -> str:
    return _TO_ESCAPE.sub(lambda match: f"%{ord(match[0]):02X}", text)
