"""Instant times as moments, and instants as people write them."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.table.zone import at_time, parse_as_of, to_ms, zone_named

ZONES = ["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati"]
HOUR_MS = 3_600_000


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", "a\0b", "x" * 5000])
def test_an_unknown_zone_is_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match="no such time zone"):
        zone_named(name)


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
