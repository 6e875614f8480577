"""What a build will take is reckoned as Hudi reckons it, and without reading a row."""

import pytest

from hudi_engine.compute.estimate import Limits, estimate, shard_counts, workload_of
from hudi_engine.compute.shard_rule import ShardRule
from hudi_engine.errors import Contradiction, Unsupported
from tests.unit.compute.tables import KeyTable, file_id

GLOBAL = "hoodie.metadata.global.record.level.index"
OLD_GLOBAL = "hoodie.metadata.record.index"
PARTITIONED = "hoodie.metadata.record.level.index"
OLD_PARTITIONED = "hoodie.metadata.partitioned.record.index"
LIMITS = Limits(threads=2, memory_bytes=1 << 20)
# What fits into a shard: 1 GiB of records of 48 bytes.
FITTING = (1 << 30) // 48


def table() -> KeyTable:
    return KeyTable.of(
        {
            ("a", file_id(1)): [f"key-{number}" for number in range(2500)],
            ("a", file_id(2)): [f"key-{number}" for number in range(2500, 2600)],
            ("b", file_id(3)): ["one"],
        }
    )


@pytest.mark.parametrize(
    ("keys", "shards"),
    [
        (0, 10),
        (5_000_000, 10),
        # Twice as many are expected, and 10 shards stand until there are enough for 11.
        (FITTING * 11 // 2 - 1000, 10),
        (FITTING * 11 // 2 + 1000, 11),
        (10**12, 10_000),
    ],
)
def test_a_table_gets_as_many_shards_as_hudi_gives_it(keys: int, shards: int) -> None:
    assert ShardRule.of({}, is_partitioned=False).shards(keys) == shards


@pytest.mark.parametrize(("keys", "shards"), [(0, 1), (FITTING + 1000, 2), (3 * FITTING + 1000, 6), (10**9, 10)])
def test_a_partition_gets_one_to_ten(keys: int, shards: int) -> None:
    assert ShardRule.of({}, is_partitioned=True).shards(keys) == shards


@pytest.mark.parametrize(
    ("conf", "is_partitioned", "shards"),
    [
        ({f"{GLOBAL}.min.filegroup.count": "3"}, False, 3),
        ({f"{OLD_GLOBAL}.min.filegroup.count": "4"}, False, 4),
        ({f"{GLOBAL}.min.filegroup.count": "3", f"{OLD_GLOBAL}.min.filegroup.count": "4"}, False, 3),
        ({f"{GLOBAL}.min.filegroup.count": "0"}, False, 1),
        ({f"{PARTITIONED}.min.filegroup.count": "5"}, True, 5),
        ({f"{OLD_PARTITIONED}.min.filegroup.count": "6"}, True, 6),
        ({f"{PARTITIONED}.min.filegroup.count": "5"}, False, 10),
        ({f"{GLOBAL}.min.filegroup.count": "20", f"{GLOBAL}.max.filegroup.count": "20"}, False, 20),
        ({f"{OLD_GLOBAL}.growth.factor": "100", f"{OLD_GLOBAL}.max.filegroup.size": "480"}, False, 10_000),
        ({f"{OLD_GLOBAL}.growth.factor": "1.5", f"{OLD_GLOBAL}.max.filegroup.size": "480"}, False, 150),
        ({f"{OLD_GLOBAL}.max.filegroup.size": "480", f"{OLD_GLOBAL}.max.filegroup.count": "70"}, False, 70),
    ],
)
def test_hudis_properties_decide_under_their_old_names_too(
    conf: dict[str, str], is_partitioned: bool, shards: int
) -> None:
    assert ShardRule.of(conf, is_partitioned=is_partitioned).shards(1000) == shards


@pytest.mark.parametrize("value", ["many", "-1", "1.5", "٣"])
def test_a_count_that_is_none_is_named(value: str) -> None:
    with pytest.raises(Unsupported, match=rf"{GLOBAL}\.min\.filegroup\.count='.*': expected a whole number"):
        ShardRule.of({f"{GLOBAL}.min.filegroup.count": value}, is_partitioned=False)


@pytest.mark.parametrize("value", ["0", "nan", "inf", "-2", "much"])
def test_a_growth_that_is_none_is_named(value: str) -> None:
    with pytest.raises(Unsupported, match=rf"growth\.factor='{value}': expected a number above 0"):
        ShardRule.of({f"{OLD_GLOBAL}.growth.factor": value}, is_partitioned=False)


@pytest.mark.parametrize(("fewest", "most"), [("20", "10"), ("10", "10001")])
def test_counts_that_contradict_each_other_are_refused(fewest: str, most: str) -> None:
    conf = {f"{GLOBAL}.min.filegroup.count": fewest, f"{GLOBAL}.max.filegroup.count": most}

    with pytest.raises(Contradiction, match=f"is {fewest} and .* {most}"):
        ShardRule.of(conf, is_partitioned=False)


def test_rows_are_counted_by_footers() -> None:
    assert workload_of(table().reader, is_partitioned=False).keys == {None: 2601}
    assert workload_of(table().reader, is_partitioned=True).keys == {"a": 2600, "b": 1}


def test_a_table_without_files_has_no_keys_and_shards_all_the_same() -> None:
    nothing = KeyTable.of({}).reader

    assert shard_counts(nothing, False, {}) == {None: 10}
    assert shard_counts(nothing, True, {}) == {}


def test_each_partition_has_its_own_number_of_shards() -> None:
    conf = {f"{OLD_GLOBAL}.max.filegroup.size": "48000"}

    assert shard_counts(table().reader, True, conf) == {"a": 5, "b": 1}


def test_of_very_many_files_the_rows_of_most_are_reckoned_from_their_sizes() -> None:
    files = {("p", file_id(number)): [f"{number:04d}-{row:04d}" for row in range(20)] for number in range(600)}

    found = workload_of(KeyTable.of(files).reader, is_partitioned=False)

    assert found.keys[None] == pytest.approx(12_000, rel=0.01)


def test_an_estimate_tells_of_keys_shards_bytes_memory_and_time() -> None:
    found = estimate(table().reader, False, {}, LIMITS)

    assert (found.keys, found.shards) == (2601, 10)
    assert 0 < found.read_bytes < sum(each.size_bytes for each in table().reader.snapshot.slices)
    assert found.write_bytes == 2601 * 25
    assert LIMITS.memory_bytes < found.memory_bytes < LIMITS.memory_bytes + 100_000
    assert 0 < found.seconds < 1
