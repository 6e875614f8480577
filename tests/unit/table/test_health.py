"""What `inspect` says of pending instants, indexes and locks."""

from hudi_engine.clock import HandClock
from hudi_engine.format.instant_names import Action, State
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.health import IndexState, index_health, lock_health, pending_instants
from hudi_engine.table.table import open_table
from tests.kit.made_table import COPIED_AT_MS, MadeTable, at


def test_pending_instants_have_the_age_of_their_first_file_and_of_their_last_heartbeat() -> None:
    clock = HandClock(COPIED_AT_MS)
    made = MadeTable(8, storage=MemoryStorage(clock))
    made.instant(f"{at(1)}.deltacommit.requested")
    clock.sleep(10)
    made.instant(f"{at(1)}.deltacommit.inflight")
    made.storage.create(f".hoodie/.heartbeat/{at(1)}", b"")
    clock.sleep(5)
    made.instant(f"{at(2)}.inflight")
    table = open_table(made.storage, clock, {})

    first, second = pending_instants(table, table.timeline())

    assert (first.instant.action, first.instant.state) == (Action.DELTA_COMMIT, State.INFLIGHT)
    assert (first.age_seconds, first.heartbeat_age_seconds) == (15.0, 5.0)
    assert (second.age_seconds, second.heartbeat_age_seconds) == (0.0, None)


def test_a_table_with_nothing_pending_has_nothing_to_show() -> None:
    made = MadeTable(8)
    made.complete(at(1))
    table = made.open()

    assert pending_instants(table, table.timeline()) == ()


def test_indexes_are_ready_building_unlisted_or_missing() -> None:
    listed = {
        "hoodie.table.metadata.partitions": "column_stats,files",
        "hoodie.table.metadata.partitions.inflight": "record_index",
    }
    made = MadeTable(8, properties=listed)
    for path, data in {
        "files/files-0000-0_0-1-1_00000000000000000.hfile": b"12345",
        "files/.files-0000-0_00000000000000001.log.1_0-0-0": b"123",
        "files/.hoodie_partition_metadata": b"ignored",
        "record_index/.record-index-0000-0_00000000000000001.log.1_0-0-0": b"1",
        "record_index/.record-index-0001-0_00000000000000001.log.1_0-0-0": b"1",
        "bloom_filters/.bloom-filters-0000-0_00000000000000001.log.1_0-0-0": b"1",
        ".hoodie/hoodie.properties": b"ignored",
    }.items():
        made.storage.create(f".hoodie/metadata/{path}", data)

    found = {index.name: (index.state, index.shards, index.size_bytes) for index in index_health(made.open())}

    assert found == {
        "files": (IndexState.READY, 1, 8),
        "record_index": (IndexState.IN_FLIGHT, 2, 2),
        "bloom_filters": (IndexState.NOT_LISTED, 1, 1),
        "column_stats": (IndexState.MISSING, 0, 0),
    }


def test_lock_settings_and_lock_files_in_the_table_are_shown() -> None:
    made = MadeTable(8)
    made.storage.create(".hoodie/.locks/table_lock.json", b"{}")
    given = {
        "hoodie.write.lock.provider": "x",
        "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
        "hoodie.other": "y",
    }

    found = lock_health(made.open(), given)

    assert set(found.settings) == {"hoodie.write.lock.provider", "hoodie.write.concurrency.mode"}
    assert found.files == (".hoodie/.locks/table_lock.json",)
