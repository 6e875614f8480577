"""New instant times: above all known ones, and never waited for unless a clock is wrong."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from hudi_engine.clock import Clock
from hudi_engine.errors import Contradiction
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.table.zone import at_time, to_ms

SKEW_KEY = "hoodie.time.generator.max_expected_clock_skew_ms"
DEFAULT_SKEW_MS = 200

_LONGEST_WAIT_MS = 10_000  # under the table's lock; a time further ahead is no skew but a wrong clock or zone
_MOST_STEPS = 100_000


def next_time(clock: Clock, skew_ms: int, zone: ZoneInfo, known: Iterable[str]) -> InstantTime:
    """An instant time above all `known` ones and `skew_ms` in the past. To be called under the table's lock.

    Java takes its own clock's time and sleeps for the skew before it lets go of the lock, so that nobody whose clock
    is behind gets an earlier one. Taking the time of a skew ago promises the same and sleeps only if a known time is
    not that old. `Contradiction` if one is so far ahead that somebody's clock, or the zone, must be wrong.
    """
    # Seconds alone, as very old writers wrote them, mean the last millisecond of that second.
    newest = max((instant.ljust(17, "9") for instant in known if to_ms(instant, zone) is not None), default="")
    wanted = at_time(clock.now_ms() - skew_ms, zone)
    if wanted > newest:
        return wanted
    wanted = _after(newest, zone)
    ahead_ms = _moment(wanted, zone) + skew_ms - clock.now_ms()
    if ahead_ms > _LONGEST_WAIT_MS:
        raise Contradiction(
            f"the timeline's newest instant {newest} is {(ahead_ms - skew_ms) / 1000:.1f} seconds ahead of this "
            f"machine's clock, read as {zone.key}: a new one would have to wait that long under the lock. Set the "
            "clocks of this machine and of the writers right (NTP); on a LOCAL timeline look at the zone as well."
        )
    while (left_ms := _moment(wanted, zone) + skew_ms - clock.now_ms()) > 0:
        clock.sleep(left_ms / 1000)
    return wanted


def just_below(instant: str, taken: Collection[str], zone: ZoneInfo) -> InstantTime:
    """The nearest free instant time below `instant`, 17 digits; one is free if no taken time begins with it."""
    moment = to_ms(instant, zone)
    if moment is None:
        raise Contradiction(f"instant {instant} names no moment, so that nothing can be just below it")
    milliseconds = {time[:17] for time in taken}
    for earlier_ms in range(1, _MOST_STEPS):
        candidate = at_time(moment - earlier_ms, zone)
        if candidate < instant and candidate not in milliseconds:
            return candidate
    raise Contradiction(
        f"the {_MOST_STEPS} milliseconds before instant {instant} are all taken on the timeline: no table is written "
        "that often; look at what writes these instants"
    )


def just_above(instant: str, taken: Collection[str], zone: ZoneInfo) -> InstantTime:
    """The nearest free instant time above `instant`, 17 digits."""
    milliseconds = {time[:17] for time in taken}
    candidate = _after(instant, zone)
    while candidate in milliseconds:
        candidate = _after(candidate, zone)
    return candidate


def _after(instant: str, zone: ZoneInfo) -> InstantTime:
    """The next millisecond as texts are ordered, which in the hour that autumn repeats is not the clock's order."""
    time = datetime.strptime(instant[:17], "%Y%m%d%H%M%S%f") + timedelta(milliseconds=1)
    following = InstantTime(f"{time:%Y%m%d%H%M%S}{time.microsecond // 1000:03d}")
    # The hour that spring skips names no moment.
    return (
        following if at_time(_moment(following, zone), zone) == following else at_time(_moment(instant, zone) + 1, zone)
    )


def _moment(instant: str, zone: ZoneInfo) -> int:
    moment = to_ms(instant, zone)
    assert moment is not None, f"{instant} is made of a moment"
    return moment
