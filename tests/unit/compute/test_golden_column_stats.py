"""Statistics made of the files of golden tables are those in their own indexes, but for what is named here."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.compute.column_stats import StatsReader, partition_ranges
from hudi_engine.compute.footer_ranges import Ranges
from hudi_engine.compute.indexed_columns import columns_to_index, type_at
from hudi_engine.index.column_range import widest_bounds
from hudi_engine.index.definitions import IndexVersion
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.index import Index
from hudi_engine.index.name_ids import partition_of_identifier
from hudi_engine.index.payloads.column_stats import COLUMN_STATS
from hudi_engine.index.stats_entries import stats_entries
from hudi_engine.open import IndexedTable, open_table
from hudi_engine.storage.protocol import FileStat
from hudi_engine.validate.bounds import objections_to_file
from hudi_engine.validate.column_facts import facts_of_base_file, facts_of_log_file
from hudi_engine.validate.entries import entries_of
from hudi_engine.validate.subject import subject_of
from tests.golden.expected_indexes import expected_indexes
from tests.golden.unpack import unpack
from tests.kit.subjects import Count

Row = dict[str, Any]

NAN = "Java has 0.0 for both bounds where a base file holds NaN (#18754)"
LOGGED_NAN = "Java has NaN for the greatest where a log holds it, ours is infinity"
LONG_TEXT = "Java takes all texts for nulls where one is too long for a footer (#18755)"
LATER = "Java says nothing of a column that came later, ours is all nulls"
NESTED = "0.15 has entries without bounds for lists, maps and structs in logs"
UNWRAPPED = "0.15 forgets which wrapper it had as it compacts its metadata table"
PARTIAL = "Java has entries for the columns of a partial update, by which its queries drop rows"
REPLACED = "Java counts the rows that a replacement replaced, until the next commit to the partition"
EXPECTED: Mapping[str, tuple[Mapping[str | None, int], Mapping[str | None, int]]] = {
    "v6_cow_indexed": ({None: 63}, {}),
    "v6_mor_compacted_by_1_2": ({None: 70}, {}),
    "v6_mor_pending": ({None: 36}, {}),
    "v6_mor_pending_rolled_back": ({None: 54}, {}),
    "v6_mor_statistics": ({None: 230, NESTED: 18, LONG_TEXT: 1, UNWRAPPED: 6, NAN: 1, LOGGED_NAN: 4}, {}),
    "v8_cow_orders": ({None: 275, LATER: 14}, {None: 67, LATER: 1}),
    "v8_cow_statistics": ({None: 201, NAN: 7, LONG_TEXT: 1}, {None: 33, NAN: 4, LONG_TEXT: 1}),
    "v8_mor_indexed": ({None: 56}, {None: 14}),
    "v8_mor_pending": ({None: 28}, {None: 7}),
    "v8_mor_pending_rolled_back": ({None: 42}, {None: 7}),
    "v8_mor_services": ({None: 49}, {REPLACED: 7, None: 7}),
    "v9_cow_archived": ({None: 28}, {None: 14}),
    "v9_cow_expression_index": ({None: 63}, {None: 14}),
    "v9_cow_orders": ({None: 292, LATER: 14}, {None: 71, LATER: 1}),
    "v9_cow_rolled_back": ({None: 91}, {None: 21}),
    "v9_cow_statistics": ({None: 212, NAN: 7, LONG_TEXT: 1}, {None: 35, NAN: 4, LONG_TEXT: 1}),
    "v9_mor_commit_time": ({None: 126}, {None: 21}),
    "v9_mor_compacted": ({None: 70}, {}),
    "v9_mor_deletions": ({None: 80}, {}),
    "v9_mor_expression_index": ({None: 63}, {None: 14}),
    "v9_mor_indexed": ({None: 56}, {None: 14}),
    "v9_mor_journeys": ({None: 126}, {None: 27}),
    "v9_mor_killed": ({None: 35}, {None: 21}),
    "v9_mor_orders": ({None: 309, LATER: 15}, {None: 68, LATER: 4}),
    "v9_mor_partial": ({None: 42, PARTIAL: 15}, {}),
    "v9_mor_pending": ({None: 28}, {None: 7}),
    "v9_mor_pending_rolled_back": ({None: 42}, {None: 7}),
    "v9_mor_services": ({None: 49}, {REPLACED: 7, None: 7}),
    "v9_mor_upgraded": ({None: 196}, {None: 21}),
}
"""Of each table with statistics, how many entries of files, and of partitions, are equal (None) or differ in what."""

GOLDEN = Path(__file__).parents[2] / "golden"


def difference(ours: Row | None, theirs: Row | None) -> str | None:
    """Which of the known differences it is; None for entries that are equal, and an unknown one fails."""
    reason: str | None = None
    match ours, theirs:
        case (None, dict()) if theirs["column_name"] in {"tags", "amounts", "place"} and not theirs["min"]:
            reason = NESTED
        case (None, dict()) if ".log." in theirs["file_name"]:
            reason = PARTIAL
        case (dict(), None) if not ours["min"] and ours["null_count"] == ours["value_count"]:
            reason = LATER
        case (dict(), dict()):
            reason = _difference(ours, theirs)
        case _:
            pytest.fail(f"{ours} where {theirs} is wanted")
    return reason


def _difference(ours: Row, theirs: Row) -> str | None:
    differing = {name for name in ours if ours[name] != theirs[name]}
    least, greatest = ("".join(ours[name].values()) for name in ("min", "max"))
    reason: str | None = None
    if not differing:
        reason = None
    elif differing <= {"min", "max"} and greatest == "inf":
        reason = LOGGED_NAN if "nan" in theirs["max"].values() else NAN
    elif differing <= {"min", "max", "null_count"} and greatest == repr(widest_bounds(pa.string())[1]):
        reason = LONG_TEXT
    elif differing == {"min", "max"} and {*ours["min"]} <= {"date", "decimal"} and {*theirs["min"]} <= {"int", "bytes"}:
        reason = UNWRAPPED
    elif differing == {"value_count", "null_count"} and ours["column_name"] == "discount" and theirs["is_tight_bound"]:
        assert ours["value_count"] - theirs["value_count"] == ours["null_count"] - theirs["null_count"]
        reason = LATER
    elif ours["is_tight_bound"] and theirs["value_count"] > ours["value_count"]:
        reason = REPLACED
    else:
        pytest.fail(f"{ours} where {theirs} is wanted: {differing}, {least}")
    return reason


class Made:
    """What we make of a golden table, beside what is there."""

    def __init__(self, opened: IndexedTable) -> None:
        self.opened, self.config = opened, opened.table.config
        self.snapshot = opened.table.snapshot()
        self.schema = opened.table.row_schema(self.snapshot)
        self.index = opened.metadata.index("column_stats")
        definition = self.index.definition
        self.version = IndexVersion.V1 if definition is None else definition.version
        made = columns_to_index(self.schema, self.config.properties, self.config.version, self.version)
        # 1.2.0 limits itself in version 6, too, where we index what any release does.
        self.columns = made if definition is None else definition.source_fields
        assert self.columns == made or (self.config.version == 6 and {*self.columns} < {*made})

    def of_files(self) -> dict[tuple[str, str], Ranges | None]:
        is_completed = self.snapshot.view.completions.is_completed
        reader = StatsReader(self.opened.table.storage, self.columns, self.version, is_completed)
        files = list(self.current())
        found = reader.ranges_of([reader.look(where, stat) for where, stat in files])
        return {(where, stat.name): ranges for (where, stat), ranges in zip(files, found, strict=True)}

    def of_partitions(self, files: Mapping[tuple[str, str], Ranges | None]) -> Iterator[Ranges | None]:
        kinds = {column: kind for column in self.columns if (kind := type_at(self.schema, column)) is not None}
        for partition in {found.partition for found in self.snapshot.slices}:
            names = [
                file.stat.name
                for found in self.snapshot.slices
                if found.partition == partition
                for file in (*((found.base_file,) if found.base_file else ()), *found.log_files)
            ]
            yield partition_ranges(partition, [files[partition, name] for name in names], kinds, self.version)

    def rows(self, ranges: Sequence[Ranges | None]) -> dict[str, Row]:
        return by_key([self.decoded(ranges)])

    def decoded(self, ranges: Sequence[Ranges | None]) -> pa.Table:
        entries = stats_entries((e for each in ranges for e in each or ()), self.config.version, self.version)
        return COLUMN_STATS.decode(entries, WRITTEN_SCHEMA[self.config.version])

    def current(self) -> Iterator[tuple[str, FileStat]]:
        """The files that the index `files` has."""
        known = {
            (partition_of_identifier(row["key"]), row["name"])
            for rows in self.opened.metadata.index("files").scan()
            for row in rows.to_pylist()
        }
        for partition, stats in self.opened.table.partitions().items():
            yield from ((partition, stat) for stat in stats if (partition, stat.name) in known)


def by_key(tables: Sequence[pa.Table]) -> dict[str, Row]:
    """By key the rows, of bounds the wrapper and the value's spelling: NaN is NaN, and -0.0 is not 0.0."""
    found = {}
    for row in (row for table in tables for row in table.to_pylist()):
        bounds = {
            name: {wrapper: repr(value) for wrapper, value in (row[name] or {}).items() if value is not None}
            for name in ("min", "max")
        }
        found[row["key"]] = row | bounds
    return found


