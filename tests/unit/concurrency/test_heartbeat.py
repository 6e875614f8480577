"""Heartbeats on a clock moved by hand, and the thread that keeps one beating."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hudi_engine.clock import Clock, HandClock, SystemClock
from hudi_engine.concurrency.heartbeat import Heartbeats, Lease, Pulse, by_hand, in_thread, own_lease, writers_lease
from hudi_engine.errors import Contradiction, LockLost, StorageUnavailable
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.memory import Fault, MemoryStorage, Way
from hudi_engine.storage.protocol import FileStat

INSTANT = "20260101000000000"
FILE = f".hoodie/.heartbeat/{INSTANT}"
LEASE = Lease(5_000, 4)


class Patient(MemoryStorage):
    """A store whose next `stalls` writes take as long as it is told, on the hand clock."""

    def __init__(self, clock: HandClock, stall_ms: int, at_write: int) -> None:
        super().__init__(clock)
        self._hand, self._stall_ms, self._at_write = clock, stall_ms, at_write

    def touch(self, path: str) -> None:
        if self.writes + 1 == self._at_write:
            self._hand.advance(self._stall_ms)
        super().touch(path)


class Mute(MemoryStorage):
    """A store that lists nothing: it does not answer."""

    def list(self, folder: str) -> tuple[FileStat, ...]:
        raise StorageUnavailable(f"{folder}: no answer")


def hearts(storage: MemoryStorage, clock: Clock) -> Heartbeats:
    return Heartbeats(storage, clock, LEASE, by_hand)


def test_a_heart_beats_as_an_empty_file_and_leaves_none() -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock)

    with hearts(storage, clock).beating(INSTANT) as liveness:
        assert storage.read(FILE) == b""
        assert hearts(storage, clock).pulse(INSTANT) is Pulse.LIVE
        liveness.require_alive()

    assert storage.list(".hoodie/.heartbeat") == ()


def test_asking_beats_when_a_beat_is_due_and_not_before() -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock)

    with hearts(storage, clock).beating(INSTANT) as liveness:
        for _ in range(10):
            clock.advance(2_500)
            liveness.require_alive()

        assert storage.writes == 1 + 5
        assert hearts(storage, clock).age_ms(INSTANT) == 0


@pytest.mark.parametrize(
    ("age_ms", "pulse", "is_live"),
    [
        (0, Pulse.LIVE, True),
        (20_000, Pulse.LIVE, True),
        (20_001, Pulse.SILENT, False),
        (10**9, Pulse.SILENT, False),
        (-20_000, Pulse.LIVE, True),
        (-20_001, Pulse.UNKNOWN, True),
    ],
)
def test_a_pulse_is_the_age_of_the_file(age_ms: int, pulse: Pulse, is_live: bool) -> None:
    clock = HandClock(2_000_000_000)
    storage = MemoryStorage(HandClock(clock.now_ms() - age_ms))
    storage.replace(FILE, b"")

    assert hearts(storage, clock).age_ms(INSTANT) == age_ms
    assert hearts(storage, clock).pulse(INSTANT) is pulse
    assert hearts(storage, clock).is_live(INSTANT) is is_live


def test_a_missing_file_is_no_evidence_of_death() -> None:
    clock = HandClock(1_000_000)

    found = hearts(MemoryStorage(clock), clock)

    assert found.pulse(INSTANT) is Pulse.UNKNOWN
    assert not found.is_live(INSTANT)


def test_a_store_that_does_not_answer_is_no_evidence_of_death() -> None:
    clock = HandClock(1_000_000)

    found = hearts(Mute(clock), clock)

    assert found.pulse(INSTANT) is Pulse.UNKNOWN
    with pytest.raises(StorageUnavailable):
        found.is_live(INSTANT)


def test_a_stall_of_half_a_lease_is_survived() -> None:
    clock = HandClock(1_000_000)
    storage = Patient(clock, 10_000, at_write=2)

    with hearts(storage, clock).beating(INSTANT) as liveness:
        clock.advance(5_000)
        liveness.require_alive()

        assert hearts(storage, clock).pulse(INSTANT) is Pulse.LIVE
    assert storage.list(".hoodie/.heartbeat") == ()


@pytest.mark.parametrize("stall_ms", [16_000, 30_000, 60_000])
def test_a_stall_of_more_than_a_lease_ends_the_run_for_good_and_leaves_the_file(stall_ms: int) -> None:
    clock = HandClock(1_000_000)
    storage = Patient(clock, stall_ms, at_write=2)

    with hearts(storage, clock).beating(INSTANT) as liveness:
        clock.advance(5_000)
        with pytest.raises(LockLost, match="lease of 20000 ms, so another runner may have taken over"):
            liveness.require_alive()
        writes = storage.writes
        with pytest.raises(LockLost):
            liveness.require_alive()

    # A beat or a removal now could be taken for one of whoever took over.
    assert storage.writes == writes
    assert [file.path for file in storage.list(".hoodie/.heartbeat")] == [FILE]


def test_a_process_that_was_paused_for_a_lease_does_not_beat_again() -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock)

    with hearts(storage, clock).beating(INSTANT) as liveness:
        clock.advance(LEASE.lasts_ms + 1)
        with pytest.raises(LockLost):
            liveness.require_alive()

    assert storage.writes == 1


FAILURES = [StorageUnavailable("no answer"), OSError("too many open files")]


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_a_beat_that_fails_is_made_up_for_within_the_lease(failure: Exception) -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock, Fault(2, Way.BEFORE, failure))

    with hearts(storage, clock).beating(INSTANT) as liveness:
        clock.advance(15_000)
        liveness.require_alive()
        assert hearts(storage, clock).age_ms(INSTANT) == 15_000
        clock.advance(1_000)
        liveness.require_alive()
        assert hearts(storage, clock).age_ms(INSTANT) == 0


def test_a_run_that_cannot_beat_does_not_begin() -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock, Fault(1, Way.BEFORE, StorageUnavailable("no answer")))

    with pytest.raises(StorageUnavailable), hearts(storage, clock).beating(INSTANT):
        raise AssertionError("it began")


def test_only_the_first_beat_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    clock, storage = HandClock(1_000_000), LocalStorage(str(tmp_path))
    monkeypatch.setattr(os, "fsync", flushed.append)

    with Heartbeats(storage, clock, LEASE, by_hand).beating(INSTANT) as liveness:
        at_first = len(flushed)
        os.utime(tmp_path / FILE, (0, 0))
        clock.advance(5_000)
        liveness.require_alive()

        assert at_first >= 2, "the file and its folder"
        assert len(flushed) == at_first
        assert (tmp_path / FILE).stat().st_mtime > 0
        assert (tmp_path / FILE).read_bytes() == b""


def test_a_beat_whose_file_somebody_removed_makes_it_again() -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock)

    with hearts(storage, clock).beating(INSTANT) as liveness:
        storage.delete(FILE)
        clock.advance(5_000)
        liveness.require_alive()

        assert hearts(storage, clock).pulse(INSTANT) is Pulse.LIVE


def test_what_ended_the_run_is_not_hidden_by_a_file_that_cannot_be_removed() -> None:
    clock = HandClock(1_000_000)
    storage = MemoryStorage(clock, Fault(2, Way.BEFORE, StorageUnavailable("no answer")))

    with pytest.raises(ZeroDivisionError), hearts(storage, clock).beating(INSTANT):
        raise ZeroDivisionError


def test_hudis_properties_set_the_leases() -> None:
    conf = {"hoodie.client.heartbeat.interval_in_ms": "10000", "hoodie.client.heartbeat.tolerable.misses": "3"}

    assert (own_lease({}), writers_lease({})) == (Lease(5_000, 4), Lease(60_000, 2))
    assert own_lease(conf) == writers_lease(conf) == Lease(10_000, 3)
    with pytest.raises(Contradiction, match=r"interval_in_ms='999'"):
        own_lease({"hoodie.client.heartbeat.interval_in_ms": "999"})


class Gate(MemoryStorage):
    """A store whose writes wait at a gate, in whatever thread they come."""

    def __init__(self, fault: Fault | None = None) -> None:
        super().__init__(SystemClock(), fault)
        self.is_open = threading.Event()
        self.is_open.set()
        self.came = threading.Semaphore(0)

    def touch(self, path: str) -> None:
        self.came.release()
        self.is_open.wait()
        super().touch(path)


@contextmanager
def quickly(storage: MemoryStorage) -> Iterator[None]:
    with Heartbeats(storage, SystemClock(), Lease(10, 1_000), in_thread).beating(INSTANT) as liveness:
        yield
        liveness.require_alive()


def test_the_thread_beats_without_being_asked_and_ends_with_the_block() -> None:
    storage = Gate()
    threads = threading.active_count()

    with quickly(storage):
        for _ in range(4):
            assert storage.came.acquire(timeout=20)

    assert threading.active_count() == threads
    assert storage.list(".hoodie/.heartbeat") == ()


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_the_thread_beats_again_after_a_beat_that_failed(failure: Exception) -> None:
    storage = Gate(Fault(2, Way.BEFORE, failure))

    with quickly(storage):
        for _ in range(4):
            assert storage.came.acquire(timeout=20)


def test_a_call_that_stalls_does_not_end_the_beating() -> None:
    storage = Gate()

    with quickly(storage):
        storage.is_open.clear()
        while storage.came.acquire(timeout=0.1):
            pass
        storage.is_open.set()
        assert storage.came.acquire(timeout=20)
        assert storage.came.acquire(timeout=20)
