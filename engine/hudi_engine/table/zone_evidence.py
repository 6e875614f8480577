"""The time zone of a LOCAL timeline, from what the table itself shows. Nothing here reads or writes.

Hudi records no zone. Three things tell it: the two lines above `hoodie.properties`, the times of the timeline's files,
and entries of a record index, which hold instants as moments. Each is a `Sighting`: at this moment the writers' clock
was so far ahead of UTC. One sighting fits many zones, and they may differ half a year later. So all zones that fit
are kept, and the zone is certain only where all of them agree on every instant.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hudi_engine.errors import Contradiction
from hudi_engine.table.file_times import FileTimes
from hudi_engine.table.saved_at import WIDEST, SavedAt, offset_text
from hudi_engine.table.zone import QUARTER_MS, ZONE_KEY, Sighting, fits, local_time
from hudi_engine.table.zones import all_zones, difference, names_of, zones_saved_at

_UTC: Final = ZoneInfo("UTC")
_EPOCH: Final = datetime(1970, 1, 1)
_FILE_TIMES: Final = "the timeline's files have their writers' times"


@dataclass(frozen=True, slots=True)
class ZoneEvidence:
    """The evidence for a table's zone, and all zones that fit; no zones if UTC is only the default.

    `doubt` says on which time the zones that fit differ, or why there is none.
    """

    told_by: str = "nothing tells it: UTC is the default"
    fitting: tuple[ZoneInfo, ...] = ()
    doubt: str = ""

    @property
    def is_known(self) -> bool:
        return bool(self.fitting) and not self.doubt

    def require_certain(self, where: str, instants: Iterable[str] = ()) -> None:
        """Refuse to go on if zones that fit differ on a time of the timeline, or on one of these instants."""
        if doubt := self.doubt or difference(self.fitting, instants):
            raise Contradiction(
                f"{where}: hoodie.table.timeline.timezone is LOCAL, and the writers' zone is not certain. Evidence: "
                f"{self.told_by}; fitting: {names_of(self.fitting) or 'no zone'}. {doubt}. Set {ZONE_KEY} to the zone "
                "that the writers' JVMs run in."
            )

    def __str__(self) -> str:
        fitting = f"; {names_of(self.fitting)}" if len(self.fitting) > 1 else ""
        return f"{self.told_by}{fitting}" + (f". Not certain: {self.doubt}" if self.doubt else "")


NO_EVIDENCE: Final = ZoneEvidence()


@dataclass(frozen=True, slots=True)
class Times:
    """The times that a zone has to be certain for: all instants of the timeline, and the present."""

    instants: Collection[str]
    now_ms: int


@dataclass(frozen=True, slots=True)
class FoundZone:
    zone: ZoneInfo
    evidence: ZoneEvidence


def saved_text(saved: SavedAt) -> str:
    return f"hoodie.properties was last written at {saved}"


def zone_from(saved: SavedAt | None, files: FileTimes, times: Times) -> FoundZone:
    """The zone that the properties' first lines and the files' times tell; `Contradiction` if these two disagree."""
    if saved is None:
        is_told = files.follow_the_instants and not files.fitting([_UTC])
        zones = files.fitting(all_zones()) if is_told else ()
        return _settled(zones, _FILE_TIMES, times) if zones else FoundZone(_UTC, NO_EVIDENCE)
    told_by = saved_text(saved)
    zones = zones_saved_at(saved)
    if zones and files.follow_the_instants:
        zones, told_by = _both(zones, files, told_by)
    elif zones and not (zones := files.possible(zones)):
        raise _disagreement(told_by, "files of the timeline would be older there than the instants in their names")
    return _settled(zones, told_by, times)


def narrowed(found: FoundZone, sightings: Sequence[Sighting], told_by: str, times: Times) -> FoundZone:
    """The same zone with further evidence. `Contradiction` if no zone fits both."""
    if not sightings:
        return found
    before = found.evidence.fitting or ((_UTC,) if all(fits(_UTC, each) for each in sightings) else all_zones())
    zones = tuple(zone for zone in before if all(fits(zone, each) for each in sightings))
    if not zones:
        raise _disagreement(found.evidence.told_by, f"{told_by}, at {offsets_text(sightings)}")
    both = f"{found.evidence.told_by}, and {told_by}" if found.evidence.fitting else told_by
    return _settled(zones, both, times)


def sightings_of(moments_ms: Collection[int], instants: Iterable[str]) -> tuple[Sighting, ...]:
    """Different moments that are instants of this timeline, each with the one offset that makes it one of them.

    Offsets are quarters of an hour, so a moment and its instant are alike within the quarter, to the millisecond. Of
    many moments that are archived instants, one may be alike by chance: an offset counts if it explains two moments,
    or if all moments are explained.
    """
    alike: dict[int, list[int]] = {}
    for instant in instants:
        if (local := local_time(instant)) is not None:
            local_ms = (local - _EPOCH) // timedelta(milliseconds=1)
            alike.setdefault(local_ms % QUARTER_MS, []).append(local_ms)
    seen = []
    for moment_ms in moments_ms:
        ahead = {timedelta(milliseconds=local_ms - moment_ms) for local_ms in alike.get(moment_ms % QUARTER_MS, ())}
        possible = [each for each in ahead if abs(each) <= WIDEST]
        seen += [Sighting(moment_ms, each) for each in possible if len(possible) == 1]
    times = Counter(each.offset for each in seen)
    return tuple(each for each in seen if times[each.offset] > 1 or len(seen) == len(moments_ms))


def _both(zones: tuple[ZoneInfo, ...], files: FileTimes, told_by: str) -> tuple[tuple[ZoneInfo, ...], str]:
    """The zones that fit the files' times, too. Times that fit no zone on Earth say nothing of zones."""
    fitting = files.fitting(zones)
    if fitting:
        return fitting, f"{told_by}, and {_FILE_TIMES}"
    if files.fitting(all_zones()):
        raise _disagreement(told_by, f"{_FILE_TIMES}, at {offsets_text(files.sightings())}")
    return zones, told_by


def _settled(zones: tuple[ZoneInfo, ...], told_by: str, times: Times) -> FoundZone:
    if not zones:
        return FoundZone(_UTC, ZoneEvidence(told_by, (), "No zone of the zone database fits"))
    doubt = difference(zones, times.instants, times.now_ms)
    return FoundZone(zones[0], ZoneEvidence(told_by, zones, doubt))


def offsets_text(sightings: Sequence[Sighting]) -> str:
    return " and ".join(sorted({offset_text(each.offset) for each in sightings}))


def _disagreement(one: str, other: str) -> Contradiction:
    return Contradiction(
        f"hoodie.table.timeline.timezone is LOCAL, and two facts tell different zones: {one}; but {other}. Set "
        f"{ZONE_KEY} to the zone that the writers' JVMs run in."
    )
