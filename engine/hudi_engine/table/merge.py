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

from hudi_engine.table.conform import RECORD_KEY, python_rows
from hudi_engine.table.merge_mode import MergeRule
from hudi_engine.table.partial import Version, fold


@dataclass(frozen=True, slots=True)
class Changes:
    """What the logs of one slice say, oldest first. The arrays run in parallel, one element a change."""

    keys: pa.Array
    rows: pa.Table  # of the changes that carry a row, in the order of `row`
    row: np.ndarray  # index into `rows`; -1 for a delete
    ordering: tuple[pa.Array, ...]  # one array an ordering field
    is_commit_time_delete: np.ndarray
    is_from_delete_block: np.ndarray
    carried: np.ndarray  # index into `column_sets`; -1 for a whole row or a delete
    column_sets: tuple[frozenset[str], ...]

    def __len__(self) -> int:
        return len(self.keys)


def merge(base: pa.Table, changes: Changes, rule: MergeRule) -> pa.Table:
    """The rows that a reader sees: base rows that stand, then rows that the logs changed or added."""
    meeting = _meet(base, changes, rule)
    winner, base_stands = _decided(meeting)
    is_partial = np.zeros(meeting.key_count, dtype=bool)
    is_partial[meeting.code[changes.carried >= 0]] = True
    takes_row = ~is_partial
    takes_row[meeting.met[base_stands]] = False
    keep = np.ones(base.num_rows, dtype=bool)
    keep[meeting.met_row[~base_stands | is_partial[meeting.met]]] = False
    rows = changes.row[winner[takes_row]]
    return pa.concat_tables(
        [
            base.filter(pa.array(keep)),
            changes.rows.take(pa.array(rows[rows >= 0])),
            _folded(meeting, np.flatnonzero(is_partial)),
        ]
    )


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Base rows and changes, brought together by key: keys are numbers from nought."""

    base: pa.Table
    changes: Changes
    rule: MergeRule
    key_count: int
    code: np.ndarray  # the key of each change
    met: np.ndarray  # keys that the base has, too
    met_row: np.ndarray  # and in which row
    rank: np.ndarray  # the order of each change's ordering value
    met_rank: np.ndarray  # and of those base rows'


def _meet(base: pa.Table, changes: Changes, rule: MergeRule) -> _Meeting:
    """Where a base file holds a key twice, the first of its rows is the one that changes, as in Java."""
    keys = pc.unique(changes.keys)
    code = pc.index_in(changes.keys, value_set=keys).to_numpy(zero_copy_only=False)
    code_of_base = pc.fill_null(pc.index_in(base.column(RECORD_KEY), value_set=keys), -1).to_numpy()
    met, met_row = np.unique(code_of_base, return_index=True)
    met, met_row = met[met >= 0], met_row[met >= 0]
    met_ordering = [base.column(name).take(pa.array(met_row)) for name in rule.ordering]
    rank, met_rank = _ranks(changes.ordering, met_ordering, (len(code), len(met)))
    return _Meeting(base, changes, rule, len(keys), code, met, met_row, rank, met_rank)


def _decided(meeting: _Meeting) -> tuple[np.ndarray, np.ndarray]:
    """For each key the change that wins, and for each key met whether its base row stands against it."""
    changes, rule = meeting.changes, meeting.rule
    if not rule.ordering:
        return _last_of_each(meeting.code, meeting.key_count), np.zeros(len(meeting.met), dtype=bool)
    resets = changes.is_commit_time_delete | (changes.is_from_delete_block & (not rule.are_deletes_ordered))
    winner = _greatest_of_each(meeting.code, meeting.rank, changes, resets)
    won_by = winner[meeting.met]
    return winner, ~resets[won_by] & (meeting.rank[won_by] < meeting.met_rank) & rule.is_base_ordered


def _folded(meeting: _Meeting, keys: np.ndarray) -> pa.Table:
    """The rows of keys with partial updates."""
    under = dict(zip(meeting.met.tolist(), zip(meeting.met_row, meeting.met_rank, strict=True), strict=True))
    rows = []
    for key, members in _members(meeting.code, keys):
        base = None
        if key in under:
            row, rank = map(int, under[key])
            base = Version(python_rows(meeting.base.slice(row, 1))[0], rank)
        changes = [_version(meeting, change) for change in members.tolist()]
        if (folded := fold(base, changes, is_ordered=meeting.rule.is_base_ordered)) is not None:
            rows.append(folded)
    return pa.Table.from_pylist(rows, schema=meeting.base.schema)


def _version(meeting: _Meeting, change: int) -> Version:
    changes, row = meeting.changes, None
    if (at := int(changes.row[change])) >= 0:
        row = python_rows(changes.rows.slice(at, 1))[0]
        if (carried := int(changes.carried[change])) >= 0:
            row = {name: value for name, value in row.items() if name in changes.column_sets[carried]}
    is_delete, is_from_block = changes.is_commit_time_delete[change], changes.is_from_delete_block[change]
    return Version(row, int(meeting.rank[change]), bool(is_delete), bool(is_from_block))


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


def _ranks(
    left: Sequence[pa.Array], right: Sequence[pa.ChunkedArray], sizes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Integers that order the ordering values of both sides as Java's comparison of the values would; null is least."""
    combined = np.zeros(sum(sizes), dtype=np.int64)
    for mine, theirs in zip(left, right, strict=True):
        both = pa.chunked_array([mine, *theirs.cast(mine.type).chunks], type=mine.type)
        rank = pc.rank(_comparable(both), sort_keys=[("", "ascending", "at_start")], tiebreaker="dense")
        values = rank.to_numpy(zero_copy_only=False).astype(np.int64)
        combined = combined * (int(values.max(initial=0)) + 1) + values
        combined = np.unique(combined, return_inverse=True)[1]  # dense again, lest many fields overflow
    return combined[: sizes[0]], combined[sizes[0] :]


def _comparable(values: pa.ChunkedArray) -> pa.Array:
    """Java compares strings by UTF-16 units, which differs from bytes beyond the basic plane only.

    Its -0.0 is less than 0.0, and NaN is greater than all.
    """
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_floating(flat.type):
        numbers = flat.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        bits = np.where(np.isnan(numbers), np.inf, numbers).view(np.int64) + np.isnan(numbers)
        ordered = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
        return pa.array(ordered, mask=flat.is_null().to_numpy(zero_copy_only=False))
    if not (pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type)):
        return flat
    if not pc.any(pc.match_substring_regex(flat, r"[\x{10000}-\x{10FFFF}]")).as_py():
        return flat
    units = [None if text is None else text.encode("utf-16-be", "surrogatepass") for text in flat.to_pylist()]
    return pa.array(units, pa.binary())
