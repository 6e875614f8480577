"""New instant times: order, free places, clocks that are wrong, zones that change their clocks."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.clock import HandClock
from hudi_engine.concurrency.instant_times import just_above, just_below, next_time
from hudi_engine.errors import Contradiction
from hudi_engine.table.zone import at_time, to_ms

UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")
NOW_MS = 1_767_225_600_000  # 2026-01-01 00:00:00 UTC
MOMENTS = st.integers(NOW_MS - 10**11, NOW_MS + 10**11)


def test_a_new_time_is_a_skew_ago_and_nobody_waits() -> None:
    clock = HandClock(NOW_MS)

    time = next_time(clock, 200, UTC, ["20251231120000000", "00000000000000500"])

    assert (time, clock.now_ms()) == ("20251231235959800", NOW_MS)


@pytest.mark.parametrize(
    "newest", ["20251231235959800", "20251231235959950", "20260101000000123", "20251231235959950004"]
)
def test_a_known_time_that_is_not_a_skew_ago_is_waited_for(newest: str) -> None:
    clock = HandClock(NOW_MS)

    time = next_time(clock, 200, UTC, [newest])

    assert time > newest
    moment = to_ms(time, UTC)
    assert moment is not None
    assert moment + 200 == clock.now_ms()


def test_a_known_time_far_ahead_is_a_clock_that_is_wrong_and_not_waited_for() -> None:
    clock = HandClock(NOW_MS)

    with pytest.raises(Contradiction, match=r"60\.\d seconds ahead"):
        next_time(clock, 200, UTC, ["20260101000100000"])

    assert clock.now_ms() == NOW_MS


def test_a_time_of_seconds_counts_for_its_whole_second() -> None:
    assert next_time(HandClock(NOW_MS), 200, UTC, ["20251231235959"]) > "20251231235959999"


def test_times_that_name_no_moment_are_no_bound() -> None:
    assert next_time(HandClock(NOW_MS), 200, UTC, ["99999999999999999"]) == "20251231235959800"


@pytest.mark.parametrize(
    ("instant", "taken", "expected"),
    [
        ("20251231235959998", [], "20251231235959999"),
        ("20251231235959998", ["20251231235959999", "20260101000000000004"], "20260101000000001"),
    ],
)
def test_the_time_just_above_is_the_nearest_that_is_free(instant: str, taken: list[str], expected: str) -> None:
    assert just_above(instant, taken, UTC) == expected


@given(moments=st.lists(MOMENTS, max_size=6), now_ms=MOMENTS, zone=st.sampled_from([UTC, BERLIN]))
def test_a_new_time_is_above_all_known_ones(moments: list[int], now_ms: int, zone: ZoneInfo) -> None:
    known = [at_time(min(moment, now_ms + 5_000), zone) for moment in moments]
    clock = HandClock(now_ms)

    try:
        time = next_time(clock, 200, zone, known)
    except Contradiction:
        assert zone is BERLIN  # the hour that autumn repeats: times in it are ahead of the clock
        return

    assert all(time > each for each in known)


def test_in_the_hour_that_a_zone_repeats_a_new_time_still_sorts_last() -> None:
    now_ms = 1_792_891_800_000  # 2026-10-25 01:30 UTC: 02:30 in Berlin for the second time
    assert at_time(now_ms, BERLIN) == at_time(now_ms - 3_600_000, BERLIN) == "20261025023000000"

    assert next_time(HandClock(now_ms), 200, BERLIN, ["20261025025959990"]) == "20261025025959991"
    with pytest.raises(Contradiction, match="look at the zone"):
        next_time(HandClock(now_ms), 200, BERLIN, ["20261025025959999"])


def test_a_new_time_is_not_in_the_hour_that_spring_skips() -> None:
    now_ms = 1_774_746_000_000  # 2026-03-29 01:00 UTC: 03:00 in Berlin, a millisecond after 01:59:59.999

    assert next_time(HandClock(now_ms), 200, BERLIN, ["20260329015959999"]) == "20260329030000000"


def test_below_an_instant_is_the_nearest_free_millisecond() -> None:
    taken = {"20260101000000000", "20251231235959999", "20251231235959998004"}

    assert just_below("20260101000000000", taken, UTC) == "20251231235959997"


def test_below_an_instant_of_the_metadata_table_is_below_its_millisecond() -> None:
    assert just_below("20260101000000000004", (), UTC) == "20251231235959999"


def test_below_an_instant_of_seconds_is_the_second_before() -> None:
    assert just_below("20260101000000", (), UTC) == "20251231235959999"


def test_below_a_spring_hour_is_a_time_that_exists() -> None:
    time = just_below("20260329030000000", (), BERLIN)  # 02:00 to 03:00 is skipped that night

    assert time == "20260329015959999"
    moment = to_ms(time, BERLIN)
    assert moment is not None
    assert at_time(moment, BERLIN) == time


def test_nothing_is_below_a_reserved_instant() -> None:
    with pytest.raises(Contradiction, match="names no moment"):
        just_below("00000000000000500", (), UTC)


@given(moment=MOMENTS, taken=st.sets(st.integers(0, 40)))
def test_below_an_instant_is_never_a_taken_time(moment: int, taken: set[int]) -> None:
    instant = at_time(moment, UTC)
    times = {at_time(moment - each, UTC) for each in taken}

    found = just_below(instant, times, UTC)

    assert found < instant
    assert found not in times
    between = [at_time(each, UTC) for each in range(moment - 41, moment)]
    assert all(each in times for each in between if found < each < instant)
