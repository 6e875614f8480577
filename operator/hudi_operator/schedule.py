"""When a schedule is due: cron's five fields in a time zone, with what its days of 23 and 25 hours make of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

# More missed times than this are not counted one by one.
MOST_COUNTED = 100

# So far back the newest time is looked for, the nearest first; longer than eight years no schedule waits.
_WINDOWS = (timedelta(hours=1), timedelta(days=1), timedelta(days=32), timedelta(days=366), timedelta(days=366 * 9))


class BadSchedule(ValueError):
    """No schedule: the message says which field is wrong, what was found and what was expected."""


@dataclass(frozen=True, slots=True)
class Due:
    """The newest time that a schedule was due, and how many times it had been due before that since the time asked."""

    newest: datetime
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """Times are in UTC, to the minute.

    What falls into the hour that is left out when clocks go forward is due right after it; what falls into the hour
    that is there twice when they go back is due once, unless it is due every hour or more often. As Debian's cron.
    """

    expression: str
    zone: ZoneInfo

    @staticmethod
    def of(expression: str, time_zone: str | None) -> "Schedule":
        if len(expression.split()) != 5:
            raise BadSchedule(f"schedule: found {expression!r}, expected five fields, as '30 2 * * *'")
        try:
            schedule = Schedule(expression, ZoneInfo(time_zone or "UTC"))
        except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
            raise BadSchedule(f"timeZone: found {time_zone!r}, expected a zone's name, as Europe/Berlin") from unknown
        try:
            schedule.next_after(datetime(2000, 1, 1, tzinfo=UTC))
        except (CronSimError, StopIteration) as wrong:
            raise BadSchedule(f"schedule: found {expression!r}: {wrong or 'it is never due'}") from wrong
        return schedule

    def next_after(self, at: datetime) -> datetime:
        """The first time after this one."""
        return next(self._after(at))

    def due(self, since: datetime, now: datetime) -> Due | None:
        """What became due after `since`, `now` included."""
        newest = self._newest(now)
        if newest is None or newest <= since:
            return None
        earlier = takewhile(lambda at: at < newest, islice(self._after(since), MOST_COUNTED))
        return Due(newest, sum(1 for _ in earlier))

    def _newest(self, now: datetime) -> datetime | None:
        for window in _WINDOWS:
            times = list(takewhile(lambda at: at <= now, self._after(now - window)))
            if times:
                return times[-1]
        return None

    def _after(self, at: datetime) -> Iterator[datetime]:
        """Every time after this one, in order. Forwards only: backwards cronsim reckons clock changes otherwise."""
        local = at.astimezone(UTC if self.zone.key == "UTC" else self.zone).replace(microsecond=0)
        newest = at
        for found in CronSim(self.expression, local):
            # In the hour that is there twice cronsim begins with the first of the two.
            if found.astimezone(UTC) > newest:
                newest = found.astimezone(UTC)
                yield newest
