"""The lock while its servers or the network fail: never two that are certain, and no node that outlives its session."""

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from kazoo.client import KazooClient

from hudi_engine.concurrency.zookeeper import ZooKeeperLock
from hudi_engine.errors import LockLost, LockUnavailable, LockUnreachable
from tests.kit.sessions import expire
from tests.kit.wait import wait_until
from tests.kit.zookeeper_proxy import Network
from tests.kit.zookeeper_server import ZooKeeperServer
from tests.zookeeper.locks import lock, onlooker, session_of

# How long a holder asks a server that is silent before it gives up being certain.
_SILENT_MS = 2_000
_PATIENT_SECONDS = 120


@pytest.fixture
def network(server: ZooKeeperServer) -> Iterator[Network]:
    with Network(server.port) as between:
        yield between


@contextmanager
def acquiring(mine: ZooKeeperLock, after: int, client: KazooClient, path: str) -> Iterator[Future[None]]:
    """This lock being awaited in another thread, behind so many others."""
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(mine.acquire, _PATIENT_SECONDS)
        wait_until(lambda: len(client.get_children(path)) == after + 1)
        yield waiting


def test_a_connection_that_breaks_for_a_moment_is_survived(server: ZooKeeperServer, network: Network) -> None:
    mine = lock(network.address, "/faults/blink")
    mine.acquire(_PATIENT_SECONDS)
    for _ in range(5):
        network.blink()

        mine.require_held()
    mine.release()


@pytest.mark.parametrize("how", ["cut", "stall"])
def test_a_holder_without_a_network_is_not_certain_and_its_place_goes_to_the_next_when_its_session_ends(
    server: ZooKeeperServer, network: Network, how: str
) -> None:
    path = f"/faults/{how}"
    mine, other = lock(network.address, path, "1", connection_ms=_SILENT_MS), lock(server.address, path, "2")
    mine.acquire(_PATIENT_SECONDS)
    session = session_of(mine)
    network.cut() if how == "cut" else network.stall()

    with pytest.raises(LockLost, match="Nothing was published since"):
        mine.require_held()
    with onlooker(server.address) as client, acquiring(other, 1, client, path) as waiting:
        was_waiting = not waiting.done()
        expire(server.address, session)
        waiting.result(_PATIENT_SECONDS)

    assert was_waiting, "two were certain"
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
    mine = lock(network.address, "/faults/heal", connection_ms=_SILENT_MS)
    mine.acquire(_PATIENT_SECONDS)
    network.cut()
    with pytest.raises(LockLost, match="does not answer"):
        mine.require_held()

    network.heal()

    wait_until(lambda: _is_held(mine))
    mine.release()


def _is_held(mine: ZooKeeperLock) -> bool:
    try:
        mine.require_held()
    except LockLost:
        return False
    return True


def test_a_release_without_a_network_does_not_wait_for_the_end_of_the_session_with_which_its_node_goes() -> None:
    """Of a session of 20 minutes, so that no machine is so slow that one could be taken for the other."""
    path = "/faults/release"
    with (
        ThreadPoolExecutor(1) as thread,
        ZooKeeperServer(tick_ms=60_000) as server,
        Network(server.port) as network,
    ):
        mine = lock(network.address, path, session_ms=1_200_000)
        mine.acquire(_PATIENT_SECONDS)
        session = session_of(mine)
        network.stall()

        thread.submit(mine.release).result(_PATIENT_SECONDS)

        with onlooker(server.address) as client:
            assert len(client.get_children(path)) == 1
            expire(server.address, session)
            assert client.get_children(path) == []


def test_a_node_whose_creation_got_no_answer_is_known_again(server: ZooKeeperServer, network: Network) -> None:
    mine = lock(network.address, "/faults/lost-answer")
    network.cut_after(b"-lock-")

    mine.acquire(_PATIENT_SECONDS)

    mine.require_held()
    with onlooker(server.address) as client:
        assert len(client.get_children("/faults/lost-answer")) == 1
    mine.release()


