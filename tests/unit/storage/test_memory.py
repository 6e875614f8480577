"""The memory storage: its promises, and dying where it is told to."""

from collections.abc import Callable

import pytest

from hudi_engine.clock import HandClock
from hudi_engine.errors import AlreadyExists, EngineError, OutcomeUnknown
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from hudi_engine.storage.protocol import Storage
from tests.kit.storage_contract import PROMISES


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_memory_keeps_the_promise_that(promise: Callable[[Storage], None]) -> None:
    promise(MemoryStorage(HandClock()))


def test_a_crash_is_caught_by_no_handler_of_the_engine() -> None:
    assert not issubclass(Crash, Exception)
    assert not issubclass(Crash, EngineError)


@pytest.mark.parametrize(
    ("way", "left_by_create", "left_by_replace", "is_deleted"),
    [
        (Way.BEFORE, None, b"old", False),
        (Way.AFTER, b"content", b"content", True),
        (Way.TORN, None, b"con", False),
    ],
)
def test_each_way_to_die_leaves_what_it_says(
    way: Way, left_by_create: bytes | None, left_by_replace: bytes, is_deleted: bool
) -> None:
    fault = Fault(1, way, Crash(), torn_bytes=3)
    healthy = MemoryStorage(HandClock())
    healthy.create("old", b"old")
    healthy.create("doomed", b"x")

    with pytest.raises(Crash):
        healthy.restarted(fault).create("new", b"content")
    with pytest.raises(Crash):
        healthy.restarted(fault).replace("old", b"content")
    with pytest.raises(Crash):
        healthy.restarted(fault).delete("doomed")

    found = {child.path: healthy.read(child.path) for child in healthy.list("")}
    assert (found.get("new"), found["old"], "doomed" not in found) == (left_by_create, left_by_replace, is_deleted)


def test_only_the_named_write_fails_and_every_write_is_counted() -> None:
    storage = MemoryStorage(HandClock(), Fault(3, Way.BEFORE, Crash()))

    storage.create("a", b"1")
    storage.replace("a", b"2")
    with pytest.raises(Crash):
        storage.delete("a")
    storage.delete("a")

    assert storage.writes == 4


def test_a_refused_create_is_no_write() -> None:
    storage = MemoryStorage(HandClock())
    storage.create("a", b"1")

    with pytest.raises(AlreadyExists):
        storage.create("a", b"2")

    assert storage.writes == 1


def test_a_store_can_fail_while_the_process_lives_on() -> None:
    storage = MemoryStorage(HandClock(), Fault(1, Way.AFTER, OutcomeUnknown("the answer was lost")))

    with pytest.raises(OutcomeUnknown):
        storage.create("a", b"1")

    assert storage.read("a") == b"1"


def test_the_time_of_a_file_is_the_clocks() -> None:
    clock = HandClock(5_000)
    storage = MemoryStorage(clock)
    storage.create("a", b"1")
    clock.advance(250)
    storage.create("b", b"1")

    assert [child.modified_ms for child in storage.list("")] == [5_000, 5_250]
