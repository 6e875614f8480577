import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.table.table import Table
from hudi_engine.table.zone_evidence import ZoneEvidence
from hudi_engine.validate.compare import ROOM, Room
from hudi_engine.validate.record_index import check_record_index
from hudi_engine.validate.report import Discrepancy, DuplicateKey, Fault
from hudi_engine.validate.subject import Sample, Subject, subject_of
from tests.golden.unpack import unpack
from tests.kit import damaged
from tests.kit.damaged import Entry
from tests.kit.subjects import Count, subject_at

INDEX = "record_index"
GOLDEN = ("v6_cow_indexed", "v8_mor_indexed", "v9_mor_indexed")
each_table = pytest.mark.parametrize("folder", GOLDEN, indirect=True)
KEYS = 18  # of each of these tables
LONG_AFTER = 4_000_000_000_000


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(getattr(request, "param", "v9_mor_indexed"), tmp_path)


def check(folder: Path, sample: Sample | None = None) -> list[Discrepancy]:
    return faults_of(subject_at(folder, sample))


def faults_of(subject: Subject, room: Room = ROOM) -> list[Discrepancy]:
    return [each for each in check_record_index(subject, room) if isinstance(each, Discrepancy)]


def duplicates_of(subject: Subject) -> list[str]:
    return [each.key for each in check_record_index(subject) if isinstance(each, DuplicateKey)]


def in_short(found: Sequence[Discrepancy]) -> list[tuple[Fault, str]]:
    return [(each.fault, each.key) for each in found]


def place_of(folder: Path, key: str) -> str:
    """Where the index has this key."""
    rows = subject_at(folder).metadata.index(INDEX).find([key])
    return f"{rows['partition'][0]}/{rows['file_id'][0]}"


def entry(folder: Path, key: str) -> Entry:
    return next(each for each in damaged.entries(folder, INDEX) if each["key"] == key)


@pytest.mark.parametrize("folder", ["v9_cow_partitioned_record_index", "v9_mor_strange_keys"], indirect=True)
def test_what_hudi_wrote_of_odd_keys_and_partitions_is_right(folder: Path) -> None:
    assert not check(folder)
    assert not check(folder, Sample(2, 4))


@pytest.mark.parametrize("folder", ["v9_cow_partitioned_record_index"], indirect=True)
def test_a_key_of_two_partitions_is_judged_in_each_of_them(folder: Path) -> None:
    twice = Counter(each["key"] for each in damaged.entries(folder, INDEX))
    key = max(twice, key=lambda key: (twice[key], key))
    places = subject_at(folder).metadata.index(INDEX).find([key])["partition"].to_pylist()
    damaged.remove_entry(folder, INDEX, key)

    found = check(folder)

    assert len(places) > 1
    assert in_short(found) == [(Fault.MISSING, key)] * len(places)
    assert sorted(each.place.rpartition("/")[0] for each in found) == sorted(places)


@each_table
def test_an_entry_that_was_lost_is_missing(folder: Path) -> None:
    place = place_of(folder, "s-06")
    damaged.remove_entry(folder, INDEX, "s-06")

    found = check(folder)

    assert found == [
        Discrepancy(INDEX, Fault.MISSING, "s-06", place, "no entry", f"an entry for {place}"),
    ]


@each_table
def test_an_entry_with_no_row_is_a_ghost(folder: Path) -> None:
    place = place_of(folder, "s-06")
    damaged.add_entry(folder, INDEX, {**entry(folder, "s-06"), "key": "s-06x"})

    found = check(folder)

    assert found == [
        Discrepancy(INDEX, Fault.GHOST, "s-06x", place, f"an entry for {place}", "none: no such row"),
    ]


def test_an_entry_for_another_file_group_is_wrong(folder: Path) -> None:
    place, other = place_of(folder, "s-06"), place_of(folder, "s-31")
    theirs = entry(folder, "s-31")["recordIndexMetadata"]
    damaged.change_entry(folder, INDEX, "s-06", lambda each: each["recordIndexMetadata"].update(theirs))

    found = check(folder)

    assert found == [
        Discrepancy(INDEX, Fault.WRONG, "s-06", place, f"an entry for {other}", f"an entry for {place}"),
    ]