def test_one_that_waits_gets_its_turn_though_the_network_breaks_and_its_session_ends_meanwhile(
    server: ZooKeeperServer, network: Network
) -> None:
    path = "/faults/waiting"
    first, mine = lock(server.address, path, "1"), lock(network.address, path, "2")
    first.acquire(_PATIENT_SECONDS)
    with onlooker(server.address) as client, acquiring(mine, 1, client, path) as waiting:
        session = session_of(mine)
        network.blink()
        wait_until(lambda: len(client.get_children(path)) == 2)
        network.cut()
        expire(server.address, session)
        wait_until(lambda: len(client.get_children(path)) == 1)
        network.heal()
        wait_until(lambda: len(client.get_children(path)) == 2)
        first.release()
        waiting.result(_PATIENT_SECONDS)

    mine.require_held()
    mine.release()


def test_a_server_that_stops_takes_the_certainty_and_one_that_comes_back_in_time_gives_it_again() -> None:
    with ZooKeeperServer(tick_ms=2_000) as server:
        mine = lock(server.address, "/faults/stop", connection_ms=_SILENT_MS)
        mine.acquire(_PATIENT_SECONDS)
        server.kill()

        with pytest.raises(LockLost, match="does not answer"):
            mine.require_held()
        with pytest.raises(LockUnreachable):
            lock(server.address, "/faults/stop", "2", connection_ms=200).acquire(0.2)

        server.start()
        wait_until(lambda: _is_held(mine))
        mine.release()


def test_a_server_that_freezes_takes_the_certainty_and_gives_it_again_when_it_goes_on_in_time() -> None:
    with ZooKeeperServer(tick_ms=2_000) as server:
        mine = lock(server.address, "/faults/freeze", connection_ms=_SILENT_MS)
        mine.acquire(_PATIENT_SECONDS)
        server.pause()
        with pytest.raises(LockLost, match="does not answer"):
            mine.require_held()

        server.resume()

        wait_until(lambda: _is_held(mine))
        with pytest.raises(LockUnavailable, match=r"held for .* by 'application_id=engine@here,attempt=1,"):
            lock(server.address, "/faults/freeze", "2").acquire(3)
        mine.release()


def test_a_process_that_was_paused_learns_at_once_that_it_lost_the_lock(
    server: ZooKeeperServer, network: Network
) -> None:
    """To the server a paused process and a stalled network look alike."""
    path = "/faults/pause"
    mine, other = lock(network.address, path, "1"), lock(server.address, path, "2")
    mine.acquire(_PATIENT_SECONDS)
    session = session_of(mine)
    network.stall()
    with onlooker(server.address) as client, acquiring(other, 1, client, path) as waiting:
        expire(server.address, session)
        waiting.result(_PATIENT_SECONDS)
    network.heal()

    with pytest.raises(LockLost):
        mine.require_held()

    other.require_held()
    other.release()
    mine.release()


def test_a_server_that_accepts_and_never_answers_is_given_up_before_the_wait_for_the_lock_is_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        mine = lock(f"127.0.0.1:{deaf.getsockname()[1]}", "/faults/deaf", connection_ms=500)

        with pytest.raises(LockUnreachable, match=r"no session within 0\.5 seconds"):
            mine.acquire(_PATIENT_SECONDS)


def test_a_server_that_cannot_even_be_reached_is_given_up_before_the_wait_for_the_lock_is_over() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        with socket.create_connection(address), _connecting(address), _connecting(address):  # no room for more
            mine = lock(f"127.0.0.1:{address[1]}", "/faults/full", connection_ms=500)
            with pytest.raises(LockUnreachable, match=r"no session within 0\.5 seconds"):
                mine.acquire(_PATIENT_SECONDS)


def _connecting(address: tuple[str, int]) -> socket.socket:
    link = socket.socket()
    link.setblocking(False)
    link.connect_ex(address)
    return link
