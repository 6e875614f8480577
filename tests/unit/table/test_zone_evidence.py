"""The zone of a LOCAL timeline: which zones the evidence leaves, where they differ, and what contradicts what."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.config import TimelineZone
from hudi_engine.table.file_times import FileTimes, file_times
from hudi_engine.table.find_zone import Stated, find_zone
from hudi_engine.table.saved_at import SavedAt
from hudi_engine.table.timeline import Timeline, read_timeline
from hudi_engine.table.zone import Sighting, at_time, clock_at, to_ms
from hudi_engine.table.zone_evidence import NO_EVIDENCE, FoundZone, Times, narrowed, sightings_of, zone_from
from hudi_engine.table.zones import all_zones, zones_saved_at

UTC_ZONE = ZoneInfo("UTC")
CHICAGO = ZoneInfo("America/Chicago")
NO_FILES = FileTimes(())
HOUR_MS = 3_600_000
# Written apart from the files, so that no evidence is in how fast they follow each other.
GENUINE_DELAYS_MS = (5, 200, 40, 1_500)


def _ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


WINTER, SPRING, SUMMER = _ms("2026-02-10T12:00"), _ms("2026-03-12T12:00"), _ms("2026-07-10T12:00")


def _saved(zone: str, moment_ms: int, abbreviation: str = "") -> SavedAt:
    clock = clock_at(ZoneInfo(zone), moment_ms)
    return SavedAt(moment_ms, clock.utcoffset() or timedelta(), abbreviation or clock.tzname() or "")


def _timeline(zone: str, moments: Sequence[int], written: Sequence[int]) -> Timeline:
    return read_timeline(
        FileStat(f"{at_time(moment, ZoneInfo(zone))}.deltacommit.requested", 0, at)
        for moment, at in zip(moments, written, strict=True)
    )


def _kept(zone: str, *moments: int) -> FileTimes:
    """Files that have their writers' times, an hour apart from each of these moments on."""
    each = [moment + hour * HOUR_MS for moment in moments for hour in range(4)]
    written = [moment + GENUINE_DELAYS_MS[number % 4] for number, moment in enumerate(each)]
    return file_times(_timeline(zone, each, written))


def _copied(zone: str, at: int, *moments: int) -> FileTimes:
    return file_times(_timeline(zone, moments, [at + number for number in range(len(moments))]))


def _times(zone: str, *moments: int, now: int | None = None) -> Times:
    return Times([at_time(moment, ZoneInfo(zone)) for moment in moments], moments[-1] if now is None else now)


def _fitting(found: FoundZone) -> set[str]:
    return {zone.key for zone in found.evidence.fitting}


@pytest.mark.parametrize(
    ("zone", "moment_ms", "others", "not_these"),
    [
        ("America/Chicago", WINTER, {"America/Regina", "US/Central"}, {"America/Havana", "Asia/Shanghai"}),
        ("America/Chicago", SUMMER, {"US/Central"}, {"America/Regina", "America/Havana"}),
        ("Asia/Shanghai", WINTER, {"Asia/Taipei"}, {"America/Chicago", "Asia/Singapore"}),
        ("America/Havana", WINTER, {"Cuba"}, {"America/New_York", "America/Chicago"}),
        ("Asia/Kolkata", WINTER, {"Asia/Calcutta"}, {"Europe/Dublin", "Asia/Jerusalem"}),
        ("Europe/Dublin", SUMMER, {"Eire"}, {"Asia/Kolkata", "Europe/London"}),
        ("Europe/Lisbon", SUMMER, {"Africa/Casablanca"}, {"Europe/London"}),
        ("Etc/GMT", SUMMER, {"Africa/Abidjan"}, {"Europe/London", "UTC"}),
    ],
)
def test_an_abbreviation_and_an_offset_leave_the_zones_that_had_both(
    zone: str, moment_ms: int, others: set[str], not_these: set[str]
) -> None:
    found = {each.key for each in zones_saved_at(_saved(zone, moment_ms))}

    assert {zone, *others} <= found
    assert not found & not_these


@pytest.mark.parametrize("abbreviation", ["BRT", "GMT-03:00"])
def test_where_the_zone_database_has_numbers_java_may_have_any_name(abbreviation: str) -> None:
    found = {each.key for each in zones_saved_at(_saved("America/Sao_Paulo", WINTER, abbreviation))}

    assert {"America/Sao_Paulo", "America/Argentina/Buenos_Aires", "Etc/GMT+3"} <= found


def test_the_writers_zone_is_certain_while_all_zones_that_fit_agree() -> None:
    found = zone_from(_saved("America/Chicago", WINTER), NO_FILES, _times("America/Chicago", WINTER - HOUR_MS, WINTER))

    assert found.zone == CHICAGO
    assert found.evidence.is_known
    assert str(found.evidence).startswith("hoodie.properties was last written at -06:00 (CST); America/Chicago, ")
    found.evidence.require_certain("s3a://lake/trips")


