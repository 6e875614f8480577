"""`hoodie.properties` under writers that die at any write in any way (S27; field failure 27)."""

from collections.abc import Iterator, Mapping
from zoneinfo import ZoneInfo

import pytest

from hudi_engine.clock import HandClock
from hudi_engine.errors import (
    AccessDenied,
    Contradiction,
    CorruptFile,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
)
from hudi_engine.format.properties import TABLE_CHECKSUM, expected_checksum, parse, render
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from hudi_engine.table.properties_file import BACKUP, MAIN, read_properties, update_properties

NAMES = {"hoodie.table.name": "orders", "hoodie.database.name": "shop", "somebody.elses.key": "é: kept"}


def sealed(properties: Mapping[str, str]) -> dict[str, str]:
    return {**properties, TABLE_CHECKSUM: str(expected_checksum(properties))}


OLD = sealed(NAMES | {"hoodie.table.metadata.partitions": "files", "doomed": "x"})
CHANGES = {"hoodie.table.metadata.partitions": "files,record_index", "new": "y", "doomed": None}
NEW = sealed(NAMES | {"hoodie.table.metadata.partitions": "files,record_index", "new": "y"})
TORN = render(OLD)[:40]


def a_table(main: bytes | None, backup: bytes | None = None) -> MemoryStorage:
    storage = MemoryStorage(HandClock())
    storage.create(".hoodie/timeline/x", b"")
    if main is not None:
        storage.create(MAIN, main)
    if backup is not None:
        storage.create(BACKUP, backup)
    return storage


def unsealed(properties: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if key != TABLE_CHECKSUM}


def test_the_file_is_read_and_not_its_backup() -> None:
    found = read_properties(a_table(render(NEW), render(OLD)), HandClock())

    assert (found.properties, found.path) == (NEW, MAIN)


@pytest.mark.parametrize(
    "main",
    [None, b"", TORN, render(OLD)[:-3], render(OLD | {TABLE_CHECKSUM: "1"}), render(OLD)[:-1] + b"x", b"\\u12"],
    ids=["missing", "empty", "torn", "checksum torn", "checksum wrong", "checksum longer", "no properties"],
)
def test_the_backup_serves_where_the_file_is_missing_or_bad(main: bytes | None) -> None:
    found = read_properties(a_table(main, render(OLD)), HandClock())

    assert (found.properties, found.path) == (OLD, BACKUP)


def test_a_file_of_an_old_release_without_a_checksum_is_read() -> None:
    found = read_properties(a_table(render(unsealed(OLD))), HandClock())

    assert (found.properties, found.path, found.is_sealed) == (unsealed(OLD), MAIN, False)


def test_a_file_that_lost_its_checksum_is_not_read_while_a_whole_backup_is_there() -> None:
    cut = render(OLD)[: render(OLD).index(TABLE_CHECKSUM.encode())]

    assert read_properties(a_table(cut, render(OLD)), HandClock()).path == BACKUP


def test_a_file_without_a_checksum_counts_where_the_backup_is_torn() -> None:
    assert read_properties(a_table(render(unsealed(OLD)), TORN), HandClock()).path == MAIN


@pytest.mark.parametrize("backup", [None, TORN, b""])
def test_where_nothing_good_is_left_the_file_is_named_and_what_to_do(backup: bytes | None) -> None:
    with pytest.raises(CorruptFile, match=r"hoodie.properties: corrupt.*backup is .*put back a good copy"):
        read_properties(a_table(b"", backup), HandClock())


def test_a_torn_backup_alone_is_named() -> None:
    with pytest.raises(CorruptFile, match=r"hoodie.properties.backup: corrupt"):
        read_properties(a_table(None, TORN), HandClock())


def test_where_no_table_is_nobody_waits() -> None:
    clock = HandClock()

    with pytest.raises(NotFound, match=r"hoodie.properties"):
        read_properties(MemoryStorage(clock), clock)

    assert clock.now_ms() == 0


