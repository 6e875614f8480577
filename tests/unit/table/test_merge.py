"""Merging, against a fold of plain values written from Hudi's rules (BufferedRecordMergerFactory and, for version 6,
HoodieMergedLogRecordScanner)."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.merge import Changes, merge
from hudi_engine.table.merge_mode import MergeRule

COMMIT_TIME = MergeRule((), is_base_ordered=False, are_deletes_ordered=False)
EVENT_TIME = MergeRule(("seen",), is_base_ordered=True, are_deletes_ordered=True)
VERSION_6_EVENT_TIME = MergeRule(("seen",), is_base_ordered=True, are_deletes_ordered=False)
VERSION_6_LATEST = MergeRule(("seen",), is_base_ordered=False, are_deletes_ordered=False)


@dataclass(frozen=True)
class Change:
    """One logged change. `seen` None in a deletion means that it has no ordering value: a commit-time delete."""

    key: str
    seen: object
    tag: int
    is_delete: bool = False
    is_block: bool = False

    @property
    def is_commit_time_delete(self) -> bool:
        return self.is_delete and self.seen is None


def _stands(older: Change, newer: Change, rule: MergeRule) -> bool:
    """Whether the older of two changes stands against the newer."""
    if not rule.ordering:
        return False
    if newer.is_commit_time_delete:
        return False
    if older.is_commit_time_delete or (older.is_block and not rule.are_deletes_ordered):
        return newer.is_block  # a deletion does not replace a deletion without a value
    return _is_greater(older.seen, newer.seen)


def _is_greater(value: Any, other: Any) -> bool:
    if isinstance(value, str):
        value, other = value.encode("utf-16-be", "surrogatepass"), other.encode("utf-16-be", "surrogatepass")
    return bool(value > other)


def _folded(base: dict[str, Change], changes: list[Change], rule: MergeRule) -> dict[str, int]:
    """The tag of the row that stands for each key."""
    logged: dict[str, Change] = {}
    for change in changes:
        if change.key not in logged or not _stands(logged[change.key], change, rule):
            logged[change.key] = change
    rows = {key: row.tag for key, row in base.items()}
    for key, change in logged.items():
        row = base.get(key)
        forgets = change.is_commit_time_delete or (change.is_block and not rule.are_deletes_ordered)
        is_ordered = rule.ordering and rule.is_base_ordered and not forgets
        if row is not None and is_ordered and _is_greater(row.seen, change.seen):
            continue
        rows.pop(key, None)
        if not change.is_delete:
            rows[key] = change.tag
    return rows


def _table(rows: list[Change], kind: pa.DataType) -> pa.Table:
    return pa.table(
        {
            RECORD_KEY: pa.array([row.key for row in rows], pa.string()),
            "seen": pa.array([row.seen for row in rows], kind),
            "tag": pa.array([row.tag for row in rows], pa.int64()),
        }
    )


def _changes(changes: list[Change], rule: MergeRule, kind: pa.DataType) -> Changes:
    rows = [change for change in changes if not change.is_delete]
    index = iter(range(len(rows)))
    return Changes(
        keys=pa.array([change.key for change in changes], pa.string()),
        rows=_table(rows, kind),
        row=np.array([-1 if change.is_delete else next(index) for change in changes], dtype=np.int64),
        ordering=(pa.array([change.seen for change in changes], kind),) if rule.ordering else (),
        is_commit_time_delete=np.array([change.is_commit_time_delete for change in changes], dtype=bool),
        is_from_delete_block=np.array([change.is_block for change in changes], dtype=bool),
        carried=np.full(len(changes), -1),
        column_sets=(),
    )


def _merged(base: dict[str, Change], changes: list[Change], rule: MergeRule, kind: pa.DataType) -> dict[str, int]:
    table = merge(_table(list(base.values()), kind), _changes(changes, rule, kind), rule)
    keys, tags = table.column(RECORD_KEY).to_pylist(), table.column("tag").to_pylist()
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, tags, strict=True))


KEYS = st.sampled_from(["a", "b", "c", "d"])
SEEN = st.integers(-2, 2)


def _change(draw: st.DrawFn, tag: int) -> Change:
    key = draw(KEYS)
    match draw(st.sampled_from(["row", "row", "deleting row", "block", "plain delete"])):
        case "row":
            return Change(key, draw(SEEN), tag)
        case "deleting row":
            return Change(key, draw(SEEN), tag, is_delete=True)
        case "block":
            return Change(key, draw(SEEN), tag, is_delete=True, is_block=True)
        case _:
            return Change(key, None, tag, is_delete=True, is_block=True)


@st.composite
def _histories(draw: st.DrawFn) -> tuple[dict[str, Change], list[Change]]:
    base = {key: Change(key, draw(SEEN), number) for number, key in enumerate(draw(st.sets(KEYS)))}
    return base, [_change(draw, 100 + number) for number in range(draw(st.integers(1, 12)))]


@settings(max_examples=200)
@given(_histories(), st.sampled_from([COMMIT_TIME, EVENT_TIME, VERSION_6_EVENT_TIME, VERSION_6_LATEST]))
def test_merging_is_hudi_s_fold(history: tuple[dict[str, Change], list[Change]], rule: MergeRule) -> None:
    base, changes = history

    assert _merged(base, changes, rule, pa.int64()) == _folded(base, changes, rule)


def _one(base: Change, *changes: Change, rule: MergeRule = EVENT_TIME, kind: pa.DataType | None = None) -> int | None:
    return _merged({base.key: base}, list(changes), rule, kind or pa.int64()).get("a")


class TestEventTime:
    def test_a_tie_goes_to_the_later_row(self) -> None:
        assert _one(Change("a", 5, 0), Change("a", 5, 1), Change("a", 5, 2)) == 2

    def test_a_late_row_loses_to_the_base_and_to_another_logged_row(self) -> None:
        assert _one(Change("a", 5, 0), Change("a", 4, 1)) == 0
        assert _one(Change("a", 5, 0), Change("a", 9, 1), Change("a", 8, 2)) == 1

    def test_a_late_deletion_with_a_value_loses_and_a_tie_deletes(self) -> None:
        assert _one(Change("a", 5, 0), Change("a", 4, 1, is_delete=True, is_block=True)) == 0
        assert _one(Change("a", 5, 0), Change("a", 5, 1, is_delete=True, is_block=True)) is None

    def test_a_deletion_with_a_value_holds_off_an_older_row_that_comes_later(self) -> None:
        deletion = Change("a", 7, 1, is_delete=True, is_block=True)

        assert _one(Change("a", 5, 0), deletion, Change("a", 6, 2)) is None
        assert _one(Change("a", 5, 0), deletion, Change("a", 7, 2)) == 2

    def test_a_deletion_without_a_value_beats_every_row_before_and_none_after(self) -> None:
        deletion = Change("a", None, 1, is_delete=True, is_block=True)

        assert _one(Change("a", 99, 0), deletion) is None
        assert _one(Change("b", 0, 0), Change("a", 99, 1), deletion, Change("a", -99, 2)) == 2

    def test_a_row_after_a_deletion_without_a_value_meets_the_base_as_if_nothing_had_been_deleted(self) -> None:
        """So in Java: its buffer holds the row only, and that is older than the one in the base file."""
        deletion = Change("a", None, 1, is_delete=True, is_block=True)

        assert _one(Change("a", 99, 0), deletion, Change("a", -99, 2)) == 0

    def test_a_deletion_with_a_value_does_not_replace_one_without(self) -> None:
        without = Change("a", None, 1, is_delete=True, is_block=True)
        with_value = Change("a", 9, 2, is_delete=True, is_block=True)

        assert _one(Change("b", 5, 0), without, with_value, Change("a", 1, 3)) == 3

    def test_a_missing_value_is_less_than_any_other(self) -> None:
        assert _one(Change("a", None, 0), Change("a", -9, 1)) == 1
        assert _one(Change("a", -9, 0), Change("a", None, 1)) == 0


class TestVersion6:
    def test_a_deletion_once_taken_forgets_its_value(self) -> None:
        deletion = Change("a", 7, 1, is_delete=True, is_block=True)

        assert _one(Change("a", 5, 0), deletion, Change("a", 6, 2), rule=VERSION_6_EVENT_TIME) == 2

    def test_the_latest_payload_orders_logged_rows_and_never_the_base(self) -> None:
        assert _one(Change("a", 9, 0), Change("a", 5, 1), Change("a", 4, 2), rule=VERSION_6_LATEST) == 1


class TestCommitTime:
    def test_the_last_change_wins_whatever_its_value(self) -> None:
        assert _one(Change("a", 9, 0), Change("a", 5, 1), Change("a", 1, 2), rule=COMMIT_TIME) == 2

    def test_the_last_change_may_be_a_deletion(self) -> None:
        assert _one(Change("a", 9, 0), Change("a", 5, 1, is_delete=True), rule=COMMIT_TIME) is None


BEYOND_THE_BASIC_PLANE, PRIVATE_USE = "\U0001f600", "\ue000"


@pytest.mark.parametrize(
    ("lesser", "greater", "kind"),
    [
        ("a", "b", pa.string()),
        ("", "a", pa.string()),
        (BEYOND_THE_BASIC_PLANE, PRIVATE_USE, pa.string()),
        ("\ud7ff", BEYOND_THE_BASIC_PLANE, pa.string()),
        (f"x{BEYOND_THE_BASIC_PLANE}", f"x{PRIVATE_USE}", pa.string()),
        (-1, 0, pa.int32()),
        (1.5, 2.5, pa.float64()),
        (float("-inf"), -1.0, pa.float64()),
        (Decimal("9.99"), Decimal("10.00"), pa.decimal128(10, 2)),
        (Decimal("-10.00"), Decimal("-9.99"), pa.decimal128(10, 2)),
        (date(2025, 12, 31), date(2026, 1, 1), pa.date32()),
        (
            datetime(2026, 1, 1, tzinfo=UTC),
            datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=1),
            pa.timestamp("us", "UTC"),
        ),
        (False, True, pa.bool_()),
    ],
)
def test_values_compare_as_java_compares_them(lesser: object, greater: object, kind: pa.DataType) -> None:
    assert _one(Change("a", greater, 0), Change("a", lesser, 1), kind=kind) == 0
    assert _one(Change("a", lesser, 0), Change("a", greater, 1), kind=kind) == 1
    assert _one(Change("a", lesser, 0), Change("a", greater, 1), Change("a", lesser, 2), kind=kind) == 1


@given(st.lists(st.text(max_size=3), min_size=1, max_size=6), st.text(max_size=3))
def test_texts_compare_by_utf_16_units(logged: list[str], stored: str) -> None:
    changes = [Change("a", text, number + 1) for number, text in enumerate(logged)]
    base = {"a": Change("a", stored, 0)}

    assert _merged(base, changes, EVENT_TIME, pa.string()) == _folded(base, changes, EVENT_TIME)


def test_several_ordering_fields_compare_one_after_the_other() -> None:
    rule = MergeRule(("day", "turn"), is_base_ordered=True, are_deletes_ordered=True)
    schema = pa.schema([(RECORD_KEY, pa.string()), ("day", pa.int64()), ("turn", pa.string()), ("tag", pa.int64())])
    base = pa.Table.from_pylist(
        [{RECORD_KEY: key, "day": 2, "turn": "m", "tag": 0} for key in ("less", "more", "later")], schema=schema
    )
    rows = pa.Table.from_pylist(
        [
            {RECORD_KEY: "less", "day": 2, "turn": "a", "tag": 1},
            {RECORD_KEY: "more", "day": 2, "turn": "z", "tag": 1},
            {RECORD_KEY: "later", "day": 3, "turn": "a", "tag": 1},
        ],
        schema=schema,
    )
    none = np.zeros(3, dtype=bool)
    ordering = tuple(rows.column(name).combine_chunks() for name in rule.ordering)
    whole = np.full(3, -1)
    changes = Changes(rows.column(RECORD_KEY).combine_chunks(), rows, np.arange(3), ordering, none, none, whole, ())

    merged = merge(base, changes, rule)

    tags = dict(zip(merged.column(RECORD_KEY).to_pylist(), merged.column("tag").to_pylist(), strict=True))
    assert tags == {"less": 0, "more": 1, "later": 1}


def test_of_two_base_rows_with_one_key_the_first_changes_as_in_java() -> None:
    rows = [Change("a", 1, 0), Change("b", 1, 1), Change("a", 1, 2)]

    merged = merge(_table(rows, pa.int64()), _changes([Change("a", 5, 9)], EVENT_TIME, pa.int64()), EVENT_TIME)

    assert merged.column("tag").to_pylist() == [1, 2, 9]


def test_base_rows_that_stand_keep_their_order_and_added_rows_follow() -> None:
    base = {key: Change(key, 1, number) for number, key in enumerate("dcba")}

    merged = _merged(base, [Change("z", 1, 9), Change("c", 0, 8), Change("b", 1, 7)], EVENT_TIME, pa.int64())

    assert list(merged.items()) == [("d", 0), ("c", 1), ("a", 3), ("z", 9), ("b", 7)]


def test_a_base_in_many_chunks_and_twenty_thousand_changes_merge_as_the_fold_does() -> None:
    generator = np.random.default_rng(7)
    base = {f"k{n}": Change(f"k{n}", int(generator.integers(100)), n) for n in range(2_000)}
    changes = [
        Change(f"k{generator.integers(3_000)}", int(generator.integers(100)), 10_000 + n, is_delete=n % 7 == 0)
        for n in range(20_000)
    ]
    whole = _table(list(base.values()), pa.int64())
    chunked = pa.concat_tables([whole.slice(0, 700), whole.slice(700, 1), whole.slice(701)])

    merged = merge(chunked, _changes(changes, EVENT_TIME, pa.int64()), EVENT_TIME)

    tags = dict(zip(merged.column(RECORD_KEY).to_pylist(), merged.column("tag").to_pylist(), strict=True))
    assert tags == _folded(base, changes, EVENT_TIME)