@pytest.mark.parametrize(
    ("times", "named"),
    [
        (_times("America/Chicago", WINTER, SPRING), "The instant 20260312070000000"),
        (_times("America/Chicago", WINTER, now=SPRING), "The present"),
    ],
)
def test_a_winters_offset_is_none_of_summers(times: Times, named: str) -> None:
    found = zone_from(_saved("America/Chicago", WINTER), NO_FILES, times)

    assert not found.evidence.is_known
    with pytest.raises(Contradiction, match=r"not certain.*CST.*America/Chicago") as refused:
        found.evidence.require_certain("s3a://lake/trips")
    assert named in str(refused.value)
    assert "(-06:00)" in str(refused.value)
    assert "(-05:00)" in str(refused.value)
    assert "Set hudi.engine.timeline.timezone" in str(refused.value)


def test_base_files_of_another_season_than_the_timeline_are_refused() -> None:
    found = zone_from(_saved("America/Chicago", WINTER), NO_FILES, _times("America/Chicago", WINTER))

    with pytest.raises(Contradiction, match="The instant 20250710070000000 is another moment in"):
        found.evidence.require_certain("trips", ["00000000000000", "20250710070000000"])


def test_the_files_times_of_both_seasons_leave_the_zones_that_change_their_clocks() -> None:
    times = _times("America/Chicago", WINTER, SUMMER)

    found = zone_from(_saved("America/Chicago", WINTER), _kept("America/Chicago", WINTER, SUMMER), times)

    assert found.evidence.is_known
    assert "US/Central" in _fitting(found)
    assert "America/Regina" not in _fitting(found)
    assert "the timeline's files have their writers' times" in str(found.evidence)


def test_entries_of_both_seasons_leave_the_zones_that_change_their_clocks() -> None:
    times = _times("America/Chicago", WINTER, SUMMER)
    found = zone_from(_saved("America/Chicago", WINTER), NO_FILES, times)

    settled = narrowed(found, sightings_of([WINTER, SUMMER], times.instants), "entries", times)

    assert not found.evidence.is_known
    assert settled.evidence.is_known
    assert settled.zone == CHICAGO


def test_entries_alone_tell_the_zone() -> None:
    times = _times("America/Chicago", WINTER, SUMMER)

    found = narrowed(FoundZone(UTC_ZONE, NO_EVIDENCE), sightings_of([WINTER, SUMMER], times.instants), "entries", times)

    assert found.evidence.is_known
    assert found.zone == CHICAGO


def test_entries_of_a_timeline_in_utc_make_the_default_certain() -> None:
    times = _times("UTC", WINTER, SUMMER)

    found = narrowed(FoundZone(UTC_ZONE, NO_EVIDENCE), sightings_of([WINTER, SUMMER], times.instants), "entries", times)

    assert (found.zone, found.evidence.is_known, str(found.evidence)) == (UTC_ZONE, True, "entries")


def test_entries_that_no_fitting_zone_explains_contradict() -> None:
    times = _times("America/Chicago", WINTER)
    found = zone_from(_saved("America/Chicago", WINTER), NO_FILES, times)

    with pytest.raises(Contradiction, match=r"-06:00 \(CST\); but entries, at \+00:00"):
        narrowed(found, [Sighting(WINTER, timedelta())], "entries", times)


@pytest.mark.parametrize(
    ("moment_ms", "instants"),
    [
        (WINTER + 1, ["20260210060000000"]),
        (WINTER, ["20260210061500000", "20260210060000000"]),
        (WINTER, ["20260212060000000"]),
        (WINTER, ["00000000000000", "20261301000000000"]),
    ],
    ids=["another millisecond", "two instants of one quarter", "days apart", "no times"],
)
def test_a_moment_that_is_no_instant_or_could_be_two_tells_nothing(moment_ms: int, instants: list[str]) -> None:
    assert sightings_of([moment_ms], instants) == ()


def test_one_of_many_moments_that_is_an_instant_by_chance_tells_nothing() -> None:
    archived = [WINTER - 1_000 - hour * HOUR_MS for hour in range(50)]

    assert sightings_of([WINTER - 2 * HOUR_MS, *archived], ["20260210120000000"]) == ()
    assert len(sightings_of([WINTER, SUMMER, *archived], ["20260210120000000", "20260710120000000"])) == 2


def test_the_files_times_alone_tell_the_zone() -> None:
    times = _times("America/Chicago", WINTER, SUMMER)

    found = zone_from(None, _kept("America/Chicago", WINTER, SUMMER), times)

    assert found.zone == CHICAGO
    assert found.evidence.is_known


