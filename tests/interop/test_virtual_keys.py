"""Copy-on-write tables without meta fields: their rows as Spark has them, their statistics as Java makes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import SystemClock
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import open_table
from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import Jvm
from tests.java.live_checks import entries_by_java, require_skipped_right, require_valid, run_engine
from tests.java.live_writers import LiveTable
from tests.kit.compare import require_equal

COW: Final = "COPY_ON_WRITE"
_OPTIONS: Final = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.populate.meta.fields": "false",
    "hoodie.index.type": "SIMPLE",
}
_STATISTICS: Final = {
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
}
KINDS: Final = {"0.15.0": ["column_stats"], "1.2.0": ["column_stats", "partition_stats"]}


@pytest.mark.parametrize("hudi", KINDS)
def test_rows_and_statistics_are_those_of_java(hudi: str, jvm: Callable[[str], Jvm], tmp_path: Path) -> None:
    java, kinds = jvm(hudi), KINDS[hudi]
    table = LiveTable(tmp_path / "table", TABLE_VERSIONS[hudi][-1], COW, _OPTIONS)
    for how, keys, seen in (("bulk_insert", range(16), 0), ("upsert", range(12, 20), 100)):
        java.commit(table=table.described(_STATISTICS), rows=_rows(keys, seen), how=how)
    made_by_java = entries_by_java(java, table.folder, tmp_path / "java", kinds)
    words = [word for kind in kinds for word in ("--type", kind)]
    assert run_engine("index", "drop", str(table.folder), *words, "--single-writer")[0] == 0
    code, built = run_engine("index", "build", str(table.folder), *words, "--single-writer")

    assert code == 0, built
    require_valid(table.folder, "files", *kinds)
    assert entries_by_java(java, table.folder, tmp_path / "ours", kinds) == made_by_java
    require_skipped_right(java, str(table.folder), require_same_rows(java, table, tmp_path))


def require_same_rows(java: Jvm, table: LiveTable, scratch: Path) -> list[dict[str, Any]]:
    """Ours are Spark's; the answer is what Spark reads."""
    out = str(scratch / "rows.parquet")
    java.snapshot(table=table.place, out=out)
    expected = pq.read_table(out)
    opened = open_table(open_storage(table.place, {}), SystemClock(), {})
    reader = opened.rows(opened.snapshot())
    require_equal(_whole(reader), expected, ("id",))
    rows: list[dict[str, Any]] = expected.to_pylist()
    return rows


def _whole(reader: Any) -> Any:
    pieces = list(reader.tables())
    return reader.schema.empty_table() if not pieces else pa.concat_tables(pieces)


def _rows(keys: range, seen: int) -> list[dict[str, Any]]:
    return [{"id": f"a{key:02}", "part": ("north", "south")[key % 2], "seen": seen + key} for key in keys]
