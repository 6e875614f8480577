"""Whether indexes are right: by the engine's `validate`, by Java's look-up, by what the writers' book says."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from hudi_engine.clock import SystemClock
from hudi_engine.format.instant_names import Action
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.table import open_table
from tests.java.jvm import Jvm
from tests.java.live_writers import SEVERAL_WRITERS, LiveTable

READING_ALL: Final = {"hoodie.enable.data.skipping": "false"}
SKIPPING: Final = {
    "hoodie.metadata.enable": "true",
    "hoodie.enable.data.skipping": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
# Commits of two JVMs on a machine with other work may take longer than the minute that is usual.
_PATIENT: Final = {"hoodie.metadata.index.check.timeout.seconds": "180"}


def run_engine(*arguments: str, seconds: float = 300) -> tuple[int, dict[str, Any]]:
    """`hudi-engine` in a process of its own: how it ended and the document it printed."""
    command = [sys.executable, "-m", "hudi_engine.cli.main", *arguments, "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    try:
        document: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1] if "build" in arguments else ended.stdout)
    except (ValueError, IndexError):
        raise AssertionError(f"{command} ended with {ended.returncode}: {ended.stdout}{ended.stderr}") from None
    return ended.returncode, document


def require_valid(table: Path | LiveTable, *indexes: str) -> None:
    """`validate` compares the whole of these indexes, else of the record index, with the data, and finds nothing."""
    wanted = indexes or ("record_index",)
    asked = [word for name in wanted for word in ("--index", name)]
    where = (table.place, *_properties(table)) if isinstance(table, LiveTable) else (str(table),)
    code, document = run_engine("validate", *where, *asked)
    assert code == 0, document
    assert document["ok"], document
    assert {check["index"]: check["status"] for check in document["checks"]} == dict.fromkeys(wanted, "ok"), document


def properties_of(table: LiveTable) -> dict[str, str]:
    """What the engine is told: what its writers have, and what reaches its store."""
    return {**SEVERAL_WRITERS, **table.options, **table.store, **_PATIENT}


def _properties(table: LiveTable) -> tuple[str, str]:
    file = table.folder.with_name("writers.properties")
    file.write_text("".join(f"{name}={value}\n" for name, value in properties_of(table).items()))
    return "--props", str(file)


def require_rows(jvm: Jvm, table: Path | LiveTable, truth: Mapping[str, str]) -> list[dict[str, Any]]:
    """Spark reads each key that must exist once, in its partition, and no other; the answer is what it reads."""
    return require_pairs(jvm, table, truth.items())


def require_pairs(jvm: Jvm, table: Path | LiveTable, truth: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """The same where a key may be in several partitions."""
    folder, place = (table.folder, table.place) if isinstance(table, LiveTable) else (table, str(table))
    out = folder.with_name("rows.parquet")
    jvm.snapshot(table=place, out=str(out))
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


def require_skipped_right(jvm: Jvm, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Java finds the same rows by predicates, in all files and in those that the indexes leave; these are fewer."""
    questions = _questions(rows)
    expected = [sorted(row["id"] for row in rows if is_so(row)) for is_so in questions.values()]
    by_all, by_few = (
        jvm.rows_where(table=place, predicates=[*questions], options=options) for options in (READING_ALL, SKIPPING)
    )
    assert [one["keys"] for one in by_all] == expected
    assert [one["keys"] for one in by_few] == expected
    # Release 0.15.0 reads merge-on-read by a plan that tells of no files.
    if jvm.version != "0.15.0" or by_all[0]["files"]:
        assert by_few[0]["files"] < by_all[0]["files"], "no file was left out"


def require_found_by_value(jvm: Jvm, place: str, index: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Java's look-up in the secondary index of `seen` finds the keys of each value, and none of one that is nowhere."""
    keys: dict[str, list[str]] = {"-1": []}
    for row in rows:
        keys.setdefault(str(row["seen"]), []).append(row["id"])
    found = jvm.secondary_lookup(table=place, index=index, values=[*keys])
    assert dict(found) == {value: sorted(some) for value, some in keys.items()}


def _questions(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Callable[[Mapping[str, Any]], bool]]:
    """Predicates, and what they mean; the first is about one row."""
    one, other = rows[len(rows) // 3], rows[-1]
    few = {one["seen"], other["seen"]}
    return {
        f"seen = {one['seen']}": lambda row: row["seen"] == one["seen"],
        f"seen in ({one['seen']}, {other['seen']})": lambda row: row["seen"] in few,
        "seen = -1": lambda _: False,
        f"seen > {one['seen']} and part = 'north'": lambda row: row["seen"] > one["seen"] and row["part"] == "north",
        f"id = '{one['id']}'": lambda row: row["id"] == one["id"],
        "id < 'b'": lambda row: row["id"] < "b",
    }


def base_files(table: Path) -> set[str]:
    """Of the record index."""
    return {file.name for file in (table / ".hoodie/metadata/record_index").glob("*.hfile")}


def require_not_rebuilt(table: Path, before: set[str]) -> None:
    """The index has the shards that it had, and all its base files since were made by compaction."""
    files = base_files(table)
    assert {name.partition("_")[0] for name in files} == {name.partition("_")[0] for name in before}
    metadata = open_table(LocalStorage(str(table / ".hoodie/metadata")), SystemClock(), {})
    instants = (*metadata.history(), *metadata.timeline().completed())  # in this order none is missed
    compacted = {instant.requested_at for instant in instants if instant.action is Action.COMMIT}
    made = {name.removesuffix(".hfile").rpartition("_")[2] for name in files - before}
    assert made <= compacted, f"built anew by {made - compacted}"


def _places(rows: Sequence[Mapping[str, Any]], *names: str) -> list[tuple[str, ...]]:
    """A record's file name begins with its file group's, and is no more than that in a log."""
    key, partition, file = names
    return sorted((row[key], row[partition], row[file].partition("_")[0]) for row in rows)


def entries_by_java(jvm: Jvm, table: Path, out: Path, indexes: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """What Java reads of each of these indexes, by key; `out` is a folder for it."""
    jvm.metadata_entries(table=str(table), out=str(out))
    return {name: _by_key((out / f"{name}.jsonl").read_text().split("\n")) for name in indexes}


def _by_key(lines: Iterable[str]) -> list[dict[str, Any]]:
    return sorted((json.loads(line) for line in lines if line), key=lambda each: str(each["key"]))
