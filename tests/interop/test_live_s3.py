"""The same in an object store: indexes of a table in S3, built beside two Java writers over `s3a://`.

All kinds but `partition_stats`: of commits that overlap Hudi keeps those of the one that began last (docs/writers.md).
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.interop.live_builds import Built, build_conducted, build_while_they_run, commit_by_turns
from tests.interop.live_cases import ALL_KINDS, COW, IN_S3, MOR, Case
from tests.java.jvm import Jvm
from tests.java.live_checks import (
    require_found_by_value,
    require_rows,
    require_skipped_right,
    require_valid,
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
from tools.s3_server import S3Server, s3_server

_BY_VALUE: Final = "secondary_index_by_seen"
_CASES: Final = and_in_soak(
    [(case, build_conducted) for case in IN_S3],
    [(Case("1.2.0", kind, ALL_KINDS), build_while_they_run) for kind in (MOR, COW)],
)
_NUMBERS = count()


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(scope="module")
def two_writers(s3: S3Server) -> Iterator[tuple[Jvm, Jvm]]:
    with Jvm("1.2.0", s3) as one, Jvm("1.2.0", s3) as other:
        yield one, other


@pytest.mark.parametrize(("case", "build"), _CASES, ids=[f"{case}-{build.__name__}" for case, build in _CASES])
def test_indexes_built_in_s3_beside_two_writers_are_whole_and_they_keep_and_use_them(
    two_writers: tuple[Jvm, Jvm], case: Case, build: Built, s3: S3Server, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    place = f"live-{next(_NUMBERS)}", "ware house/orders=é"
    url = "/".join((s3.make_bucket(place[0]).replace("s3://", "s3a://"), place[1]))
    lock = zookeeper_lock(zookeeper.address, tmp_path.name)
    table = LiveTable(tmp_path / "table", 9, case.table_type, lock, url, s3.options, s3.folder.joinpath(*place))
    writers = live_writers(two_writers, table, KEEPS_OTHER_KINDS)
    writers.lay_table()

    build(table, writers, case.builds)

    _require_right(two_writers[0], table, writers, case)
    writers.look_up_by(BY_RECORD_INDEX)
    commit_by_turns(writers)
    _require_right(two_writers[0], table, writers, case)


def _require_right(jvm: Jvm, table: LiveTable, writers: LiveWriters, case: Case) -> None:
    require_valid(table, *case.indexes)
    rows = require_rows(jvm, table, writers.truth())
    require_skipped_right(jvm, table.place, rows)
    require_found_by_value(jvm, table.place, _BY_VALUE, rows)