def test_an_entry_for_another_partition_is_wrong(folder: Path) -> None:
    damaged.change_entry(folder, INDEX, "s-06", lambda each: each["recordIndexMetadata"].update(partitionName="attic"))

    assert in_short(check(folder)) == [(Fault.WRONG, "s-06")]


@each_table
def test_an_entry_of_an_instant_that_never_completed_is_wrong(folder: Path) -> None:
    damaged.change_entry(folder, INDEX, "s-06", lambda each: each["recordIndexMetadata"].update(instantTime=LONG_AFTER))

    (found,) = check(folder)

    assert (found.fault, found.key) == (Fault.WRONG, "s-06")
    assert found.found == "the instant 20961002070640000, which is not completed"


def test_an_entry_of_no_calendar_is_wrong(folder: Path) -> None:
    damaged.change_entry(folder, INDEX, "s-06", lambda each: each["recordIndexMetadata"].update(instantTime=-(2**62)))

    (found,) = check(folder)

    assert "in no calendar" in found.found


def test_an_entry_from_before_the_timeline_is_right(folder: Path) -> None:
    damaged.change_entry(folder, INDEX, "s-06", lambda each: each["recordIndexMetadata"].update(instantTime=10**12))

    assert not check(folder)


def test_an_entry_in_the_wrong_shard_is_wrong(folder: Path) -> None:
    moved = entry(folder, "s-06")
    here = damaged.shard_number("s-06", 2)
    there = next(text for text in "abcdef" if damaged.shard_number(text, 2) != here)
    damaged.remove_entry(folder, INDEX, "s-06")
    damaged.add_entry(folder, INDEX, moved, hashed=there)

    (found,) = check(folder)

    assert (found.fault, found.key) == (Fault.WRONG, "s-06")
    assert found.found == f"an entry in the shard record-index-{1 - here:04}-0, where no look-up searches for it"


def test_an_entry_in_two_shards_is_a_duplicate(folder: Path) -> None:
    place = place_of(folder, "s-06")
    here = damaged.shard_number("s-06", 2)
    there = next(text for text in "abcdef" if damaged.shard_number(text, 2) != here)
    damaged.add_entry(folder, INDEX, entry(folder, "s-06"), hashed=there)

    found = check(folder)

    assert found == [Discrepancy(INDEX, Fault.DUPLICATE, "s-06", place, f"entries for {place}, {place}", "one entry")]


def copy_of_attic(folder: Path) -> str:
    """The file id of a second file group, which has the keys of the first: s-30 to s-35."""
    base = next(folder.glob("attic/*.parquet"))
    other = "0" * 8 + base.name[8:]
    shutil.copy(base, base.with_name(other))
    return other.partition("_")[0]


def test_an_entry_for_one_of_several_rows_of_a_key_is_right_and_the_keys_are_counted(folder: Path) -> None:
    copy_of_attic(folder)

    assert not check(folder)
    assert duplicates_of(subject_at(folder)) == [f"s-{number}" for number in range(30, 36)]


def test_an_entry_for_none_of_several_rows_of_a_key_is_wrong(folder: Path) -> None:
    copy = copy_of_attic(folder)
    elsewhere, right = place_of(folder, "s-06"), place_of(folder, "s-30")
    theirs = entry(folder, "s-06")["recordIndexMetadata"]
    damaged.change_entry(folder, INDEX, "s-31", lambda each: each["recordIndexMetadata"].update(theirs))

    assert check(folder) == [
        Discrepancy(
            INDEX, Fault.WRONG, "s-31", f"attic/{copy}", f"an entry for {elsewhere}", f"an entry for attic/{copy}"
        )
    ]
    assert right != f"attic/{copy}"
    assert len(duplicates_of(subject_at(folder))) == 6


def test_several_rows_of_a_key_and_no_entry_are_one_missing_entry(folder: Path) -> None:
    copy_of_attic(folder)
    damaged.remove_entry(folder, INDEX, "s-31")

    assert in_short(check(folder)) == [(Fault.MISSING, "s-31")]


def test_an_entry_for_a_row_outside_of_the_sample_is_right_if_that_row_is_there(folder: Path) -> None:
    copy = copy_of_attic(folder)

    subjects = [subject_at(folder, Sample(1, seed)) for seed in range(40)]
    alone = next(each for each in subjects if each.slices[0].file_id == copy)

    assert not faults_of(alone)
    assert duplicates_of(alone) == [f"s-{number}" for number in range(30, 36)]


