"""The times of a timeline's files beside the instants in their names: what they tell of the writers' time zone.

A file cannot be older than the instant it names. It may be younger by any amount, as tables are copied. But where the
files' times go on as the instants do, nobody copied the files, and the difference is the zone's offset.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hudi_engine.errors import Contradiction
from hudi_engine.format.instant_names import Action, State, instant_file
from hudi_engine.table.config import TableConfig, TimelineZone
from hudi_engine.table.timeline import Timeline
from hudi_engine.table.zone import QUARTER_MS, ZONE_KEY, Sighting, clock_at, fits, local_time, to_ms

# Clocks of writers and stores differ a little; zones differ by quarters of an hour.
_SKEW_MS: Final = 5 * 60_000
_WIDEST_MS: Final = 26 * 3_600_000  # between the earliest zone on Earth and the latest
_ENOUGH: Final = 500  # files of a long timeline that are looked at
_EPOCH: Final = datetime(1970, 1, 1)
_CALENDARS_MS: Final = range(1 << 47)  # later file times are in no calendar


@dataclass(frozen=True, slots=True)
class FileTimes:
    """For some files of a timeline, the instant in the name as if it were in UTC, and when the file was written."""

    times_ms: tuple[tuple[int, int], ...]

    @property
    def follow_the_instants(self) -> bool:
        """Whether the files have their writers' times: those of a copy are close together, or in no order."""
        if len(self.times_ms) < 2:
            return False
        ahead = [instant - written for instant, written in self.times_ms]
        between = max(written for _, written in self.times_ms) - min(written for _, written in self.times_ms)
        is_steady = between > max(4 * (max(ahead) - min(ahead)), 60_000)
        return is_steady and all(abs(each - _quarters(each)) < _SKEW_MS for each in ahead)

    def sightings(self) -> tuple[Sighting, ...]:
        """The evidence of each file for the zone, if the files have their writers' times."""
        return tuple(Sighting(at, timedelta(milliseconds=_quarters(instant - at))) for instant, at in self.times_ms)

    def fitting(self, zones: Sequence[ZoneInfo]) -> tuple[ZoneInfo, ...]:
        """The zones that explain most of the files, and nine in ten at least: a writer may have been held up."""
        seen = self.sightings()
        explained = {zone: sum(fits(zone, each) for each in seen) for zone in self.possible(zones)}
        most = max(explained.values(), default=0)
        return tuple(zone for zone, files in explained.items() if files == most) if 10 * most >= 9 * len(seen) else ()

    def possible(self, zones: Sequence[ZoneInfo]) -> tuple[ZoneInfo, ...]:
        """The zones in which no file is older than its instant.

        What is more than any two zones apart says nothing about zones: an archive that kept no times, say.
        """
        return tuple(zone for zone in zones if not -_WIDEST_MS < self._least_delay_ms(zone) < -_SKEW_MS)

    def _least_delay_ms(self, zone: ZoneInfo) -> int:
        delays = (at - (instant - _offset_ms(zone, at)) for instant, at in self.times_ms)
        return min(delays, default=0)


def file_times(timeline: Timeline) -> FileTimes:
    """The times of the files that ask for an action. A plan for an index is named after an older instant."""
    times = [
        ((local - _EPOCH) // timedelta(milliseconds=1), file.modified_ms)
        for instant in timeline.instants
        if instant.action is not Action.INDEXING
        and (file := timeline.files.get(instant_file(instant.in_state(State.REQUESTED)))) is not None
        and file.modified_ms in _CALENDARS_MS
        and (local := local_time(instant.requested_at)) is not None
    ]
    return FileTimes(tuple(times[:: len(times) // _ENOUGH + 1]))


def require_zone(config: TableConfig, zone: ZoneInfo, timeline: Timeline, told_by: object) -> None:
    """Refuse a zone that the files' own times contradict, whatever told it.

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
    shift = round(earliest / QUARTER_MS) * QUARTER_MS
    steady = max(moments) - min(moments) > max(4 * spread, 60_000) and abs(earliest - shift) < _SKEW_MS
    if abs(earliest) < _WIDEST_MS and (earliest < -_SKEW_MS or (steady and shift != 0)):
        raise Contradiction(
            f"the timeline's files are {earliest / 3_600_000:+.2f} hours away from the instant times in their names, "
            f"read as {zone.key}. hoodie.table.timeline.timezone is LOCAL, and {told_by}: "
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


def _quarters(milliseconds: int) -> int:
    return round(milliseconds / QUARTER_MS) * QUARTER_MS


def _offset_ms(zone: ZoneInfo, moment_ms: int) -> int:
    return (clock_at(zone, moment_ms).utcoffset() or timedelta()) // timedelta(milliseconds=1)
