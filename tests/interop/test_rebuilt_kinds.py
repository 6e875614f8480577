"""Indexes of files that Java made, dropped and built by the engine: Java reads the same entries, field by field."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop.readable import newest_table
from tests.java.jvm import Jvm
from tests.java.live_checks import entries_by_java, require_valid, run_engine
from tests.kit.soak import and_in_soak

_COW, _MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_INDEXES: Final = ("bloom_filters", "column_stats")
_OF_PARTITIONS: Final = ("partition_stats",)
_SCHEMA: Final = """
    id STRING, part STRING, seen BIGINT, flag BOOLEAN, small INT, near FLOAT, far DOUBLE, name STRING, day DATE,
    at TIMESTAMP, price DECIMAL(12,3), worth DECIMAL(24,10), never STRING
"""
_OPTIONS: Final = {
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "false",
    "hoodie.parquet.small.file.limit": "0",
}
_GONE: Final = dict.fromkeys(("flag", "small", "near", "far", "name", "day", "at", "price", "worth"))
_FEW: Final = [("0.15.0", _COW), ("1.2.0", _MOR)]
_REST: Final = [("0.15.0", _MOR), ("1.0.2", _COW), ("1.1.1", _MOR), ("1.2.0", _COW)]


@pytest.mark.parametrize(("version", "table_type"), and_in_soak(_FEW, _REST))
def test_java_reads_of_our_indexes_what_it_read_of_its_own(
    version: str, table_type: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    java, folder = jvm(version), tmp_path / "table"
    table = newest_table(version, folder, table_type, _SCHEMA, _OPTIONS)
    java.commit(table=table, rows=_rows(range(12), seen=1), how="insert")
    java.commit(table=table, rows=_rows([0, 1, 12, 13], seen=2, name="Łódź 😀", far=-1e300), how="upsert")
    java.commit(table=table, rows=_rows([2, 5], seen=3), how="delete")
    java.commit(table=table, rows=_rows([3, 4, 20], seen=4, **_GONE), how="upsert")
    own = entries_by_java(java, folder, tmp_path / "own", _INDEXES)

    # Release 1.2.0 keeps those of partitions with those of columns, whatever their own setting; they go first.
    has_more = (folder / ".hoodie/metadata/partition_stats").exists()
    for command, names in (("drop", (*_INDEXES, *_OF_PARTITIONS) if has_more else _INDEXES), ("build", _INDEXES)):
        kinds = [word for name in names for word in ("--type", name)]
        code, report = run_engine("index", command, str(folder), *kinds, "--single-writer")
        assert code == 0, report

    require_valid(folder, *_INDEXES)
    ours = entries_by_java(java, folder, tmp_path / "ours", _INDEXES)
    assert all(own.values())
    assert ours == own


def _rows(numbers: Iterable[int], *, seen: int, **changed: object) -> list[dict[str, Any]]:
    return [
        {
            "id": f"m-{number}",
            "part": f"p{number % 2}",
            "seen": seen * 2**40 + number,
            "flag": number % 3 == 0,
            "small": number - 5,
            "near": (0.5, -0.25, 3.5)[number % 3],
            "far": number / -3,
            "name": ("", "北京", "😀", "ascii")[number % 4],
            "day": f"{1960 + number}-02-28",
            "at": f"{1965 + number}-12-31T23:59:59.123456Z",
            "price": f"{number - 3}.125",
            # Release 0.15.0 stops at a decimal of more than 15 digits on either side.
            "worth": f"{number - 6}2345678901.0123456789",
            "never": None,
            **changed,
        }
        for number in numbers
    ]
