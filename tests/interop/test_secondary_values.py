"""Secondary indexes of every type of value: those that Java made and ours in their place, entry by entry."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop.readable import newest_table
from tests.java.jvm import Jvm
from tests.java.live_checks import entries_by_java, require_valid, run_engine
from tests.kit.soak import and_in_soak

_COW, _MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_SCHEMA: Final = """
    id STRING, part STRING, seen BIGINT,
    small INT, wide BIGINT, near FLOAT, far DOUBLE, name STRING, day DATE, at TIMESTAMP
"""
_COLUMNS: Final = ("small", "wide", "near", "far", "name", "day", "at")
_OPTIONS: Final = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    # Streaming, release 1.2.0 keeps only the first of several secondary indexes up to date where there are logs.
    "hoodie.metadata.streaming.write.enabled": "false",
    "hoodie.embed.timeline.server": "true",
    "hoodie.parquet.small.file.limit": "0",
}
_NEAR: Final = (0.1, -2.5, 1e10, 1.17e-38, 16777216.0, 0.001, 9999999.0, "NaN")
_FAR: Final = (0.1, -1e-300, 1e21, 1234567.0, "Infinity", 0.0009765625, 9007199254740993.0, "NaN")
# In the gate a release has an index of each other column.
_FEW: Final = [("1.0.2", _COW, _COLUMNS[::2]), ("1.2.0", _MOR, _COLUMNS[1::2])]
_REST: Final = [(release, kind, _COLUMNS) for release in ("1.0.2", "1.1.1", "1.2.0") for kind in (_COW, _MOR)]


@pytest.mark.parametrize(("version", "table_type", "columns"), and_in_soak(_FEW, _REST))
def test_java_reads_of_our_index_of_values_what_it_read_of_its_own(
    version: str, table_type: str, columns: Sequence[str], jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    java, folder = jvm(version), tmp_path / "table"
    table = newest_table(version, folder, table_type, _SCHEMA, _OPTIONS)
    # A null stops the secondary index of release 1.0.2.
    nulls = {} if version == "1.0.2" else dict.fromkeys(columns)
    java.commit(table=table, rows=_rows(range(16), seen=0), how="insert")
    for number, column in enumerate(columns):
        java.create_index(table=table, name=f"by_{column}", column=column)
        # Between two new indexes there must be a write: the second would wipe out the first.
        java.commit(table=table, rows=_rows([number, 20 + number], seen=number + 1), how="upsert")
    java.commit(table=table, rows=_rows([3, 4, 40], seen=40, **nulls), how="upsert")
    java.commit(table=table, rows=_rows([5, 6], seen=41), how="delete")
    names = [f"secondary_index_by_{column}" for column in columns]
    own = entries_by_java(java, folder, tmp_path / "own", names)

    # All in one plan, in the place of Java's.
    kinds = [word for name in names for word in ("--type", name)]
    asked = [word for column in columns for word in ("--column", f"secondary_index_by_{column}={column}")]
    for command in (("drop", str(folder), *kinds), ("build", str(folder), *kinds, *asked)):
        code, report = run_engine("index", *command, "--single-writer")
        assert code == 0, report

    require_valid(folder, *names)
    ours = entries_by_java(java, folder, tmp_path / "ours", names)
    for name in names:
        assert own[name]
        assert ours[name] == own[name], name


def _rows(numbers: Iterable[int], *, seen: int, **changed: object) -> list[dict[str, Any]]:
    return [
        {
            "id": f"m${number}",
            "part": f"p{number % 2}",
            "seen": seen,
            "small": number * 7 - 50,
            "wide": (number - 8) * 10**15,
            "near": _NEAR[(number + seen) % 8],
            "far": _FAR[(number + seen) % 8],
            "name": ("", "北京", "😀$", "a\\b")[(number + seen) % 4],
            "day": f"{1960 + number}-02-28",
            "at": f"{1962 + number}-12-31T23:59:59.123456Z",
            **changed,
        }
        for number in numbers
    ]
