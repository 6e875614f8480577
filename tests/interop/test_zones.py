"""A table that Java writes in another time zone than UTC, copied without its files' times: only the table tells it."""

import json
import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq

from hudi_engine.table.saved_at import SavedAt, parse_saved_at
from tests.interop.readable import newest_table
from tests.java.jvm import Jvm
from tests.java.live_checks import require_valid, run_engine

_CHICAGO: Final = ZoneInfo("America/Chicago")
_VERSION: Final = "1.2.0"
_OPTIONS: Final = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
_KEEPS_BOTH: Final = {"hoodie.metadata.index.bloom.filter.enable": "true"}


def test_a_copied_table_of_a_jvm_in_chicago_is_validated_and_indexed_in_that_zone(tmp_path: Path) -> None:
    written, table = tmp_path / "written", tmp_path / "table"
    with Jvm(_VERSION, zone=_CHICAGO.key) as java:
        described = newest_table(_VERSION, written, "COPY_ON_WRITE", "id STRING, part STRING, seen BIGINT", _OPTIONS)
        java.commit(table=described, rows=_rows(range(12), seen=1), how="insert")
        java.commit(table=described, rows=_rows([0, 1, 12, 13], seen=2), how="upsert")
        shutil.copytree(written, table, copy_function=shutil.copyfile)

        told = run_engine("inspect", str(table))[1]["timeline_zone_evidence"]
        assert told.startswith("hoodie.properties was last written at -0"), told
        require_valid(table, "record_index")
        _run("index", "build", str(table), "--type", "bloom_filters", "--single-writer")
        _require_nothing_is_ahead(table)
        saved = _saved_at(table)
        assert saved is not None
        assert saved.is_of(_CHICAGO)
        kept = {**described, "folder": str(table), "options": {**_OPTIONS, **_KEEPS_BOTH}}
        java.commit(table=kept, rows=_rows([2, 14], seen=3), how="upsert")
        require_valid(table, "record_index", "bloom_filters")

        for command in ("drop", "build"):
            _run("index", command, str(table), "--type", "record_index", "--single-writer")
        require_valid(table, "record_index", "bloom_filters")
        assert _instants_by_java(java, table) == _instants_of_rows(java, table)


def _rows(numbers: Iterable[int], *, seen: int) -> list[dict[str, Any]]:
    return [{"id": f"z-{number}", "part": f"p{number % 2}", "seen": seen} for number in numbers]


def _run(*words: str) -> None:
    code, report = run_engine(*words)
    assert code == 0, report


def _require_nothing_is_ahead(table: Path) -> None:
    """Instants of ours that were read as UTC would be six hours ahead of Java's next ones."""
    now = f"{datetime.now(_CHICAGO):%Y%m%d%H%M%S}"
    timelines = (table / ".hoodie/timeline", table / ".hoodie/metadata/.hoodie/timeline")
    instants = [file.name[:14] for folder in timelines for file in folder.glob("2*")]
    assert max(instants) <= now


def _saved_at(table: Path) -> SavedAt | None:
    return parse_saved_at((table / ".hoodie/hoodie.properties").read_bytes())


def _instants_by_java(java: Jvm, table: Path) -> dict[str, str]:
    keys, found = table.with_name("keys.json"), table.with_name("found.jsonl")
    keys.write_text(json.dumps([f"z-{number}" for number in range(15)]))
    java.metadata_lookup(table=str(table), keys_file=str(keys), out=str(found))
    located = [json.loads(line) for line in found.read_text().splitlines()]
    return {each["key"]: each["instant"] for each in located}


def _instants_of_rows(java: Jvm, table: Path) -> dict[str, str]:
    """The instant in the name of the base file that Spark reads each row from."""
    out = table.with_name("rows.parquet")
    java.snapshot(table=str(table), out=str(out))
    rows = pq.read_table(out).to_pylist()
    return {row["id"]: row["_hoodie_file_name"].rpartition("_")[2].partition(".")[0] for row in rows}