def stored(index: Index) -> dict[str, Row]:
    return by_key(list(index.scan()))


def compared(ours: Mapping[str, Row], theirs: Mapping[str, Row]) -> Counter[str | None]:
    return Counter(difference(ours.get(key), theirs.get(key)) for key in {*ours, *theirs})


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_statistics_of_golden_files_are_those_that_java_made_but_for_what_is_named(name: str, tmp_path: Path) -> None:
    opened = open_table(str(unpack(name, tmp_path)))

    made = Made(opened)
    files = made.of_files()
    of_files = compared(made.rows(list(files.values())), stored(made.index))
    of_partitions: Counter[str | None] = Counter()
    if "partition_stats" in opened.metadata.index_names:
        ours = made.rows(list(made.of_partitions(files)))
        of_partitions = compared(ours, stored(opened.metadata.index("partition_stats")))

    assert (of_files, of_partitions) == EXPECTED[name]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["v6_mor_statistics", "v8_cow_statistics", "v9_cow_statistics", "v9_mor_orders"])
def test_the_validator_finds_nothing_wrong_with_what_we_make(name: str, tmp_path: Path) -> None:
    opened = open_table(str(unpack(name, tmp_path)))
    subject = subject_of(opened.table, opened.metadata, None, Count())
    made = Made(opened)

    facts = {
        stat.name: (facts_of_log_file if stat.name.startswith(".") else facts_of_base_file)(subject, stat, made.columns)
        for _, stat in made.current()
    }
    judged = 0
    for entry in entries_of(made.decoded(list(made.of_files().values()))):
        if entry.column_name in facts[entry.file_name]:
            judged += 1
            assert objections_to_file(entry, facts[entry.file_name][entry.column_name]) == []

    assert judged >= 190


@pytest.mark.thorough
def test_every_golden_table_with_statistics_is_compared(tmp_path: Path) -> None:
    names = sorted(path.parent.name for path in GOLDEN.glob("*/indexes.json.gz"))

    assert {name for name in names if "column_stats" in expected_indexes(name)} == set(EXPECTED)
