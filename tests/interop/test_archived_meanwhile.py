"""Java archives commits that came after the plan of an index which is still being built.

Its archiver passes an `indexing` instant by. With one that is older than all else that is left, Hudi 1.1 and later take
what was archived after it for pending: readers and compactions leave the logs of those commits out.
"""

from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import Jvm
from tests.java.live import RECOMMENDED
from tests.java.live_checks import require_valid
from tests.java.live_writers import SEVERAL_WRITERS, LiveTable, zookeeper_lock
from tests.kit.engine import Engine, Pause
from tests.kit.soak import and_in_soak
from tests.kit.zookeeper_server import ZooKeeperServer

_KEYS: Final = 10
_MEANWHILE: Final = Pause("meanwhile", r"^create .*\.hfile$")
_ARCHIVES: Final = {
    **RECOMMENDED,
    "hoodie.archive.automatic": "true",
    "hoodie.clean.automatic": "true",
    "hoodie.clean.commits.retained": "1",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.metadata.compact.max.delta.commits": "1",
    "hoodie.compact.inline.max.delta.commits": "1",
}
_COMPACTS: Final = {"hoodie.compact.inline": "true"}


@pytest.mark.parametrize("real_hudi", and_in_soak(["1.2.0"], ["1.0.2", "1.1.1"]), indirect=True)
def test_rows_of_commits_that_are_archived_beside_a_build_are_read_and_compacted(
    real_hudi: Jvm, zookeeper: ZooKeeperServer, tmp_path: Path
) -> None:
    lock = zookeeper_lock(zookeeper.address, tmp_path.name)
    table = LiveTable(tmp_path / "table", TABLE_VERSIONS[real_hudi.version][-1], "MERGE_ON_READ", lock)
    described = table.described(_ARCHIVES)
    real_hudi.commit(table=described, rows=[_row(number, 0) for number in range(_KEYS)], how="insert")

    with Engine(table.folder, {**SEVERAL_WRITERS, **lock, **RECOMMENDED}, [_MEANWHILE]) as engine:
        assert engine.pauses(_MEANWHILE.name)
        for number in range(_KEYS):
            real_hudi.commit(table=described, rows=[_row(number, 1)], how="upsert")
        archived = [*(table.folder / ".hoodie/timeline/history").glob("*.parquet")]
        read = _seen(real_hudi, table)
        real_hudi.commit(table=table.described(_ARCHIVES | _COMPACTS), rows=[_row(0, 2)], how="upsert")
        engine.go_on(_MEANWHILE.name)
        ended = engine.end()
    compacted = _seen(real_hudi, table)

    assert archived
    assert read == dict.fromkeys(range(_KEYS), 1)
    assert compacted == {**read, 0: 2}
    assert ended.code == 0, ended
    require_valid(table)


def _row(number: int, seen: int) -> dict[str, Any]:
    return {"id": str(number), "part": "north", "seen": seen}


def _seen(jvm: Jvm, table: LiveTable) -> dict[int, int]:
    out = table.folder.with_name("rows.parquet")
    jvm.snapshot(table=table.place, out=str(out))
    return {int(row["id"]): row["seen"] for row in pq.read_table(out).to_pylist()}
