"""The lock of one process."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hudi_engine.concurrency.in_process import InProcessLocks
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import Contradiction, LockLost, LockUnavailable

ONE = Owner("engine", "here", "1")
TWO = Owner("engine", "here", "2")


def test_only_one_holds_a_tables_lock() -> None:
    locks = InProcessLocks()
    first, second = locks.of("memory:table", ONE), locks.of("memory:table", TWO)
    first.acquire(0)

    with pytest.raises(LockUnavailable, match="engine on here, attempt 1 held the lock"):
        second.acquire(0)

    first.require_held()
    with pytest.raises(LockLost):
        second.require_held()


def test_the_next_gets_a_lock_that_is_released() -> None:
    locks = InProcessLocks()
    first, second = locks.of("memory:table", ONE), locks.of("memory:table", TWO)
    first.acquire(0)
    second.release()
    first.release()
    first.release()

    second.acquire(0)

    second.require_held()
    with pytest.raises(LockLost):
        first.require_held()


def test_two_tables_do_not_wait_for_each_other() -> None:
    locks = InProcessLocks()
    locks.of("memory:a", ONE).acquire(0)

    locks.of("memory:b", TWO).acquire(0)


def test_a_lock_is_not_taken_twice_by_one() -> None:
    lock = InProcessLocks().of("memory:table", ONE)
    lock.acquire(0)

    with pytest.raises(Contradiction, match="already"):
        lock.acquire(0)


def test_of_many_threads_one_at_a_time_counts() -> None:
    locks = InProcessLocks()
    count = 0
    all_there = threading.Barrier(16)

    def add(number: int) -> None:
        nonlocal count
        lock = locks.of("memory:table", Owner("engine", "here", str(number)))
        all_there.wait()
        for _ in range(50):
            lock.acquire(30)
            seen = count
            lock.require_held()
            count = seen + 1
            lock.release()

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(add, range(16)))

    assert count == 16 * 50
