"""Record keys that several rows have: what Hudi does with them, and that ours is the index that its writers keep."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import JavaError, Jvm
from tests.java.live_checks import entries_by_java, require_pairs, run_engine
from tests.java.live_writers import LiveTable

INDEX: Final = "record_index"
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_ALONE: Final = "--single-writer"
_KEPT: Final = {"hoodie.metadata.record.index.enable": "true"}
_LOCK: Final = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}
# The second has a row of k0 in another file group of the same partition and one of k1 in another partition; the last
# has one of k0 in a third.
COMMITS: Final = (
    [("k0", "south"), ("k1", "south"), ("k2", "south")],
    [("k0", "south"), ("k1", "north"), ("k3", "north")],
    [("k4", "south"), ("k0", "east")],
)


class Duplicated:
    """A table whose writer inserts rows of keys that are there."""

    def __init__(self, jvm: Jvm, folder: Path, table_type: str, options: dict[str, str]) -> None:
        self.jvm, self.options = jvm, options
        self.table = LiveTable(folder, TABLE_VERSIONS[jvm.version][-1], table_type, _LOCK)
        for pairs in COMMITS:
            self.write(pairs, "bulk_insert")

    def write(self, pairs: list[tuple[str, str]], how: str, **more: str) -> None:
        rows = [{"id": key, "part": part, "seen": number} for number, (key, part) in enumerate(pairs)]
        self.jvm.commit(table=self.table.described({**self.options, **more}), rows=rows, how=how)

    def entries(self) -> list[dict[str, Any]]:
        """What Java reads of the record index."""
        folder = self.table.folder
        return entries_by_java(self.jvm, folder, folder.with_name("entries"), [INDEX])[INDEX]

    def build(self, *words: str) -> tuple[int, dict[str, Any]]:
        return run_engine("index", "build", str(self.table.folder), "--type", INDEX, _ALONE, *words)


@pytest.mark.parametrize(("hudi", "table_type"), [("0.15.0", COW), ("1.2.0", MOR)])
def test_the_newest_rows_are_those_in_the_index_that_a_writer_of_hudi_keeps(
    hudi: str, table_type: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    here = Duplicated(jvm(hudi), tmp_path / "table", table_type, _KEPT)
    kept = here.entries()
    assert run_engine("index", "drop", str(here.table.folder), "--type", INDEX, _ALONE)[0] == 0

    refused, report = here.build()
    code, built = here.build("--duplicates", "newest")

    require_pairs(here.jvm, here.table.folder, [pair for pairs in COMMITS for pair in pairs])
    assert (refused, code) == (20, 0)
    assert "2 record keys have several rows, 3 rows too many: 'k0' in " in report["reason"]
    assert built["kinds"][0]["duplicates"] == 2
    assert [_place(entry) for entry in here.entries()] == [_place(entry) for entry in kept]
    assert {entry["key"]: entry["partition"] for entry in kept} | {"k0": "east", "k1": "north"} == {
        entry["key"]: entry["partition"] for entry in kept
    }
    code, validated = run_engine("validate", str(here.table.folder), "--index", INDEX)
    assert (code, validated["checks"][0]["duplicates"]) == (0, 2), validated


@pytest.mark.parametrize(("hudi", "table_type"), [("0.15.0", MOR), ("1.2.0", COW)])
def test_hudi_s_own_builder_refuses_several_rows_of_a_key(
    hudi: str, table_type: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    here = Duplicated(jvm(hudi), tmp_path / "table", table_type, {})

    with pytest.raises(JavaError, match=r"Duplicate recordKey k[01] found while writing to HFile"):
        here.write([("k9", "south")], "upsert", **_KEPT)


def test_an_index_in_which_hudi_has_an_entry_for_each_row_of_a_key_is_valid_and_any_of_these_is_found(
    jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    here = Duplicated(jvm("1.2.0"), tmp_path / "table", COW, {})
    folder = here.table.folder
    here.jvm.index_by_java(table=here.table.described({"hoodie.hfile.writes.allow.duplicates": "true"}))

    code, validated = run_engine("validate", str(folder), "--index", INDEX)
    _, found = run_engine("lookup", str(folder), "--key", "k0")

    places = {entry["file_id"] for entry in here.entries() if entry["key"] == "k0"}
    assert len(places) == 3
    assert (code, validated["ok"]) == (0, True), validated
    assert found["file_id"] in places


def _place(entry: dict[str, Any]) -> tuple[str, ...]:
    return entry["key"], entry["partition"], entry["file_id"], entry["instant"]
