"""Bloom filters, column statistics and a secondary index built by Hudi 1.2.0 and by us, and the floor of each.

    python -m benchmarks.indexes [--rows N] [--files N...] [--heap SIZE] [--commits N] [--index NAME]

The rows are in as many files as a writer makes of them and, for indexes that have entries of files, in 2,000. Prints
work, seconds, processor seconds, peak memory of all processes, bytes and ratios, all measured in this run, and writes
benchmarks/out/indexes.json. A goal that is missed is said to be; entries that are not equal are a failure: those of
bloom filters and statistics are compared one by one, those of the secondary index key by key in each shard. The tables
are copy-on-write, with the indexes `files` and `record_index`; Spark makes them once, and they are kept in the user's
cache folder.

The start of Python, Spark and the JVM is not counted, and the second build of a process counts, with everything loaded
and compiled. Memory is what the processes of a side have at most together at one moment, session start included: of
Java the JVM alone. The floor of bloom filters and statistics is the reading of all footers, that of the secondary index
reads, joins, hashes, sorts and packs all keys.

At last, what it takes a build to catch up with a commit whose writer has left the index out.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from benchmarks.goals import MOST_OF_JAVAS_BYTES, MOST_OF_JAVAS_MEMORY, Goal, at_least, at_most, finish
from benchmarks.indexes_equal import compare
from benchmarks.processes import Measured, run_watched
from benchmarks.record_index import copy_of
from tools.parts import bundle_jar, cached

OUT = Path(__file__).parent / "out" / "indexes.json"
ROWS, HEAP, COMMITS = 1_000_000, "2g", 40
FILES = (64, 2_000)
BUILDS = 2  # of a process: the last one counts
COLUMN = "text_0"
# Goals: how many times as fast as Hudi, and how soon a commit that left an index out is caught up with.
_TIMES_AS_FAST, _TIMES_AS_FAST_OF_FILES = {f"secondary_index_{COLUMN}": 8}, 5
_CATCH_UP_MS = 1000
Found = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Work:
    """The index to build, and Java's job for it."""

    index: str
    columns: tuple[str, ...]
    job: Found


WORKS = (
    *(Work(index, (), {"do": "build_of_files", "index": index}) for index in ("bloom_filters", "column_stats")),
    Work(f"secondary_index_{COLUMN}", (COLUMN,), {"do": "build_secondary", "name": COLUMN, "column": COLUMN}),
)
SIDES = {"java": "Hudi 1.2.0", "local": "ours, two threads", "floor": "floor"}


def main() -> None:
    asked = argparse.ArgumentParser(description="see the module's text")
    asked.add_argument("--rows", type=int, default=ROWS)
    asked.add_argument("--files", type=int, nargs="+", default=FILES, help="how many a table has, at the least")
    asked.add_argument("--heap", default=HEAP, help="of Hudi's JVM")
    asked.add_argument("--commits", type=int, default=COMMITS, help="how many are caught up with")
    asked.add_argument("--index", choices=[work.index for work in WORKS], help="this one only")
    options = asked.parse_args()
    OUT.parent.mkdir(exist_ok=True)
    works = [work for work in WORKS if options.index in {None, work.index}]
    # An index of values is as large whatever the files are.
    of_files = [work for work in works if not work.columns]
    first, *others = (indexed(options.rows, files) for files in options.files)
    document = {
        "heap": options.heap,
        "tables": [
            measure_table(first, options.rows, works, options.heap),
            *(measure_table(table, options.rows, of_files, options.heap) for table in others),
        ],
        "catch_up": run_watched("benchmarks.catch_up", str(options.commits)).answers[0],
    }
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    show(document)
    print(f"written to {OUT.relative_to(Path.cwd())}")
    finish(
        goals(document),
        {f"{name} in {table['data_files']} files": found["equal"] for table, name, found in _built(document)},
    )


def _built(document: Found) -> Iterator[tuple[Found, str, Found]]:
    """Every index with its table and its name."""
    for table in document["tables"]:
        for name, found in table["indexes"].items():
            yield table, name, found


def goals(document: Found) -> Iterator[Goal]:
    for table, name, found in _built(document):
        where = f"{name}, {table['data_files']} files"
        wanted = _TIMES_AS_FAST.get(name, _TIMES_AS_FAST_OF_FILES)
        yield at_least(f"{where}: as fast as Hudi 1.2.0", found["times_as_fast_as_java"]["local"], wanted)
        yield at_most(f"{where}: memory of Java's", found["memory_of_javas"], MOST_OF_JAVAS_MEMORY)
        yield at_most(f"{where}: bytes of Java's", found["bytes_of_javas"], MOST_OF_JAVAS_BYTES)
    for index, late in document["catch_up"].items():
        yield at_most(f"{index}: catch-up of 10,000 rows, p95", late["p95_ms"], _CATCH_UP_MS, "ms")