@pytest.mark.parametrize(
    "files",
    [NO_FILES, _kept("UTC", WINTER), _copied("America/Chicago", SUMMER, WINTER, SPRING)],
    ids=["no files", "times of UTC", "a copy"],
)
def test_utc_is_the_default_where_nothing_tells_otherwise(files: FileTimes) -> None:
    found = zone_from(None, files, _times("UTC", WINTER, SUMMER))

    assert found.zone == UTC_ZONE
    assert not found.evidence.is_known
    assert not found.evidence.doubt
    found.evidence.require_certain("trips")


def test_properties_saved_in_another_zone_than_the_files_times_contradict() -> None:
    with pytest.raises(Contradiction, match=r"CST\); but the timeline's files have their writers' times, at \+01:00"):
        zone_from(_saved("America/Chicago", WINTER), _kept("Europe/Paris", WINTER), _times("Europe/Paris", WINTER))


def test_properties_saved_in_a_zone_where_files_were_older_than_their_instants_contradict() -> None:
    fresh = _copied("UTC", WINTER + 60_000, WINTER)

    with pytest.raises(Contradiction, match="would be older"):
        zone_from(_saved("America/Chicago", WINTER), fresh, _times("UTC", WINTER))


def test_one_writer_held_up_for_minutes_changes_nothing() -> None:
    kept = _kept("America/Chicago", WINTER, SUMMER).times_ms * 3
    held_up = FileTimes((*kept, (kept[0][0] + 30 * 60_000, kept[0][1] + 43 * 60_000)))

    found = zone_from(_saved("America/Chicago", WINTER), held_up, _times("America/Chicago", WINTER, SUMMER))

    assert found.evidence.is_known
    assert found.zone == CHICAGO


def test_an_offset_of_no_zone_is_refused_with_what_to_set() -> None:
    found = zone_from(SavedAt(WINTER, timedelta(hours=-13), "XYZ"), NO_FILES, _times("UTC", WINTER))

    with pytest.raises(Contradiction, match=r"No zone of the zone database fits.*hudi\.engine\.timeline\.timezone"):
        found.evidence.require_certain("trips")


def test_a_configured_zone_wins_over_the_last_writer_of_the_properties() -> None:
    stated = Stated(TimelineZone.LOCAL, "Europe/Paris", _saved("America/Chicago", WINTER))

    found = find_zone(stated, _never, WINTER)

    assert found.zone.key == "Europe/Paris"
    assert found.evidence.is_known
    assert "is set; hoodie.properties was last written at -06:00 (CST), which is not that zone" in str(found.evidence)


def test_a_utc_timeline_is_in_utc_whatever_else_is_said() -> None:
    stated = Stated(TimelineZone.UTC, "Europe/Paris", _saved("America/Chicago", WINTER))

    found = find_zone(stated, _never, WINTER)

    assert (found.zone, found.evidence.is_known) == (UTC_ZONE, True)


def test_properties_saved_in_utc_need_no_look_at_the_timeline() -> None:
    found = find_zone(Stated(TimelineZone.LOCAL, None, _saved("UTC", WINTER)), _never, SUMMER)

    assert (found.zone, found.evidence.is_known) == (UTC_ZONE, True)


def _never() -> Timeline:
    raise AssertionError("nobody had to look")


MOMENTS = st.integers(_ms("2015-01-01"), _ms("2037-01-01"))
ZONES = st.sampled_from(all_zones())


@given(zone=ZONES, saved_ms=MOMENTS, moments=st.lists(MOMENTS, min_size=1, max_size=5), now_ms=MOMENTS)
def test_a_zone_that_is_certain_reads_every_instant_as_the_writers_zone_does(
    zone: ZoneInfo, saved_ms: int, moments: list[int], now_ms: int
) -> None:
    instants = [at_time(moment, zone) for moment in moments]
    saved = _saved(zone.key, saved_ms)
    times = Times(instants, now_ms)

    found = narrowed(zone_from(saved, NO_FILES, times), sightings_of(moments, instants), "entries", times)

    assert zone in found.evidence.fitting
    if found.evidence.is_known:
        assert [to_ms(instant, found.zone) for instant in instants] == [to_ms(instant, zone) for instant in instants]
        assert at_time(now_ms, found.zone) == at_time(now_ms, zone)


@given(zone=ZONES, moments=st.lists(MOMENTS, min_size=1, max_size=20, unique=True))
def test_every_sighting_of_a_table_fits_its_writers_zone(zone: ZoneInfo, moments: list[int]) -> None:
    instants = [at_time(moment, zone) for moment in moments]
    assume(len({moment % (15 * 60_000) for moment in moments}) == len(moments))

    seen = sightings_of(moments, instants)

    assert [each.moment_ms for each in seen] == moments
    assert all(clock_at(zone, each.moment_ms).utcoffset() == each.offset for each in seen)
