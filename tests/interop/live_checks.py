"""Whether a record index is right: by the engine's `validate`, by Java's look-up, by what the writers' book says."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.interop.jvm import Jvm


def run_engine(*arguments: str, seconds: float = 300) -> tuple[int, dict[str, Any]]:
    """`hudi-engine` in a process of its own: how it ended and the document it printed."""
    command = [sys.executable, "-m", "hudi_engine.cli.main", *arguments, "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    try:
        document: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1] if "build" in arguments else ended.stdout)
    except (ValueError, IndexError):
        raise AssertionError(f"{command} ended with {ended.returncode}: {ended.stdout}{ended.stderr}") from None
    return ended.returncode, document


def require_valid(table: Path) -> None:
    """`validate` compares the whole index with the data, and finds nothing."""
    code, document = run_engine("validate", str(table), "--index", "record_index")
    assert code == 0, document
    assert document["ok"], document
    assert [check["index"] for check in document["checks"]] == ["record_index"], document


def require_rows(jvm: Jvm, table: Path, truth: Mapping[str, str]) -> list[dict[str, Any]]:
    """Spark reads each key that must exist once, in its partition, and no other; the answer is what it reads."""
    return require_pairs(jvm, table, truth.items())


def require_pairs(jvm: Jvm, table: Path, truth: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """The same where a key may be in several partitions."""
    out = table.with_name("rows.parquet")
    jvm.snapshot(table=str(table), out=str(out))
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    found, expected = Counter((row["id"], row["part"]) for row in rows), Counter(truth)
    assert found == expected, f"too many: {found - expected}, too few: {expected - found}"
    return rows


def require_found_by_java(
    jvm: Jvm, table: Path, rows: Sequence[Mapping[str, Any]], partition: str | None = None
) -> None:
    """Java's own look-up finds each of the rows in the file group that Spark read it from, and no key beside them.

    An index by partition is asked for the rows of one.
    """
    keys, out = table.with_name("keys.json"), table.with_name("found.jsonl")
    keys.write_text(json.dumps([*(row["id"] for row in rows), "a-99999", "none"]))
    jvm.metadata_lookup(table=str(table), keys_file=str(keys), out=str(out), partition=partition)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert _places(found, "key", "partition", "file_id") == _places(
        rows, "id", "_hoodie_partition_path", "_hoodie_file_name"
    )


def base_files(table: Path) -> set[str]:
    """Of the record index."""
    return {file.name for file in (table / ".hoodie/metadata/record_index").glob("*.hfile")}


def require_not_rebuilt(table: Path, before: set[str]) -> None:
    """The index has the shards that it had, and all its base files since were made by compaction."""
    files = base_files(table)
    assert {name.partition("_")[0] for name in files} == {name.partition("_")[0] for name in before}
    timelines = (table / ".hoodie/metadata/.hoodie", table / ".hoodie/metadata/.hoodie/timeline")
    compacted = {file.name.partition(".")[0].partition("_")[0] for each in timelines for file in each.glob("*.commit")}
    made = {name.removesuffix(".hfile").rpartition("_")[2] for name in files - before}
    assert made <= compacted, f"built anew by {made - compacted}"


def _places(rows: Sequence[Mapping[str, Any]], *names: str) -> list[tuple[str, ...]]:
    """A record's file name begins with its file group's, and is no more than that in a log."""
    key, partition, file = names
    return sorted((row[key], row[partition], row[file].partition("_")[0]) for row in rows)
