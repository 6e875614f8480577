"""The client of the observer: what it keeps, and what becomes of a process that fails."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from hudi_engine.contract import ObserveRequest, TableSeen, TableUnseen, UnseenReason
from hudi_operator.observe import Limits, Observer
from tests.unit.operator.observe.observers import FAITHFUL, program

T = TypeVar("T")

NO_PAUSE = Limits(answer_seconds=20, first_pause_seconds=0, longest_pause_seconds=0)
ORDERS = ObserveRequest(0, "/tables/orders")
OTHERS = ObserveRequest(0, "/tables/others")
# Of every store but that of orders.
SILENT = f"""
asked = globals().get("asked", 0) + (question["table"] != "/tables/orders")
if question["table"] != "/tables/orders":
    told = dict(reason="storage_unavailable", message=f"asked {{asked}} times", retry=True, observed_ms=1)
    answer(question, unseen=told)
    continue
{FAITHFUL}"""


def with_observer(observer: Observer, use: Callable[[Observer], Awaitable[T]]) -> T:
    async def used() -> T:
        try:
            return await use(observer)
        finally:
            await observer.close()

    return asyncio.run(used())


def looks(observer: Observer, *requests: ObserveRequest) -> list[TableSeen | TableUnseen]:
    async def all_of(observer: Observer) -> list[TableSeen | TableUnseen]:
        return [await observer.look(request) for request in requests]

    return with_observer(observer, all_of)


def test_an_unchanged_table_is_what_it_was_at_the_time_of_the_new_look() -> None:
    times = iter([5.0])

    first, second = looks(Observer(NO_PAUSE, program(FAITHFUL), lambda: next(times)), ORDERS, ORDERS)

    assert isinstance(first, TableSeen)
    assert isinstance(second, TableSeen)
    assert (first.observed_ms, second.observed_ms) == (1, 5000)
    assert first.name == second.name


def test_what_is_known_of_one_table_is_not_told_of_another_nor_with_other_properties() -> None:
    times = iter([5.0, 6.0, 7.0])
    others = ObserveRequest(0, "/tables/orders", conf_from=("/secrets/other",))

    seen = looks(Observer(NO_PAUSE, program(FAITHFUL), lambda: next(times)), ORDERS, OTHERS, others)

    assert [one.observed_ms for one in seen] == [1, 1, 1]


def test_many_looks_at_once_are_answered_by_one_process() -> None:
    async def at_once(observer: Observer) -> list[TableSeen | TableUnseen]:
        return await asyncio.gather(*(observer.look(ObserveRequest(0, f"/tables/{n}")) for n in range(50)))

    seen = with_observer(Observer(NO_PAUSE, program(FAITHFUL)), at_once)

    assert len({one.name for one in seen if isinstance(one, TableSeen)}) == 1


def test_a_process_that_dies_is_started_anew_and_what_was_seen_is_kept(tmp_path: Path) -> None:
    dying = f"""
if question["table"] == "/tables/others" and not os.path.exists({str(tmp_path / "died")!r}):
    open({str(tmp_path / "died")!r}, "w").close()
    print("no \\x1b[2Jmemory left", file=sys.stderr, flush=True)
    os._exit(9)
"""
    seen = looks(Observer(NO_PAUSE, program(dying + FAITHFUL), lambda: 5.0), ORDERS, OTHERS, OTHERS, ORDERS)

    assert isinstance(seen[1], TableUnseen)
    assert (seen[1].reason, seen[1].retry) == (UnseenReason.INTERNAL, True)
    assert "exit code 9: no ?[2Jmemory left" in seen[1].message
    assert isinstance(seen[0], TableSeen)
    assert isinstance(seen[2], TableSeen)
    assert seen[0].name != seen[2].name
    assert isinstance(seen[3], TableSeen)
    assert (seen[3].name, seen[3].observed_ms) == (seen[0].name, 5000)


@pytest.mark.thorough
def test_a_process_that_hangs_is_killed_and_only_the_table_it_hung_over_has_to_pause() -> None:
    limits = Limits(answer_seconds=2, first_pause_seconds=1000, longest_pause_seconds=1000)
    hanging = 'if question["table"] == "/tables/others": time.sleep(1000)\n'

    seen = looks(Observer(limits, program(hanging + FAITHFUL)), ORDERS, OTHERS, OTHERS, ORDERS)

    assert [type(one) for one in seen] == [TableSeen, TableUnseen, TableUnseen, TableSeen]
    assert isinstance(seen[1], TableUnseen)
    assert (seen[1].reason, seen[1].message) == (
        UnseenReason.TIMED_OUT,
        "no answer about /tables/others within 2 s",
    )


def test_a_table_whose_store_is_silent_has_to_pause_and_no_other() -> None:
    limits = Limits(answer_seconds=20, first_pause_seconds=1000, longest_pause_seconds=1000)

    seen = looks(Observer(limits, program(SILENT)), *[OTHERS, ORDERS] * 10)

    assert [one.message for one in seen if isinstance(one, TableUnseen)] == ["asked 1 times"] * 10
    assert [type(one) for one in seen] == [TableUnseen, TableSeen] * 10


def test_tables_whose_stores_are_silent_take_no_more_than_half_of_the_time() -> None:
    slow = f"time.sleep(0 if question['table'] == '/tables/orders' else 0.5){SILENT}"
    third = ObserveRequest(0, "/tables/third")

    seen = looks(Observer(NO_PAUSE, program(slow)), OTHERS, third, OTHERS, third, ORDERS)

    assert [one.message for one in seen if isinstance(one, TableUnseen)] == [f"asked {n} times" for n in (1, 2, 1, 2)]
    assert isinstance(seen[4], TableSeen)


def test_what_has_to_be_mended_by_hand_is_seen_mended_at_the_next_look(tmp_path: Path) -> None:
    refusing = f"""
