"""Golden tables read as Hudi's own readers read them: rows as Spark, files and timeline as Java."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import SystemClock
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.table import Table, open_table
from tests.golden.names import EXPECTED_NAMES
from tests.golden.unpack import unpack
from tests.kit.compare import require_equal

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module", params=sorted(EXPECTED_NAMES))
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table]:
    """What is known of a golden table, and the table."""
    base = unpack(request.param, tmp_path_factory.mktemp("golden"))
    return GOLDEN / request.param, open_table(LocalStorage(str(base)), SystemClock(), {})


def test_rows_are_those_of_spark_now_and_at_every_instant_travelled_to(golden: tuple[Path, Table]) -> None:
    known, table = golden

    for expected in known.glob("expected*.parquet"):
        as_of = expected.stem.partition("_")[2] or None
        reader = table.rows(table.snapshot(as_of))
        rows = pa.concat_tables([reader.schema.empty_table(), *reader.tables()])

        require_equal(rows, pq.read_table(expected))


@pytest.mark.parametrize("name", ["v6_mor_journeys", "v8_mor_archived", "v9_mor_upgraded"])
def test_a_copied_table_reads_the_same_though_every_file_has_a_new_time(name: str, tmp_path: Path) -> None:
    """Hudi 1.x slices logs of layout 1 by the times of timeline files; we go by their names."""
    base = unpack(name, tmp_path)
    for file in base.rglob("*"):
        os.utime(file)

    table = open_table(LocalStorage(str(base)), SystemClock(), {})
    reader = table.rows(table.snapshot())

    require_equal(pa.concat_tables(list(reader.tables())), pq.read_table(GOLDEN / name / "expected.parquet"))


def test_files_are_those_of_java_s_file_system_view(golden: tuple[Path, Table]) -> None:
    known, table = golden
    expected = json.loads((known / "files.json").read_text())

    found = [_shown(each) for each in table.snapshot().slices]

    assert found == sorted(_expected(expected, "latest_merged"), key=lambda each: each[:2])


def test_every_slice_that_java_shows_was_found_with_the_same_files(golden: tuple[Path, Table]) -> None:
    """Java shows no replaced groups and no uncommitted slices; those are more of ours."""
    known, table = golden
    expected = json.loads((known / "files.json").read_text())
    view, listings = table.view(table.timeline()), table.partitions()

    groups = [group for partition, listing in listings.items() for group in view.groups(partition, listing)]

    found = [_shown(each) for group in groups for each in group.slices]
    java = [
        (partition, each["file_id"], each["base_instant"], each["base_file"], each["log_files"])
        for partition, shown in expected.items()
        for group in shown["groups"]
        for each in group["slices"]
    ]
    assert [each for each in java if each not in found] == []


def test_the_active_timeline_is_java_s(golden: tuple[Path, Table]) -> None:
    known, table = golden
    expected = json.loads((known / "timeline.json").read_text())["active"]
    is_told = table.config.layout == 2  # layout 1 has no completion time but that of a file, which no zip keeps

    found = [
        (i.requested_at, i.action.value, i.state.name, i.completed_at if is_told else None)
        for i in table.timeline().instants
    ]

    assert found == _instants(expected)


def test_the_archived_timeline_is_java_s(golden: tuple[Path, Table]) -> None:
    known, table = golden
    expected = json.loads((known / "timeline.json").read_text())["archived"]

    found = {(i.requested_at, i.action.value) for i in table.history() if i.is_completed}

    assert found == {(time, action) for time, action, state, _ in _instants(expected) if state == "COMPLETED"}


def _shown(found: FileSlice) -> tuple[str, str, str, str | None, list[str]]:
    base = None if found.base_file is None else found.base_file.stat.name
    return found.partition, found.file_id, found.base_instant, base, [log.stat.name for log in found.log_files]


def _expected(files: dict[str, Any], view: str) -> Iterator[tuple[str, str, str, str | None, list[str]]]:
    for partition, shown in files.items():
        for each in shown[view]:
            yield partition, each["file_id"], each["base_instant"], each["base_file"], each["log_files"]


def _instants(shown: list[dict[str, Any]]) -> list[tuple[str, str, str, str | None]]:
    return sorted((each["requested"], each["action"], each["state"], each["completed"]) for each in shown)
