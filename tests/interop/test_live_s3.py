"""The same in an object store: indexes of a table in S3, built beside two Java writers over `s3a://`.

All kinds but `partition_stats`: of commits that overlap Hudi keeps those of the one that began last (docs/writers.md).
"""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.interop.jvm import Jvm
from tests.interop.live_checks import (
    build_beside,
    require_found_by_value,
    require_rows,
    require_skipped_right,
    require_valid,
)
from tests.interop.live_writers import (
    BY_RECORD_INDEX,
    KEEPS_OTHER_KINDS,
    LiveTable,
    LiveWriters,
    live_writers,
    zookeeper_lock,
)
from tests.zookeeper.server import ZooKeeperServer
from tools.s3_server import S3Server, s3_server

pytestmark = pytest.mark.timeout(1800)  # nine minutes where much else runs
_BY_VALUE: Final = "secondary_index_by_seen"
_BUILDS: Final = (
    ("--type", "column_stats", "--type", "bloom_filters"),
    ("--type", "record_index"),
    ("--type", _BY_VALUE, "--column", "seen"),
)
_BUILT: Final = ("record_index", "column_stats", "bloom_filters", _BY_VALUE)
_TYPES: Final = ("MERGE_ON_READ", "COPY_ON_WRITE") if os.environ.get("HUDI_SOAK") else ("MERGE_ON_READ",)
_NUMBERS = count()


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(scope="module")
def two_writers(s3: S3Server) -> Iterator[tuple[Jvm, Jvm]]:
    with Jvm("1.2.0", s3) as one, Jvm("1.2.0", s3) as other:
        yield one, other


@pytest.mark.parametrize("table_type", _TYPES)
def test_indexes_built_in_s3_beside_two_writers_are_whole_and_they_keep_and_use_them(
    two_writers: tuple[Jvm, Jvm], table_type: str, s3: S3Server, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    url = s3.make_bucket(f"live-{next(_NUMBERS)}").replace("s3://", "s3a://") + "/ware house/orders=é"
    lock = zookeeper_lock(zookeeper.address, tmp_path.name)
    table = LiveTable(tmp_path / "table", 9, table_type, lock, url, s3.options)
    writers = live_writers(two_writers, table, KEEPS_OTHER_KINDS)
    writers.lay_table()

    with writers.running():
        writers.wait_for_commits(1)
        ended = [build_beside(table, *words) for words in _BUILDS]
        writers.wait_for_commits(1)

    failed = [report for code, report in ended if code]
    assert not failed, [report["reason"] for report in failed]
    _require_right(two_writers[0], table, writers)
    writers.look_up_by(BY_RECORD_INDEX)
    for _ in range(5):
        for writer in writers.writers:
            writer.commit()
    _require_right(two_writers[0], table, writers)


def _require_right(jvm: Jvm, table: LiveTable, writers: LiveWriters) -> None:
    require_valid(table, *_BUILT)
    rows = require_rows(jvm, table, writers.truth())
    require_skipped_right(jvm, table.place, rows)
    require_found_by_value(jvm, table.place, _BY_VALUE, rows)