def measure_table(table: Path, rows: int, works: Sequence[Work], heap: str) -> Found:
    return {
        "rows": rows,
        "data_files": len(list(table.rglob("*.parquet"))),
        "indexes": {work.index: measure(work, table, heap) for work in works},
    }


def measure(work: Work, table: Path, heap: str) -> Found:
    """All sides of one index, each in a process of its own."""
    with tempfile.TemporaryDirectory(dir=table.parent) as scratch:
        built = {side: [Path(scratch, f"{side}-{number}") for number in range(BUILDS)] for side in SIDES}
        sides = {side: build(side, work, copies(table, tables), heap) for side, tables in built.items()}
        equal = compare(work.index, built["local"][-1], built["java"][-1])
    java = sides["java"]
    return {
        **equal,
        "sides": sides,
        "times_as_fast_as_java": _ratios(java, sides, "seconds"),
        "times_as_fast_as_java_in_processor_seconds": _ratios(java, sides, "cpu_seconds"),
        "bytes_of_javas": round(sides["local"]["bytes"] / java["bytes"], 3),
        "memory_of_javas": round(sides["local"]["peak_bytes"] / java["peak_bytes"], 3),
    }


def copies(table: Path, names: Sequence[Path]) -> Sequence[Path]:
    for name in names:
        copy_of(table, name)
    return names


def build(side: str, work: Work, tables: Sequence[Path], heap: str) -> Found:
    """What the last of some builds took."""
    measured = _java(work, tables, heap) if side == "java" else _ours(side, work, tables)
    size_bytes = sum(file.stat().st_size for file in (tables[-1] / ".hoodie/metadata" / work.index).glob("*.hfile"))
    found = {"bytes": size_bytes, **measured.answers[-1], "peak_bytes": measured.peak_bytes}
    return {**found, "first_seconds": measured.answers[0]["seconds"]}


def _java(work: Work, tables: Sequence[Path], heap: str) -> Measured:
    jobs = [json.dumps({**work.job, "folder": str(table)}) for table in tables]
    return run_watched("benchmarks.indexes_peer", heap, str(bundle_jar("1.2.0")), *jobs, whole=False)


def _ours(side: str, work: Work, tables: Sequence[Path]) -> Measured:
    jobs = [json.dumps({"folder": str(table), "index": work.index, "columns": work.columns}) for table in tables]
    return run_watched("benchmarks.indexes_builder", side, *jobs)


def indexed(rows: int, files: int) -> Path:
    """The table, made unless it is in the cache: some minutes on both cores."""
    name = f"indexed-{rows}-{files}"

    def make(folder: Path) -> None:
        job = {"do": "make_with_record_index", "folder": str(folder / name), "rows": rows, "files": files}
        run_watched("benchmarks.indexes_peer", "4g", str(bundle_jar("1.2.0")), json.dumps(job))

    return cached("bench", name, make)


def _ratios(java: Found, sides: dict[str, Found], what: str) -> dict[str, float]:
    return {side: round(java[what] / max(found[what], 0.01), 1) for side, found in sides.items() if side != "java"}


def show(document: Found) -> None:
    for table in document["tables"]:
        show_table(table)
    for index, late in document["catch_up"].items():
        took = ", ".join(f"{name} {late[f'{name}_ms']} ms ({late[f'{name}_cpu_ms']} ms CPU)" for name in ("p50", "p95"))
        held = ", ".join(f"{name} {late['held_ms'][name]}" for name in ("p50", "p99", "max"))
        print(f"{index}: catch-up of a commit of {late['keys']:,} keys, {late['commits']} of them: {took}")
        print(f"{index}: the lock was held in each, ms: {held}")


def show_table(table: Found) -> None:
    grid = Grid(title=f"{table['rows']:,} rows in {table['data_files']} files", title_justify="left")
    for column in ("", "seconds", "first", "CPU s", "peak MiB", "MB", "Java / this", "in CPU s"):
        grid.add_column(column, justify="right" if column else "left")
    for index, found in table["indexes"].items():
        but = ", ".join(f"{what} in {count}" for what, count in found["differ_in"].items())
        same = f"{'equal' if found['equal'] else 'NOT equal'}{f' but for {but}' if but else ''}"
        grid.add_row(f"[b]{index}[/b], {found['entries']:,} entries, {same}")
        for side, name in SIDES.items():
            grid.add_row(f"  {name}", *_row(found, side))
    Console(width=140).print(grid)


def _row(found: Found, side: str) -> Iterator[str]:
    one = found["sides"][side]
    yield from (f"{one[name]:.2f}" for name in ("seconds", "first_seconds", "cpu_seconds"))
    yield f"{one['peak_bytes'] / 2**20:.0f}"
    yield f"{one['bytes'] / 1e6:.1f}"
    yield str(found["times_as_fast_as_java"].get(side, ""))
    yield str(found["times_as_fast_as_java_in_processor_seconds"].get(side, ""))


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    main()
