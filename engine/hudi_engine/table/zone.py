"""Instant times as moments. A LOCAL timeline is in its writers' zone, which no file records: it is configuration."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.format.instant_names import InstantTime, State, instant_file
from hudi_engine.table.config import TableConfig, TimelineZone
from hudi_engine.table.timeline import Timeline

ZONE_KEY = "hudi.engine.timeline.timezone"

# Clocks of writers and stores differ a little; zones differ by quarters of an hour.
_SKEW_MS = 5 * 60_000
_QUARTER_MS = 15 * 60_000
_WIDEST_MS = 26 * 3_600_000  # between the earliest zone on Earth and the latest


def zone_of(config: TableConfig, configured: str) -> ZoneInfo:
    """The zone of a table's instant times: UTC if the table says so, else the configured one."""
    if config.timeline_zone is TimelineZone.UTC:
        return ZoneInfo("UTC")
    try:
        return ZoneInfo(configured)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Unsupported(f"{ZONE_KEY}={configured!r}: no such time zone; expected a name like Europe/Paris") from None


@lru_cache(maxsize=1 << 14)  # a timeline is read again and again, and keeps most of its instants
def to_ms(instant: str, zone: ZoneInfo) -> int | None:
    """The moment that an instant time names; None for reserved times that name none."""
    digits = instant[:17].ljust(17, "9") if len(instant) >= 14 else ""
    try:
        moment = datetime.strptime(digits[:14], "%Y%m%d%H%M%S").replace(tzinfo=zone)
    except ValueError:
        return None
    return round(moment.timestamp()) * 1000 + int(digits[14:])


def at_time(moment_ms: int, zone: ZoneInfo) -> InstantTime:
    """The instant time of a moment, 17 digits."""
    try:
        local = (datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=moment_ms)).astimezone(zone)
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


def require_zone(config: TableConfig, zone: ZoneInfo, timeline: Timeline) -> None:
    """Refuse a zone that the files' own times contradict.

    A file cannot be older than the instant it names. It may be younger by any amount (tables are copied), but when
    instants spread over a while are all younger by the same quarter-hours, nobody copied them: the zone is wrong.
    What lies further apart than any two zones says nothing about zones: an archive that kept no times, say.
    """
    if config.timeline_zone is TimelineZone.UTC:
        return
    delays = _delays(timeline, zone)
    if not delays:
        return
    earliest = min(delay for _, delay in delays)
    moments = [moment for moment, _ in delays]
    spread = max(delay for _, delay in delays) - earliest
    shift = round(earliest / _QUARTER_MS) * _QUARTER_MS
    steady = max(moments) - min(moments) > max(4 * spread, 60_000) and abs(earliest - shift) < _SKEW_MS
    if abs(earliest) < _WIDEST_MS and (earliest < -_SKEW_MS or (steady and shift != 0)):
        raise Contradiction(
            f"the timeline's files are {earliest / 3_600_000:+.2f} hours away from the instant times in their names, "
            f"read as {zone.key}. hoodie.table.timeline.timezone is LOCAL, so the writers' zone is configuration: "
            f"set {ZONE_KEY} to the zone that the writers' JVMs run in."
        )


def _delays(timeline: Timeline, zone: ZoneInfo) -> list[tuple[int, int]]:
    """For each instant that names a moment, that moment and how much younger its requested file is, in ms."""
    delays = []
    for instant in timeline.instants:
        file = timeline.files.get(instant_file(instant.in_state(State.REQUESTED)))
        moment = to_ms(instant.requested_at, zone)
        if file is not None and moment is not None:
            delays.append((moment, file.modified_ms - moment))
    return delays
