"""Instant times as moments. A LOCAL timeline is in its writers' time zone; `zone_evidence` has what tells it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.format.instant_names import InstantTime

ZONE_KEY = "hudi.engine.timeline.timezone"

QUARTER_MS = 15 * 60_000  # the offsets of zones are quarters of an hour
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Sighting:
    """At this moment the writers' clock was so far ahead of UTC."""

    moment_ms: int
    offset: timedelta


def zone_named(name: str) -> ZoneInfo:
    """The zone that a person named."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Unsupported(f"{ZONE_KEY}={name!r}: no such time zone; expected a name like Europe/Paris") from None


def clock_at(zone: ZoneInfo, moment_ms: int) -> datetime:
    """The local time of a zone at a moment."""
    return (_EPOCH + timedelta(milliseconds=moment_ms)).astimezone(zone)


def fits(zone: ZoneInfo, seen: Sighting) -> bool:
    """Whether this zone's clocks were so far ahead of UTC then."""
    return clock_at(zone, seen.moment_ms).utcoffset() == seen.offset


def local_time(instant: str) -> datetime | None:
    """The time that an instant shows, in no zone; None for reserved times. Seconds alone are read as Java does."""
    digits = instant[:17].ljust(17, "9") if len(instant) >= 14 else ""
    try:
        second = datetime.strptime(digits[:14], "%Y%m%d%H%M%S")
        return second.replace(microsecond=int(digits[14:]) * 1000)
    except ValueError:
        return None


@lru_cache(maxsize=1 << 14)  # a timeline is read again and again, and keeps most of its instants
def to_ms(instant: str, zone: ZoneInfo) -> int | None:
    """The moment that an instant time names; None for reserved times that name none."""
    local = local_time(instant)
    return None if local is None else (local.replace(tzinfo=zone) - _EPOCH) // timedelta(milliseconds=1)


def at_time(moment_ms: int, zone: ZoneInfo) -> InstantTime:
    """The instant time of a moment, 17 digits."""
    try:
        local = clock_at(zone, moment_ms)
    except OverflowError:
        raise Contradiction(f"a file's modification time, {moment_ms} ms after 1970, is in no calendar year") from None
    return InstantTime(f"{local:%Y%m%d%H%M%S}{local.microsecond // 1000:03d}")


def parse_as_of(text: str) -> InstantTime:
    """An instant time from what a person writes, by Hudi's rules: a date, a date and a time, or the digits."""
    for shape in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"):
        try:
            return InstantTime(datetime.strptime(text, shape).strftime("%Y%m%d%H%M%S") + "000")
        except ValueError:
            continue
    for shape in ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f"):
        try:
            return InstantTime(datetime.strptime(text, shape).strftime("%Y%m%d%H%M%S%f")[:17])
        except ValueError:
            continue
    if text.isdecimal() and text.isascii() and 14 <= len(text) <= 17:
        return InstantTime(text)
    raise NotFound(
        f"--as-of {text!r} is no instant: expected 20260131235959999, 2026-01-31, or '2026-01-31 23:59:59.999'"
    )
