"""Instant times and zones: a wrong zone is refused in both directions, a copied table is not."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.config import TableConfig, parse_config
from hudi_engine.table.timeline import Timeline, read_timeline
from hudi_engine.table.zone import at_time, parse_as_of, require_zone, to_ms, zone_of

ZONES = ["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati"]
START_MS = 1_770_000_000_000
HOUR_MS = 3_600_000


def _config(zone: str = "LOCAL") -> TableConfig:
    properties = {"hoodie.table.name": "t", "hoodie.table.version": "8", "hoodie.table.timeline.timezone": zone}
    return parse_config(properties)


def _written_in(zone: str, delays_ms: list[int], step_ms: int = HOUR_MS) -> Timeline:
    """A timeline whose writers run in `zone`; each file is so much younger than its instant."""
    files = []
    for number, delay in enumerate(delays_ms):
        moment = START_MS + number * step_ms
        files.append(FileStat(f"{at_time(moment, ZoneInfo(zone))}.deltacommit.requested", 0, moment + delay))
    return read_timeline(files)


@pytest.mark.parametrize("zone", ZONES)
def test_the_writers_own_zone_is_accepted(zone: str) -> None:
    require_zone(_config(), ZoneInfo(zone), _written_in(zone, [5, 200, 40, 1_500]))


@pytest.mark.parametrize(
    ("writers", "configured"),
    [
        ("UTC", "Europe/Paris"),
        ("Europe/Paris", "UTC"),
        ("UTC", "America/New_York"),
        ("America/New_York", "UTC"),
        ("Asia/Kathmandu", "Asia/Kolkata"),
        ("Asia/Kolkata", "Asia/Kathmandu"),
        ("Pacific/Kiritimati", "America/New_York"),
        ("America/New_York", "Pacific/Kiritimati"),
    ],
)
def test_a_wrong_zone_is_refused_in_both_directions_with_what_to_set(writers: str, configured: str) -> None:
    timeline = _written_in(writers, [5, 200, 40, 1_500])

    with pytest.raises(Contradiction, match=r"hudi\.engine\.timeline\.timezone") as refused:
        require_zone(_config(), ZoneInfo(configured), timeline)

    assert configured in str(refused.value)


@pytest.mark.parametrize("age_hours", [1, 3, 30, 24 * 365])
def test_a_table_copied_at_one_moment_is_accepted_however_long_ago_it_was_written(age_hours: int) -> None:
    copied_at = START_MS + 6 * HOUR_MS + age_hours * HOUR_MS
    delays = [copied_at - (START_MS + number * HOUR_MS) for number in range(6)]

    require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", delays))


def test_a_copy_that_kept_no_times_at_all_is_accepted() -> None:
    delays = [-(START_MS + number * HOUR_MS) for number in range(6)]

    require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", delays))


def test_clocks_that_differ_a_little_are_accepted() -> None:
    require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", [-2_000, -60_000, 100]))


def test_a_timeline_in_utc_needs_no_check() -> None:
    require_zone(_config("UTC"), ZoneInfo("UTC"), _written_in("Asia/Kolkata", [5, 200, 40]))


def test_an_empty_timeline_and_reserved_times_contradict_nothing() -> None:
    reserved = read_timeline([FileStat("00000000000000010.deltacommit.requested", 0, START_MS)])

    require_zone(_config(), ZoneInfo("UTC"), read_timeline([]))
    require_zone(_config(), ZoneInfo("UTC"), reserved)


def test_a_utc_timeline_is_in_utc_whatever_is_configured() -> None:
    assert zone_of(_config("UTC"), "Europe/Paris").key == "UTC"
    assert zone_of(_config("LOCAL"), "Europe/Paris").key == "Europe/Paris"


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", "a\0b", "x" * 5000])
def test_an_unknown_zone_is_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match="no such time zone"):
        zone_of(_config("LOCAL"), name)


@given(st.integers(0, 4_000_000_000_000), st.sampled_from(ZONES))
def test_a_moment_is_read_back_from_its_instant_time(moment_ms: int, zone: str) -> None:
    instant = at_time(moment_ms, ZoneInfo(zone))
    found = to_ms(instant, ZoneInfo(zone))

    assert len(instant) == 17
    # Where clocks were set back an hour happened twice, and the time says not which.
    assert found is not None
    assert moment_ms - found in {0, HOUR_MS}


@pytest.mark.parametrize(
    ("instant", "moment_ms"),
    [
        ("20260201000000123", 1_769_904_000_123),
        ("20260201000000", 1_769_904_000_999),
        ("20260201000000123010", 1_769_904_000_123),
        ("00000000000000", None),
        ("00000000000000010", None),
        ("1", None),
        ("", None),
        ("20261301000000000", None),
    ],
)
def test_times_of_every_length_are_read_as_java_reads_them(instant: str, moment_ms: int | None) -> None:
    assert to_ms(instant, ZoneInfo("UTC")) == moment_ms


def test_a_file_time_beyond_all_calendars_is_refused() -> None:
    with pytest.raises(Contradiction, match="in no calendar year"):
        at_time(10**18, ZoneInfo("UTC"))


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-31", "20260131000000000"),
        ("2026-01-31 23:59:58", "20260131235958000"),
        ("2026-01-31T23:59:58", "20260131235958000"),
        ("2026-01-31 23:59:58.123", "20260131235958123"),
        ("2026-01-31T23:59:58.123456", "20260131235958123"),
        ("20260131235958", "20260131235958"),
        ("20260131235958123", "20260131235958123"),
    ],
)
def test_an_instant_may_be_written_in_hudi_s_ways(text: str, instant: str) -> None:
    assert parse_as_of(text) == InstantTime(instant)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30", "2026013", "٢٠٢٦٠١٣١٠٠٠٠٠٠", "9" * 30])
def test_what_is_no_instant_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(NotFound, match="is no instant: expected 20260131235959999"):
        parse_as_of(text)


def test_the_zone_check_sees_a_whole_day_of_difference() -> None:
    moved = datetime.fromtimestamp(START_MS / 1000, UTC) - timedelta(hours=25)
    delays = [int((moved.timestamp() * 1000) - START_MS)] * 3

    with pytest.raises(Contradiction, match=r"-25\.00 hours"):
        require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", delays))
