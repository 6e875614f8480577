from hudi_operator.reconcile.queue import BURST, BURST_SECONDS, Schedule
from hudi_operator.resources.model import Ref
from hudi_operator.words import Kind

ORDERS, RECORDS, FILES = (
    Ref(kind, "shop", name) for kind, name in ((Kind.TABLE, "a"), (Kind.INDEX, "b"), (Kind.INDEX, "c"))
)


def apart(ref: Ref) -> str:
    return ref.name


def test_a_resource_that_is_added_twice_is_worked_on_once_and_at_the_earlier_time() -> None:
    schedule = Schedule(apart)

    schedule.add(ORDERS, 10.0)
    schedule.add(ORDERS, 5.0)
    schedule.add(ORDERS, 7.0)

    assert schedule.take(4.9) is None
    assert schedule.take(5.0) == (ORDERS, 5.0)
    schedule.done(ORDERS)
    assert schedule.take(20.0) is None


def test_the_one_that_is_due_the_longest_comes_first() -> None:
    schedule = Schedule(apart)

    schedule.add(RECORDS, 3.0)
    schedule.add(ORDERS, 2.0)

    assert [schedule.take(5.0), schedule.take(5.0)] == [(ORDERS, 2.0), (RECORDS, 3.0)]


def test_what_becomes_due_while_it_is_worked_on_waits_until_that_is_done() -> None:
    schedule = Schedule(apart)
    schedule.add(ORDERS, 0.0)
    schedule.take(0.0)

    schedule.add(ORDERS, 1.0)

    assert schedule.take(1.0) is None
    schedule.done(ORDERS)
    assert schedule.take(1.0) == (ORDERS, 1.0)


def test_two_resources_of_one_table_are_never_worked_on_at_the_same_time() -> None:
    schedule = Schedule(lambda ref: "the table")
    schedule.add(RECORDS, 0.0)
    schedule.add(FILES, 0.0)

    first = schedule.take(0.0)
    assert first is not None
    assert schedule.take(0.0) is None

    schedule.done(first[0])
    second = schedule.take(0.0)
    assert second is not None
    assert {first[0], second[0]} == {RECORDS, FILES}


def test_those_of_other_tables_do_not_wait_for_a_busy_one() -> None:
    schedule = Schedule(lambda ref: "busy" if ref.kind is Kind.INDEX else "free")
    for ref in (RECORDS, FILES, ORDERS):
        schedule.add(ref, 0.0)

    taken = {schedule.take(0.0), schedule.take(0.0)}

    assert (ORDERS, 0.0) in taken
    assert len(taken - {None}) == 2


def test_a_resource_that_is_always_due_again_is_worked_on_at_most_so_often() -> None:
    schedule = Schedule(apart)
    starts = []

    for tenth in range(300):
        now = tenth / 10
        schedule.add(ORDERS, now)
        if schedule.take(now) is not None:
            starts.append(now)
            schedule.done(ORDERS)

    assert all(later - earlier >= BURST_SECONDS for earlier, later in zip(starts, starts[BURST:], strict=False))
    assert len(starts) == 2 * BURST


def test_a_forgotten_resource_is_not_due() -> None:
    schedule = Schedule(apart)
    schedule.add(ORDERS, 0.0)

    schedule.forget(ORDERS)

    assert schedule.take(1.0) is None
    assert schedule.next_at() is None


def test_the_next_time_is_that_of_the_earliest_wish_that_still_stands() -> None:
    schedule = Schedule(apart)
    schedule.add(ORDERS, 9.0)
    schedule.add(ORDERS, 4.0)
    schedule.add(RECORDS, 6.0)

    assert schedule.next_at() == 4.0
    schedule.take(4.0)
    assert schedule.next_at() == 6.0


def test_only_what_is_due_by_now_counts_as_waiting() -> None:
    schedule = Schedule(apart)
    schedule.add(ORDERS, 1.0)
    schedule.add(RECORDS, 5.0)

    assert schedule.waiting(2.0) == [ORDERS]


def test_a_resource_whose_table_goes_while_it_is_worked_on_is_not_worked_on_twice() -> None:
    keys = {ORDERS: "/lake/orders"}
    schedule = Schedule(keys.__getitem__)
    schedule.add(ORDERS, 0.0)
    schedule.take(0.0)

    keys[ORDERS] = "shop/a"
    schedule.add(ORDERS, 1.0)

    assert schedule.take(1.0) is None
    schedule.done(ORDERS)
    assert schedule.take(1.0) == (ORDERS, 1.0)
