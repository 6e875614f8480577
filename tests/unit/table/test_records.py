"""Files of the timeline that a Java writer has made and not filled yet, or never will."""

import pytest

from hudi_engine.clock import HandClock
from hudi_engine.errors import CorruptFile
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.table import Table, open_table
from tests.kit.made_table import COPIED_AT_MS, MadeTable, at

REQUESTED = Instant(InstantTime(at(2)), Action.COMPACTION, State.REQUESTED)
PLAN = service_records.encode(RecordName.COMPACTION_PLAN, {"operations": []}, 9)
REPLACEMENT = Instant(InstantTime(at(2)), Action.REPLACE_COMMIT, State.REQUESTED)
CLUSTERING = service_records.encode(RecordName.REQUESTED_REPLACE, {"operationType": "CLUSTER"}, 9)
HOUR_MS = 3_600_000


class FillingClock(HandClock):
    """Somebody fills the file while we sleep."""

    def __init__(self, storage: MemoryStorage, content: bytes, after_sleeps: int) -> None:
        super().__init__(COPIED_AT_MS)
        self.storage, self.content, self.after_sleeps = storage, content, after_sleeps
        self.path = ""
        self.sleeps = 0

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.sleeps += 1
        if self.sleeps == self.after_sleeps:
            self.storage.replace(self.path, self.content)


def _table(
    first: bytes, after_sleeps: int, instant: Instant = REQUESTED, content: bytes = PLAN
) -> tuple[Table, FillingClock]:
    made = MadeTable(9)
    clock = FillingClock(made.storage, content, after_sleeps)
    table = open_table(made.storage, clock, {})
    clock.path = table.path_of(instant)
    made.storage.create(clock.path, first)
    return table, clock


@pytest.mark.parametrize("first", [b"", PLAN[:20], PLAN[:-5]])
@pytest.mark.parametrize("after_sleeps", [1, 4])
def test_a_plan_that_is_being_written_is_read_once_it_is_whole(first: bytes, after_sleeps: int) -> None:
    table, clock = _table(first, after_sleeps)

    assert table.compaction_plan(REQUESTED) == ()
    assert clock.sleeps == after_sleeps


@pytest.mark.parametrize("first", [b"", PLAN[:20]])
def test_a_plan_that_stays_unfinished_is_named_within_a_second(first: bytes) -> None:
    table, clock = _table(first, after_sleeps=100)

    with pytest.raises(CorruptFile, match=rf"\.hoodie/timeline/{at(2)}\.compaction\.requested"):
        table.compaction_plan(REQUESTED)
    assert clock.now_ms() - COPIED_AT_MS <= 1000


def test_an_old_wreck_is_not_waited_for() -> None:
    table, clock = _table(b"", after_sleeps=100)
    clock.advance(HOUR_MS)

    with pytest.raises(CorruptFile, match="an empty file"):
        table.compaction_plan(REQUESTED)
    assert clock.sleeps == 0


@pytest.mark.parametrize(("first", "sleeps", "is_clustering"), [(CLUSTERING[:30], 1, True), (b"", 0, False)])
def test_a_replacement_is_told_from_a_clustering_once_it_is_whole_and_an_empty_one_at_once(
    first: bytes, sleeps: int, is_clustering: bool
) -> None:
    """Hudi's writers leave the request of a replacement empty that writes rows."""
    table, clock = _table(first, 1, REPLACEMENT, CLUSTERING)

    assert table.is_clustering(REPLACEMENT, table.timeline()) is is_clustering
    assert clock.sleeps == sleeps
