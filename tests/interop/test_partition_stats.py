"""`partition_stats` that we built is kept by Java, and is never flagged where Java's writers would fail for it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from hudi_engine.format import properties
from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import JavaError, Jvm
from tests.java.live_checks import require_rows, run_engine
from tests.java.live_writers import LiveTable

_LOCK: Final = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}
_OFF: Final = {"hoodie.metadata.index.column.stats.enable": "false"}
_ON: Final = {
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
}
_KINDS: Final = ("column_stats", "partition_stats")
_ALONE: Final = ("--conf", "hudi.engine.single.writer=true")


class Scene:
    """A table that a release writes to, and the partition of each of its keys."""

    def __init__(self, jvm: Jvm, folder: Path, table_type: str) -> None:
        self.jvm = jvm
        self.table = LiveTable(folder, TABLE_VERSIONS[jvm.version][-1], table_type, _LOCK)
        self.book: dict[str, str] = {}
        self.seen = 0

    def write(self, numbers: range, options: Mapping[str, str]) -> None:
        self.seen += 1
        book = {f"k{n}": f"p{n % 2}" for n in numbers}
        rows: list[dict[str, Any]] = [{"id": key, "part": part, "seen": self.seen} for key, part in book.items()]
        self.jvm.commit(table=self.table.described(options), rows=rows, how="upsert")
        self.book |= book

    def build(self) -> int:
        asked = [word for kind in _KINDS for word in ("--type", kind)]
        return run_engine("index", "build", str(self.table.folder), *asked, *_ALONE)[0]

    def require_valid(self) -> None:
        asked = [word for kind in _KINDS for word in ("--index", kind)]
        code, document = run_engine("validate", str(self.table.folder), *asked)
        assert (code, document["ok"]) == (0, True), document
        assert [check["index"] for check in document["checks"]] == [*_KINDS]
        assert all(check["looked_at"] for check in document["checks"])

    def flag(self, complete: str, in_flight: str) -> None:
        path = self.table.folder / ".hoodie/hoodie.properties"
        lines = properties.parse(path.read_bytes())
        lines |= {"hoodie.table.metadata.partitions": complete, "hoodie.table.metadata.partitions.inflight": in_flight}
        path.write_bytes(properties.render(lines))


@pytest.mark.parametrize(("version", "table_type"), [("1.2.0", "MERGE_ON_READ"), ("1.0.2", "COPY_ON_WRITE")])
def test_what_we_built_is_kept_by_java_commit_after_commit(
    jvm: Callable[[str], Jvm], version: str, table_type: str, tmp_path: Path
) -> None:
    here = Scene(jvm(version), tmp_path / "table", table_type)
    here.write(range(40), _OFF)
    here.write(range(10, 30), _OFF)

    assert here.build() == 0
    here.require_valid()
    for first in range(0, 50, 10):
        here.write(range(first, first + 15), _ON)

    here.require_valid()
    require_rows(here.jvm, here.table.folder, here.book)


@pytest.mark.parametrize("version", ["1.0.2", "1.2.0"])
def test_a_java_writer_fails_where_it_is_flagged_and_column_stats_is_not_complete(
    jvm: Callable[[str], Jvm], version: str, tmp_path: Path
) -> None:
    here = Scene(jvm(version), tmp_path / "table", "COPY_ON_WRITE")
    here.write(range(10), _OFF)
    assert here.build() == 0

    here.flag("files", "column_stats,partition_stats")

    with pytest.raises(JavaError, match="Column stats partition must be enabled to generate partition stats"):
        here.write(range(5), {**_ON, "hoodie.metadata.index.async": "true"})
