"""Base rows and logged changes become rows (`hudi-format` 9.6). Pure, whole columns at a time.

Hudi folds the changes of a key one by one, then lays the outcome over the base row. By commit time the last change
wins; by event time the greatest ordering value wins, a tie goes to the later. A *commit-time delete*, which carries
no ordering value, wins over all before it and loses to any row after it, whatever their values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.merge_mode import MergeRule


@dataclass(frozen=True, slots=True)
class Changes:
    """What the logs of one slice say, oldest first. The arrays run in parallel, one element a change."""

    keys: pa.Array
    rows: pa.Table  # of the changes that carry a row, in the order of `row`
    row: np.ndarray  # index into `rows`; -1 for a delete
    ordering: tuple[pa.Array, ...]  # one array an ordering field
    is_commit_time_delete: np.ndarray
    is_from_delete_block: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)


def merge(base: pa.Table, changes: Changes, rule: MergeRule) -> pa.Table:
    """The rows that a reader sees: base rows that stand, then rows that the logs changed or added."""
    keys = pc.unique(changes.keys)
    code_of_change = pc.index_in(changes.keys, value_set=keys).to_numpy(zero_copy_only=False)
    code_of_base = pc.fill_null(pc.index_in(base.column(RECORD_KEY), value_set=keys), -1).to_numpy()
    hit = np.flatnonzero(code_of_base >= 0)
    if not rule.ordering:
        winner = _last_of_each(code_of_change, len(keys))
        base_stands = np.zeros(len(hit), dtype=bool)
    else:
        base_ordering = [base.column(name).take(pa.array(hit)) for name in rule.ordering]
        rank, base_rank = _ranks(changes.ordering, base_ordering)
        resets = changes.is_commit_time_delete
        if not rule.are_deletes_ordered:
            resets = resets | changes.is_from_delete_block
        winner = _greatest_of_each(code_of_change, rank, changes, resets)
        won_by = winner[code_of_base[hit]]
        base_stands = ~resets[won_by] & (rank[won_by] < base_rank) & rule.is_base_ordered
    keep = np.ones(base.num_rows, dtype=bool)
    keep[hit[~base_stands]] = False
    beaten = np.zeros(len(keys), dtype=bool)
    beaten[code_of_base[hit[base_stands]]] = True
    rows = changes.row[winner[~beaten]]
    return pa.concat_tables([base.filter(pa.array(keep)), changes.rows.take(pa.array(rows[rows >= 0]))])


def _last_of_each(codes: np.ndarray, count: int) -> np.ndarray:
    last = np.empty(count, dtype=np.int64)
    last[codes] = np.arange(len(codes))  # NumPy assigns in order, so the last of equal codes stays
    return last


def _greatest_of_each(codes: np.ndarray, rank: np.ndarray, changes: Changes, resets: np.ndarray) -> np.ndarray:
    """For each key the change with the greatest ordering value, the later of equals.

    Keys with a deletion that resets the order, among several changes, are folded one by one: they are few.
    """
    order = np.lexsort((np.arange(len(codes)), rank, codes))
    count = np.bincount(codes)
    winner: np.ndarray = order[_last_of_each(codes[order], len(count))]
    special = np.unique(codes[resets])
    for code, members in _members(codes, special[count[special] > 1]):
        winner[code] = _fold(members, rank, changes, resets)
    return winner


def _members(codes: np.ndarray, wanted: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The changes of each wanted key, oldest first."""
    chosen = np.flatnonzero(np.isin(codes, wanted))
    chosen = chosen[np.argsort(codes[chosen], kind="stable")]
    borders = np.flatnonzero(np.diff(codes[chosen])) + 1
    return [(int(codes[group[0]]), group) for group in np.split(chosen, borders) if len(group)]


def _fold(members: np.ndarray, rank: np.ndarray, changes: Changes, resets: np.ndarray) -> int:
    """Hudi's rule for one key, change by change."""
    current = int(members[0])
    for change in map(int, members[1:]):
        if changes.is_commit_time_delete[change]:
            current = change
        elif resets[current]:
            if not changes.is_from_delete_block[change]:
                current = change
        elif rank[change] >= rank[current]:
            current = change
    return current


def _ranks(left: Sequence[pa.Array], right: Sequence[pa.ChunkedArray]) -> tuple[np.ndarray, np.ndarray]:
    """Integers that order the ordering values of both sides as Java's comparison of the values would; null is least."""
    if not left:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    split = len(left[0])
    combined: np.ndarray | None = None
    for mine, theirs in zip(left, right, strict=True):
        both = pa.chunked_array([mine, *theirs.cast(mine.type).chunks], type=mine.type)
        rank = pc.rank(_comparable(both), sort_keys=[("", "ascending", "at_start")], tiebreaker="dense")
        values = rank.to_numpy(zero_copy_only=False).astype(np.int64)
        combined = values if combined is None else combined * (int(values.max(initial=0)) + 1) + values
    assert combined is not None
    return combined[:split], combined[split:]


def _comparable(values: pa.ChunkedArray) -> pa.Array:
    """Java compares strings by UTF-16 units, which differs from bytes beyond the basic plane only."""
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if not (pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type)):
        return flat
    if not pc.any(pc.match_substring_regex(flat, r"[\x{10000}-\x{10FFFF}]")).as_py():
        return flat
    units = [None if text is None else text.encode("utf-16-be", "surrogatepass") for text in flat.to_pylist()]
    return pa.array(units, pa.binary())
