"""The zone of a table's instant times, and what tells it: what is configured, else what the table shows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from hudi_engine.table.config import TimelineZone
from hudi_engine.table.file_times import file_times
from hudi_engine.table.saved_at import SavedAt
from hudi_engine.table.timeline import Timeline
from hudi_engine.table.zone import ZONE_KEY, zone_named
from hudi_engine.table.zone_evidence import FoundZone, Times, ZoneEvidence, saved_text, zone_from

_UTC: Final = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Stated:
    """The statements about the zone: the table's property, the caller's setting, and the lines above the properties."""

    timeline_zone: TimelineZone
    configured: str | None = None
    saved_at: SavedAt | None = None


def find_zone(stated: Stated, look: Callable[[], Timeline], now_ms: int) -> FoundZone:
    """UTC if the table says so, else the configured zone, else what the evidence leaves. `look` lists the timeline.

    A configured zone wins over the first lines of `hoodie.properties`: these tell the zone of the last program that
    changed the properties, and that may have been a command on another machine.
    """
    if stated.timeline_zone is TimelineZone.UTC:
        return _certain(_UTC, "hoodie.table.timeline.timezone is UTC")
    if stated.configured is not None:
        zone = zone_named(stated.configured)
        return _certain(zone, f"{ZONE_KEY} is set{_but(stated.saved_at, zone)}")
    if stated.saved_at is not None and stated.saved_at.is_utc:
        return _certain(_UTC, saved_text(stated.saved_at))
    timeline = look()
    times = Times([instant.requested_at for instant in timeline.instants], now_ms)
    return zone_from(stated.saved_at, file_times(timeline), times)


def _certain(zone: ZoneInfo, told_by: str) -> FoundZone:
    return FoundZone(zone, ZoneEvidence(told_by, (zone,)))


def _but(saved: SavedAt | None, zone: ZoneInfo) -> str:
    return "" if saved is None or saved.is_of(zone) else f"; {saved_text(saved)}, which is not that zone"
