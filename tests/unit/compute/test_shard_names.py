"""Names of shards are those that Hudi gives, and are read back as what they were made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.compute.shard_names import Group, ShardAttempt, groups_of, shard_file_ids
from hudi_engine.errors import Unsupported
from hudi_engine.format.names import parse_base_file
from hudi_engine.index.kinds import ShardName, parse_shard_name, record_index_shard, shard_name_of

partitions = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="."), max_size=20)


@pytest.mark.parametrize(
    ("partition", "number", "file_id"),
    [
        (None, 0, "record-index-0000-0"),
        (None, 9999, "record-index-9999-0"),
        ("", 3, "record-index--0003-0"),
        # As real Hudi 1.2.0 named it in the golden table v9_cow_partitioned_record_index.
        ("a$b/plain", 1, "record-index-a$b%2Fplain-0001-0"),
        ("eu-west_1=50%", 0, "record-index-eu%2Dwest%5F1%3D50%25-0000-0"),
        ("tab\there^", 0, "record-index-tab%09here%5E-0000-0"),
    ],
)
def test_a_shard_is_named_as_hudi_names_it(partition: str | None, number: int, file_id: str) -> None:
    assert record_index_shard(ShardName(number, partition)) == file_id


@given(st.one_of(st.none(), partitions), st.integers(0, 9999))
def test_a_name_says_what_it_was_made_of(partition: str | None, number: int) -> None:
    name = ShardName(number, partition)

    assert parse_shard_name(record_index_shard(name)) == name


@given(partitions, st.integers(0, 9999))
def test_the_file_of_a_shard_has_a_name_that_hudi_takes_apart(partition: str, number: int) -> None:
    file_id = record_index_shard(ShardName(number, partition))

    folder, _, name = ShardAttempt(file_id, 17, 2, 5, "00000000000000501").path.rpartition("/")
    parsed = parse_base_file(name)

    assert folder == "record_index"
    assert parsed is not None
    assert (parsed.file_id, parsed.write_token, parsed.instant) == (file_id, "17-2-5", "00000000000000501")


def test_a_partition_with_a_dot_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"'v1\.2', whose name has a dot.*Use a global record index"):
        record_index_shard(ShardName(0, "v1.2"))


@pytest.mark.parametrize("number", [-1, 10_000])
def test_a_number_of_more_than_four_digits_is_refused(number: int) -> None:
    with pytest.raises(Unsupported, match="10000 at most"):
        record_index_shard(ShardName(number))


def test_places_go_by_partition_and_then_by_number() -> None:
    counts: dict[str | None, int] = {"b": 2, "a": 1}

    assert groups_of(counts) == {"a": Group("a", 0, 1), "b": Group("b", 1, 2)}
    assert shard_file_ids(counts) == ("record-index-a-0000-0", "record-index-b-0000-0", "record-index-b-0001-0")


def test_file_ids_of_one_group_ascend_as_their_numbers_do() -> None:
    names = shard_file_ids({None: 10_000})

    assert list(names) == sorted(names)


NAMES = {
    "files": "files-0007-0",
    "column_stats": "col-stats-0007-0",
    "partition_stats": "partition-stats-0007-0",
    "bloom_filters": "bloom-filters-0007-0",
    "record_index": "record-index-0007-0",
    "secondary_index_by_rider_id": "secondary-index-by-rider-id-0007-0",
    "secondary_index_A-b": "secondary-index-A-b-0007-0",
}


@pytest.mark.parametrize("index", NAMES)
def test_the_shards_of_every_kind_have_its_name(index: str) -> None:
    assert shard_name_of(index, 7) == NAMES[index]
    assert parse_shard_name(shard_name_of(index, 7)) == ShardName(7)


@pytest.mark.parametrize("index", NAMES)
@pytest.mark.parametrize("number", [-1, 10_000])
def test_no_index_of_any_kind_has_more_shards_than_four_digits_count(index: str, number: int) -> None:
    with pytest.raises(Unsupported, match=f"a shard numbered {number}"):
        shard_name_of(index, number)


@pytest.mark.parametrize("index", ["secondary_index_a.b", "secondary_index_a/b"])
def test_a_name_by_which_no_reader_finds_logs_is_refused(index: str) -> None:
    with pytest.raises(Unsupported, match="a dot or a slash"):
        shard_name_of(index, 0)


def test_shards_of_an_expression_index_are_not_named() -> None:
    with pytest.raises(Unsupported, match="shards of expr_index_x"):
        shard_name_of("expr_index_x", 0)
