from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hudi_engine.index.keys import partition_stats_key
from hudi_engine.validate.partition_stats import check_partition_stats
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.subject import Sample
from tests.golden.unpack import unpack
from tests.kit import damaged
from tests.kit.damaged import Entry
from tests.kit.subjects import subject_at

pytestmark = pytest.mark.thorough

INDEX = "partition_stats"
each_table = pytest.mark.parametrize("folder", ["v8_mor_indexed", "v9_mor_indexed"], indirect=True)
# Where a file holds NaN, every release of Hudi keeps 0 for both bounds of the column, and skips the file's other rows.
WITH_NAN = {"v8_cow_statistics", "v9_cow_statistics"}
MODEL = "org.apache.hudi.avro.model."


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(getattr(request, "param", "v9_mor_indexed"), tmp_path)


def check(folder: Path) -> list[Discrepancy]:
    return list(check_partition_stats(subject_at(folder)))


def in_short(found: list[Discrepancy]) -> list[tuple[Fault, str, str]]:
    return [(each.fault, each.key, each.place) for each in found]


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


@each_table
def test_a_lost_entry_is_missing(folder: Path) -> None:
    key = partition_stats_key("celsius", "hall")
    damaged.remove_entry(folder, INDEX, key)

    assert in_short(check(folder)) == [(Fault.MISSING, key, "hall")]


# The attic has the sensors 30 to 35 and 41; its sensor 30 was read last at 30.3 degrees, and 31 is the coldest.
@each_table
@pytest.mark.parametrize(
    ("column", "edit", "found", "expected"),
    [
        ("celsius", set_bound("minValue", "DoubleWrapper", 30.4), "min 30.4", "min 30.3"),
        ("celsius", set_bound("minValue", "DoubleWrapper", 30.2), "min 30.2", "min 30.3"),
        ("celsius", set_bound("maxValue", "DoubleWrapper", 41.2), "max 41.2", "max 41.3"),
        ("sensor", set_bound("maxValue", "StringWrapper", "s-40"), "max 's-40'", "max 's-41'"),
        ("seen", set_bound("minValue", "IntWrapper", 11), "min 11", "min 10"),
        ("seen", statistics(lambda says: says.update(minValue=None)), "min none", "min 10"),
        ("room", statistics(lambda says: says.update(nullCount=1)), "1 nulls", "0 nulls"),
        ("room", statistics(lambda says: says.update(valueCount=8)), "8 values", "7 values"),
        ("room", statistics(lambda says: says.update(totalSize=1)), "1 bytes", "99 bytes"),
        (
            "room",
            statistics(lambda says: says.update(totalUncompressedSize=1)),
            "1 bytes unpacked",
            "59 bytes unpacked",
        ),
    ],
)
def test_an_entry_that_says_otherwise_is_wrong(
    folder: Path, column: str, edit: Callable[[Entry], None], found: str, expected: str
) -> None:
    key = partition_stats_key(column, "attic")
    damaged.change_entry(folder, INDEX, key, edit)

    (only,) = check(folder)

    assert (only.fault, only.key, only.place) == (Fault.WRONG, key, "attic")
    assert (only.found, only.expected) == (f"{column}: {found}", f"{column}: {expected}")


@pytest.mark.parametrize(
    ("column", "ordinal", "found"),
    [("seen", 12, "values of type date"), ("room", 16, "timestamp_micros values kept as string")],
)
def test_bounds_in_another_type_are_wrong(folder: Path, column: str, ordinal: int, found: str) -> None:
    key = partition_stats_key(column, "attic")
    damaged.change_entry(folder, INDEX, key, statistics(lambda says: says["valueType"].update(typeOrdinal=ordinal)))

    (only,) = check(folder)

    assert (only.fault, only.key, only.found) == (Fault.WRONG, key, f"{column}: {found}")


@each_table
def test_an_entry_that_is_not_tight_may_be_wide_and_never_narrow(folder: Path) -> None:
    wide, narrow = (partition_stats_key(column, "attic") for column in ("celsius", "seen"))
    damaged.change_entry(folder, INDEX, wide, statistics(lambda says: says.update(isTightBound=False)))
    damaged.change_entry(folder, INDEX, wide, set_bound("minValue", "DoubleWrapper", 0.0))
    damaged.change_entry(folder, INDEX, narrow, statistics(lambda says: says.update(isTightBound=False)))
    damaged.change_entry(folder, INDEX, narrow, set_bound("minValue", "IntWrapper", 11))

    (only,) = check(folder)

    assert (only.fault, only.key) == (Fault.WRONG, narrow)
    assert (only.found, only.expected) == ("seen: min 11", "seen: min 10 or less")


