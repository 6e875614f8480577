"""Newer rows change older ones as Hudi's payload does (section 3.6): the logs among each other first, then the base."""

import math
import uuid
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Unsupported
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of

T = TypeVar("T")
Listing = dict[str, tuple[int, bool]]
KEYS = st.sampled_from("pqr")
LISTINGS = st.dictionaries(st.sampled_from("abc"), st.tuples(st.integers(1, 9), st.booleans()), max_size=3)
FILE_LAYERS = st.lists(st.dictionaries(KEYS, st.none() | LISTINGS, max_size=3), min_size=1, max_size=5)
FILES, STATS = family_of(IndexKind.FILES), family_of(IndexKind.COLUMN_STATS)


def table_of(schema: pa.Schema, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema)


def folded(layers: list[dict[str, T]], combine: Callable[[T, T], T]) -> dict[str, T]:
    """What Hudi makes of a base and logs."""

    def over(older: dict[str, T], newer: dict[str, T]) -> dict[str, T]:
        met = {key: combine(older[key], value) if key in older else value for key, value in newer.items()}
        return {**older, **met}

    base, *logs = layers
    return over(base, reduce(over, logs, {}))


def combined_listings(older: Listing | None, newer: Listing | None) -> Listing | None:
    if older is None or newer is None:
        return newer
    found = dict(older)
    for name, (size, is_deleted) in newer.items():
        before = found.pop(name, None)
        if before is None or (is_deleted and before[1]):
            found[name] = (size, is_deleted)
        elif not is_deleted:
            found[name] = (max(size, before[0]), False)
    return found


def file_rows(layer: dict[str, Listing | None]) -> list[dict[str, Any]]:
    return [
        {"key": key, "name": name, "size_bytes": size, "is_deleted": is_deleted}
        for key, listing in layer.items()
        for name, (size, is_deleted) in ({None: (None, True)} if listing is None else listing).items()
    ]


@given(FILE_LAYERS)
def test_listings_merge_as_hudi_merges_their_maps(layers: list[dict[str, Listing | None]]) -> None:
    # An empty listing leaves no row, so it cannot be told from none.
    layers = [{key: each for key, each in layer.items() if each != {}} for layer in layers]
    sized = [
        {k: v and {n: (0 if d else s, d) for n, (s, d) in v.items()} for k, v in layer.items()} for layer in layers
    ]

    merged = FILES.merge([table_of(FILES.schema, file_rows(layer)) for layer in sized])

    expected = file_rows(folded(sized, combined_listings))
    assert sorted(map(repr, merged.to_pylist())) == sorted(map(repr, expected))


@pytest.mark.parametrize("kind", [IndexKind.RECORD_INDEX, IndexKind.SECONDARY_INDEX, IndexKind.BLOOM_FILTERS])
@given(layers=st.lists(st.dictionaries(KEYS, st.booleans(), max_size=3), min_size=1, max_size=5))
def test_the_newest_row_of_a_key_wins(kind: IndexKind, layers: list[dict[str, bool]]) -> None:
    family = family_of(kind)
    tables = [table_of(family.schema, [{"key": k, "is_deleted": d} for k, d in layer.items()]) for layer in layers]

    merged = family.merge(tables)

    assert merged.schema == family.schema
    found = {row["key"]: row["is_deleted"] for row in merged.to_pylist()}
    assert found == folded(layers, lambda _, newer: newer)
    assert len(found) == len(merged)


def test_what_follows_the_deletion_of_a_location_counts() -> None:
    family = family_of(IndexKind.RECORD_INDEX)
    place = table_of(family.schema, [{"key": "k", "partition": "p", "file_id": "f", "is_deleted": False}])
    deletion = family.deleted(pa.array(["k"], pa.large_string()))

    assert family.merge([place, deletion])["is_deleted"].to_pylist() == [True]
    assert family.merge([place, deletion, place]).to_pylist() == place.to_pylist()


def statistics(bound: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("value_count", "null_count", "total_bytes", "total_raw_bytes"), 1)
    rest = {"file_name": "p", "column_name": "c", "is_tight_bound": False, "is_deleted": False}
    return {"key": "k", **counts, **rest, "min": bound, "max": bound, **changes}


def merged_statistics(*rows: dict[str, Any]) -> dict[str, Any]:
    (found,) = STATS.merge([STATS.schema.empty_table(), *(table_of(STATS.schema, [row]) for row in rows)]).to_pylist()
    for name in ("min", "max"):
        found[name] = found[name] and {kind: value for kind, value in found[name].items() if value is not None}
    return dict(found)


