"""Reading a table beside Spark with Hudi 1.2.0, hudi-rs and the floor; HFiles beside gzip of the same bytes.

    python -m benchmarks.read

Prints work, seconds, processor seconds, peak memory and ratio of each, all measured in this run, results checked
equal, and writes benchmarks/out/read.json. Tables are made by Spark once and kept in the user's cache folder.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
from rich.console import Console
from rich.table import Table as Grid

from benchmarks import hfile
from hudi_engine.clock import SystemClock
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import open_table
from tools.parts import bundle_jar, cache_folder

OUT = Path(__file__).parent / "out" / "read.json"
ROUNDS = 3
WORKS: Mapping[str, dict[str, Any]] = {
    "5 million rows, copy-on-write": {"do": "make_copy_on_write", "rows": 5_000_000},
    "1 million rows + 200,000 logged updates, merge-on-read": {
        "do": "make_merge_on_read",
        "rows": 1_000_000,
        "updates": 200_000,
    },
}
Measured = dict[str, Any]


def main() -> None:
    results = [measure(name, job) for name, job in WORKS.items()]
    document: Measured = {"read": results, "hfile": hfile.run()}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    for result in results:
        show(result)
    show_hfile(document["hfile"])
    print(f"written to {OUT.relative_to(Path.cwd())}")


def measure(name: str, job: dict[str, Any]) -> Measured:
    """All readers of one table, one after the other, each in a process of its own, in rounds: noise hits all alike."""
    table, expected = made(job)
    found: dict[str, Measured] = {}
    for _ in range(ROUNDS):
        for reader in ("ours", "hudi-rs", "floor"):
            one = run("benchmarks.reader", reader, str(table), "1")[0]
            best = found.setdefault(reader, one)
            if one["seconds"] < best["seconds"]:
                found[reader] = one
    java = spark({"do": "read", "folder": str(table), "repeat": ROUNDS + 1})[0]
    for when in ("first", "warm"):  # ours are first reads of a process, too
        found[f"Spark with Hudi 1.2.0, {when}"] = {**java, "seconds": java[f"{when}_seconds"]}
    assert {one["rows"] for key, one in found.items() if key != "floor"} == {job["rows"]}, found
    return {"work": name, "equal": is_equal(table, expected), "readers": found}


def made(job: dict[str, Any]) -> tuple[Path, Path]:
    """The table and the rows that Spark sees in it, made unless they are in the cache."""
    folder = cache_folder() / "bench" / "-".join(str(value) for value in job.values())
    if not (folder / "done").exists():
        print(f"making {folder.name}: some minutes …", file=sys.stderr)
        table, expected = str(folder / "table"), str(folder / "expected")
        spark(job | {"folder": table}, {"do": "expect", "folder": table, "out": expected})
        (folder / "done").touch()
    return folder / "table", folder / "expected"


def spark(*jobs: dict[str, Any]) -> list[Measured]:
    return run("benchmarks.peer", str(bundle_jar("1.2.0")), *map(json.dumps, jobs))


def run(module: str, *arguments: str) -> list[Measured]:
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} failed: {err[-2000:]}")
    return [json.loads(line) for line in out.splitlines()]


def is_equal(table: Path, expected: Path) -> bool:
    """Every row and column, both sides in key order."""
    opened = open_table(open_storage(str(table), {}), SystemClock(), {})
    ours = pa.concat_tables(opened.rows(opened.snapshot()).tables())
    theirs = pyarrow.dataset.dataset(expected, format="parquet").to_table()
    mine, other = (rows.take(pc.sort_indices(rows["_hoodie_record_key"])) for rows in (ours, theirs))
    for name in ours.column_names:
        assert mine[name].equals(other[name].cast(mine[name].type)), f"{table}: column {name} differs"
    return bool(ours.column_names == theirs.column_names)


def show(result: Measured) -> None:
    ours = result["readers"]["ours"]["seconds"]
    grid = Grid(title=f"{result['work']} (results equal: {result['equal']})", title_justify="left")
    for column in ("reader", "seconds", "processor s", "peak MiB", "its time / ours"):
        grid.add_column(column, justify="left" if column == "reader" else "right")
    for name, one in result["readers"].items():
        cpu = "" if one.get("cpu_seconds") is None else f"{one['cpu_seconds']:.2f}"
        ratio = f"{one['seconds'] / ours:.2f}"
        grid.add_row(name, f"{one['seconds']:.2f}", cpu, f"{one['peak_bytes'] / 2**20:.0f}", ratio)
    Console().print(grid)


def show_hfile(result: Measured) -> None:
    grid = Grid(title=f"HFile: {result['work']} (results equal: {result['results_equal']})", title_justify="left")
    columns = ("our_seconds", "floor_seconds", "gzip_seconds", "ratio_to_floor", "ratio_to_gzip", "entries_per_second")
    for column in ("", *columns):
        grid.add_column(column.replace("_", " "), justify="right")
    for side in ("write", "scan"):
        grid.add_row(side, *(f"{result[side][column]:,}" for column in columns))
    Console().print(grid)


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    main()
