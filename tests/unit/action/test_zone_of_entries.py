"""The zone of a LOCAL timeline where something is written: what a record index tells, what is refused, what is kept."""

import pytest

from hudi_engine.action.flags import flag_in_flight
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.clock import HandClock
from hudi_engine.errors import Contradiction
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.properties_file import MAIN
from hudi_engine.table.table import open_table
from tests.golden.in_memory import UNPACKED_AT_MS, golden_in_memory
from tests.unit.action.sites import site_of

UTC_LINES = ("#Updated at 2026-11-18T12:34:56.789Z", "#Wed Nov 18 12:34:56 UTC 2026")
KOLKATA_LINES = ("#Updated at 2026-11-18T12:34:56.789Z", "#Wed Nov 18 18:04:56 IST 2026")
# The zones that fit differ at the time that these tables are opened, which is summer in some of them.
CHICAGO_LINES = ("#Updated at 2026-11-18T12:34:56.789Z", "#Wed Nov 18 06:34:56 CST 2026")
WITH_ENTRIES, WITHOUT = "v9_mor_indexed", "v9_mor_orders"


def saved_with(golden: str, lines: tuple[str, ...]) -> MemoryStorage:
    """The golden table, whose instants and entries are in UTC, with other lines above its properties."""
    storage = golden_in_memory(golden)
    kept = [line for line in storage.read(MAIN).decode().splitlines() if not line.startswith("#")]
    storage.replace(MAIN, "\n".join([*lines, *kept, ""]).encode())
    return storage


def test_a_table_whose_zone_is_not_certain_can_be_read_and_nothing_be_written() -> None:
    storage = saved_with(WITHOUT, CHICAGO_LINES)

    table = open_table(storage, HandClock(UNPACKED_AT_MS), {})
    with pytest.raises(Contradiction, match=r"not certain.*-06:00 \(CST\).*Set hudi\.engine\.timeline\.timezone"):
        site_of(storage).table()

    assert table.timeline().instants
    assert table.known_zone is None
    assert "Not certain: The present is another local time in America/Chicago (-05:00)" in str(table.zone_evidence)


def test_entries_make_the_zone_known_where_nothing_else_tells_it() -> None:
    storage = saved_with(WITH_ENTRIES, ())

    table = site_of(storage).table()

    assert table.known_zone is not None
    assert (table.zone.key, str(table.zone_evidence)[:31]) == ("UTC", "entries of the index record_ind")


def test_entries_that_contradict_an_uncertain_zone_are_refused() -> None:
    with pytest.raises(Contradiction, match=r"-06:00 \(CST\); but entries of the index record_index .*, at \+00:00"):
        site_of(saved_with(WITH_ENTRIES, CHICAGO_LINES)).table()


def test_no_index_is_planned_beside_a_record_index_of_another_zone() -> None:
    site = site_of(saved_with(WITH_ENTRIES, KOLKATA_LINES))
    assert site.table().zone.key == "Asia/Kolkata"

    with pytest.raises(Contradiction, match=r"its zone is Asia/Kolkata.*at \+00:00.*drop the index record_index"):
        schedule(site, IndexRequest((IndexKind.BLOOM_FILTERS,)))


def test_an_index_is_planned_beside_a_record_index_of_the_same_zone() -> None:
    site = site_of(saved_with(WITH_ENTRIES, UTC_LINES))

    schedule(site, IndexRequest((IndexKind.BLOOM_FILTERS,)))


@pytest.mark.parametrize(
    ("lines", "kept"),
    [(UTC_LINES, "UTC"), (KOLKATA_LINES, "IST"), ((), None)],
    ids=["UTC", "Kolkata", "unknown"],
)
def test_a_change_of_the_properties_keeps_what_tells_the_zone_and_states_none_that_is_unknown(
    lines: tuple[str, ...], kept: str | None
) -> None:
    storage = saved_with(WITHOUT, lines)
    before = open_table(storage, HandClock(UNPACKED_AT_MS), {})

    flag_in_flight(before, ["bloom_filters"])

    comments = [line for line in storage.read(MAIN).decode().splitlines() if line.startswith("#")]
    after = open_table(storage, HandClock(UNPACKED_AT_MS), {})
    assert [line.split()[4] for line in comments[1:]] == ([] if kept is None else [kept])
    assert (after.zone, after.known_zone) == (before.zone, before.known_zone)
    assert after.config.inflight_indexes
