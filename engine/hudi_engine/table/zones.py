"""The zones of the zone database, and which of them a properties file may have been written in."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from hudi_engine.table.saved_at import SavedAt, offset_text
from hudi_engine.table.zone import clock_at, local_time

_NAMED: Final = 3
# Named where several zones fit: the best known ones, then by the alphabet.
_BEST_KNOWN: Final = (
    *("UTC", "Europe/London", "Europe/Paris", "Europe/Athens", "Europe/Moscow", "America/New_York", "America/Chicago"),
    *("America/Denver", "America/Los_Angeles", "America/Sao_Paulo", "America/Havana", "Asia/Kolkata", "Asia/Shanghai"),
    *("Asia/Singapore", "Asia/Tokyo", "Asia/Jerusalem", "Australia/Sydney", "Australia/Perth", "Pacific/Auckland"),
)
# Java 8 to 21 call these WET and WEST, as Lisbon, where the zone database has numbers. It does so with three more:
# Minsk and Colombo agree with the zones of those names, and Troll and Pitcairn have fewer than a hundred people.
_NAMED_LIKE_LISBON: Final = frozenset({"Africa/Casablanca", "Africa/El_Aaiun"})


def zones_saved_at(saved: SavedAt) -> tuple[ZoneInfo, ...]:
    """The zones whose clocks were so far ahead then, and to which Java gives that abbreviation.

    Java and the zone database share the names of letters; where the database has a number, Java may have any name.
    """
    zones = [(zone, _name_at(zone, saved.moment_ms)) for zone in all_zones() if saved.is_of(zone)]
    alike = [zone for zone, name in zones if name == saved.abbreviation]
    if not alike:
        return tuple(zone for zone, name in zones if not name.isalpha())
    like_lisbon = _NAMED_LIKE_LISBON if saved.abbreviation in {"WET", "WEST"} else frozenset()
    return (*alike, *(zone for zone, _ in zones if zone.key in like_lisbon))


@lru_cache(maxsize=1)
def all_zones() -> tuple[ZoneInfo, ...]:
    """Every zone of the database, the best known first."""
    names = sorted(available_timezones() - {"Factory", "localtime"})
    return tuple(map(ZoneInfo, sorted(names, key=lambda name: (_rank(name), name))))


def difference(zones: Sequence[ZoneInfo], instants: Iterable[str], now_ms: int | None = None) -> str:
    """A time on which these zones differ, with two of them; empty if there is none."""
    if len(zones) < 2:
        return ""
    # Clocks change at quarters of an hour, so one instant stands for its quarter.
    quarters = {_quarter(local): instant for instant in instants if (local := local_time(instant)) is not None}
    for local, instant in sorted(quarters.items()):
        if told := _two_of((zone, local.replace(tzinfo=zone).utcoffset()) for zone in zones):
            return f"The instant {instant} is another moment in {told}"
    told = "" if now_ms is None else _two_of((zone, clock_at(zone, now_ms).utcoffset()) for zone in zones)
    return f"The present is another local time in {told}" if told else ""


def names_of(zones: Sequence[ZoneInfo]) -> str:
    """The first few by name, and how many more there are."""
    shown = ", ".join(zone.key for zone in zones[:_NAMED])
    return shown if len(zones) <= _NAMED else f"{shown} and {len(zones) - _NAMED} more zones"


def _two_of(ahead: Iterable[tuple[ZoneInfo, timedelta | None]]) -> str:
    """The best known zone and the next with another offset; empty if there is no other offset."""
    first_with: dict[timedelta | None, ZoneInfo] = {}
    for zone, offset in ahead:
        first_with.setdefault(offset, zone)
    named = [f"{zone.key} ({offset_text(offset or timedelta())})" for offset, zone in first_with.items()]
    return " than in ".join(named[:2]) if len(named) > 1 else ""


def _quarter(local: datetime) -> datetime:
    return local.replace(minute=local.minute // 15 * 15, second=0, microsecond=0)


def _rank(name: str) -> int:
    return _BEST_KNOWN.index(name) if name in _BEST_KNOWN else len(_BEST_KNOWN)


def _name_at(zone: ZoneInfo, moment_ms: int) -> str:
    return clock_at(zone, moment_ms).tzname() or ""
