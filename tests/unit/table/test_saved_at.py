"""The two lines above `hoodie.properties`: read as every release writes them, written as Java does."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.format.properties import render
from hudi_engine.table.saved_at import SavedAt, parse_saved_at, saved_at_lines
from hudi_engine.table.zones import all_zones

NAME = {"hoodie.table.name": "t"}


def _ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize(
    ("first", "second", "hours", "abbreviation"),
    [
        ("Updated at 2026-03-07T22:24:59.031420Z", "Sat Mar 07 16:24:59 CST 2026", -6, "CST"),
        ("Updated at 2026-03-07T22:24:59.649708938Z", "Sat Mar 07 22:24:59 UTC 2026", 0, "UTC"),
        ("Properties saved on 2026-03-07T22:24:59.545917325Z", "Sun Mar 08 03:54:59 IST 2026", 5.5, "IST"),
        ("Updated at 2026-03-07T22:24:59Z", "Sun Mar 08 01:25:01 GMT+03:00 2026", 3, "GMT+03:00"),
        ("Updated at 2026-03-07T22:24:59.031Z", "Sun Mar 08 12:24:59 LINT 2026", 14, "LINT"),
        ("Updated at 2026-03-07T22:24:59.031Z", "Sun Mar 08 04:09:59 NPT 2026", 5.75, "NPT"),
    ],
)
def test_the_lines_of_java_tell_the_writers_offset(first: str, second: str, hours: float, abbreviation: str) -> None:
    expected = SavedAt(_ms("2026-03-07T22:24:59"), timedelta(hours=hours), abbreviation)

    assert parse_saved_at(render(NAME, [first, second])) == expected
    assert parse_saved_at(f"#{first}\r\n#{second}\r\nhoodie.table.name=t\r\n".encode()) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hoodie.table.name=t\n",
        b"#Updated at 2026-03-07T22:24:59.031Z",
        b"#Updated at 2026-03-07T22:24:59.031Z\nhoodie.table.name=t\n",
        # Those of this engine, before it knew of zones: the second line was in UTC whatever the table's zone.
        b"#Updated at 2026-03-07T22:24:59.031420+00:00\n#Sat Mar 07 22:24:59 UTC 2026\n",
        b"#Updated at 2026-03-07T22:24:59.031Z\n#Sat Mar 07 16:31:59 CST 2026\n",
        b"#Updated at 2026-03-07T22:24:59.031Z\n#Mon Mar 09 22:24:59 CST 2026\n",
        b"#Updated at 2026-13-07T22:24:59.031Z\n#Sat Mar 07 16:24:59 CST 2026\n",
        b"#Updated at 2026-03-07T22:24:59.031Z\n#Sat Xyz 07 16:24:59 CST 2026\n",
        b"#Updated at 2026-03-07T22:24:59.031Z\n#Sat Mar 37 16:24:59 CST 2026\n",
        b"#partition metadata\n#Sat Mar 07 16:24:59 CST 2026\n",
        b"\xff\xfe\x00\n\x00",
    ],
)
def test_other_lines_tell_nothing(data: bytes) -> None:
    assert parse_saved_at(data) is None


@given(st.binary(max_size=500))
def test_no_bytes_fail(data: bytes) -> None:
    parse_saved_at(b"#Updated at 2026-03-07T22:24:59Z\n#" + data)


@pytest.mark.parametrize(
    ("zone", "second"),
    [
        ("America/Chicago", "Sat Mar 07 16:24:59 CST 2026"),
        ("Asia/Shanghai", "Sun Mar 08 06:24:59 CST 2026"),
        ("UTC", "Sat Mar 07 22:24:59 UTC 2026"),
        ("Asia/Kathmandu", "Sun Mar 08 04:09:59 GMT+05:45 2026"),
        ("America/Sao_Paulo", "Sat Mar 07 19:24:59 GMT-03:00 2026"),
    ],
)
def test_our_lines_are_those_of_java_in_the_tables_zone(zone: str, second: str) -> None:
    lines = saved_at_lines(_ms("2026-03-07T22:24:59") + 31, ZoneInfo(zone))

    assert lines == ("Updated at 2026-03-07T22:24:59.031Z", second)


def test_no_line_states_a_zone_that_is_not_known() -> None:
    assert saved_at_lines(0, None) == ("Updated at 1970-01-01T00:00:00.000Z",)


@given(st.integers(_ms("2000-01-01"), _ms("2100-01-01")), st.sampled_from(all_zones()))
def test_what_is_written_in_a_zone_is_read_as_of_that_zone(moment_ms: int, zone: ZoneInfo) -> None:
    saved = parse_saved_at(render(NAME, saved_at_lines(moment_ms, zone)))

    assert saved is not None
    assert saved.moment_ms == moment_ms // 1000 * 1000
    assert saved.is_of(zone)
