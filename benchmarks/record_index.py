"""A record index built by Hudi 1.2.0's own indexer, by ours through Spark and by threads, and the floor of one.

    python -m benchmarks.record_index [--rows N] [--rounds N] [--heaps]

Prints work, seconds, processor seconds, peak memory of all processes, bytes and ratios, all measured in this run,
indexes compared key by key, and writes benchmarks/out/record_index.json; a goal that is missed is said to be, and
indexes that are not equal are a failure. Tables are made by Spark once and kept in the
user's cache folder.

The start of Python, Spark and the JVM is not counted. Of Java and of Spark the second build of a session counts, with
everything loaded and compiled. Memory is what the processes of a side have at most together at one moment, session
start included: of Java the JVM alone, of ours all. Of the lock every hold of every build counts.

A JVM takes what it is given, so that each side's is the smallest with which it takes at most a tenth longer than with
any. They are tried once, or again with `--heaps`, and kept in benchmarks/out/record_index_heaps.json.
"""

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table as Grid

from benchmarks.goals import MOST_OF_JAVAS_BYTES, MOST_OF_JAVAS_MEMORY, Goal, at_least, at_most, finish
from benchmarks.holds import quantiles_of
from benchmarks.processes import Measured, run_watched
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of
from tools.parts import bundle_jar, cached

OUT = Path(__file__).parent / "out" / "record_index.json"
HEAPS = OUT.with_name("record_index_heaps.json")
ROWS = 5_000_000
FLATNESS_ROWS = (1_000_000, 10_000_000)
ROUNDS = 2
BUILDS = 2  # of a process: the last one counts
TRIED: Mapping[str, Sequence[str]] = {
    "java": ("1g", "1536m", "2g", "3g", "4g", "6g"),
    "spark": ("512m", "768m", "1g", "2g"),
}
ROOMY = {"java": "6g", "spark": "2g"}
SIDES = ("java", "spark", "local", "floor")
WITHIN = 1.1
TIMES_AS_FAST, FLATNESS = {"spark": 8, "local": 15}, 1.15  # goals
_FOLDER = ".hoodie/metadata/record_index"
Found = dict[str, Any]


def main() -> None:
    asked = argparse.ArgumentParser(description="see the module's text")
    asked.add_argument("--heaps", action="store_true")
    asked.add_argument("--rows", type=int, default=ROWS)
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    options = asked.parse_args()
    OUT.parent.mkdir(exist_ok=True)
    if options.heaps:
        HEAPS.unlink(missing_ok=True)
    document = measure(options.rows, options.rounds)
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    show(document)
    print(f"written to {OUT.relative_to(Path.cwd())}")
    finish(goals(document), document["equal"])


def goals(document: Found) -> Iterator[Goal]:
    for side, wanted in TIMES_AS_FAST.items():
        yield at_least(f"{NAMES[side]}: as fast as Hudi 1.2.0", document["times_as_fast_as_java"][side], wanted)
        yield at_most(f"{NAMES[side]}: memory of Java's", document["share_of_javas_memory"][side], MOST_OF_JAVAS_MEMORY)
        yield at_most(f"{NAMES[side]}: bytes of Java's", document["share_of_javas_bytes"][side], MOST_OF_JAVAS_BYTES)
        yield at_most(f"{NAMES[side]}: memory of ten times the keys", document["flatness"][side]["ratio"], FLATNESS)


