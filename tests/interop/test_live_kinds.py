"""Indexes of files and of values, built by the engine while two real Java writers commit: whole, kept so, and used."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.interop.live_builds import Built, build_conducted, build_while_they_run, commit_by_turns
from tests.interop.live_cases import KINDS, KINDS_OF_ALL, MOR, Case
from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import Jvm
from tests.java.live_checks import (
    base_files,
    require_found_by_java,
    require_found_by_value,
    require_not_rebuilt,
    require_rows,
    require_skipped_right,
    require_valid,
    run_engine,
)
from tests.java.live_writers import (
    BY_RECORD_INDEX,
    KEEPS_OTHER_KINDS,
    LiveTable,
    LiveWriters,
    live_writers,
    zookeeper_lock,
)
from tests.kit.soak import and_in_soak
from tests.kit.zookeeper_server import ZooKeeperServer

_OF_VALUES: Final = "secondary_index_by_seen"
_ON: Final = {
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "false",
}
# Without it the tasks of a writer find no metadata table to update a secondary index by.
_FILE_SERVICE: Final = {"hoodie.embed.timeline.server": "true"}
_RECORD_INDEX: Final = {"hoodie.metadata.record.index.enable": "true", **_FILE_SERVICE}
# What docs/writers.md recommends, before and while they are built, and afterwards.
_ASYNC: Final = {"hoodie.metadata.index.async": "true"}
_BATCH: Final = {"hoodie.metadata.streaming.write.enabled": "false"}
_STREAMING: Final = {"hoodie.metadata.streaming.write.enabled": "true"}
_WHILE_BUILT: Final[Mapping[str, Mapping[str, str]]] = {
    "0.15.0": {**_ON, **_ASYNC},
    "1.0.2": {**_ON, **_ASYNC, **_RECORD_INDEX},
    "1.1.1": {**_ON, **_ASYNC, **_RECORD_INDEX, **_BATCH},
    "1.2.0": KEEPS_OTHER_KINDS,
}
_AFTERWARDS: Final[Mapping[str, Mapping[str, str]]] = {
    "1.0.2": {},
    # With both it demands statistics of partitions.
    "1.1.1": {**_STREAMING, "hoodie.metadata.index.async": "false"},
    "1.2.0": _STREAMING,
}
_CASES: Final = and_in_soak(
    [(case, build_conducted) for case in KINDS],
    [
        *((case, build_conducted) for case in KINDS_OF_ALL if case not in KINDS),
        *((case, build_while_they_run) for case in KINDS_OF_ALL),
    ],
)


@pytest.mark.parametrize(
    ("two_jvms", "case", "build"),
    [(case.release, case, build) for case, build in _CASES],
    indirect=["two_jvms"],
    ids=[f"{case}-{build.__name__}" for case, build in _CASES],
)
def test_indexes_built_beside_two_writers_are_whole_and_they_keep_and_use_them(
    two_jvms: tuple[Jvm, Jvm], case: Case, build: Built, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    jvm = two_jvms[0]
    lock = zookeeper_lock(zookeeper.address, tmp_path.name)
    table = LiveTable(tmp_path / "table", TABLE_VERSIONS[jvm.version][-1], case.table_type, lock)
    writers = live_writers(two_jvms, table, _WHILE_BUILT[jvm.version])
    writers.lay_table()

    build(table, writers, case.builds)

    require_right(jvm, table, writers, case.indexes)
    built = base_files(table.folder)
    if table.table_version > 6:
        writers.look_up_by({**_ON, **_RECORD_INDEX, **BY_RECORD_INDEX, **_AFTERWARDS[jvm.version]})
    commit_by_turns(writers)
    require_right(jvm, table, writers, case.indexes)
    require_not_rebuilt(table.folder, built)
    if table.table_version == 9:
        jvm.create_index(table=table.described(writers.writers[0].options), name="by_part", column="part")
        writers.writers[0].commit()
        require_right(jvm, table, writers, case.indexes)
        require_not_rebuilt(table.folder, built)
        _require_only_ghosts(table, "secondary_index_by_part")


def require_right(jvm: Jvm, table: LiveTable, writers: LiveWriters, names: tuple[str, ...]) -> None:
    """Nothing to find for `validate`; and Java finds the same rows by predicates, in all files or in those left."""
    _require_valid(table, names)
    rows = require_rows(jvm, table.folder, writers.truth())
    require_skipped_right(jvm, table.place, rows)
    if _OF_VALUES in names:
        require_found_by_java(jvm, table.folder, rows)
        require_found_by_value(jvm, table.place, _OF_VALUES, rows)


def _require_only_ghosts(table: LiveTable, index: str) -> None:
    """Of two secondary indexes on a merge-on-read table Hudi's streaming writers keep the first only, though both be
    Java's own: of a row that a commit moved the second has its former entry, too (docs/writers.md).
    """
    _, found = run_engine("validate", str(table.folder), "--index", index)
    others = [each for each in found["discrepancies"] if each["fault"] != "ghost"]
    assert not others, others
    assert found["checks"][0]["discrepancies"] == len(found["discrepancies"]), found["checks"]


def _require_valid(table: LiveTable, names: tuple[str, ...]) -> None:
    """Release 0.15.0 leaves the statistics of files that it cleans: it cuts off as much of their names as the name of
    their partition is long. No reader asks for them.
    """
    if table.table_version > 6:
        if (table.table_version, table.table_type) == (8, MOR) and _OF_VALUES in names:
            # Beside a planned compaction 1.0.2 forgets values of rows that its commit deletes (docs/writers.md).
            _require_only_ghosts(table, _OF_VALUES)
            names = tuple(name for name in names if name != _OF_VALUES)
        return require_valid(table.folder, *names)
    require_valid(table.folder, "bloom_filters")
    _, found = run_engine("validate", str(table.folder), "--index", "column_stats")
    others = [each for each in found["discrepancies"] if each["expected"] != "nothing: no such file"]
    assert not others, others
    assert found["checks"][0]["discrepancies"] == len(found["discrepancies"]), found["checks"]
    return None
