"""The times of a timeline's files: a wrong zone is refused in both directions, a copied table is not."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hudi_engine.errors import Contradiction
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.config import TableConfig, parse_config
from hudi_engine.table.file_times import require_zone
from hudi_engine.table.timeline import Timeline, read_timeline
from hudi_engine.table.zone import at_time

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
    require_zone(_config(), ZoneInfo(zone), _written_in(zone, [5, 200, 40, 1_500]), "set")


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
        require_zone(_config(), ZoneInfo(configured), timeline, "set")

    assert configured in str(refused.value)


@pytest.mark.parametrize("age_hours", [1, 3, 30, 24 * 365])
def test_a_table_copied_at_one_moment_is_accepted_however_long_ago_it_was_written(age_hours: int) -> None:
    copied_at = START_MS + 6 * HOUR_MS + age_hours * HOUR_MS
    delays = [copied_at - (START_MS + number * HOUR_MS) for number in range(6)]

    require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", delays), "set")


def test_a_copy_that_kept_no_times_at_all_is_accepted() -> None:
    delays = [-(START_MS + number * HOUR_MS) for number in range(6)]

    require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", delays), "set")


def test_clocks_that_differ_a_little_are_accepted() -> None:
    require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", [-2_000, -60_000, 100]), "set")


def test_a_timeline_in_utc_needs_no_check() -> None:
    require_zone(_config("UTC"), ZoneInfo("UTC"), _written_in("Asia/Kolkata", [5, 200, 40]), "set")


def test_an_empty_timeline_and_reserved_times_contradict_nothing() -> None:
    reserved = read_timeline([FileStat("00000000000000010.deltacommit.requested", 0, START_MS)])

    require_zone(_config(), ZoneInfo("UTC"), read_timeline([]), "set")
    require_zone(_config(), ZoneInfo("UTC"), reserved, "set")


def test_the_zone_check_sees_a_whole_day_of_difference() -> None:
    moved = datetime.fromtimestamp(START_MS / 1000, UTC) - timedelta(hours=25)
    delays = [int((moved.timestamp() * 1000) - START_MS)] * 3

    with pytest.raises(Contradiction, match=r"-25\.00 hours"):
        require_zone(_config(), ZoneInfo("UTC"), _written_in("UTC", delays), "set")
