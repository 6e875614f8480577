"""Suspicious rows of both sides brought together by key: what agrees goes, the rest comes key by key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hudi_engine.validate.fingerprints import Integers
from hudi_engine.validate.spill import Suspects

_ROWS_AT_ONCE = 16 * 1024


class Row(NamedTuple):
    """One row of the data, or one entry of the index. There may be millions to tell of, so it is a mere tuple."""

    key: str
    partition: str
    is_entry: bool
    place: str
    value: str | None
    flaw: str | None


class Dispute(NamedTuple):
    """All that both sides have of one key, and it is not the same."""

    key: str
    rows: list[Row]
    entries: list[Row]


@dataclass(frozen=True, slots=True)
class Terms:
    """The columns that tell one key from another, and those in which a row and its entry must agree."""

    by: tuple[str, ...]
    says: tuple[str, ...]


def disputes(suspects: Suspects, terms: Terms) -> Iterator[Dispute]:
    """The keys that the sides disagree about, in the order of the keys."""
    rows = suspects.data.num_rows
    both = pa.concat_tables([suspects.data, suspects.index]).combine_chunks()
    codes = _codes(both, terms.by)
    is_settled = _agreeing(both, codes, rows, terms.says) | _outside(both, codes, rows)
    is_entry = np.arange(len(codes)) >= rows
    order = np.lexsort((is_entry, codes))
    order = order[~is_settled[codes[order]]]
    told = both.append_column("is_entry", pa.array(is_entry)).take(pa.array(order))
    told = told.append_column("place", _places(told)).select(Row._fields)
    key_of = itemgetter(*(Row._fields.index(name) for name in terms.by))
    for _, group in groupby(_python_rows(told), key=key_of):
        all_of_it = sorted(group, key=_by_what_it_says)
        yield Dispute(
            all_of_it[0].key,
            [row for row in all_of_it if not row.is_entry],
            [row for row in all_of_it if row.is_entry],
        )


def _codes(both: pa.Table, names: Sequence[str]) -> Integers:
    """A number for each distinct key, from nought without gaps, in the order of the keys."""
    codes = np.zeros(both.num_rows, np.int64)
    for name in names:
        encoded = pc.dictionary_encode(both[name].combine_chunks())
        rank = np.empty(len(encoded.dictionary), np.int64)
        rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
        codes = codes * len(rank) + rank[encoded.indices.to_numpy()]
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _agreeing(both: pa.Table, codes: Integers, rows: int, says: Sequence[str]) -> NDArray[np.bool_]:
    """For each key whether it has one row and one flawless entry that say the same."""
    count = int(codes.max(initial=-1)) + 1
    settled: NDArray[np.bool_] = (np.bincount(codes[:rows], minlength=count) == 1) & (
        np.bincount(codes[rows:], minlength=count) == 1
    )
    row_of, entry_of = np.zeros(count, np.int64), np.zeros(count, np.int64)
    row_of[codes[:rows]] = np.arange(rows)
    entry_of[codes[rows:]] = np.arange(rows, len(codes))
    keys = np.flatnonzero(settled)
    row, entry = (both.take(pa.array(place[keys])) for place in (row_of, entry_of))
    agree = pc.is_null(entry["flaw"])
    for name in says:
        same = pc.fill_null(pc.equal(row[name], entry[name]), False)
        agree = pc.and_(agree, pc.or_(same, pc.and_(pc.is_null(row[name]), pc.is_null(entry[name]))))
    settled[keys] = agree.to_numpy()
    return settled


def _outside(both: pa.Table, codes: Integers, rows: int) -> NDArray[np.bool_]:
    """For each key whether nothing of it is in the sample: entries of other file groups that share a bucket."""
    is_inside = np.ones(len(codes), bool)
    is_inside[rows:] = ~pc.fill_null(both["is_outside"], False).to_numpy()[rows:]
    outside = np.ones(int(codes.max(initial=-1)) + 1, bool)
    outside[codes[is_inside]] = False
    return outside


def _places(both: pa.Table) -> pa.ChunkedArray:
    """`place_of` each row."""
    nothing, slash = (pa.scalar(text, pa.large_string()) for text in ("", "/"))
    partitions, file_ids = (pc.fill_null(both[name], nothing) for name in ("partition", "file_id"))
    behind = pc.if_else(pc.equal(partitions, nothing), nothing, slash)
    return pc.binary_join_element_wise(partitions, behind, file_ids, nothing)


def _python_rows(both: pa.Table) -> Iterator[Row]:
    for batch in both.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from map(Row._make, zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _by_what_it_says(row: Row) -> tuple[str, str]:
    return row.place, row.value or ""
