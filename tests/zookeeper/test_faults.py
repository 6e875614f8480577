"""The lock while its servers or the network fail: never two that are certain, and no node that outlives its session."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from hudi_engine.concurrency.lock import Lock
from hudi_engine.errors import LockLost, LockUnavailable
from tests.zookeeper.locks import SESSION_MS, lock, onlooker, wait_until
from tests.zookeeper.proxy import Network
from tests.zookeeper.server import ZooKeeperServer


@pytest.fixture
def network(server: ZooKeeperServer) -> Iterator[Network]:
    with Network(server.port) as between:
        yield between


def test_a_connection_that_breaks_for_a_moment_is_survived(server: ZooKeeperServer, network: Network) -> None:
    mine = lock(network.address, "/faults/blink")
    mine.acquire(5)
    for _ in range(5):
        network.blink()

        mine.require_held()
    mine.release()


@pytest.mark.parametrize("how", ["cut", "stall"])
def test_a_holder_without_a_network_is_not_certain_and_its_place_goes_to_the_next(
    server: ZooKeeperServer, network: Network, how: str
) -> None:
    mine, other = lock(network.address, f"/faults/{how}", "1"), lock(server.address, f"/faults/{how}", "2")
    mine.acquire(5)
    network.cut() if how == "cut" else network.stall()
    began = time.monotonic()

    with pytest.raises(LockLost, match="Nothing was published since"):
        mine.require_held()
    other.acquire(SESSION_MS / 1000 + 2)

    assert time.monotonic() - began < SESSION_MS / 1000 + 2
    other.require_held()
    network.heal()
    with pytest.raises(LockLost):
        mine.require_held()
    other.release()
    with pytest.raises(LockLost, match="ended our session"):
        mine.require_held()
    mine.release()


def test_a_holder_is_certain_again_when_the_network_heals_within_its_session(
    server: ZooKeeperServer, network: Network
) -> None:
    mine = lock(network.address, "/faults/heal", session_ms=4_000, connection_ms=300)
    mine.acquire(5)
    network.cut()
    with pytest.raises(LockLost, match="does not answer"):
        mine.require_held()

    network.heal()

    wait_until(lambda: _is_held(mine), 3)
    mine.release()


def _is_held(mine: Lock) -> bool:
    try:
        mine.require_held()
    except LockLost:
        return False
    return True


def test_a_release_without_a_network_is_quick_and_the_node_goes_with_the_session(
    server: ZooKeeperServer, network: Network
) -> None:
    mine = lock(network.address, "/faults/release")
    mine.acquire(5)
    network.stall()
    began = time.monotonic()

    mine.release()

    assert time.monotonic() - began < SESSION_MS / 1000 + 1
    with onlooker(server.address) as client:
        wait_until(lambda: client.get_children("/faults/release") == [], SESSION_MS / 1000 + 2)


def test_a_release_without_a_network_does_not_wait_for_a_session_that_lasts_long() -> None:
    with ZooKeeperServer(tick_ms=2_000) as server, Network(server.port) as network:
        mine = lock(network.address, "/faults/long", session_ms=40_000)
        mine.acquire(5)
        network.stall()
        began = time.monotonic()

        mine.release()

        assert time.monotonic() - began < 8


def test_a_node_whose_creation_got_no_answer_is_known_again(server: ZooKeeperServer, network: Network) -> None:
    mine = lock(network.address, "/faults/lost-answer", session_ms=4_000)
    network.cut_after(b"-lock-")

    mine.acquire(10)

    mine.require_held()
    with onlooker(server.address) as client:
        assert len(client.get_children("/faults/lost-answer")) == 1
    mine.release()


def test_one_that_waits_gets_its_turn_though_the_network_breaks_meanwhile(
    server: ZooKeeperServer, network: Network
) -> None:
    first, mine = lock(server.address, "/faults/waiting", "1"), lock(network.address, "/faults/waiting", "2")
    first.acquire(5)
    with ThreadPoolExecutor(1) as thread, onlooker(server.address) as client:
        waiting = thread.submit(mine.acquire, 30)
        wait_until(lambda: len(client.get_children("/faults/waiting")) == 2)
        network.blink()
        wait_until(lambda: len(client.get_children("/faults/waiting")) == 2)
        network.cut()
        wait_until(lambda: len(client.get_children("/faults/waiting")) == 1)  # its session ended
        network.heal()
        wait_until(lambda: len(client.get_children("/faults/waiting")) == 2)
        first.release()
        waiting.result(timeout=10)

    mine.require_held()
    mine.release()


def test_a_server_that_stops_takes_the_certainty_and_one_that_comes_back_in_time_gives_it_again() -> None:
    with ZooKeeperServer() as server:
        mine = lock(server.address, "/faults/stop", session_ms=4_000, connection_ms=500)
        mine.acquire(5)
        server.kill()

        with pytest.raises(LockLost, match="does not answer"):
            mine.require_held()
        with pytest.raises(LockUnavailable):
            lock(server.address, "/faults/stop", "2", connection_ms=200).acquire(0.2)

        server.start()
        wait_until(lambda: _is_held(mine))
        mine.release()


def test_a_server_that_freezes_longer_than_the_session_ends_it_for_both() -> None:
    with ZooKeeperServer() as server:
        mine = lock(server.address, "/faults/freeze", session_ms=1_500)
        mine.acquire(5)
        server.pause()
        with pytest.raises(LockLost):
            mine.require_held()
        time.sleep(3)

        server.resume()

        with onlooker(server.address) as client:
            wait_until(lambda: client.get_children("/faults/freeze") == [] or _is_held(mine), 10)
            was_held = _is_held(mine)
            other = lock(server.address, "/faults/freeze", "2")
            if was_held:
                with pytest.raises(LockUnavailable):
                    other.acquire(0.5)
            else:
                other.acquire(5)
                other.require_held()
        mine.release()
        other.release()


def test_a_process_that_was_paused_learns_at_once_that_it_lost_the_lock(
    server: ZooKeeperServer, network: Network
) -> None:
    """To the server a paused process and a stalled network look alike."""
    mine, other = lock(network.address, "/faults/pause", "1"), lock(server.address, "/faults/pause", "2")
    mine.acquire(5)
    network.stall()
    other.acquire(SESSION_MS / 1000 + 3)
    network.heal()

    with pytest.raises(LockLost):
        mine.require_held()

    other.require_held()
    other.release()
    mine.release()


def test_a_server_that_accepts_and_never_answers_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        mine = lock(address, "/faults/deaf", session_ms=60_000, connection_ms=500)
        began = time.monotonic()

        with pytest.raises(LockUnavailable, match=r"no session within 0\.5 seconds"):
            mine.acquire(30)

    assert time.monotonic() - began < 5


def test_a_server_that_cannot_even_be_reached_is_given_up_in_time() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        with socket.create_connection(address), _connecting(address), _connecting(address):  # no room for more
            mine = lock(f"127.0.0.1:{address[1]}", "/faults/full", session_ms=60_000, connection_ms=500)
            began = time.monotonic()
            with pytest.raises(LockUnavailable, match=r"no session within 0\.5 seconds"):
                mine.acquire(30)

    assert time.monotonic() - began < 5


def _connecting(address: tuple[str, int]) -> socket.socket:
    link = socket.socket()
    link.setblocking(False)
    link.connect_ex(address)
    return link
