"""A record index built by the engine while two real Java writers commit: whole, and kept so by them."""

from pathlib import Path
from typing import Final

import pytest

from tests.interop.live_builds import Built, build_conducted, build_while_they_run, commit_by_turns
from tests.interop.live_cases import BUILDS, BUILDS_OF_ALL, Case
from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import Jvm
from tests.java.live_checks import (
    base_files,
    require_found_by_java,
    require_not_rebuilt,
    require_rows,
    require_valid,
)
from tests.java.live_writers import BY_RECORD_INDEX, LiveTable, LiveWriters, live_writers, zookeeper_lock
from tests.kit.soak import and_in_soak
from tests.kit.zookeeper_server import ZooKeeperServer

# What docs/writers.md recommends.
_ASYNC: Final = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.async": "true"}
_BATCH: Final = {"hoodie.metadata.streaming.write.enabled": "false"}
_STREAMING: Final = {"hoodie.metadata.streaming.write.enabled": "true"}
_CASES: Final = and_in_soak(
    [(case, build_conducted) for case in BUILDS],
    [
        *((case, build_conducted) for case in BUILDS_OF_ALL if case not in BUILDS),
        *((case, build_while_they_run) for case in BUILDS_OF_ALL),
    ],
)


@pytest.mark.parametrize(
    ("two_jvms", "case", "build"),
    [(case.release, case, build) for case, build in _CASES],
    indirect=["two_jvms"],
    ids=[f"{case}-{build.__name__}" for case, build in _CASES],
)
def test_an_index_built_beside_two_writers_is_whole_and_they_keep_it_so(
    two_jvms: tuple[Jvm, Jvm], case: Case, build: Built, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    jvm = two_jvms[0]
    lock = zookeeper_lock(zookeeper.address, tmp_path.name)
    table = LiveTable(tmp_path / "table", TABLE_VERSIONS[jvm.version][-1], case.table_type, lock)
    writers = live_writers(two_jvms, table, _ASYNC if table.table_version < 9 else _ASYNC | _BATCH)
    writers.lay_table()

    build(table, writers, case.builds)

    require_right(jvm, table, writers)
    built = base_files(table.folder)
    writers.look_up_by(BY_RECORD_INDEX | _STREAMING)
    commit_by_turns(writers)
    require_right(jvm, table, writers)
    require_not_rebuilt(table.folder, built)


def require_right(jvm: Jvm, table: LiveTable, writers: LiveWriters) -> None:
    require_valid(table.folder)
    rows = require_rows(jvm, table.folder, writers.truth())
    require_found_by_java(jvm, table.folder, rows)
