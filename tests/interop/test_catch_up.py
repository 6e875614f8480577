"""Commits of real Hudi that leave an index out are caught up with, and Java then finds every key where it is."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.action.base import build_base
from hudi_engine.action.catch_up import CatchUp, CaughtUp
from hudi_engine.action.complete import complete_index, complete_instant
from hudi_engine.action.coverage import find_base
from hudi_engine.action.execute import Run, execute_plan
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.publish import publish
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.action.site import Site
from hudi_engine.clock import SystemClock
from hudi_engine.compute.local import LocalCompute
from hudi_engine.concurrency.heartbeat import Heartbeats, own_lease
from hudi_engine.concurrency.in_process import InProcessLocks
from hudi_engine.concurrency.owner import Owner
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.open import open_storage
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.table import open_table
from hudi_engine.watch import Unwatched
from tests.java.jvm import Jvm
from tests.kit.soak import and_in_soak

TABLE_VERSIONS = {"0.15.0": 6, "1.0.2": 8, "1.2.0": 9}
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
NAME = "record_index"
SEVERAL_WRITERS = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
MOVING = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
UNAWARE = {"hoodie.metadata.record.index.enable": "false"}
# Of an index in flight a writer that is to keep it must not think that it is to build it, too.
WHILE_BUILT = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.async": "true"}
AFTER = {"hoodie.metadata.record.index.enable": "true", "hoodie.index.type": "RECORD_INDEX"}
SHARDS = {
    f"hoodie.metadata.{name}.{bound}.filegroup.count": "4"
    for name in ("record.index", "global.record.level.index")
    for bound in ("min", "max")
}
NUMBERS = range(700)
_FEW = [("1.2.0", COW), ("0.15.0", MOR)]
_REST = [("1.2.0", MOR), ("1.0.2", MOR), ("0.15.0", COW)]


@dataclass(frozen=True, slots=True)
class Java:
    """One table and the release that writes to it."""

    jvm: Jvm
    folder: Path
    table_type: str

    def described(self, **changed: str) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "table_version": TABLE_VERSIONS[self.jvm.version],
            "table_type": self.table_type,
            "options": {**SEVERAL_WRITERS, **MOVING, **changed},
        }

    def commit(self, rows: Sequence[dict[str, Any]], how: str, **changed: str) -> None:
        self.jvm.commit(table=self.described(**changed), rows=list(rows), how=how)

    def finds(self, scratch: Path) -> dict[str, tuple[str, str]]:
        """Where Java's own look-up says that keys are."""
        keys, out = scratch / "keys.json", scratch / "found.jsonl"
        keys.write_text(json.dumps([_key(number) for number in NUMBERS]))
        self.jvm.metadata_lookup(table=str(self.folder), keys_file=str(keys), out=str(out))
        found = map(json.loads, out.read_text().splitlines())
        return {each["key"]: (each["partition"], each["file_id"]) for each in found}


def rows(numbers: Sequence[int], partition: str = "", seen: int = 1) -> list[dict[str, Any]]:
    return [{"id": _key(n), "part": partition or f"p{n % 3}", "seen": seen} for n in numbers]


@pytest.fixture
def site(tmp_path: Path) -> Callable[[Path], Site]:
    owner, clock = Owner("test", "host", "1"), SystemClock()

    def of(folder: Path) -> Site:
        storage = open_storage(str(folder), {})
        return Site(
            storage=storage,
            clock=clock,
            conf=SHARDS,
            lock=InProcessLocks().of(storage.location, owner),
            heartbeats=Heartbeats(storage, clock, own_lease({})),
            owner=owner,
            compute=LocalCompute(1, 64 << 20, tmp_path),
            watch=Unwatched(),
        )

    return of


@pytest.mark.parametrize(("version", "table_type"), and_in_soak(_FEW, _REST))
def test_what_javas_commits_left_out_of_an_index_is_found_by_java_afterwards(
    version: str, table_type: str, jvm: Callable[[str], Jvm], site: Callable[[Path], Site], tmp_path: Path
) -> None:
    java = Java(jvm(version), tmp_path / "table", table_type)
    java.commit(rows(range(60)), "insert", **UNAWARE)
    java.commit(rows(range(60, 80)), "insert", **UNAWARE)
    here = site(java.folder)
    plan = schedule(here, IndexRequest((IndexKind.RECORD_INDEX,)))
    assert isinstance(plan, IndexPlan)

    execute_plan(here, plan.requested_at, lambda run: _build_beside(run, plan, java))

    require_right(java, here, tmp_path)
    for turn in range(4):
        again = [*range(500, 510), *range(300, 305), 200, 1, 3, 6, 9, 11]
        new = range(600 + turn * 5, 605 + turn * 5)
        java.commit(
            rows([*again, *new], seen=20 + turn),
            "upsert",
            **AFTER,
            **{"hoodie.metadata.compact.max.delta.commits": "2"},
        )
    require_right(java, here, tmp_path)


def _build_beside(run: Run, plan: IndexPlan, java: Java) -> None:
    """Commits of every kind that moves records, before the index is published, across that, and after."""
    base = build_base(run, plan.indexes)
    java.commit([*rows([3, 4], seen=2), *rows(range(80, 90))], "upsert", **UNAWARE)
    java.commit(rows([6, 9], "p2", seen=3), "upsert", **UNAWARE)
    java.commit(rows([7, 10], seen=3), "delete", **UNAWARE)
    java.commit(rows([200, 201, 203], "p1", seen=3), "insert_overwrite", **UNAWARE)
    clustering = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"}
    java.commit(rows([11], seen=4), "upsert", **UNAWARE, **clustering)
    held = java.jvm.begin_commit(table=java.described(**UNAWARE), rows=rows(range(500, 520)))
    publish(run, base)
    java.commit([*rows([12, 15], seen=5), *rows(range(300, 310))], "upsert", **WHILE_BUILT)
    java.jvm.end_commit(name=held)
    doomed = {"hoodie.datasource.write.partitions.to.delete": "p2"}
    java.commit(rows([2]), "delete_partition", **WHILE_BUILT, **doomed)
    compacting = {"hoodie.metadata.compact.max.delta.commits": "1"}
    java.commit([*rows([12, 15], seen=6), *rows(range(310, 320))], "upsert", **WHILE_BUILT, **compacting)

    found = find_base(run.site.metadata(), plan.requested_at, NAME)
    assert found is not None
    catch_up = CatchUp(run, found)
    reached = catch_up.run()
    with run.site.transaction() as transaction:
        assert catch_up.last_pass(transaction) == reached
        assert isinstance(reached, CaughtUp)
        complete_index(run, transaction, plan.indexes[0], reached.upto)
        complete_instant(run, transaction, {NAME: reached.upto})


def require_right(java: Java, site: Site, scratch: Path) -> None:
    """`validate` finds nothing, and Java finds every row where it is and no other."""
    command = [sys.executable, "-m", "hudi_engine.cli.main", "validate", str(java.folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert java.finds(scratch) == _truth(site)


def _truth(site: Site) -> dict[str, tuple[str, str]]:
    """Where each row is."""
    table = open_table(site.storage, site.clock, {})
    snapshot = table.snapshot()
    reader = table.rows(snapshot, [RECORD_KEY])
    found: dict[str, tuple[str, str]] = {}
    for each in snapshot.slices:
        for piece in reader.rows_of(each):
            for key in piece[RECORD_KEY].to_pylist():
                assert key not in found, f"{key} has rows in {found[key]} and in {each.file_id}"
                found[key] = (each.partition, each.file_id)
    return found


def _key(number: int) -> str:
    return f"k{number:04}"