@pytest.mark.parametrize("folder", ["v8_mor_services", "v9_mor_services"], indirect=True)
def test_after_a_replacement_an_entry_may_be_wide_and_never_narrow(folder: Path) -> None:
    """Hudi still counts the rows that were replaced: these two partitions are entries of the same kind of table."""
    key = partition_stats_key("seen", "day=2024-01-02")
    damaged.change_entry(folder, INDEX, key, set_bound("minValue", "LongWrapper", 51))

    (only,) = check(folder)

    assert (only.fault, only.key) == (Fault.WRONG, key)
    assert only.found.startswith("seen: min 51")


@pytest.mark.parametrize("folder", ["v8_mor_services", "v9_mor_services"], indirect=True)
def test_entries_of_a_partition_that_a_replacement_emptied_stay_as_they_were(folder: Path) -> None:
    """Seen of Hudi 1.2.0 after `insert_overwrite_table` with no row for a partition: what is left was replaced."""
    emptied = "day=2024-01-02"
    subject = subject_at(folder)
    newest = [found.file_id for found in subject.slices if found.partition == emptied]
    for file in [*folder.glob(f"{emptied}/*"), *folder.glob(f"{emptied}/.*.log*")]:
        if file.name.lstrip(".").startswith(tuple(newest)):
            file.unlink()

    assert newest
    assert emptied in {partition for partition, _ in subject.snapshot.view.replaced_at}
    assert not check(folder)


@pytest.mark.parametrize("folder", ["v9_cow_rolled_back"], indirect=True)
def test_entries_of_a_partition_whose_last_row_was_deleted_stay_as_they_were(folder: Path) -> None:
    """Seen of Hudi 1.2.0: it writes a base file without rows, has nothing to say of it, and takes back nothing."""
    bases = list(folder.glob("2024-01-01/*.parquet"))
    for base in bases:
        schema = pq.read_schema(base)
        pq.ParquetWriter(base, schema).close()

    assert bases
    assert not check(folder)


@each_table
def test_an_entry_of_a_partition_that_is_not_there_is_a_ghost(folder: Path) -> None:
    entry = an_entry(folder, "seen", "hall")
    entry["ColumnStatsMetadata"]["fileName"] = "cellar"
    entry["key"] = partition_stats_key("seen", "cellar")
    damaged.add_entry(folder, INDEX, entry)

    assert in_short(check(folder)) == [(Fault.GHOST, entry["key"], "cellar")]


@each_table
def test_an_entry_of_a_column_that_is_not_indexed_is_a_ghost(folder: Path) -> None:
    entry = an_entry(folder, "seen", "hall")
    entry["ColumnStatsMetadata"]["columnName"] = "colour"
    entry["key"] = partition_stats_key("colour", "hall")
    damaged.add_entry(folder, INDEX, entry)

    assert in_short(check(folder)) == [(Fault.GHOST, entry["key"], "hall")]


@each_table
def test_an_entry_under_the_key_of_another_is_wrong(folder: Path) -> None:
    key = partition_stats_key("seen", "hall")
    damaged.change_entry(folder, INDEX, key, statistics(lambda says: says.update(columnName="celsius")))

    assert in_short(check(folder)) == [(Fault.WRONG, key, "hall")]


def test_what_a_lost_log_of_the_index_said_is_noticed(folder: Path) -> None:
    damaged.shard_files(folder, INDEX)[-1].unlink()

    found = check(folder)

    assert {each.place for each in found} == {"hall"}
    assert "seen: max 50" in {each.expected.split(",")[0] for each in found}


def test_a_sample_finds_entries_too_narrow_for_its_files(folder: Path) -> None:
    subject = subject_at(folder, Sample(1, seed=1))
    (chosen,) = subject.slices
    for partition in ("attic", "hall"):
        key = partition_stats_key("sensor", partition)
        damaged.change_entry(folder, INDEX, key, set_bound("maxValue", "StringWrapper", "a"))

    found = list(check_partition_stats(subject))

    assert in_short(found) == [(Fault.WRONG, partition_stats_key("sensor", chosen.partition), chosen.partition)]


def an_entry(folder: Path, column: str, partition: str) -> Entry:
    key = partition_stats_key(column, partition)
    return next(entry for entry in damaged.entries(folder, INDEX) if entry["key"] == key)
