"""File ids that are no UUIDs, as of files that another system wrote: Java finds every key by our index all the same."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from tests.java.jvm import Jvm
from tests.java.live_checks import require_rows, require_valid, run_engine
from tests.java.live_writers import BY_RECORD_INDEX
from tests.kit.soak import and_in_soak

_WITHOUT: Final = {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0"}
_WITH: Final = {
    **BY_RECORD_INDEX,
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.async": "true",
}


@pytest.mark.parametrize("version", and_in_soak(["0.15.0"], ["1.0.2", "1.2.0"]))
def test_keys_in_files_with_names_of_their_own_are_found_and_updated_in_place(
    version: str, jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    java, folder = jvm(version), tmp_path / "table"
    # Version 6, since its commits are texts in which files can be given other names.
    table = {"folder": str(folder), "table_version": 6, "table_type": "COPY_ON_WRITE"}
    truth: dict[str, str] = {}
    for number in range(3):
        new = {f"k-{key}": f"p{key % 2}" for key in range(8 * number, 8 * number + 8)}
        rows = [{"id": key, "part": part, "seen": 1} for key, part in new.items()]
        java.commit(table={**table, "options": _WITHOUT}, rows=rows, how="insert")
        truth |= new
    _name_files(folder)
    # With the properties, the first commit makes the metadata table of what is there by now.
    java.commit(table={**table, "options": {**_WITHOUT, "hoodie.metadata.enable": "true"}}, rows=rows, how="upsert")

    code, report = run_engine("index", "build", str(folder), "--type", "record_index", "--single-writer")

    assert code == 0, report
    require_valid(folder, "files", "record_index")
    assert _found(java, folder, truth) == _places(folder)
    moved = [{"id": key, "part": part, "seen": 2} for key, part in truth.items()]
    java.commit(table={**table, "options": {**_WITHOUT, **_WITH}}, rows=moved, how="upsert")
    assert {row["seen"] for row in require_rows(java, folder, truth)} == {2}
    require_valid(folder, "files", "record_index")
    assert _found(java, folder, truth) == _places(folder)


def _name_files(table: Path) -> None:
    """Each file group gets a name in the place of its UUID, on disk and in the commits."""
    names: dict[str, str] = {}
    for file in sorted(table.glob("*/*.parquet")):
        file_id = file.name.split("_")[0]
        names.setdefault(file_id, f"imported-file-{len(names)}")
        file.rename(file.with_name(file.name.replace(file_id, names[file_id])))
    for file in list(table.rglob(".*.crc")):
        file.unlink()
    for commit in table.glob(".hoodie/*.commit"):
        text = commit.read_text()
        for file_id, name in names.items():
            text = text.replace(file_id, name)
        commit.write_text(text)


def _places(table: Path) -> dict[str, tuple[str, str]]:
    """Partition and file id of each key, by the newest file of each file group."""
    newest = {}
    for file in sorted(table.glob("*/*.parquet"), key=lambda file: file.stem.split("_")[-1]):
        newest[file.parent.name, file.name.split("_")[0]] = file
    assert any(file_id.startswith("imported-file-") for _, file_id in newest)
    return {
        key: place
        for place, file in newest.items()
        for key in pq.read_table(file, columns=["id"], partitioning=None)["id"].to_pylist()
    }


def _found(java: Jvm, table: Path, truth: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    keys, out = table.with_name("keys.json"), table.with_name("found.jsonl")
    keys.write_text(json.dumps(sorted(truth)))
    java.metadata_lookup(table=str(table), keys_file=str(keys), out=str(out), partition=None)
    found = map(json.loads, out.read_text().splitlines())
    return {each["key"]: (each["partition"], each["file_id"]) for each in found}
