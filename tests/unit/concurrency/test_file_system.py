"""The lock that is a file, in memory: who has it, who lost it, and who may take over an expired one."""

import json
from collections.abc import Callable

import pytest

from hudi_engine.clock import HandClock
from hudi_engine.concurrency.file_system import FileSystemLock, LockFile
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import Contradiction, LockLost, LockUnavailable, OutcomeUnknown, StorageUnavailable
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way

FILE = ".hoodie/lock"
ONE = Owner("engine", "here", "1")
TWO = Owner("engine", "there", "2")
NOW_MS = 1_767_225_600_000


def lock(storage: MemoryStorage, clock: HandClock, owner: Owner = ONE, expire_minutes: int = 0) -> FileSystemLock:
    return FileSystemLock(LockFile(storage, FILE, expire_minutes * 60_000), clock, owner)


def test_the_file_says_who_holds_it_in_the_shape_of_javas() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)

    lock(storage, clock).acquire(0)

    assert storage.read(FILE).startswith(b'{\n  "lockCreateTime" : "2026-01-01 00:00:00.000",\n  "lockThreadName" : "')
    assert json.loads(storage.read(FILE)) == {
        "lockCreateTime": "2026-01-01 00:00:00.000",
        "lockThreadName": "engine on here, attempt 1",
        "lockStacksInfo": [],
    }


def test_only_one_holds_it_and_who_waits_is_told_by_whom_and_for_how_long() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    lock(storage, clock).acquire(0)
    clock.advance(30_000)

    with pytest.raises(LockUnavailable, match=r"held by engine on here, attempt 1 for 40 seconds.*delete that file"):
        lock(storage, clock, TWO).acquire(10)


def test_a_file_of_java_is_empty_and_keeps_us_out() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    storage.create(FILE, b"")

    with pytest.raises(LockUnavailable, match="held by a writer that does not say who it is"):
        lock(storage, clock).acquire(1)


def test_release_removes_the_file_once_and_lets_the_next_in() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    first, second = lock(storage, clock), lock(storage, clock, TWO)
    first.acquire(0)
    first.release()

    second.acquire(0)
    first.release()

    second.require_held()
    with pytest.raises(LockLost, match="does not hold"):
        first.require_held()


def test_a_lock_is_not_taken_twice_by_one() -> None:
    clock = HandClock(NOW_MS)
    held = lock(MemoryStorage(clock), clock)
    held.acquire(0)

    with pytest.raises(Contradiction, match="already"):
        held.acquire(0)


def test_a_file_that_java_deleted_is_a_lock_lost() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    held = lock(storage, clock)
    held.acquire(0)
    storage.delete(FILE)

    with pytest.raises(LockLost, match="is gone"):
        held.require_held()


def test_a_file_that_another_made_since_is_neither_ours_nor_removed() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    held = lock(storage, clock)
    held.acquire(0)
    storage.delete(FILE)
    lock(storage, clock, TWO).acquire(0)

    with pytest.raises(LockLost, match="held by engine on there, attempt 2"):
        held.require_held()
    held.release()

    assert b"attempt 2" in storage.read(FILE)


def test_a_store_that_does_not_answer_proves_nothing() -> None:
    class Mute(MemoryStorage):
        def read(self, path: str) -> bytes:
            raise StorageUnavailable("no answer")

    clock = HandClock(NOW_MS)
    held = lock(Mute(clock), clock)
    held.acquire(0)

    with pytest.raises(LockLost, match="no answer"):
        held.require_held()


def test_a_file_whose_creation_got_no_answer_is_ours_if_it_is_there() -> None:
    clock = HandClock(NOW_MS)
    held = lock(MemoryStorage(clock, Fault(1, Way.AFTER, OutcomeUnknown("lost"))), clock)

    held.acquire(0)

    held.require_held()


def test_a_file_whose_creation_got_no_answer_is_not_ours_if_it_is_not_there() -> None:
    clock = HandClock(NOW_MS)
    held = lock(MemoryStorage(clock, Fault(1, Way.BEFORE, OutcomeUnknown("lost"))), clock)

    with pytest.raises(OutcomeUnknown):
        held.acquire(0)


def test_without_an_expiry_a_dead_holders_file_stays() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    lock(storage, clock).acquire(0)
    clock.advance(10**9)

    with pytest.raises(LockUnavailable):
        lock(storage, clock, TWO).acquire(1)


def test_an_expired_file_is_taken_over_and_its_holder_finds_out() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    first, second = lock(storage, clock, expire_minutes=1), lock(storage, clock, TWO, expire_minutes=1)
    first.acquire(0)
    clock.advance(60_001)

    second.acquire(0)

    second.require_held()
    with pytest.raises(LockLost, match="attempt 2"):
        first.require_held()


def test_a_file_that_is_not_expired_is_not_taken_over() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    lock(storage, clock, expire_minutes=1).acquire(0)
    clock.advance(60_000)

    with pytest.raises(LockUnavailable):
        lock(storage, clock, TWO, expire_minutes=1).acquire(0)


def test_nothing_is_published_just_before_the_expiry() -> None:
    clock = HandClock(NOW_MS)
    held = lock(MemoryStorage(clock), clock, expire_minutes=1)
    held.acquire(0)
    clock.advance(50_000)
    held.require_held()
    clock.advance(1)

    with pytest.raises(LockLost, match="Raise hoodie"):
        held.require_held()


class Settling(HandClock):
    """A clock on which something happens while somebody sleeps."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.meanwhile: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        happens, self.meanwhile = self.meanwhile, lambda: None
        happens()
        super().sleep(seconds)


def test_of_two_that_find_a_file_expired_one_gets_it() -> None:
    clock = Settling(NOW_MS)
    storage = MemoryStorage(clock)
    storage.create(FILE, b"")
    clock.advance(60_001)
    first = lock(storage, clock, expire_minutes=1)
    # The other looked when the first did, and writes while the first waits to see who else writes.
    clock.meanwhile = lambda: storage.replace(FILE, b'{"lockThreadName" : "another"}')

    with pytest.raises(LockUnavailable, match="held by another"):
        first.acquire(0)


def test_a_holder_that_died_at_any_write_leaves_the_lock_free_or_taken_and_never_half() -> None:
    for way in Way:
        clock = HandClock(NOW_MS)
        storage = MemoryStorage(clock, Fault(1, way, Crash()))
        with pytest.raises(Crash):
            lock(storage, clock).acquire(0)
        clock.advance(60_001)

        second = lock(storage.restarted(), clock, TWO, expire_minutes=1)
        second.acquire(0)

        second.require_held()


def test_a_file_that_others_may_take_over_by_now_is_left_to_them_and_they_get_it() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    first, second = lock(storage, clock, expire_minutes=1), lock(storage, clock, TWO, expire_minutes=1)
    first.acquire(0)
    clock.advance(51_000)

    first.release()

    assert storage.read(FILE)
    with pytest.raises(LockLost, match="does not hold"):
        first.require_held()
    second.acquire(20)
    second.require_held()


def test_a_lock_that_expires_is_taken_away_again_as_long_as_nobody_else_may_take_it() -> None:
    clock = HandClock(NOW_MS)
    storage = MemoryStorage(clock)
    held = lock(storage, clock, expire_minutes=1)
    held.acquire(0)
    clock.advance(50_000)

    held.release()

    assert not storage.list(".hoodie")
