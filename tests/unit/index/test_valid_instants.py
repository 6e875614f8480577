"""Which writes to the metadata table may be seen, by what the timelines of both tables say."""

from hudi_engine.index.valid_instants import Readings, valid_instants
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.timeline import Timeline, read_timeline


def test_a_commit_that_is_complete_in_both_tables_counts() -> None:
    assert "001" in valid_instants(_readings(data=["001_002.deltacommit"], metadata=["001_002.deltacommit"]))


def test_a_commit_that_is_pending_in_the_data_does_not_count_though_the_metadata_table_has_it() -> None:
    readings = _readings(
        data=["001.deltacommit.requested", "001.deltacommit.inflight"], metadata=["001_002.deltacommit"]
    )

    assert "001" not in valid_instants(readings)


def test_the_work_of_an_indexer_or_of_a_first_build_counts_though_the_data_know_nothing_of_it() -> None:
    solo = "00000000000000000"

    assert solo in valid_instants(_readings(data=[], metadata=[f"{solo}_001.deltacommit"]))


def test_a_commit_that_began_after_the_data_were_read_does_not_count() -> None:
    readings = _readings(data=["001_002.commit"], metadata=["001_002.deltacommit", "003_004.deltacommit"])
    later = Readings(readings.data, readings.metadata, _timeline(["001_002.commit", "003_005.commit"]))

    assert valid_instants(readings) == {"001", "003"}
    assert valid_instants(later) == {"001"}
    assert not later.is_steady


def test_a_compaction_of_the_metadata_table_makes_no_log_block_valid() -> None:
    assert "005" not in valid_instants(_readings(data=[], metadata=["005_006.commit"]))


def test_blocks_of_a_finished_rollback_of_the_metadata_table_count() -> None:
    readings = _readings(data=[], metadata=["005_006.rollback", "007.rollback.requested"])

    assert valid_instants(readings) == {"005"}


def _readings(data: list[str], metadata: list[str]) -> Readings:
    return Readings(_timeline(data), _timeline(metadata), _timeline(data))


def _timeline(names: list[str]) -> Timeline:
    return read_timeline(FileStat(f".hoodie/timeline/{name}", 1, 0) for name in names)
