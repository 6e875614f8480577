import math
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.index.keys import column_stats_key
from hudi_engine.validate.column_stats import check_column_stats
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.subject import Sample
from tests.golden.unpack import unpack
from tests.kit import damaged
from tests.kit.damaged import Entry
from tests.kit.subjects import subject_at

pytestmark = pytest.mark.thorough

INDEX = "column_stats"
GOLDEN = ("v6_cow_indexed", "v8_mor_indexed", "v9_mor_indexed")
each_table = pytest.mark.parametrize("folder", GOLDEN, indirect=True)
# Where a file holds NaN, every release of Hudi keeps 0 for both bounds of the column, and skips the file's other rows.
WITH_NAN = {"v6_mor_statistics", "v8_cow_statistics", "v9_cow_statistics"}
MODEL = "org.apache.hudi.avro.model."


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(getattr(request, "param", "v9_mor_indexed"), tmp_path)


def check(folder: Path) -> list[Discrepancy]:
    return list(check_column_stats(subject_at(folder)))


def in_short(found: list[Discrepancy]) -> list[tuple[Fault, str]]:
    return [(each.fault, each.key) for each in found]


def base_file(folder: Path) -> tuple[str, str]:
    """A partition and a base file in it."""
    name = min(file.name for file in (folder / "hall").glob("*.parquet"))
    return "hall", name


def log_file(folder: Path) -> tuple[str, str]:
    name = min(file.name for file in (folder / "hall").glob(".*.log.*") if file.suffix != ".crc")
    return "hall", name


def statistics(edit: Callable[[Entry], None]) -> Callable[[Entry], None]:
    """An edit of what an entry says of its column."""
    return lambda entry: edit(entry["ColumnStatsMetadata"])


def set_bound(name: str, wrapper: str, value: object) -> Callable[[Entry], None]:
    return statistics(lambda says: says.update({name: (f"{MODEL}{wrapper}", {"value": value})}))


@pytest.mark.parametrize("folder", sorted(WITH_NAN), indirect=True)
def test_bounds_that_hudi_lost_to_nan_are_wrong(folder: Path) -> None:
    found = check(folder)

    assert found
    for each in found:
        assert each.fault is Fault.WRONG
        assert each.found.split(":")[0] in {"near", "far"}
        assert "where a file holds NaN" in each.expected


@pytest.mark.parametrize("folder", ["v9_cow_statistics"], indirect=True)
def test_nan_is_wrong_as_the_least_of_a_column_that_has_numbers(folder: Path) -> None:
    key = next(each.key for each in check(folder) if each.found.startswith("near: min 0.0"))
    damaged.change_entry(folder, INDEX, key, set_bound("minValue", "FloatWrapper", math.nan))

    (only,) = [each for each in check(folder) if each.key == key]

    assert only.found.startswith("near: min nan, ")


@pytest.mark.parametrize("folder", ["v9_mor_partial"], indirect=True)
def test_a_log_with_partial_updates_may_have_no_entries(folder: Path) -> None:
    (log,) = [file.name for file in folder.glob(".*_20261118125011117.log.1_*")]
    damaged.remove_entry(folder, INDEX, column_stats_key("celsius", "", log))

    assert not check(folder)


@each_table
@pytest.mark.parametrize("column", ["celsius", "sensor", "_hoodie_record_key"])
def test_a_lost_entry_is_missing(folder: Path, column: str) -> None:
    key = column_stats_key(column, *base_file(folder))
    damaged.remove_entry(folder, INDEX, key)

    found = check(folder)

    assert in_short(found) == [(Fault.MISSING, key)]
    assert found[0].place == "/".join(base_file(folder))


def test_a_lost_entry_of_a_log_is_missing(folder: Path) -> None:
    key = column_stats_key("seen", *log_file(folder))
    damaged.remove_entry(folder, INDEX, key)

    assert in_short(check(folder)) == [(Fault.MISSING, key)]


# The first base file has s-00 to s-11, of which sensor 0 has 0.1 degrees and sensor 11 has 11.1.
@each_table
@pytest.mark.parametrize(
    ("column", "edit", "found", "expected"),
    [
        ("celsius", set_bound("minValue", "DoubleWrapper", 0.2), "min 0.2", "min 0.1"),
        ("celsius", set_bound("maxValue", "DoubleWrapper", 11.0), "max 11.0", "max 11.1"),
        ("celsius", set_bound("maxValue", "DoubleWrapper", 11.2), "max 11.2", "max 11.1"),
        ("celsius", statistics(lambda says: says.update(minValue=None)), "min none", "min 0.1"),
        ("sensor", set_bound("minValue", "StringWrapper", "s-01"), "min 's-01'", "min 's-00'"),
        ("sensor", set_bound("maxValue", "StringWrapper", "s-1"), "max 's-1'", "max 's-11'"),
        ("seen", set_bound("maxValue", "IntWrapper", 9), "max 9", "max 10"),
        ("room", statistics(lambda says: says.update(nullCount=1)), "1 nulls", "0 nulls"),
        ("room", statistics(lambda says: says.update(valueCount=11)), "11 values", "12 values"),
        ("room", statistics(lambda says: says.update(totalSize=1)), "1 bytes", "98 bytes"),
        (
            "room",
            statistics(lambda says: says.update(totalUncompressedSize=1)),
            "1 bytes unpacked",
            "58 bytes unpacked",
        ),
    ],
)
def test_an_entry_that_says_otherwise_is_wrong(
    folder: Path, column: str, edit: Callable[[Entry], None], found: str, expected: str
) -> None:
    key = column_stats_key(column, *first_base_file(folder))
    damaged.change_entry(folder, INDEX, key, edit)

    (only,) = check(folder)

    assert (only.fault, only.key, only.place) == (Fault.WRONG, key, "/".join(first_base_file(folder)))
    assert (only.found, only.expected) == (f"{column}: {found}", f"{column}: {expected}")


