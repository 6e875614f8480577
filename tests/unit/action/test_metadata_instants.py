"""Times that the engine gives to what it writes into the metadata table."""

import pytest

from hudi_engine.action.metadata_commit import INITIAL, MetadataCommit, begin_metadata_commit, run_metadata_commit
from hudi_engine.action.metadata_instants import log_instant, solo_instant
from hudi_engine.errors import Contradiction
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import InstantTime
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.memory import MemoryStorage
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import COMPLETED_AT, INDEX, INDEXED, VERSIONS, opened

each_version = pytest.mark.parametrize("version", VERSIONS)
METADATA = ".hoodie/metadata"


@each_version
def test_the_first_index_is_made_at_the_first_of_the_engines_times(version: int) -> None:
    assert solo_instant(opened(golden_in_memory(INDEXED[version])), ()) == "00000000000000500"


@each_version
def test_times_ascend_beyond_all_that_stand_on_the_timeline_in_names_or_were_given_away(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    run_metadata_commit(opened(storage), MetadataCommit("00000000000000503", INITIAL), InstantTime(COMPLETED_AT))

    on_timeline = solo_instant(opened(storage), ())
    given_away = solo_instant(opened(storage), ["00000000000000520", "00000000000000502"])
    storage.create(f"{METADATA}/{INDEX}/.record-index-0000-0_00000000000000530.log.1_0-0-0", b"")
    in_names = solo_instant(opened(storage), ["00000000000000520"])

    assert (on_timeline, given_away, in_names) == ("00000000000000504", "00000000000000521", "00000000000000531")


def test_a_pending_commit_keeps_its_time() -> None:
    storage = golden_in_memory(INDEXED[9])
    begin_metadata_commit(opened(storage), MetadataCommit("00000000000000500", INITIAL))

    assert solo_instant(opened(storage), ()) == "00000000000000501"


def test_after_the_last_of_the_times_the_count_goes_on_from_the_first_that_is_free() -> None:
    metadata = opened(golden_in_memory(INDEXED[9]))

    after_the_last = solo_instant(metadata, ["00000000000000501", "00000000000000999"])
    later = solo_instant(metadata, ["00000000000000999", "00000000000000500", "00000000000000503"])

    assert (after_the_last, later) == ("00000000000000500", "00000000000000504")


def test_when_all_times_are_in_use_it_says_what_to_do() -> None:
    with pytest.raises(Contradiction, match="Drop the index"):
        solo_instant(opened(golden_in_memory(INDEXED[9])), [f"{number:017d}" for number in range(500, 1000)])


@each_version
def test_logs_for_a_commit_get_the_millisecond_before_it(version: int) -> None:
    metadata = opened(golden_in_memory(INDEXED[version]))
    instant = metadata.data_timeline.writes()[-1].requested_at

    below = log_instant(metadata, INDEX, instant)

    assert below == f"{int(instant) - 1:017d}" + ("004" if version == 6 else "")


@each_version
def test_logs_for_a_commit_get_an_earlier_millisecond_while_one_is_taken_on_either_timeline(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    metadata = opened(storage)
    instant = metadata.data_timeline.writes()[-1].requested_at
    storage.create(f"{metadata.data.config.timeline_folder}/{int(instant) - 1:017d}.commit.requested", b"")
    ending = "004" if version == 6 else ""
    begin_metadata_commit(metadata, MetadataCommit(f"{int(instant) - 2:017d}{ending}", INITIAL))

    assert log_instant(opened(storage), INDEX, instant)[:17] == f"{int(instant) - 3:017d}"


def test_a_time_that_is_in_a_log_files_name_is_not_given_again() -> None:
    storage = golden_in_memory(INDEXED[9])
    instant = opened(storage).data_timeline.writes()[-1].requested_at
    storage.create(f"{METADATA}/{INDEX}/.record-index-0000-0_{int(instant) - 1:017d}.log.1_0-1-0", b"")

    assert log_instant(opened(storage), INDEX, instant) == f"{int(instant) - 2:017d}"


def test_a_time_that_was_rolled_back_in_layout_1_is_not_given_again_since_its_logs_are_still_there() -> None:
    storage = golden_in_memory(INDEXED[6])
    instant = opened(storage).data_timeline.writes()[-1].requested_at
    put_rollback(storage, f"{int(instant) - 1:017d}004")

    assert log_instant(opened(storage), INDEX, instant) == f"{int(instant) - 2:017d}004"


def put_rollback(storage: MemoryStorage, target: str) -> None:
    value = {
        "startRollbackTime": "20990101000000000",
        "timeTakenInMillis": 1,
        "totalFilesDeleted": 0,
        "commitsRollback": [target],
        "partitionMetadata": {},
    }
    for ending, data in (("requested", b""), ("inflight", b"")):
        storage.create(f"{METADATA}/.hoodie/20990101000000000006.rollback.{ending}", data)
    storage.create(
        f"{METADATA}/.hoodie/20990101000000000006.rollback", service_records.encode(RecordName.ROLLBACK, value, 6)
    )
