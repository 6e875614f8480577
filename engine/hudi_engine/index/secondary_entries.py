"""Entries of a secondary index as its writers store them: all that they say is in their key."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Unsupported
from hudi_engine.format.hfile.cells import MAX_ROW_BYTES
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.entries import entry_encoder
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.keys import hashed_part, secondary_keys
from hudi_engine.table.conform import META_COLUMNS

_SECONDARY_INDEX: Final = 7
_OLDEST_TABLE: Final = 8


def secondary_value(table_version: int) -> bytes:
    """The value of every entry."""
    if table_version < _OLDEST_TABLE:
        raise Unsupported(
            f"an entry of a secondary index for table version {table_version}; such indexes come with version "
            f"{_OLDEST_TABLE}. Upgrade the table, or leave the index out."
        )
    out = bytearray()
    blank = dict.fromkeys((*META_COLUMNS, "filesystemMetadata"))
    said = {"key": "", "type": _SECONDARY_INDEX, "SecondaryIndexMetadata": {"isDeleted": False}}
    entry_encoder(table_version)(out, blank | said)
    return bytes(out)


def secondary_entry_keys(values: Any, record_keys: Any, version: IndexVersion) -> Any:
    """The keys of rows' entries as large binaries, in the rows' order; `values` are texts as Java spells them, or null.

    In the first version a row without a value has no entry, so that there may be fewer keys than rows.
    """
    if version is IndexVersion.V1:
        _refuse_nul(values, record_keys)
        is_there = values.is_valid()
        values, record_keys = values.filter(is_there), record_keys.filter(is_there)
    keys = pc.cast(secondary_keys(values, record_keys), pa.large_binary())
    longest = pc.max(pc.binary_length(keys)).as_py() or 0
    if longest > MAX_ROW_BYTES:
        key = keys[pc.index(pc.binary_length(keys), longest).as_py()].as_py()
        raise Unsupported(
            f"a value and a record key that make {longest} bytes, beginning {key[:40]!r}: a secondary index has keys "
            f"of up to {MAX_ROW_BYTES} bytes. Index another column, or shorten the values."
        )
    return keys


def secondary_shard_numbers(keys: Any, version: IndexVersion, shard_count: int) -> npt.NDArray[np.int64]:
    """For each key the place of its shard: by the whole key, in the second version by the value as it is spelled."""
    return shard_numbers(keys if version is IndexVersion.V1 else hashed_part(keys), shard_count)


def _refuse_nul(*columns: Any) -> None:
    """Release 1.0 writes this character as it is, later ones write a backslash before it: neither finds the other's."""
    for texts in columns:
        # A pattern, since the search for plain texts takes this character for their end.
        if pc.any(pc.match_substring_regex(texts, r"\x00")).as_py():
            wrong = texts.filter(pc.fill_null(pc.match_substring_regex(texts, r"\x00"), False))[0].as_py()
            raise Unsupported(
                f"{wrong[:80]!r} has the character NUL, which releases of Hudi spell in two ways in a secondary index "
                "of version V1. Correct the row, or upgrade the table to version 9."
            )
