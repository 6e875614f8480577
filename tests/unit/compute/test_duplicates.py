"""A key that is there twice is refused wherever the two rows meet, with what to do about it."""

from pathlib import Path

import pytest

from hudi_engine.compute.local import LocalCompute
from hudi_engine.errors import Contradiction
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
    assert said.startswith("memory:table: 1 rows whose record key another row has already")
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

    assert "6000 rows whose" in str(refused.value)
    assert str(refused.value).count("'key-") == 10
    assert "; and more. " in str(refused.value)


def test_the_same_key_in_two_partitions_is_right_where_each_has_its_own_shards(tmp_path: Path) -> None:
    table = build({("a", file_id(1)): ["same"], ("b", file_id(2)): ["same"]}, tmp_path, {"a": 1, "b": 1})

    names = [file.name for file in table.storage.list(f"{FOLDER}/record_index")]
    assert [name.partition("_")[0] for name in names] == ["record-index-a-0000-0", "record-index-b-0000-0"]


def test_a_key_twice_in_a_partition_is_refused_where_each_has_its_own_shards(tmp_path: Path) -> None:
    with pytest.raises(Contradiction, match=r"1 rows whose .*Remove the duplicates"):
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