@each_table
def test_an_index_that_was_wiped_out_misses_every_key(folder: Path) -> None:
    damaged.rewrite_index(folder, INDEX, lambda stored: [])

    found = check(folder)

    assert in_short(found) == [(Fault.MISSING, each.key) for each in found]
    assert len(found) == KEYS
    assert [each.key for each in found] == sorted(each.key for each in found)


def test_the_same_is_told_with_hardly_any_room(folder: Path) -> None:
    damaged.rewrite_index(folder, INDEX, lambda stored: [])
    room = Room(part_bytes=500, parts=2)

    found = faults_of(subject_at(folder), room)

    assert sorted(found, key=lambda each: each.key) == check(folder)


def test_a_sample_is_told_of_its_own_file_groups_alone(folder: Path) -> None:
    place = place_of(folder, "s-31")
    for key in ("s-06", "s-31"):
        damaged.remove_entry(folder, INDEX, key)
        damaged.add_entry(folder, INDEX, {**entry(folder, "s-07" if key == "s-06" else "s-32"), "key": f"{key}x"})

    samples = [subject_at(folder, Sample(1, seed)) for seed in range(8)]
    told = {
        sample.slices[0].partition: in_short(faults_of(sample))
        for sample in samples
        if place.endswith(sample.slices[0].file_id) or sample.slices[0].partition == "hall"
    }

    assert told["attic"] == [(Fault.MISSING, "s-31"), (Fault.GHOST, "s-31x")]
    assert told["hall"] in ([(Fault.MISSING, "s-06"), (Fault.GHOST, "s-06x")], [])


def test_an_entry_for_a_group_outside_of_the_sample_is_wrong_not_missing(folder: Path) -> None:
    theirs = entry(folder, "s-06")["recordIndexMetadata"]
    damaged.change_entry(folder, INDEX, "s-31", lambda each: each["recordIndexMetadata"].update(theirs))
    place = place_of(folder, "s-30")

    subject = next(
        subject
        for seed in range(30)
        if place.endswith((subject := subject_at(folder, Sample(1, seed))).slices[0].file_id)
    )

    assert in_short(faults_of(subject)) == [(Fault.WRONG, "s-31")]


def test_the_same_seed_chooses_the_same_file_groups(folder: Path) -> None:
    def chosen(seed: int) -> list[str]:
        return [each.file_id for each in subject_at(folder, Sample(1, seed)).slices]

    assert chosen(5) == chosen(5)
    assert len({chosen(seed)[0] for seed in range(20)}) > 1
    assert not subject_at(folder, Sample(100, 1)).is_sample


def test_a_commit_that_lands_after_the_metadata_table_was_opened_makes_no_alarm(folder: Path) -> None:
    completed = sorted((folder / ".hoodie/timeline").glob("*_*.deltacommit"))[-1]
    content = completed.read_bytes()
    completed.unlink()
    before = subject_at(folder)
    completed.write_bytes(content)

    late = subject_of(before.table, before.metadata, None, Count())

    assert not list(check_record_index(late))


def test_a_file_that_vanishes_is_told_from_a_fault(folder: Path) -> None:
    subject = subject_at(folder)
    base = subject.slices[0].base_file
    assert base is not None
    (folder / base.stat.path).unlink()

    with pytest.raises(NotFound, match=r"vanished while it was validated.*run the validation again"):
        list(check_record_index(subject))


def test_a_table_without_record_keys_in_its_files_is_not_judged(folder: Path) -> None:
    subject = subject_at(folder)
    config = replace(subject.table.config, has_meta_columns=False)
    table = Table(subject.table.storage, config, subject.table.clock, subject.table.zone)

    with pytest.raises(Unsupported, match=r"hoodie\.populate\.meta\.fields=false.*record_index is compared"):
        list(check_record_index(replace(subject, table=table)))


def test_instants_of_entries_are_not_judged_in_a_zone_that_is_not_certain(folder: Path) -> None:
    subject = subject_at(folder)
    evidence = ZoneEvidence("hoodie.properties", doubt="Two zones fit")
    table = replace(subject.table, zone_evidence=evidence)

    with pytest.raises(Contradiction, match=r"Two zones fit.*Set hudi\.engine\.timeline\.timezone"):
        list(check_record_index(replace(subject, table=table)))