def test_a_table_without_properties_is_waited_for_as_java_does() -> None:
    clock = HandClock()

    with pytest.raises(NotFound):
        read_properties(a_table(None), clock)

    assert clock.now_ms() == 4_000


class WriterMeanwhile(HandClock):
    """A clock during whose first sleep another writer finishes its update."""

    def __init__(self, storage: MemoryStorage) -> None:
        super().__init__()
        self._storage = storage

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._storage.replace(MAIN, render(NEW))


def test_an_update_in_progress_is_waited_for() -> None:
    storage = a_table(TORN[:10])

    found = read_properties(storage, WriterMeanwhile(storage))

    assert found.properties == NEW


class Refusing(MemoryStorage):
    """A store that refuses to read the properties."""

    def read(self, path: str) -> bytes:
        raise AccessDenied(path)


def test_a_refusal_is_not_taken_for_a_missing_file() -> None:
    clock = HandClock()

    with pytest.raises(AccessDenied):
        read_properties(Refusing(clock), clock)

    assert clock.now_ms() == 0


def test_an_update_changes_its_own_keys_and_no_others() -> None:
    storage = a_table(render(OLD))

    updated = update_properties(storage, CHANGES, HandClock(1_700_000_000_000), ZoneInfo("America/Chicago"))

    assert (updated.properties, updated.path) == (NEW, MAIN)
    assert [child.path for child in storage.list(".hoodie")] == [MAIN, ".hoodie/timeline"]
    lines = storage.read(MAIN).decode().splitlines()
    assert lines[:2] == ["#Updated at 2023-11-14T22:13:20.000Z", "#Tue Nov 14 16:13:20 CST 2023"]
    assert lines[-1] == f"{TABLE_CHECKSUM}={NEW[TABLE_CHECKSUM]}"


def test_an_update_that_changes_nothing_writes_nothing() -> None:
    storage = a_table(render(OLD))
    before = storage.writes

    update_properties(storage, {"doomed": "x", "never there": None}, HandClock())

    assert storage.writes == before


def test_an_update_of_a_name_brings_the_checksum_along() -> None:
    updated = update_properties(a_table(render(OLD)), {"hoodie.table.name": "renamed"}, HandClock())

    assert updated.properties[TABLE_CHECKSUM] == expected_checksum({**OLD, "hoodie.table.name": "renamed"})


def test_a_table_cannot_lose_its_name() -> None:
    storage = a_table(render(OLD))

    with pytest.raises(Contradiction, match=r"hoodie.table.name"):
        update_properties(storage, {"hoodie.table.name": None}, HandClock())

    assert read_properties(storage, HandClock()).properties == OLD


def faults() -> Iterator[Fault]:
    """Every write of an update, dying in every way: torn at each byte."""
    longest = len(render(OLD | NEW, ["x" * 40] * 2))
    for at_write in (1, 2, 3):
        yield Fault(at_write, Way.BEFORE, Crash())
        yield Fault(at_write, Way.AFTER, Crash())
    for torn_bytes in range(longest):
        yield Fault(2, Way.TORN, Crash(), torn_bytes)


def test_an_update_is_three_writes() -> None:
    storage = a_table(render(OLD)).restarted()

    update_properties(storage, CHANGES, HandClock())

    assert storage.writes == 3


@pytest.mark.parametrize("old", [OLD, unsealed(OLD)], ids=["sealed", "of an old release"])
def test_after_a_death_at_any_write_readers_see_old_or_new_and_the_next_update_succeeds(old: dict[str, str]) -> None:
    seen = set()
    for fault in faults():
        survivor = a_table(render(old))
        with pytest.raises(Crash):
            update_properties(survivor.restarted(fault), CHANGES, HandClock())

        found = read_properties(survivor, HandClock()).properties
        assert unsealed(found) in (unsealed(OLD), unsealed(NEW)), fault
        seen.add("new" in found)

        again = update_properties(survivor, CHANGES | {"second": "z"}, HandClock())
        assert again.properties == read_properties(survivor, HandClock()).properties == sealed(NEW | {"second": "z"})
        assert [child.path for child in survivor.list(".hoodie")] == [MAIN, ".hoodie/timeline"]
    assert seen == {True, False}


