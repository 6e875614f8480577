"""The timeline of a listing: one instant for all its files, in order, with its border."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.instant_names import Action, State
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.timeline import Timeline, read_timeline, require_content


def _timeline(*names: str) -> Timeline:
    return read_timeline(FileStat(f".hoodie/{name}", 1, 0) for name in names)


def _shown(timeline: Timeline) -> list[str]:
    return [f"{i.requested_at} {i.action} {i.state}" for i in timeline.instants]


def test_an_instant_counts_once_in_its_highest_state_whatever_the_order_of_its_files() -> None:
    names = ["1.deltacommit", "1.deltacommit.requested", "1.deltacommit.inflight"]

    assert _shown(_timeline(*names)) == _shown(_timeline(*reversed(names))) == ["1 deltacommit completed"]


@given(st.permutations(["3.commit", "3.compaction.requested", "3.compaction.inflight", "1.inflight", "2_4.clean"]))
def test_the_order_of_a_listing_says_nothing(names: list[str]) -> None:
    assert _shown(_timeline(*names)) == ["1 commit inflight", "2 clean completed", "3 commit completed"]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["5.compaction.requested", "5.compaction.inflight", "5.commit"], "5 commit completed"),
        (["5.compaction.requested", "5.compaction.inflight", "5_6.commit"], "5 commit completed"),
        (["5.logcompaction.requested", "5_6.deltacommit"], "5 deltacommit completed"),
        (["5.clustering.requested", "5.clustering.inflight", "5_6.replacecommit"], "5 replacecommit completed"),
        (["5.clustering.requested"], "5 clustering requested"),
        (["5.commit.requested", "5.inflight"], "5 commit inflight"),
        (["5.savepoint.inflight", "5.savepoint"], "5 savepoint completed"),
    ],
)
def test_a_service_and_its_commit_are_one_instant(names: list[str], shown: str) -> None:
    assert _shown(_timeline(*names)) == [shown]


def test_two_actions_of_one_time_are_two_instants() -> None:
    assert _shown(_timeline("5.commit", "5.savepoint")) == ["5 commit completed", "5 savepoint completed"]


def test_pending_and_completed_divide_the_instants() -> None:
    timeline = _timeline("1.commit", "2.commit.requested", "2.inflight", "3.rollback.requested")

    assert [i.requested_at for i in timeline.completed()] == ["1"]
    assert [i.requested_at for i in timeline.pending()] == ["2", "3"]
    assert [i.requested_at for i in timeline.writes()] == ["1", "2"]


def test_an_instant_is_found_by_its_time() -> None:
    timeline = _timeline("1.commit", "2.clean")

    found = timeline.find("2")

    assert found is not None
    assert (found.action, found.state) == (Action.CLEAN, State.COMPLETED)
    assert timeline.find("3") is None


def test_folders_and_other_files_are_passed_over_and_state_files_kept() -> None:
    files = [FileStat(".hoodie/2.commit", 0, 0, is_folder=True), FileStat(".hoodie/1.commit", 7, 9)]
    files += [FileStat(f".hoodie/{name}", 1, 0) for name in ("hoodie.properties", "1.commit.requested")]

    timeline = read_timeline(files)

    assert _shown(timeline) == ["1 commit completed"]
    assert sorted(timeline.files) == ["1.commit", "1.commit.requested"]
    assert timeline.files["1.commit"].modified_ms == 9


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"2\.vacuum"):
        _timeline("1.commit", "2.vacuum")


@pytest.mark.parametrize(
    ("names", "border"),
    [
        (["3.commit", "5.commit"], "3"),
        (["3.inflight", "5.commit"], "3"),
        (["1.clean", "2.rollback", "3.commit"], "3"),
        (["3.commit", "3.savepoint", "5.commit"], "5"),
        (["3.commit", "3.savepoint.inflight", "5.commit"], "3"),
        (["3.commit", "4.commit", "4.savepoint"], "3"),
        (["1.clean"], ""),
        ([], ""),
    ],
)
def test_the_border_is_the_first_write_that_no_savepoint_kept_from_the_archive(names: list[str], border: str) -> None:
    assert _timeline(*names).first_write_still_active() == border


def test_an_empty_service_file_is_refused_with_what_to_do() -> None:
    with pytest.raises(CorruptFile, match=r"an empty file where a record was expected.*Let a Hudi writer"):
        require_content(b"")