if question["table"] == "/tables/others" and not os.path.exists({str(tmp_path / "mended")!r}):
    open({str(tmp_path / "mended")!r}, "w").close()
    answer(question, unseen=dict(reason="not_found", message="nothing is there", retry=False, observed_ms=1))
    continue
"""
    limits = Limits(answer_seconds=20, first_pause_seconds=1000, longest_pause_seconds=1000)

    assert [type(one) for one in looks(Observer(limits, program(refusing + FAITHFUL)), OTHERS, OTHERS)] == [
        TableUnseen,
        TableSeen,
    ]


def test_a_process_that_dies_before_its_first_answer_is_not_started_for_every_question(tmp_path: Path) -> None:
    limits = Limits(first_pause_seconds=1000, longest_pause_seconds=1000)
    counting = f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); os._exit(1)"

    seen = looks(Observer(limits, program(counting)), *[ORDERS, OTHERS] * 10)

    assert all(isinstance(one, TableUnseen) for one in seen)
    assert (tmp_path / "starts").read_text() == "x"


def test_a_program_that_is_not_there_is_told_with_its_name() -> None:
    (unseen,) = looks(Observer(NO_PAUSE, ("/no/such/program",)), ORDERS)

    assert isinstance(unseen, TableUnseen)
    assert unseen.message == "the observer cannot be started: /no/such/program: No such file or directory"


@pytest.mark.parametrize(
    "body",
    [
        'print("Traceback (most recent call last)", flush=True)',
        "answer(question)",
        'print("x" * (5 << 20), flush=True)',
        "sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()",
    ],
    ids=["no JSON", "says nothing", "endless line", "no text"],
)
def test_an_answer_that_nobody_understands_ends_the_process(body: str) -> None:
    (unseen,) = looks(Observer(NO_PAUSE, program(body)), ORDERS)

    assert isinstance(unseen, TableUnseen)
    assert "an answer that is not understood" in unseen.message


def test_a_process_that_has_grown_is_replaced_between_two_questions() -> None:
    # A process of any size is above this limit.
    limits = Limits(answer_seconds=20, memory_bytes=1, first_pause_seconds=0, longest_pause_seconds=0)

    seen = looks(Observer(limits, program(FAITHFUL)), ORDERS, OTHERS)

    assert len({one.name for one in seen if isinstance(one, TableSeen)}) == 2


def test_what_the_process_says_on_the_side_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    speaking = 'print("a word", file=sys.stderr, flush=True)\n'

    with caplog.at_level(logging.WARNING):
        looks(Observer(NO_PAUSE, program(speaking + FAITHFUL)), ORDERS)

    assert "observer: a word" in caplog.text


def test_who_stops_waiting_spoils_nothing_for_the_next() -> None:
    slow = 'time.sleep(0.2 if question["table"] == "/tables/others" else 0)\n'

    async def cancelled(observer: Observer) -> TableSeen | TableUnseen:
        first = asyncio.create_task(observer.look(OTHERS))
        await asyncio.sleep(0)
        first.cancel()
        return await observer.look(ORDERS)

    assert isinstance(with_observer(Observer(NO_PAUSE, program(slow + FAITHFUL)), cancelled), TableSeen)


def test_after_close_no_process_is_left() -> None:
    async def number(observer: Observer) -> int:
        await observer.look(ORDERS)
        assert observer.resident_bytes > 0
        await observer.close()
        return observer.resident_bytes

    assert with_observer(Observer(NO_PAUSE, program(FAITHFUL)), number) == 0