def measure(rows: int, rounds: int) -> Found:
    """All sides in turns, so that noise hits all alike; the best round of each counts."""
    heaps = smallest_heaps(rows)
    best: dict[str, Found] = {}
    holds: dict[str, list[int]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=unindexed(rows).parent) as scratch:
            tables = {}
            for side in SIDES:
                found, tables[side] = build(side, rows, heaps.get(side, ""), Path(scratch))
                holds.setdefault(side, []).extend(found.pop("holds_ms"))
                if side not in best or found["seconds"] < best[side]["seconds"]:
                    best[side] = found
            equal = {side: is_equal(tables[side], tables["java"]) for side in ("spark", "local")}
    return {
        "work": {"keys": rows, "data_files": len(list(unindexed(rows).rglob("*.parquet")))},
        "equal": equal,
        "heaps": heaps,
        "sides": best,
        "times_as_fast_as_java": {
            side: round(best["java"]["seconds"] / best[side]["seconds"], 1) for side in SIDES if side != "java"
        },
        "ratio_to_floor": {side: round(best[side]["seconds"] / best["floor"]["seconds"], 2) for side in SIDES},
        "share_of_javas_memory": _shares(best, "peak_bytes"),
        "share_of_javas_bytes": _shares(best, "bytes"),
        "lock_holds_ms": {side: quantiles_of(each) for side, each in holds.items() if each},
        "flatness": flatness(heaps),
    }


def flatness(heaps: Mapping[str, str]) -> dict[str, Found]:
    """Peak memory of our builds of a table and of one with ten times as many keys."""
    found: dict[str, Found] = {}
    for side in ("spark", "local"):
        peaks = {}
        for rows in FLATNESS_ROWS:
            with tempfile.TemporaryDirectory(dir=unindexed(rows).parent) as scratch:
                peaks[rows] = build(side, rows, heaps.get(side, ""), Path(scratch))[0]["peak_bytes"]
        few, many = FLATNESS_ROWS
        found[side] = {"peak_bytes": peaks, "ratio": round(peaks[many] / peaks[few], 3)}
    return found


def smallest_heaps(rows: int) -> dict[str, str]:
    """By side the heap it gets for so many keys, as was found when they were tried."""
    known: Found = json.loads(HEAPS.read_text()) if HEAPS.exists() else {}
    if known.get("keys") != rows:
        known = try_heaps(rows)
        HEAPS.write_text(json.dumps(known, indent=2) + "\n")
    return {str(side): str(heap) for side, heap in known["smallest"].items()}


def try_heaps(rows: int) -> Found:
    """Seconds and memory with each heap, and the smallest that is nearly as fast as the best."""
    tried: dict[str, dict[str, Found]] = {}
    for side, heaps in TRIED.items():
        tried[side] = {}
        for heap in heaps:
            with tempfile.TemporaryDirectory(dir=unindexed(rows).parent) as scratch:
                try:
                    tried[side][heap], _ = build(side, rows, heap, Path(scratch))
                except RuntimeError as failed:
                    tried[side][heap] = {"failed": str(failed)[-300:]}
            print(f"{side} with {heap}: {tried[side][heap]}")
    return {"keys": rows, "smallest": {side: _smallest(found) for side, found in tried.items()}, "tried": tried}


def _smallest(tried: Mapping[str, Found]) -> str:
    seconds = {heap: found["seconds"] for heap, found in tried.items() if "seconds" in found}
    best = min(seconds.values())
    return next(heap for heap, took in seconds.items() if took <= WITHIN * best)


def build(side: str, rows: int, heap: str, scratch: Path) -> tuple[Found, Path]:
    """What the last of some builds took, in a process of their own, and the table that has it."""
    tables = [scratch / f"{side}-{number}" for number in range(BUILDS)]
    for table in tables:
        copy_of(unindexed(rows), table)
    measured = _java(heap, tables) if side == "java" else _ours(side, heap, tables)
    size_bytes = sum(file.stat().st_size for file in (tables[-1] / _FOLDER).glob("*.hfile"))
    found = {"bytes": size_bytes, **measured.answers[-1], "peak_bytes": measured.peak_bytes, "heap": heap}
    holds_ms = [held for answer in measured.answers for held in answer.get("holds_ms", ())]
    return {**found, "first_seconds": measured.answers[0]["seconds"], "holds_ms": holds_ms}, tables[-1]