def states_left_by_java() -> Iterator[tuple[bytes | None, bytes | None]]:
    """What Java's update leaves when it dies after any byte: it deletes the file, then writes it bit by bit."""
    old, new = render(OLD), render(NEW)
    yield from ((old, old[:length]) for length in range(len(old) + 1))
    yield None, old
    yield from ((new[:length], old) for length in range(len(new) + 1))
    yield new, None


def test_whatever_a_dead_java_writer_left_is_read_and_put_right() -> None:
    for main, backup in states_left_by_java():
        storage = a_table(main, backup)

        assert read_properties(storage, HandClock()).properties in (OLD, NEW), (main, backup)
        updated = update_properties(storage, {"second": "z"}, HandClock())

        assert updated.properties in (sealed(OLD | {"second": "z"}), sealed(NEW | {"second": "z"}))
        assert [child.path for child in storage.list(".hoodie")] == [MAIN, ".hoodie/timeline"]


def test_a_death_while_putting_right_is_put_right_in_turn() -> None:
    for main in (None, TORN, b""):
        for fault in faults():
            survivor = a_table(main, render(OLD))
            with pytest.raises(Crash):
                update_properties(survivor.restarted(fault), CHANGES, HandClock())

            assert read_properties(survivor, HandClock()).properties in (OLD, NEW), fault
            assert update_properties(survivor, CHANGES, HandClock()).properties == NEW


def test_nothing_is_deleted_where_both_files_are_bad() -> None:
    storage = a_table(TORN[:10], TORN)

    with pytest.raises(CorruptFile, match="put back a good copy"):
        update_properties(storage, CHANGES, HandClock())

    assert (storage.read(MAIN), storage.read(BACKUP)) == (TORN[:10], TORN)


@pytest.mark.parametrize("error", [OutcomeUnknown("lost"), StorageUnavailable("down")])
@pytest.mark.parametrize("at_write", [1, 2, 3])
@pytest.mark.parametrize("way", [Way.BEFORE, Way.AFTER])
def test_a_store_that_fails_once_is_reported_and_the_repeated_update_succeeds(
    error: Exception, at_write: int, way: Way
) -> None:
    storage = a_table(render(OLD))

    with pytest.raises(type(error)):
        update_properties(storage.restarted(Fault(at_write, way, error)), CHANGES, HandClock())

    assert read_properties(storage, HandClock()).properties in (OLD, NEW)
    assert update_properties(storage, CHANGES, HandClock()).properties == NEW


THEIRS = sealed(OLD | {"theirs": "1"})


class RivalAfterwards(MemoryStorage):
    """A store in which somebody without the lock writes right after us."""

    def replace(self, path: str, data: bytes) -> None:
        super().replace(path, data)
        super().replace(path, render(THEIRS))


def test_a_rival_that_overwrites_our_update_is_noticed_and_not_undone() -> None:
    storage = RivalAfterwards(HandClock())
    storage.create(MAIN, render(OLD))

    with pytest.raises(OutcomeUnknown, match="same lock"):
        update_properties(storage, CHANGES, HandClock())

    assert read_properties(storage, HandClock()).properties == THEIRS


class RivalAtBackup(MemoryStorage):
    """A store in which a rival's backup appears between our look and our own."""

    def create(self, path: str, data: bytes) -> None:
        if path == BACKUP:
            super().create(path, b"theirs")
        super().create(path, data)


def test_a_rival_that_began_first_is_left_alone() -> None:
    storage = RivalAtBackup(HandClock())
    storage.create(MAIN, render(OLD))

    with pytest.raises(Contradiction, match="same lock"):
        update_properties(storage, CHANGES, HandClock())

    assert storage.read(BACKUP) == b"theirs"
    assert parse(storage.read(MAIN)) == OLD
