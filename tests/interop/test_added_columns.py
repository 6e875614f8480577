"""Columns added by the engine to statistics that Java made and keeps: Java reads of them what it would of its own."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop.readable import newest_table
from tests.java.jvm import Jvm
from tests.java.live_checks import READING_ALL, SKIPPING, entries_by_java, require_valid, run_engine
from tests.kit.soak import and_in_soak

_COW, _MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_LIST: Final = "hoodie.metadata.index.column.stats.column.list"
_OPTIONS: Final = {
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
_SCHEMA: Final = "id STRING, part STRING, seen BIGINT, name STRING, price DECIMAL(12,3)"
_ADDED: Final = ("--column", "name", "--column", "price")
_FEW: Final = [("1.0.2", _MOR), ("1.2.0", _COW)]
_REST: Final = [("1.0.2", _COW), ("1.1.1", _COW), ("1.1.1", _MOR), ("1.2.0", _MOR)]


@pytest.mark.parametrize(("version", "table_type"), and_in_soak(_FEW, _REST))
def test_java_finds_by_an_added_column_what_it_finds_without_an_index(
    version: str, table_type: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    java, folder = jvm(version), tmp_path / "table"
    table = newest_table(version, folder, table_type, _SCHEMA, {**_OPTIONS, _LIST: "seen"})
    for number in range(4):
        java.commit(table=table, rows=_rows(range(4 * number, 4 * number + 4)), how="insert")
    java.commit(table=table, rows=_rows([1, 6], price="-7.500"), how="upsert")
    java.commit(table=table, rows=_rows([2]), how="delete")
    # From here on the writer names the columns, and has entries of what it writes: older files lack them.
    wide = {**table, "options": {**_OPTIONS, _LIST: "seen,name,price"}}
    java.commit(table=wide, rows=_rows([3, 40], name="later"), how="upsert")
    if (folder / ".hoodie/metadata/partition_stats").exists():  # 1.2.0 keeps it whatever its setting is
        _engine("drop", folder, "--type", "partition_stats")
    before = _files(folder)

    report = _engine("build", folder, "--type", "column_stats", *_ADDED)

    assert report["outcome"] == "ready", report
    assert not [name for name in _files(folder) - before if name.endswith(".hfile")], "made anew"
    require_valid(folder, "column_stats")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    _engine("drop", copy, "--type", "column_stats")
    _engine("build", copy, "--type", "column_stats", "--column", "seen", *_ADDED)
    added, anew = (
        entries_by_java(java, each, tmp_path / f"{each.name}_entries", ["column_stats"]) for each in (folder, copy)
    )
    assert added == anew
    _require_found(java, str(folder))
    java.commit(table=wide, rows=_rows([4, 5, 41], name="latest", price="99.000"), how="upsert")
    require_valid(folder, "column_stats")
    _require_found(java, str(folder))


def _require_found(java: Jvm, table: str) -> None:
    predicates = [
        "price < 0",
        "name = 'name-9'",
        "price > 3 and seen < 12",
        "name in ('later', 'name-1')",
        "name > 'z'",
    ]
    by_all, by_few = (
        java.rows_where(table=table, predicates=predicates, options=options) for options in (READING_ALL, SKIPPING)
    )
    assert [one["keys"] for one in by_few] == [one["keys"] for one in by_all]
    assert by_all[0]["keys"]
    assert by_few[1]["files"] < by_all[1]["files"], "no file was left out"


def _engine(verb: str, table: Path, *words: str) -> Mapping[str, Any]:
    code, report = run_engine("index", verb, str(table), *words, "--single-writer")
    assert code == 0, report
    return report


def _files(table: Path) -> set[str]:
    return {file.name for file in (table / ".hoodie/metadata/column_stats").iterdir()}


def _rows(numbers: Iterable[int], **changed: object) -> list[dict[str, Any]]:
    return [
        {
            "id": f"m-{number}",
            "part": f"p{number % 2}",
            "seen": number,
            "name": f"name-{number}",
            "price": f"{number - 3}.125",
            **changed,
        }
        for number in numbers
    ]