NUMBERS = st.tuples(st.none() | st.integers(-3, 3), st.booleans(), st.booleans())
Numbers = tuple[int | None, int | None, int, bool, bool]


@given(st.lists(st.dictionaries(KEYS, NUMBERS, max_size=3), min_size=1, max_size=5))
def test_statistics_widen_unless_they_are_tight_or_deleted(
    layers: list[dict[str, tuple[int | None, bool, bool]]],
) -> None:
    def combine(older: Numbers, newer: Numbers) -> Numbers:
        if older[4] or newer[4] or newer[3]:
            return newer
        least, greatest = (
            [each for each in pair if each is not None] for pair in zip(older[:2], newer[:2], strict=True)
        )
        return (min(least, default=None), max(greatest, default=None), older[2] + newer[2], False, newer[4])

    given_rows = [{k: (n, n, 1, tight, deleted) for k, (n, tight, deleted) in layer.items()} for layer in layers]
    tables = [
        table_of(
            STATS.schema,
            [
                statistics(None if n is None else {"long": n}, key=k, is_tight_bound=tight, is_deleted=deleted)
                for k, (n, tight, deleted) in layer.items()
            ],
        )
        for layer in layers
    ]

    found = {
        row["key"]: (
            row["min"] and row["min"]["long"],
            row["max"] and row["max"]["long"],
            row["value_count"],
            row["is_tight_bound"],
            row["is_deleted"],
        )
        for row in STATS.merge(tables).to_pylist()
    }
    assert found == folded(given_rows, combine)


@pytest.mark.parametrize(
    ("kind", "ascending"),
    [
        ("double", [-math.inf, -1.5, -0.0, 0.0, 1.5, math.inf, math.nan]),
        ("float", [-1.5, -0.0, 0.0, math.nan]),
        ("string", ["", "a", "\ud7ff", "\U0001f600", "\ue000"]),
        ("bytes", [b"", b"\x80", b"\xff", b"\x00", b"\x7f"]),
        ("boolean", [False, True]),
    ],
)
def test_bounds_of_each_type_are_in_the_order_of_java(kind: str, ascending: list[Any]) -> None:
    for low, high in pairwise(ascending):
        for rows in ((low, high), (high, low)):
            found = merged_statistics(*(statistics({kind: each}) for each in rows))

            assert repr((found["min"][kind], found["max"][kind])) == repr((low, high))
            assert found["value_count"] == 2


def test_uuids_are_in_the_order_of_java_whose_halves_have_signs() -> None:
    low, high = str(uuid.UUID(int=1 << 127)), str(uuid.UUID(int=1))

    found = merged_statistics(*(statistics({"string": each}, value_type=11) for each in (high, low)))

    assert (found["min"], found["max"]) == ({"string": low}, {"string": high})


def test_decimals_are_compared_as_numbers_and_not_as_bytes() -> None:
    low, high = b"\xff\x7f", b"\x02"  # -129 and 2

    rows = [statistics({"bytes": each}, value_type=10, value_type_info="5,1") for each in (high, low)]

    assert merged_statistics(*rows)["min"] == {"bytes": low}


def test_times_beyond_the_calendar_of_python_widen_too() -> None:
    far = pa.array([1 << 61, -(1 << 61)]).cast(pa.timestamp("us", "UTC"))
    rows = table_of(STATS.schema, [statistics(None), statistics(None)])
    bounds = pa.StructArray.from_arrays(
        [
            far if field.name == "timestamp_micros" else pa.nulls(2, field.type)
            for field in STATS.schema.field("min").type
        ],
        fields=list(STATS.schema.field("min").type),
    )
    rows = rows.set_column(3, STATS.schema.field(3), bounds).set_column(4, STATS.schema.field(4), bounds)

    merged = STATS.merge([rows[:1], rows[1:]])

    assert merged["min"].combine_chunks() == bounds[1:]
    assert merged["max"].combine_chunks() == bounds[:1]


def test_bounds_that_hudi_cannot_compare_are_unsupported() -> None:
    with pytest.raises(Unsupported, match="int and long"):
        merged_statistics(statistics({"int": 1}), statistics({"long": 2}))


def test_counts_that_are_not_known_stay_unknown() -> None:
    found = merged_statistics(statistics(None, value_count=None), statistics({"int": 1}))

    assert found["value_count"] is None
    assert (found["min"], found["null_count"]) == ({"int": 1}, 2)
