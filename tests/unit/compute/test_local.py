"""Any keys, any number of shards, of threads, any amount of memory: each entry is where it is looked for."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.compute.local import LocalCompute
from hudi_engine.errors import AlreadyExists, CorruptFile, StorageUnavailable, Unsupported
from hudi_engine.index.kinds import parse_shard_name
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import Fault, Way
from hudi_engine.watch import Unwatched
from tests.unit.compute.tables import INSTANT_MS, KeyTable, file_id

pytestmark = pytest.mark.thorough

LONGEST = 32767
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
repeated = st.builds(
    lambda text, times: (text * times).encode()[:LONGEST].decode(errors="ignore") or "k", texts, st.integers(1, 9000)
)
beginning_alike = st.builds(lambda text: f"2026-01-01/order-{text}", texts)
with_ends_of_nothing = st.builds(lambda text, times: text + "\0" * times, texts, st.integers(0, 20))
keys = st.one_of(texts, beginning_alike, with_ends_of_nothing, repeated)


def java_hash(key: str) -> int:
    """`String.hashCode`, unit by unit."""
    data = key.encode("utf-16-be")
    value = 0
    for at in range(0, len(data), 2):
        value = (31 * value + int.from_bytes(data[at : at + 2], "big")) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def compute(folder: Path, memory_bytes: int = 1 << 30, threads: int = 2) -> LocalCompute:
    return LocalCompute(threads, memory_bytes, folder)


@given(
    groups=st.lists(st.lists(keys, max_size=30), min_size=1, max_size=4),
    shards=st.integers(1, 5),
    memory_bytes=st.sampled_from([1, 3000, 1 << 30]),
    threads=st.sampled_from([1, 4]),
)
def test_every_key_is_in_its_shard_once_in_byte_order_and_says_where_its_row_is(
    groups: list[list[str]], shards: int, memory_bytes: int, threads: int
) -> None:
    where = {key: number for number, group in enumerate(groups) for key in group}
    table = KeyTable.of(
        {
            (f"p{number}", file_id(number)): [key for key, at in where.items() if at == number]
            for number in range(len(groups))
        }
    )

    with tempfile.TemporaryDirectory() as scratch:
        built = compute(Path(scratch), memory_bytes, threads).build(
            table.order({None: shards}), table.storage, Unwatched()
        )
        left = list(Path(scratch).iterdir())

    expected: dict[int, list[str]] = {}
    for key in sorted(where, key=str.encode):
        expected.setdefault(abs(java_hash(key)) % shards, []).append(key)
    assert table.entries(built) == {
        f"record-index-{shard:04d}-0": [(key, f"p{where[key]}", file_id(where[key]), INSTANT_MS) for key in sorted_keys]
        for shard, sorted_keys in sorted(expected.items())
    }
    assert built.keys == len(where) == sum(file.entries for file in built.files)
    assert left == []


def test_files_are_the_same_to_the_byte_however_little_memory_and_however_many_threads(tmp_path: Path) -> None:
    keys_of_files = {
        (f"p{number % 3}", file_id(number)): [f"order-{number}-{row * 7919 % 5000:05d}" for row in range(5000)]
        for number in range(6)
    }
    table = KeyTable.of(keys_of_files)

    runs = [
        table.files(
            compute(tmp_path, memory_bytes, threads).build(table.order({None: 3}, n), table.storage, Unwatched())
        )
        for n, (memory_bytes, threads) in enumerate([(1 << 30, 1), (1 << 30, 4), (200_000, 4), (1, 1), (50_000, 2)])
    ]

    assert len(runs[0]) == 3
    assert all(run == runs[0] for run in runs)


def test_each_partition_has_shards_of_its_own(tmp_path: Path) -> None:
    table = KeyTable.of(
        {("eu-west", file_id(1)): ["a", "b", "c"], ("us", file_id(2)): ["a"], ("empty", file_id(3)): []}
    )

    built = compute(tmp_path).build(table.order({"eu-west": 2, "us": 1, "empty": 1}), table.storage, Unwatched())

    found = {parse_shard_name(name): entries for name, entries in table.entries(built).items()}
    assert {(name.partition, entry[0]) for name, entries in found.items() for entry in entries} == {
        ("eu-west", "a"),
        ("eu-west", "b"),
        ("eu-west", "c"),
        ("us", "a"),
    }
    assert {name.partition for name in found} == {"eu-west", "us"}


def test_a_table_without_rows_gets_no_file(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(1)): []})

    built = compute(tmp_path).build(table.order({None: 10}), table.storage, Unwatched())

    assert (built.files, built.keys) == ((), 0)


def test_a_table_without_files_gets_no_file(tmp_path: Path) -> None:
    table = KeyTable.of({})

    assert compute(tmp_path).build(table.order({None: 10}), table.storage, Unwatched()).files == ()


def test_files_are_named_by_shard_attempt_and_instant(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(1)): [f"k{number}" for number in range(50)]})

    built = compute(tmp_path).build(table.order({None: 2}, attempt=7), table.storage, Unwatched())

    assert [file.path for file in built.files] == [
        "record_index/record-index-0000-0_0-7-0_00000000000000500.hfile",
        "record_index/record-index-0001-0_1-7-0_00000000000000500.hfile",
    ]


def test_a_file_that_is_there_already_is_not_overwritten(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(1)): ["k"]})
    compute(tmp_path).build(table.order({None: 1}), table.storage, Unwatched())

    with pytest.raises(AlreadyExists):
        compute(tmp_path).build(table.order({None: 1}), table.storage, Unwatched())


class Told:
    """Remembers what a watch is told."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, int | None]] = []
        self.done: dict[str, tuple[int, int]] = {}

    def begin(self, phase: str, total: int | None = None) -> None:
        self.phases.append((phase, total))

    def advance(self, steps: int, rows: int = 0) -> None:
        name = self.phases[-1][0]
        before = self.done.get(name, (0, 0))
        self.done[name] = (before[0] + steps, before[1] + rows)

    def say(self, what: str) -> None: ...


