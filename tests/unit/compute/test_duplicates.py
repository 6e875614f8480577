"""A key that is there twice is refused wherever the two rows meet, or its newest row is indexed."""

import random
from pathlib import Path

import pytest

from hudi_engine.compute.duplicates import DUPLICATES_KEY, keeps_newest
from hudi_engine.compute.local import LocalCompute
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.watch import Unwatched
from tests.unit.compute.tables import Keys, KeyTable, Place, file_id


def build(
    files: dict[Place, Keys], folder: Path, shards: dict[str | None, int], memory_bytes: int = 1 << 30
) -> KeyTable:
    table = KeyTable.of(files)
    LocalCompute(2, memory_bytes, folder).build(table.order(shards), table.storage, Unwatched())
    return table


@pytest.mark.parametrize("memory_bytes", [1, 1 << 30])
def test_a_key_in_two_partitions_is_named_with_both_places(memory_bytes: int, tmp_path: Path) -> None:
    files: dict[Place, Keys] = {("a", file_id(1)): ["same", "one"], ("b", file_id(2)): ["other", "same"]}

    with pytest.raises(Contradiction) as refused:
        build(files, tmp_path, {None: 3}, memory_bytes)

    said = str(refused.value)
    places = {f"a/{file_id(1)} and b/{file_id(2)}", f"b/{file_id(2)} and a/{file_id(1)}"}
    assert said.startswith("memory:table: 1 record keys have several rows, 1 rows too many")
    assert any(f"'same' in {both}" in said for both in places)
    assert "Use a partitioned record index" in said


@pytest.mark.parametrize("memory_bytes", [1, 1 << 30])
def test_a_key_in_two_file_groups_of_a_partition_is_to_be_removed(memory_bytes: int, tmp_path: Path) -> None:
    with pytest.raises(Contradiction, match=r"'same' in .*Remove the duplicates first"):
        build({("", file_id(1)): ["same"], ("", file_id(2)): ["same"]}, tmp_path, {None: 3}, memory_bytes)


def test_a_key_twice_in_one_file_is_found(tmp_path: Path) -> None:
    with pytest.raises(Contradiction, match=rf"'same' in \./{file_id(1)} and \./{file_id(1)}"):
        build({("", file_id(1)): ["same", "a", "same"]}, tmp_path, {None: 3})


@pytest.mark.parametrize("memory_bytes", [1, 20_000, 1 << 30])
def test_all_are_counted_and_ten_are_shown(memory_bytes: int, tmp_path: Path) -> None:
    keys = [f"key-{number:04d}" for number in range(3000)]
    files: dict[Place, Keys] = {(f"p{number}", file_id(number)): keys for number in range(3)}

    with pytest.raises(Contradiction) as refused:
        build(files, tmp_path, {None: 3}, memory_bytes)

    assert "3,000 record keys have several rows, 6,000 rows too many" in str(refused.value)
    assert str(refused.value).count("'key-") == 10
    assert "; and more. " in str(refused.value)


def test_the_same_key_in_two_partitions_is_right_where_each_has_its_own_shards(tmp_path: Path) -> None:
    table = build({("a", file_id(1)): ["same"], ("b", file_id(2)): ["same"]}, tmp_path, {"a": 1, "b": 1})

    names = [file.name for file in table.storage.list(f"{FOLDER}/record_index")]
    assert [name.partition("_")[0] for name in names] == ["record-index-a-0000-0", "record-index-b-0000-0"]


def test_a_key_twice_in_a_partition_is_refused_where_each_has_its_own_shards(tmp_path: Path) -> None:
    with pytest.raises(Contradiction, match=r"1 record keys have several rows.*Remove the duplicates"):
        build(
            {("a", file_id(1)): ["same"], ("a", file_id(2)): ["same"], ("b", file_id(3)): ["same"]},
            tmp_path,
            {"a": 2, "b": 1},
        )


def test_no_file_is_written_of_a_shard_with_duplicates(tmp_path: Path) -> None:
    table = KeyTable.of({("a", file_id(1)): ["same", "x"], ("b", file_id(2)): ["same"]})

    with pytest.raises(Contradiction):
        LocalCompute(2, 1 << 30, tmp_path).build(table.order({None: 1}), table.storage, Unwatched())

    assert table.storage.list(f"{FOLDER}/record_index") == ()


def test_a_key_that_is_no_more_than_the_beginning_of_another_is_another(tmp_path: Path) -> None:
    build({("a", file_id(1)): ["k", "k\0", "k\0\0"], ("b", file_id(2)): ["k1"]}, tmp_path, {None: 1})


def built_of_newest(
    files: dict[Place, list[tuple[str, str | None]]], folder: Path, shards: dict[str | None, int], memory_bytes: int
) -> tuple[dict[str, Place], int]:
    """By key the place that the index has, and how many keys have several rows."""
    table = KeyTable.dated(files)
    built = LocalCompute(2, memory_bytes, folder).build(table.order_of_newest(shards), table.storage, Unwatched())
    entries = [entry for shard in table.entries(built).values() for entry in shard]
    found = {key: (partition, group) for key, partition, group, _ in entries}
    assert len(found) == len(entries) == built.keys
    return found, built.duplicates