def _java(heap: str, tables: Sequence[Path]) -> Measured:
    jobs = [json.dumps({"do": "build", "folder": str(table)}) for table in tables]
    return run_watched("benchmarks.record_index_peer", heap, str(bundle_jar("1.2.0")), *jobs, whole=False)


def _ours(side: str, heap: str, tables: Sequence[Path]) -> Measured:
    jobs = [json.dumps({"folder": str(table)}) for table in tables]
    return run_watched("benchmarks.record_index_builder", side, heap, *jobs)


def unindexed(rows: int) -> Path:
    """The table, with `files` for its only index, made unless it is in the cache: some minutes on both cores."""
    name = f"unindexed-{rows}"

    def make(folder: Path) -> None:
        job = {"do": "make_unindexed", "folder": str(folder / name), "rows": rows}
        run_watched("benchmarks.record_index_peer", ROOMY["java"], str(bundle_jar("1.2.0")), json.dumps(job))

    return cached("bench", name, make)


def copy_of(table: Path, copy: Path) -> None:
    """Data files are linked, since nothing writes to one again."""
    shutil.copytree(table, copy, copy_function=os.link, ignore=shutil.ignore_patterns(".hoodie"))
    shutil.copytree(table / ".hoodie", copy / ".hoodie")


def is_equal(ours: Path, java: Path) -> bool:
    """Whether both indexes have the same keys in the same shards, each at the same partition, file id and instant."""
    shards = [sorted((table / _FOLDER).glob("*.hfile"), key=_shard) for table in (ours, java)]
    names = [[_shard(file) for file in files] for files in shards]
    return names[0] == names[1] and all(
        _locations(mine).equals(_locations(other)) for mine, other in zip(*shards, strict=True)
    )


def _shard(file: Path) -> str:
    return file.name.partition("_")[0]


def _locations(file: Path) -> pa.Table:
    hfile = read_hfile(file.read_bytes())
    rows = family_of(IndexKind.RECORD_INDEX).decode(hfile.entries, hfile.info["schema"].decode())
    return rows.select(["key", "partition", "file_id", "instant_ms"]).combine_chunks()


def _shares(best: Mapping[str, Found], what: str) -> dict[str, float]:
    return {side: round(best[side][what] / best["java"][what], 3) for side in SIDES if side != "java"}


NAMES = {
    "java": "Hudi 1.2.0's indexer",
    "spark": "ours through Spark",
    "local": "ours by two threads",
    "floor": "floor, two threads",
}


def show(document: Found) -> None:
    work = document["work"]
    title = f"record index of {work['keys']:,} keys in {work['data_files']} files (equal: {document['equal']})"
    grid = Grid(title=title, title_justify="left")
    columns = ("", "seconds", "first", "CPU s", "peak MiB", "heap", "MB", "Java / this", "this / floor")
    for column in columns:
        grid.add_column(column, justify="right" if column else "left")
    for side in SIDES:
        grid.add_row(NAMES[side], *_row(document, side))
    Console(width=120).print(grid)
    for side, held in document["lock_holds_ms"].items():
        told = ", ".join(f"{name} {held[name]}" for name in ("p50", "p99", "max"))
        print(f"lock held, ms, {NAMES[side]}: {told} of {held['count']} holds in all builds")
    for side, found in document["flatness"].items():
        peaks = ", ".join(f"{rows:,} keys {peak / 2**20:.0f} MiB" for rows, peak in found["peak_bytes"].items())
        print(f"peak memory, {NAMES[side]}: {peaks}, ratio {found['ratio']}")


def _row(document: Found, side: str) -> Iterator[str]:
    one = document["sides"][side]
    yield from (f"{one[name]:.1f}" for name in ("seconds", "first_seconds", "cpu_seconds"))
    yield f"{one['peak_bytes'] / 2**20:.0f}"
    yield one["heap"]
    yield f"{one['bytes'] / 1e6:.1f}"
    yield str(document["times_as_fast_as_java"].get(side, ""))
    yield str(document["ratio_to_floor"][side])


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    main()
