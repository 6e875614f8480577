"""The lock among many, on a real server: one at a time, in the order they came, nothing left behind."""

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hudi_engine.errors import Contradiction, LockLost, LockUnavailable, LockUnreachable
from tests.kit.wait import wait_until
from tests.kit.zookeeper_server import ZooKeeperServer, free_port
from tests.zookeeper.locks import lock, onlooker, owner


def test_only_one_holds_it_and_who_waits_is_told_by_whom_and_for_how_long(server: ZooKeeperServer) -> None:
    first, second = lock(server.address, "/queue/two", "1"), lock(server.address, "/queue/two", "2")
    first.acquire(60)
    try:
        with pytest.raises(
            LockUnavailable, match=r"held for \d+\.\d seconds by 'application_id=engine@here,attempt=1,"
        ):
            second.acquire(3)
        first.require_held()
        with pytest.raises(LockLost, match="does not hold"):
            second.require_held()
        with pytest.raises(Contradiction, match="already"):
            first.acquire(0)
    finally:
        first.release()
    with pytest.raises(LockLost, match="does not hold"):
        first.require_held()


def test_a_lock_that_is_released_is_the_next_ones_without_another_look(
    server: ZooKeeperServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hudi_engine.concurrency.zookeeper._LOOK_AGAIN_SECONDS", 3_600.0)
    first, second = lock(server.address, "/queue/next", "1"), lock(server.address, "/queue/next", "2")
    first.acquire(60)
    with ThreadPoolExecutor(1) as thread, onlooker(server.address) as client:
        waiting = thread.submit(second.acquire, 7_200)
        wait_until(lambda: len(client.get_children("/queue/next")) == 2)

        first.release()
        waiting.result(timeout=60)

    second.require_held()
    second.release()


def test_a_node_says_who_holds_or_waits_and_is_named_as_curators(server: ZooKeeperServer) -> None:
    held = lock(server.address, "/queue/words", "7")
    held.acquire(60)
    with onlooker(server.address) as client:
        (name,) = client.get_children("/queue/words")
        data, _ = client.get(f"/queue/words/{name}")
    held.release()

    assert name.startswith("_c_")
    assert name.rpartition("-lock-")[2].isdecimal()
    assert data.startswith(b"application_id=engine@here,attempt=7,held_since=20")


def test_a_node_that_is_nobodys_place_in_the_queue_is_no_contender(server: ZooKeeperServer) -> None:
    with onlooker(server.address) as client:
        client.create("/queue/others/left-by-a-person", makepath=True)

    held = lock(server.address, "/queue/others")
    held.acquire(60)
    held.require_held()
    held.release()


def test_a_hundred_contenders_get_it_in_the_order_they_came(server: ZooKeeperServer) -> None:
    got: list[int] = []
    first = lock(server.address, "/queue/hundred")
    first.acquire(60)

    def contend(number: int) -> None:
        mine = lock(server.address, "/queue/hundred", str(number))
        mine.acquire(120)
        got.append(number)
        mine.require_held()
        mine.release()

    with ThreadPoolExecutor(100) as threads, onlooker(server.address) as client:
        waiting = []
        for number in range(100):
            waiting.append(threads.submit(contend, number))
            wait_until(lambda: len(client.get_children("/queue/hundred")) == number + 2)  # noqa: B023  at once
        first.release()
        for each in waiting:
            each.result(timeout=120)
        left = client.get_children("/queue/hundred")

    assert got == list(range(100))
    assert left == []


def test_of_many_threads_one_at_a_time_counts(server: ZooKeeperServer) -> None:
    count = 0

    def add(number: int) -> None:
        nonlocal count
        mine = lock(server.address, "/queue/count", str(number))
        for _ in range(10):
            mine.acquire(120)
            seen = count
            mine.require_held()
            count = seen + 1
            mine.release()

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(add, range(12)))

    assert count == 120


def _in_use() -> tuple[int, int]:
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def test_a_thousand_cycles_leave_no_thread_and_no_socket(server: ZooKeeperServer) -> None:
    mine = lock(server.address, "/queue/cycles")
    mine.acquire(60)
    mine.release()
    before = _in_use()

    for _ in range(1_000):
        mine.acquire(60)
        mine.release()

    assert _in_use() == before


def test_a_hundred_failed_starts_leave_no_thread_and_no_socket() -> None:
    nobody = lock(f"127.0.0.1:{free_port()}", "/queue/nobody", connection_ms=50)
    before = _in_use()

    for _ in range(100):
        with pytest.raises(LockUnreachable, match=r"no session within 0\.05 seconds"):
            nobody.acquire(1)

    assert _in_use() == before


def test_a_path_behind_the_servers_that_is_not_there_is_named(server: ZooKeeperServer) -> None:
    before = _in_use()
    with pytest.raises(Contradiction, match="is not there"):
        lock(f"{server.address}/nowhere", "/queue/chroot").acquire(1)
    assert _in_use() == before

    with onlooker(server.address) as client:
        client.ensure_path("/somewhere")
        below = lock(f"{server.address}/somewhere", "/queue/chroot")
        below.acquire(60)
        below.require_held()
        assert len(client.get_children("/somewhere/queue/chroot")) == 1
        below.release()


def test_owners_are_told_apart_by_their_words() -> None:
    assert str(owner("3")) == "engine on here, attempt 3"
