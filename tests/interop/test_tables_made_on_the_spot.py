"""Tables that each release makes here and now: rows, files and instants as we see them and as it does."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import SystemClock
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import Table, open_table
from tests.golden.recipes import ABOUT_INDEXES, SCENARIOS
from tests.java.jvm import Jvm
from tests.kit.compare import require_equal
from tests.kit.soak import is_soak

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
TABLE_VERSIONS = {"0.15.0": (6,), "1.0.2": (6, 8), "1.1.1": (6, 8, 9), "1.2.0": (6, 8, 9)}
# Each release, each table version and each type at least once; `make soak` plays everything.
FEW = (
    ("0.15.0", 6, COW, "services"),
    ("0.15.0", 6, MOR, "deletions"),
    ("1.0.2", 8, MOR, "partial"),
    ("1.1.1", 9, MOR, "orders"),
    ("1.1.1", 8, COW, "services"),
    ("1.2.0", 9, COW, "orders"),
)
# Played by two releases one after the other, so none can make them alone.
NEEDS_TWO = {"aged", "upgraded"}
# Of version 6 there is no partial update. Newer releases merge these two by other rules than the release that the
# version belongs to, whose rules are ours (docs/decisions/0010), and will not write the last with these keys.
NEVER_IN_6 = {"partial"}
BY_0_15_IN_6 = {"commit_time", "deletions", "journeys"}


def everything() -> Iterator[tuple[str, int, str, str]]:
    for hudi, versions in TABLE_VERSIONS.items():
        for version in versions:
            left_out = NEEDS_TWO | ABOUT_INDEXES
            if version == 6:
                left_out |= NEVER_IN_6 if hudi == "0.15.0" else NEVER_IN_6 | BY_0_15_IN_6
            for scenario in sorted(SCENARIOS.keys() - left_out):
                kinds = (MOR,) if scenario == "partial" else (COW, MOR)
                yield from ((hudi, version, kind, scenario) for kind in kinds)


CASES = sorted(everything() if is_soak() else FEW)


def test_the_few_hold_each_release_version_and_type() -> None:
    assert {hudi for hudi, *_ in FEW} == set(TABLE_VERSIONS)
    assert {(version, kind) for _, version, kind, _ in FEW} == {(v, k) for v in (6, 8, 9) for k in (COW, MOR)}
    assert set(FEW) <= set(everything())


@pytest.mark.parametrize(("hudi", "version", "kind", "scenario"), CASES)
def test_we_see_a_table_as_its_writer_does(
    hudi: str, version: int, kind: str, scenario: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    java, folder = jvm(hudi), str(tmp_path / "table")
    instants = java.run_scenario(scenario=scenario, folder=folder, table_version=version, table_type=kind)
    table = open_table(open_storage(folder, {}), SystemClock(), {})

    require_same_rows(table, java, tmp_path, None)
    for instant in instants:
        require_same_rows(table, java, tmp_path, instant)
    assert files_of(table) == files_of_java(java.file_view(table=folder))
    assert instants_of(table) == instants_of_java(table, java.timeline(table=folder))


def require_same_rows(table: Table, java: Jvm, scratch: Path, as_of: str | None) -> None:
    out = str(scratch / "rows.parquet")
    java.snapshot(table=table.storage.location, out=out, options={"as.of.instant": as_of} if as_of else {})
    reader = table.rows(table.snapshot(as_of))

    ours = pa.concat_tables([reader.schema.empty_table(), *reader.tables()])

    require_equal(ours, pq.read_table(out))


Files = dict[tuple[str, str], tuple[str, str | None, list[str]]]


def files_of(table: Table) -> Files:
    return {
        (found.partition, found.file_id): (
            found.base_instant,
            None if found.base_file is None else found.base_file.stat.name,
            [log.stat.name for log in found.log_files],
        )
        for found in table.snapshot().slices
    }


def files_of_java(view: dict[str, Any]) -> Files:
    return {
        (partition, found["file_id"]): (found["base_instant"], found["base_file"], found["log_files"])
        for partition, slices in view.items()
        for found in slices["latest_merged"]
        if found["base_file"] or found["log_files"]
    }


def instants_of(table: Table) -> list[tuple[str | None, ...]]:
    return [(i.requested_at, i.action.value, i.state.name, i.completed_at) for i in table.timeline().instants]


def instants_of_java(table: Table, instants: list[dict[str, str]]) -> list[tuple[str | None, ...]]:
    """Only layout 2 keeps completion times; in layout 1 newer releases take the file's."""
    named = [(i["requested"], i["action"], i["state"], i["completed"] or None) for i in instants]
    return [(*known, time if table.config.layout == 2 else None) for *known, time in named]
