"""The keys of the metadata table's records (section 3.4): made of names and values, and taken apart again.

Keys of the record index are record keys as they are, those of `files` are partition identifiers, see `name_ids`.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.arrow_bytes import bytes_of
from hudi_engine.index.name_ids import NAME_ID_LENGTH, column_id, file_id, partition_id

_Places = npt.NDArray[np.int64]

ALL_PARTITIONS: Final = "__all_partitions__"
"""The key of the one record of `files` that lists partitions and not files."""

NULL_VALUE: Final = "\0"
"""How a secondary key begins that is for a null; a text with this character has a backslash before it."""

_PARTITION_STATS_OF_EXPRESSION: Final = "__partition_stat__"
_SPECIAL: Final = r"([\\$\x00])"
_ESCAPED: Final = r"(?s)\\(.)"
_DOLLAR: Final = pa.scalar("$", pa.large_string())
_NOTHING: Final = pa.scalar("", pa.large_string())
_SECONDARY: Final = r"(?s)\A(?P<value>(?:[^\\$]|\\.)*)\$(?P<key>.*)\z"


def column_stats_prefix(column: str, partition: str | None = None) -> str:
    """What the keys of a column's statistics begin with, in all partitions or in one."""
    return column_id(column) + ("" if partition is None else partition_id(partition))


def column_stats_key(column: str, partition: str, file_name: str) -> str:
    return column_stats_prefix(column, partition) + file_id(file_name)


def partition_stats_key(column: str, partition: str) -> str:
    return column_stats_prefix(column, partition)


def expression_partition_stats_key(column: str, partition: str) -> str:
    """The key of a partition's statistics inside of an expression index, where those of files are kept too."""
    return column_stats_prefix(column, _PARTITION_STATS_OF_EXPRESSION) + partition_id(partition)


def bloom_filter_key(partition: str, file_name: str) -> str:
    return partition_id(partition) + file_id(file_name)


def partition_ids_of(column_stats_keys: Any) -> Any:
    """The partition's id in each key of a column's statistics."""
    return pc.utf8_slice_codeunits(column_stats_keys, NAME_ID_LENGTH, 2 * NAME_ID_LENGTH)


def escape(texts: Any) -> Any:
    """Values or record keys of an Arrow array as secondary keys spell them."""
    # Patterns are dear, and next to no text has anything for them to find.
    if _may_have(texts, b"\\$\0"):
        texts = pc.replace_substring_regex(texts, _SPECIAL, r"\\\1")
    return pc.fill_null(texts, pa.scalar(NULL_VALUE, texts.type))


def secondary_keys(values: Any, record_keys: Any) -> Any:
    """The key of each pair of a value, as text or null, and a record key."""
    values, record_keys = (pc.cast(each, pa.large_string()) for each in (values, record_keys))
    return pc.binary_join_element_wise(escape(values), escape(record_keys), _DOLLAR)


def secondary_prefixes(values: Any) -> Any:
    """What the keys of each value, text or null, begin with: no other value's keys do."""
    return pc.binary_join_element_wise(escape(pc.cast(values, pa.large_string())), _NOTHING, _DOLLAR)


def split_secondary_keys(keys: Any) -> tuple[Any, Any]:
    """The value, which may be null, and the record key of each secondary key; `CorruptFile` for one without both."""
    value, key = _split(keys)
    is_null = pc.equal(value, NULL_VALUE)
    return pc.if_else(is_null, pa.scalar(None, pa.large_string()), _unescaped(value)), _unescaped(key)


def hashed_part(secondary_keys: Any) -> Any:
    """What version 2 of a secondary index hashes of each key: the value as it is spelled, with the dollar behind it."""
    keys = _as_texts(secondary_keys)
    if _may_have(keys, b"\\"):
        return pc.binary_join_element_wise(_split_by_pattern(keys)[0], _NOTHING, _DOLLAR)
    borders, dollars = _dollars(keys)
    return _cut(keys, borders[:-1], dollars + 1)


def _split(keys: Any) -> tuple[Any, Any]:
    """The two parts of each key as they are spelled."""
    keys = _as_texts(keys)
    if _may_have(keys, b"\\"):
        return _split_by_pattern(keys)
    borders, dollars = _dollars(keys)
    return _cut(keys, borders[:-1], dollars), _cut(keys, dollars + 1, borders[1:])


def _split_by_pattern(keys: Any) -> tuple[Any, Any]:
    parts = pc.extract_regex(keys, _SECONDARY)
    _require_split(keys, parts.is_valid())
    return parts.field(0), parts.field(1)


def _may_have(texts: Any, some: bytes) -> bool:
    """Whether one of these bytes is in any text; behind a null there may be some, too."""
    for chunk in texts.chunks if isinstance(texts, pa.ChunkedArray) else (texts,):
        data, borders = bytes_of(chunk)
        whole = bytes(data[borders[0] : borders[-1]])
        if any(byte in whole for byte in some):
            return True
    return False


def _dollars(keys: Any) -> tuple[_Places, _Places]:
    """Where each key begins and, at the end, where the last one ends; and where in each its first dollar is."""
    data, borders = bytes_of(keys)
    found = np.flatnonzero(np.frombuffer(data, np.uint8)[borders[0] : borders[-1]] == ord("$")) + borders[0]
    if found.size == len(keys) and (borders[:-1] <= found).all() and (found < borders[1:]).all():
        return borders, found
    dollar = pc.find_substring(keys, "$")
    _require_split(keys, pc.greater_equal(dollar, 0))
    return borders, borders[:-1] + dollar.to_numpy(zero_copy_only=False)


def _cut(keys: Any, starts: _Places, ends: _Places) -> Any:
    """The bytes from each place to the next end, as texts; none of these pieces overlap."""
    if not len(keys):
        return keys
    # Every second piece is what stands between two of them.
    pieces = np.stack([starts, ends], axis=1).reshape(-1)
    whole = pa.Array.from_buffers(
        pa.large_string(), pieces.size - 1, [None, pa.py_buffer(pieces), pa.py_buffer(bytes_of(keys)[0])]
    )
    return whole.take(pa.array(np.arange(0, pieces.size - 1, 2)))


def _as_texts(keys: Any) -> Any:
    keys = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    try:
        return pc.cast(keys, pa.large_string())
    except pa.ArrowInvalid as wrong:
        raise CorruptFile("a secondary key that is not UTF-8", 0) from wrong


def _require_split(keys: Any, has_both: Any) -> None:
    if not pc.all(has_both, min_count=0).as_py():
        wrong = keys.filter(pc.invert(has_both))[0].as_py()
        raise CorruptFile(f"a secondary key {wrong[:200]!r} without a $ between value and record key", 0)


def _unescaped(texts: Any) -> Any:
    return pc.replace_substring_regex(texts, _ESCAPED, r"\1")
