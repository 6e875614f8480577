"""Records that list the files of a partition, and the one that lists the partitions: a row for each name in each."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.index.payloads.family import Family
from hudi_engine.index.payloads.newest import key_numbers, last_places
from hudi_engine.index.payloads.records import IS_DELETED, KEY, Wanted, child, records

_WANTED: Final = Wanted("filesystemMetadata", (1, 2), may_be_null=True)
_SCHEMA: Final = pa.schema([KEY, ("name", pa.string()), ("size_bytes", pa.int64()), IS_DELETED])


def _merged(layers: Sequence[pa.Table]) -> pa.Table:
    """Of each file the largest size since it was last deleted: files only grow, and commits may come out of order.

    A deletion disappears together with the older rows that it deletes; it stays where there are none.
    """
    base, *logs = layers
    return _folded([base, _folded(logs)]) if logs else _folded([base])


def _folded(layers: Sequence[pa.Table]) -> pa.Table:
    rows = pa.concat_tables(layers).combine_chunks()
    if not len(rows):
        return rows
    rows, names = _without_lost(rows)
    order = np.argsort(names, kind="stable")
    rows, names = rows.take(pa.array(order)), names[order]
    is_deleted = np.asarray(rows["is_deleted"].to_numpy())
    is_last = np.append(names[1:] != names[:-1], True)
    follows_live = np.append(False, (names[1:] == names[:-1]) & ~is_deleted[:-1])
    is_kept = is_last & ~(is_deleted & follows_live)
    return _with_sizes(rows, names).filter(pa.array(is_kept))


def _columns(entries: pa.Table, written: str) -> Iterator[list[Any]]:
    for keys, found in records(entries, written, _WANTED):
        if not pa.types.is_map(found.type):
            raise CorruptFile("records of the metadata table whose files are no map", 0)
        lists = found.cast(pa.list_(pa.struct([found.type.key_field, found.type.item_field])))
        counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        entry = pc.list_flatten(lists)
        name, info = entry.field(0), entry.field(1)
        yield [
            keys.take(pa.array(np.repeat(np.arange(len(keys)), counts))),
            name,
            child(info, "size"),
            child(info, "isDeleted"),
        ]


def _without_lost(rows: pa.Table) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """The rows that no newer deletion of the whole record takes away, and a number for each pair of key and name."""
    keys = key_numbers(rows["key"])
    whole = np.flatnonzero(rows["name"].is_null().to_numpy())
    if whole.size:
        counts_from = np.zeros(int(keys.max()) + 1, dtype=np.int64)
        last = last_places(keys)[keys[whole]]
        # The deletion itself stays only if nothing follows it.
        np.maximum.at(counts_from, keys[whole], whole + (whole != last))
        stays = np.arange(len(rows)) >= counts_from[keys]
        rows, keys = rows.filter(pa.array(stays)), keys[stays]
    names = key_numbers(rows["name"])
    _, pairs = np.unique(keys * (int(names.max(initial=0)) + 1) + names, return_inverse=True)
    return rows, pairs


def _with_sizes(rows: pa.Table, names: npt.NDArray[np.int64]) -> pa.Table:
    """The rows, in order of name and age, with the largest size of the name since its last deletion."""
    is_deleted = np.asarray(rows["is_deleted"].to_numpy())
    starts_anew = np.append(True, (names[1:] != names[:-1]) | is_deleted[:-1])
    runs = np.cumsum(starts_anew) - 1
    sizes = np.maximum.reduceat(rows["size_bytes"].fill_null(0).to_numpy(), np.flatnonzero(starts_anew))
    column = pc.if_else(rows["is_deleted"], rows["size_bytes"], pa.array(sizes[runs]))
    return rows.set_column(2, _SCHEMA.field(2), column)


FILES: Final = Family(_SCHEMA, _columns, _merged)
"""A deletion without a name is one of the whole record, that is of all names that older rows have under its key."""
