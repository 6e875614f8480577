"""When a schedule is due, on ordinary days and on those of 23 and 25 hours."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from hudi_operator.schedule import MOST_COUNTED, BadSchedule, Due, Schedule


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def berlin(expression: str) -> Schedule:
    return Schedule.of(expression, "Europe/Berlin")


def test_the_next_time_is_after_the_one_given_and_never_it() -> None:
    assert Schedule.of("0 * * * *", None).next_after(at("2026-05-04T12:00")) == at("2026-05-04T13:00")


def test_a_zone_shifts_the_time() -> None:
    assert berlin("30 2 * * *").next_after(at("2026-05-04T00:00")) == at("2026-05-04T00:30")


def test_what_falls_into_the_hour_left_out_is_due_right_after_it() -> None:
    assert berlin("30 2 * * *").next_after(at("2026-03-28T12:00")) == at("2026-03-29T01:00")


def test_the_day_after_the_hour_left_out_is_an_ordinary_one() -> None:
    assert berlin("30 2 * * *").next_after(at("2026-03-29T01:00")) == at("2026-03-30T00:30")


def test_what_falls_into_the_hour_that_is_there_twice_is_due_once() -> None:
    schedule = berlin("30 2 * * *")

    first = schedule.next_after(at("2026-10-24T12:00"))

    assert first == at("2026-10-25T00:30")
    assert schedule.next_after(first) == at("2026-10-26T01:30")


@pytest.mark.parametrize("minute", range(0, 60, 7))
def test_between_the_two_it_is_not_due_again(minute: int) -> None:
    asked = at("2026-10-25T01:00") + timedelta(minutes=minute)

    assert berlin("30 2 * * *").next_after(asked) == at("2026-10-26T01:30")


def test_what_is_due_every_hour_is_due_in_both() -> None:
    schedule = berlin("30 * * * *")
    times = [at("2026-10-24T23:45")]
    for _ in range(3):
        times.append(schedule.next_after(times[-1]))

    assert times[1:] == [at("2026-10-25T00:30"), at("2026-10-25T01:30"), at("2026-10-25T02:30")]


def test_what_is_due_every_hour_is_not_due_in_the_hour_left_out() -> None:
    schedule = berlin("30 * * * *")
    first = schedule.next_after(at("2026-03-29T00:00"))

    assert (first, schedule.next_after(first)) == (at("2026-03-29T00:30"), at("2026-03-29T01:30"))


@pytest.mark.parametrize("expression", ["30 2 * * *", "0 3 * * *", "15 * * * *", "*/20 1-4 * * *"])
@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_on_such_days_what_was_due_is_what_was_next(expression: str, day: str) -> None:
    schedule, asked = berlin(expression), at(f"{day}T00:00") - timedelta(hours=3)
    end, times = asked + timedelta(hours=12), [asked]
    while (following := schedule.next_after(times[-1])) <= end:
        times.append(following)

    for since, newest in pairwise(times):
        assert schedule.due(since, newest) == Due(newest)
        assert schedule.due(newest, newest) is None
    assert schedule.due(asked, end) == Due(times[-1], len(times) - 2)


def test_missed_times_are_counted_and_the_newest_is_told() -> None:
    assert Schedule.of("0 * * * *", None).due(at("2026-05-04T08:30"), at("2026-05-04T12:10")) == Due(
        at("2026-05-04T12:00"), 3
    )


def test_nothing_was_due_since_the_last_time() -> None:
    assert Schedule.of("0 * * * *", None).due(at("2026-05-04T12:00"), at("2026-05-04T12:59:59")) is None


def test_a_long_absence_is_counted_so_far_and_no_farther() -> None:
    due = Schedule.of("* * * * *", None).due(at("2020-01-01T00:00"), at("2026-05-04T12:00:30"))

    assert due == Due(at("2026-05-04T12:00"), MOST_COUNTED)


def test_a_leap_day_is_found_however_far_it_is() -> None:
    schedule = Schedule.of("0 0 29 2 *", None)

    assert schedule.next_after(at("2097-01-01T00:00")) == at("2104-02-29T00:00")
    assert schedule.due(at("2095-01-01T00:00"), at("2104-02-01T00:00")) == Due(at("2096-02-29T00:00"))


@pytest.mark.parametrize(
    ("expression", "zone", "said"),
    [
        ("0 25 * * *", None, "schedule: found '0 25 * * *'"),
        ("0 0 31 2 *", None, "schedule: found '0 0 31 2 *'"),
        ("0 * * *", None, "expected five fields"),
        ("0 0 * * * *", None, "expected five fields"),
        ("@daily", None, "expected five fields"),
        ("0 * * * *", "Europe/Atlantis", "timeZone: found 'Europe/Atlantis'"),
        ("0 * * * *", "../etc/passwd", "timeZone: found '../etc/passwd'"),
    ],
)
def test_what_is_no_schedule_is_refused_with_what_was_found(expression: str, zone: str | None, said: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        Schedule.of(expression, zone)

    assert said in str(refused.value)