def first_base_file(folder: Path) -> tuple[str, str]:
    """The one of the table's first commit in the partition."""
    return "hall", min((file.name for file in (folder / "hall").glob("*.parquet")), key=lambda name: name.split("_")[2])


@pytest.mark.parametrize("folder", ["v8_mor_indexed", "v9_mor_indexed"], indirect=True)
@pytest.mark.parametrize(
    ("edit", "found", "expected"),
    [
        (set_bound("minValue", "StringWrapper", "s-01"), "min 's-01'", "min 's-00'"),
        (set_bound("maxValue", "StringWrapper", "s-2"), "max 's-2'", "max 's-01'"),
        (statistics(lambda says: says.update(valueCount=1)), "1 values", "2 values"),
        (statistics(lambda says: says.update(nullCount=1)), "1 nulls", "0 nulls"),
        (statistics(lambda says: says.update(totalSize=9)), "9 bytes", "0 bytes"),
    ],
)
def test_an_entry_of_a_log_that_says_otherwise_is_wrong(
    folder: Path, edit: Callable[[Entry], None], found: str, expected: str
) -> None:
    key = column_stats_key("sensor", *first_log(folder))
    damaged.change_entry(folder, INDEX, key, edit)

    (only,) = check(folder)

    assert (only.fault, only.key, only.place) == (Fault.WRONG, key, "/".join(first_log(folder)))
    assert (only.found, only.expected) == (f"sensor: {found}", f"sensor: {expected}")


def first_log(folder: Path) -> tuple[str, str]:
    """The log of the second commit, with rows of s-00 and s-01."""
    names = [file.name for file in (folder / "hall").glob(".*.log.*") if file.suffix != ".crc"]
    return "hall", min(names, key=lambda name: name.split("_")[1])


def test_bounds_in_another_type_are_wrong(folder: Path) -> None:
    key = column_stats_key("seen", *first_base_file(folder))

    def widen(says: Entry) -> None:
        says["valueType"]["typeOrdinal"] = 4
        for name in ("minValue", "maxValue"):
            says[name] = (f"{MODEL}LongWrapper", says[name][1])

    damaged.change_entry(folder, INDEX, key, statistics(widen))

    (only,) = check(folder)

    assert (only.fault, only.found) == (Fault.WRONG, "seen: values of type long")


@each_table
def test_an_entry_of_a_file_that_is_not_there_is_a_ghost(folder: Path) -> None:
    entry = an_entry(folder, "seen")
    name = f"gone_{base_file(folder)[1]}"
    entry["ColumnStatsMetadata"]["fileName"] = name
    entry["key"] = column_stats_key("seen", "hall", name)
    damaged.add_entry(folder, INDEX, entry)

    found = check(folder)

    assert in_short(found) == [(Fault.GHOST, entry["key"])]
    assert found[0].place == name


@pytest.mark.parametrize("folder", ["v8_mor_indexed", "v9_mor_indexed"], indirect=True)
def test_an_entry_of_a_column_that_is_not_indexed_is_nobodys_concern(folder: Path) -> None:
    entry = an_entry(folder, "seen")
    entry["ColumnStatsMetadata"]["columnName"] = "colour"
    entry["key"] = column_stats_key("colour", *first_base_file(folder))
    damaged.add_entry(folder, INDEX, entry)

    assert not check(folder)


def test_an_entry_under_the_key_of_another_column_is_wrong(folder: Path) -> None:
    key = column_stats_key("seen", *first_base_file(folder))
    damaged.change_entry(folder, INDEX, key, statistics(lambda says: says.update(columnName="celsius")))

    assert in_short(check(folder)) == [(Fault.WRONG, key)]


@each_table
def test_an_entry_in_another_shard_is_found_by_nobody(folder: Path) -> None:
    key = column_stats_key("seen", *base_file(folder))
    entry = an_entry(folder, "seen", base_file(folder))
    damaged.remove_entry(folder, INDEX, key)
    number = damaged.shard_number(key, 2)
    other = next(text for text in map(str, range(99)) if damaged.shard_number(text, 2) != number)
    damaged.add_entry(folder, INDEX, entry, hashed=other)

    assert in_short(check(folder)) == [(Fault.MISSING, key), (Fault.GHOST, key)]


def test_what_a_lost_log_of_the_index_said_is_missing(folder: Path) -> None:
    for log in damaged.shard_files(folder, INDEX):
        if "20261118123255139" in log.name:
            log.unlink()

    found = check(folder)

    assert {(each.fault, each.place) for each in found} == {
        (Fault.MISSING, f"hall/{file.name}")
        for file in (folder / "hall").glob(".*_20261118123255139.log.*")
        if file.suffix != ".crc"
    }
    assert len(found) == len(subject_at(folder).metadata.definitions[INDEX].source_fields)


def test_a_sample_is_compared_with_its_own_entries_alone(folder: Path) -> None:
    subject = subject_at(folder, Sample(1, seed=1))
    (chosen,) = subject.slices
    damaged.rewrite_index(folder, INDEX, lambda stored: [])

    found = list(check_column_stats(subject))

    assert found
    assert all(each.fault is Fault.MISSING and chosen.file_id in each.place for each in found)


def an_entry(folder: Path, column: str, file: tuple[str, str] | None = None) -> Entry:
    key = column_stats_key(column, *(file or first_base_file(folder)))
    return next(entry for entry in damaged.entries(folder, INDEX) if entry["key"] == key)
