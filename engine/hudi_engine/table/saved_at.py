"""The two lines above `hoodie.properties`: the moment it was written, in UTC and in the time zone of its writer.

`java.util.Properties.store` adds `#` and `Date.toString()`, which is in the JVM's own zone; Hudi writes the line
before it, in UTC. All releases from 0.15.0 to 1.2.0 write both.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hudi_engine.table.zone import Sighting, fits

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HUDIS_LINE: Final = re.compile(r"#(?:Updated at|Properties saved on) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z")
_JAVAS_LINE: Final = re.compile(r"#[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d:\d\d:\d\d) (\S{1,12}) (\d{4})")
_QUARTER: Final = timedelta(minutes=15)
_BETWEEN_THE_LINES: Final = timedelta(minutes=1)
WIDEST: Final = timedelta(hours=14)  # no zone on Earth is further from UTC
_LETTERS: Final = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class SavedAt:
    """A moment, and how far the writer's clock was ahead of UTC then. Many zones share an `abbreviation`."""

    moment_ms: int
    offset: timedelta
    abbreviation: str

    @property
    def is_utc(self) -> bool:
        """Java gives this name to UTC alone: London in winter is GMT."""
        return self.abbreviation == "UTC" and not self.offset

    def is_of(self, zone: ZoneInfo) -> bool:
        return fits(zone, Sighting(self.moment_ms, self.offset))

    def __str__(self) -> str:
        return f"{offset_text(self.offset)} ({self.abbreviation})"


def parse_saved_at(data: bytes) -> SavedAt | None:
    """The moment and zone in the first two lines of a properties file; None if Hudi did not write these lines."""
    lines = [line.rstrip("\r") for line in data[:400].decode("iso-8859-1").split("\n")[:2]]
    hudis, javas = (_HUDIS_LINE.fullmatch(lines[0]), _JAVAS_LINE.fullmatch(lines[-1]))
    if hudis is None or javas is None or javas[1] not in _MONTHS:
        return None
    month = _MONTHS.index(javas[1]) + 1
    try:
        moment = datetime.fromisoformat(hudis[1])
        local = datetime.fromisoformat(f"{javas[5]}-{month:02d}-{javas[2]}T{javas[3]}")
    except ValueError:
        return None
    offset = round((local - moment) / _QUARTER) * _QUARTER
    if abs(local - moment - offset) > _BETWEEN_THE_LINES or abs(offset) > WIDEST:
        return None
    return SavedAt(round(moment.replace(tzinfo=UTC).timestamp()) * 1000, offset, javas[4])


def saved_at_lines(moment_ms: int, zone: ZoneInfo | None) -> tuple[str, ...]:
    """The two lines for a moment, without the `#`. A table whose zone is not known gets the first one only."""
    moment = datetime.fromtimestamp(moment_ms / 1000, UTC)
    hudis = f"Updated at {moment.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"
    if zone is None:
        return (hudis,)
    local = moment.astimezone(zone)
    day = f"{_DAYS[local.weekday()]} {_MONTHS[local.month - 1]} {local:%d %H:%M:%S}"
    return hudis, f"{day} {_abbreviation(local)} {local:%Y}"


def offset_text(offset: timedelta) -> str:
    """+05:30 or -06:00."""
    minutes = offset // timedelta(minutes=1)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def _abbreviation(local: datetime) -> str:
    """Java writes GMT-03:00 where a zone has no name of letters."""
    name, offset = local.tzname() or "", local.utcoffset() or timedelta()
    return name if _LETTERS.fullmatch(name) else f"GMT{offset_text(offset)}"