def test_a_watch_is_told_of_every_slice_every_shard_and_all_rows(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(number)): [f"{number}-{row}" for row in range(100)] for number in range(5)})
    told = Told()

    compute(tmp_path).build(table.order({None: 3}), table.storage, told)

    assert told.phases == [("read record keys", 5), ("write shards", 3)]
    assert told.done == {"read record keys": (5, 500), "write shards": (3, 500)}


@pytest.mark.parametrize("threads", [1, 4])
def test_a_file_that_cannot_be_read_ends_the_build_and_leaves_no_scratch(threads: int, tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(number)): [f"{number}-{row}" for row in range(100)] for number in range(9)})
    path = table.reader.snapshot.slices[4].base_file.stat.path  # type: ignore[union-attr]  # it has one
    table.storage.replace(path, b"PAR1 no more")

    with pytest.raises(CorruptFile) as refused:
        compute(tmp_path, 100, threads).build(table.order({None: 3}), table.storage, Unwatched())

    assert refused.value.path == path
    assert list(tmp_path.iterdir()) == []


class DoneFor(Exception):
    """Somebody who watches has had enough."""


class Impatient(Told):
    """Ends the work after its first step: so does whoever finds that its heartbeat is lost."""

    def advance(self, steps: int, rows: int = 0) -> None:
        raise DoneFor


def test_a_watch_can_end_the_build(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(number)): [f"{number}-{row}" for row in range(100)] for number in range(9)})

    with pytest.raises(DoneFor):
        compute(tmp_path).build(table.order({None: 3}), table.storage, Impatient())

    assert list(tmp_path.iterdir()) == []


def test_a_table_without_stored_keys_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(1)): ["k"]}, {"hoodie.populate.meta.fields": "false"})

    with pytest.raises(Unsupported, match=r"hoodie\.populate\.meta\.fields"):
        compute(tmp_path).build(table.order({None: 1}), table.storage, Unwatched())


def test_a_file_group_of_no_moment_is_refused(tmp_path: Path) -> None:
    table = KeyTable.of({("p", file_id(1)): ["k"]})
    (found,) = table.reader.snapshot.slices
    bootstrapped = replace(table.order({None: 1}), slices=(replace(found, base_instant="00000000000001"),))

    with pytest.raises(Unsupported, match="its base instant 00000000000001 names no moment"):
        compute(tmp_path).build(bootstrapped, table.storage, Unwatched())


@pytest.mark.parametrize("at_write", [1, 2, 3])
@pytest.mark.parametrize("threads", [1, 4])
def test_a_shard_that_cannot_be_written_ends_the_build_and_no_other_becomes_half_a_file(
    threads: int, at_write: int, tmp_path: Path
) -> None:
    table = KeyTable.of({("p", file_id(1)): [f"k{number}" for number in range(300)]})
    fault = Fault(at_write, Way.BEFORE, StorageUnavailable("the store is gone"))

    with pytest.raises(StorageUnavailable):
        compute(tmp_path, 100, threads).build(table.order({None: 3}), table.storage.restarted(fault), Unwatched())

    whole = compute(tmp_path).build(table.order({None: 3}, attempt=2), table.storage, Unwatched())
    sizes = {file.file_id: file.size_bytes for file in whole.files}
    written = [file for file in table.storage.list(f"{FOLDER}/record_index") if "-1-0_" in file.name]
    assert len(written) < 3
    assert all(file.size_bytes == sizes[file.name.partition("_")[0]] for file in written)
    assert list(tmp_path.iterdir()) == []
