"""A record index built by the engine while two real Java writers commit without pause: whole, and kept so by them."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.faults.engine import Engine, Pause
from tests.interop.jvm import Jvm
from tests.interop.live_checks import (
    base_files,
    properties_of,
    require_found_by_java,
    require_not_rebuilt,
    require_rows,
    require_valid,
)
from tests.interop.live_writers import (
    BY_RECORD_INDEX,
    LiveTable,
    LiveWriters,
    live_writers,
    zookeeper_lock,
)
from tests.interop.readable import TABLE_VERSIONS, and_in_soak
from tests.zookeeper.server import ZooKeeperServer

_COW, _MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
# What docs/writers.md recommends.
_ASYNC: Final = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.async": "true"}
_BATCH: Final = {"hoodie.metadata.streaming.write.enabled": "false"}
_STREAMING: Final = {"hoodie.metadata.streaming.write.enabled": "true"}
_KEEP: Final = {"hoodie.metadata.auto.delete.partitions": "false"}
# With that of 1.0.2 in `test_live_kinds`, where it is kept beside others, a half: each release once, each type twice.
_FEW: Final = [
    ("0.15.0", _MOR, _ASYNC),
    ("1.1.1", _MOR, _ASYNC | _BATCH),
    ("1.2.0", _COW, _ASYNC | _BATCH),
]
_REST: Final = [
    ("0.15.0", _COW, _ASYNC),
    ("1.0.2", _COW, _ASYNC),
    ("1.0.2", _MOR, _ASYNC),
    ("1.1.1", _COW, _ASYNC | _BATCH),
    ("1.2.0", _MOR, _ASYNC | _BATCH),
    ("1.2.0", _COW, _KEEP | _BATCH),
    ("1.2.0", _MOR, _KEEP | _BATCH),
]
# Where it waits until each writer has committed once more, so that no build falls between two commits.
_BASE_IS_READ: Final = Pause("base", r"^create .*record-index-0000.*hfile")
_METADATA_COMMIT: Final = re.compile(r"create \.hoodie/metadata/\.hoodie/(timeline/)?\d+(_\d+)?\.deltacommit$")
_CASES: Final = and_in_soak(_FEW, _REST)


@pytest.fixture
def table_folder(tmp_path: Path) -> Path:
    return tmp_path / "table"


@pytest.mark.parametrize(
    ("two_jvms", "table_type", "settings"),
    _CASES,
    indirect=["two_jvms"],
    ids=[f"{release}-{kind}-{'keep' if settings.keys() & _KEEP else 'async'}" for release, kind, settings in _CASES],
)
def test_an_index_built_beside_two_writers_is_whole_and_they_keep_it_so(
    two_jvms: tuple[Jvm, Jvm],
    table_type: str,
    settings: dict[str, str],
    zookeeper: ZooKeeperServer,
    table_folder: Path,
) -> None:
    jvm = two_jvms[0]
    lock = zookeeper_lock(zookeeper.address, table_folder.parent.name)
    table = LiveTable(table_folder, TABLE_VERSIONS[jvm.version][-1], table_type, lock)
    writers = live_writers(two_jvms, table, settings)
    writers.lay_table()

    with writers.running():
        writers.wait_for_commits(1)
        with Engine(table_folder, properties_of(table), [_BASE_IS_READ]) as engine:
            assert engine.pauses("base")
            writers.wait_for_commits(1)
            engine.go_on("base")
            ended, steps = engine.end(), engine.steps
        writers.wait_for_commits(2)

    assert (ended.code, ended.report["outcome"]) == (0, "ready"), ended
    own = [step for step in steps if _METADATA_COMMIT.match(step)]
    assert len(own) > 1, "the base, and what commits since it was read have left out"
    require_right(jvm, table_folder, writers)
    built = base_files(table_folder)
    writers.look_up_by(BY_RECORD_INDEX | _STREAMING)
    for _ in range(5):
        for writer in writers.writers:
            writer.commit()
    require_right(jvm, table_folder, writers)
    require_not_rebuilt(table_folder, built)


def require_right(jvm: Jvm, table: Path, writers: LiveWriters) -> None:
    require_valid(table)
    rows = require_rows(jvm, table, writers.truth())
    require_found_by_java(jvm, table, rows)
