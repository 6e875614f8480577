"""Indexes of every kind but the record index, dropped from what Hudi wrote and built again: they are what they were.

Where statistics are not, that is on purpose, and each table's differences are named here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import pytest

from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import Ready, build
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.index.definitions import IndexDefinition, IndexVersion
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.index.metadata_table import MetadataTable
from tests.golden.in_memory import golden_in_memory
from tests.golden.names import EXPECTED_NAMES
from tests.golden.with_index import indexes_of
from tests.kit.indexed import Entry, entries_of
from tests.kit.valid import require_valid
from tests.unit.action.sites import site_of

STATS = IndexKind.COLUMN_STATS.value
KINDS = (IndexKind.BLOOM_FILTERS, IndexKind.COLUMN_STATS, IndexKind.SECONDARY_INDEX)
QUICK = ("v6_cow_indexed", "v8_mor_indexed", "v9_mor_secondary")

# Columns in which Java's statistics and ours differ, and why.
NAN = frozenset({"near", "far"})  # Java has 0.0 for both bounds where a file holds NaN (#18754), NaN where a log does
LONG = frozenset({"name"})  # texts too long for a footer: Java takes them for nulls (#18755), ours have any bounds
NESTED = frozenset({"tags", "place", "amounts"})  # 0.15 counts lists, structs and maps in logs, which nobody asks for
LATER = frozenset({"discount"})  # of files without it Java says nothing, and drops those that are asked for its nulls
UNUSED = frozenset({"_hoodie_commit_seqno", "_hoodie_file_name"})  # left out by 1.2, which had made the index; 0.15 has
WRONG: Mapping[str, frozenset[str]] = {
    "v6_mor_statistics": NAN | LONG,
    "v8_cow_statistics": NAN | LONG,
    "v9_cow_statistics": NAN | LONG,
}
TOO_MUCH: Mapping[str, frozenset[str]] = {"v6_mor_statistics": NESTED}
LACKING: Mapping[str, frozenset[str]] = {
    "v6_mor_compacted_by_1_2": UNUSED,
    "v8_cow_orders": LATER,
    "v9_cow_orders": LATER,
    "v9_mor_orders": LATER,
}
UPGRADED = "v9_mor_upgraded"  # its index is of the old version, and comes to be of the new one
PARTIAL = "v9_mor_partial"  # of logs with partial updates Java's entries drop rows; ours have none
LEFT_BEHIND = "v9_cow_rolled_back"  # Java keeps entries of files that a commit without an end left behind
ANY_COLUMN = (PARTIAL, LEFT_BEHIND, UPGRADED)


def of_our_kinds(name: str) -> tuple[str, ...]:
    return tuple(index for index in indexes_of(name) if _kind(index) in KINDS)


def _kind(index: str) -> IndexKind | None:
    return kind_of(index) if index else None


TABLES = [name for name in sorted(EXPECTED_NAMES) if of_our_kinds(name)]
WITH_OTHERS_THAN_STATS = [name for name in TABLES if {*of_our_kinds(name)} - {STATS}]
DIFFERENT = sorted({*WRONG, *TOO_MUCH, *LACKING})
SAME = [name for name in TABLES if STATS in of_our_kinds(name) and name not in {*DIFFERENT, *ANY_COLUMN}]


class Rebuilt:
    """A golden table whose indexes of these kinds were dropped and built again in one plan."""

    def __init__(self, name: str) -> None:
        self.names = of_our_kinds(name)
        site = site_of(golden_in_memory(name))
        before = site.metadata()
        self.before = _entries(before, self.names)
        self.defined = _definitions(before, self.names)
        columns = {
            each.name: each.source_fields for each in self.defined.values() if each.kind is IndexKind.SECONDARY_INDEX
        }
        run_drop(site, (*self.names, IndexKind.PARTITION_STATS))  # which cannot be without statistics of columns
        self.dropped = site.metadata()
        outcome = build(site, IndexRequest(self.names, columns=columns))
        assert isinstance(outcome, Ready)
        self.outcome = outcome
        self.metadata = site.metadata()
        self.after = _entries(self.metadata, self.names)

    def stats(self) -> tuple[dict[str, Entry], dict[str, Entry]]:
        """The statistics that Java had and those that we have, by key."""
        before, after = ({each["key"]: each for each in found[STATS]} for found in (self.before, self.after))
        return before, after


@cache
def rebuilt(name: str) -> Rebuilt:
    return Rebuilt(name)


def _entries(metadata: MetadataTable, names: Sequence[str]) -> dict[str, list[Entry]]:
    return {name: entries_of(metadata.index(name)) for name in names}


def _definitions(metadata: MetadataTable, names: Sequence[str]) -> dict[str, IndexDefinition]:
    return {name: metadata.definitions[name] for name in names if name in metadata.definitions}


def tables(names: Sequence[str]) -> pytest.MarkDecorator:
    """A few in the quick tests, all in the thorough ones."""
    return pytest.mark.parametrize(
        "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.thorough) for name in names]
    )


@tables(TABLES)
def test_one_plan_builds_again_what_was_dropped(name: str) -> None:
    found = rebuilt(name)

    assert not set(found.names) & set(found.dropped.index_names)
    assert not set(found.names) & set(found.dropped.definitions)
    assert {end.index for end in found.outcome.ends} == set(found.names) <= set(found.metadata.index_names)


@tables(WITH_OTHERS_THAN_STATS)
def test_bloom_filters_and_secondary_indexes_are_what_java_had(name: str) -> None:
    found = rebuilt(name)
    others = set(found.names) - {STATS}

    assert others
    for index in others:
        assert found.before[index]
        assert found.after[index] == found.before[index], index


@tables(SAME)
def test_statistics_are_what_java_had(name: str) -> None:
    found = rebuilt(name)

    assert found.before[STATS]
    assert found.after[STATS] == found.before[STATS]


@tables(DIFFERENT)
def test_statistics_differ_from_java_in_what_is_named_here_and_nothing_else(name: str) -> None:
    before, after = rebuilt(name).stats()

    changed = {each["column_name"] for key, each in before.items() if key in after and after[key] != each}
    assert changed == WRONG.get(name, frozenset())
    assert {before[key]["column_name"] for key in before.keys() - after.keys()} == TOO_MUCH.get(name, frozenset())
    assert {after[key]["column_name"] for key in after.keys() - before.keys()} == LACKING.get(name, frozenset())


@pytest.mark.thorough
def test_logs_with_partial_updates_have_no_statistics() -> None:
    before, after = rebuilt(PARTIAL).stats()

    assert all(before[key] == each for key, each in after.items())
    gone = {before[key]["file_name"] for key in before.keys() - after.keys()}
    assert len(gone) == 3
    assert all(".log." in name for name in gone)


@pytest.mark.thorough
def test_files_that_a_commit_without_an_end_left_behind_have_no_statistics() -> None:
    before, after = rebuilt(LEFT_BEHIND).stats()

    assert all(before[key] == each for key, each in after.items())
    gone = {before[key]["file_name"] for key in before.keys() - after.keys()}
    done = {instant.requested_at for instant in rebuilt(LEFT_BEHIND).metadata.data_timeline.completed()}
    assert gone
    assert not {name.rpartition("_")[2].partition(".")[0] for name in gone} & done


@pytest.mark.thorough
def test_statistics_of_an_upgraded_table_get_types_and_are_otherwise_what_they_were() -> None:
    before, after = rebuilt(UPGRADED).stats()

    assert {each["value_type"] for each in before.values()} == {None}
    assert None not in {each["value_type"] for each in after.values()}
    plain = {key: {**each, "value_type": None, "value_type_info": None} for key, each in after.items()}
    assert _without_wrappers(plain) == _without_wrappers(before)


def _without_wrappers(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """The two versions keep dates, times and decimals in other wrappers."""
    bare = {"min": None, "max": None}
    bounds = {key: (each["min"] and each["min"][1], each["max"] and each["max"][1]) for key, each in entries.items()}
    return {key: {**each, **bare, "bounds": bounds[key]} for key, each in entries.items()}


@tables(TABLES)
def test_definitions_are_what_java_had(name: str) -> None:
    found = rebuilt(name)

    expected = dict(found.defined)
    if name == UPGRADED:
        expected[STATS] = replace(expected[STATS], version=IndexVersion.V2)
    if name == "v6_mor_compacted_by_1_2":
        del expected[STATS]  # 1.2 wrote a file of definitions, which version 6 does not have
    assert _definitions(found.metadata, found.names) == expected
    assert bool(expected) == (found.metadata.data.config.version >= 8)


@tables(TABLES)
def test_a_validation_finds_nothing_wrong(name: str) -> None:
    found = rebuilt(name)

    require_valid(found.metadata, found.names)


def test_each_kind_is_in_some_table() -> None:
    assert {_kind(index) for name in TABLES for index in of_our_kinds(name)} == set(KINDS)
    assert {*DIFFERENT, *ANY_COLUMN} <= set(TABLES)