MEMORY = [1, 20_000, 1 << 30]


@pytest.mark.parametrize("memory_bytes", MEMORY)
def test_the_row_that_was_written_last_is_indexed(memory_bytes: int, tmp_path: Path) -> None:
    older, newer = ("b", file_id(2)), ("a", file_id(1))
    files: dict[Place, list[tuple[str, str | None]]] = {
        older: [("same", "20260101000000001"), ("other", "20260101000000009")],
        newer: [("same", "20260101000000002")],
    }

    found, duplicates = built_of_newest(files, tmp_path, {None: 3}, memory_bytes)

    assert found == {"same": newer, "other": older}
    assert duplicates == 1


def test_of_rows_of_one_commit_the_one_in_the_file_of_the_greatest_name_is_indexed(tmp_path: Path) -> None:
    rows: list[tuple[str, str | None]] = [("same", "20260101000000001")]
    files = {("a", file_id(2)): rows, ("b", file_id(1)): rows, ("c", file_id(3)): rows, ("d", file_id(0)): rows}

    found, _ = built_of_newest(files, tmp_path, {None: 1}, 1 << 30)

    assert found == {"same": ("c", file_id(3))}


def test_a_row_without_a_commit_time_is_older_than_any_other(tmp_path: Path) -> None:
    dated = ("a", file_id(1))
    files: dict[Place, list[tuple[str, str | None]]] = {dated: [("x", "20200101000000"), ("y", "2020")]}
    files |= {("b", file_id(2)): [("x", None), ("y", "bootstrap")]}

    found, duplicates = built_of_newest(files, tmp_path, {None: 1}, 1 << 30)

    assert found == {"x": dated, "y": dated}
    assert duplicates == 2


def test_a_key_twice_in_one_file_has_one_entry_and_counts(tmp_path: Path) -> None:
    place = ("", file_id(1))

    found, duplicates = built_of_newest({place: [("k", "1"), ("k", "2"), ("k", "1")]}, tmp_path, {None: 1}, 1 << 30)

    assert (found, duplicates) == ({"k": place}, 1)


def test_where_partitions_have_their_own_shards_each_has_its_newest_row(tmp_path: Path) -> None:
    table = KeyTable.dated(
        {("a", file_id(1)): [("k", "1")], ("a", file_id(2)): [("k", "2")], ("b", file_id(3)): [("k", "3")]}
    )

    order = table.order_of_newest({"a": 1, "b": 1})
    built = LocalCompute(2, 1 << 30, tmp_path).build(order, table.storage, Unwatched())

    entries = [entry[:3] for shard in table.entries(built).values() for entry in shard]
    assert entries == [("k", "a", file_id(2)), ("k", "b", file_id(3))]
    assert built.duplicates == 1


@pytest.mark.parametrize("memory_bytes", MEMORY)
def test_keys_are_counted_once_however_many_rows_they_have_and_wherever_pieces_end(
    memory_bytes: int, tmp_path: Path
) -> None:
    chance = random.Random(memory_bytes)
    files: dict[Place, list[tuple[str, str | None]]] = {
        (f"p{number % 3}", file_id(number)): [
            (f"key-{chance.randrange(3000):05d}", f"2026{chance.randrange(200):05d}") for _ in range(2000)
        ]
        for number in range(8)
    }
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for (partition, group), some in files.items():
        for key, time in some:
            rows.setdefault(key, []).append((str(time), group, partition))
    expected = {key: (best[2], best[1]) for key, best in ((key, max(some)) for key, some in rows.items())}

    found, duplicates = built_of_newest(files, tmp_path, {None: 3}, memory_bytes)

    assert found == expected
    assert duplicates == sum(len(some) > 1 for some in rows.values())


@pytest.mark.parametrize("memory_bytes", MEMORY)
def test_a_refusal_counts_each_key_once(memory_bytes: int, tmp_path: Path) -> None:
    keys = [f"key-{number:05d}" for number in range(40_000)]
    files: dict[Place, Keys] = {("a", file_id(1)): keys, ("b", file_id(2)): keys * 2}

    with pytest.raises(Contradiction, match="40,000 record keys have several rows, 80,000 rows too many"):
        build(files, tmp_path, {None: 1}, memory_bytes)


def test_a_word_that_is_no_rule_for_duplicates_is_refused() -> None:
    assert keeps_newest({DUPLICATES_KEY: "newest"})
    assert not keeps_newest({})
    with pytest.raises(Unsupported, match=r"hudi\.engine\.duplicates='oldest': expected refuse or newest"):
        keeps_newest({DUPLICATES_KEY: "oldest"})
