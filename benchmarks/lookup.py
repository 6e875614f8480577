"""Looking keys up in a record index that Hudi 1.2.0 built, beside its own reader and the floor; validating the index.

    python -m benchmarks.lookup

Prints work, seconds, processor seconds, peak memory and ratio of each, all measured in this run, answers compared key
by key, and writes benchmarks/out/lookup.json. Tables are made by Spark once and kept in the user's cache folder.

Both sides are asked in a process that is up: no start of Python, Spark or the JVM is counted. "first" is the first
look-up of so many keys in that process (of 100,000 the very first of all), "cold" a later one of a table opened anew,
"warm" one more of the same table. Java's reader is asked in the driver, not through Spark, which is the faster way.
"""

import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table as Grid

from benchmarks.indexed import indexed
from benchmarks.read import run
from tools.parts import bundle_jar

OUT = Path(__file__).parent / "out" / "lookup.json"
ROWS = 5_000_000
FEWER_ROWS = 1_000_000
KEYS = (100_000, 1_000, 1)
ABSENT = 10  # one in so many keys is of no row
ROUNDS = 3
REPEAT = 4
SMALL_CACHE = 32 << 20
DEFAULT_CACHE = 256 << 20
WHENS = ("first", "cold", "warm")
Measured = dict[str, Any]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        document: Measured = {
            "index": described(),
            "lookups": measure(scratch),
            "peak_memory": peaks(scratch),
            "validate": validate(indexed(ROWS), ROWS),
        }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    show(document)
    print(f"written to {OUT.relative_to(Path.cwd())}")


def described() -> Measured:
    files = list((indexed(ROWS) / ".hoodie/metadata/record_index").glob("record-index-*.hfile"))
    return {"keys": ROWS, "shards": len(files), "bytes": sum(file.stat().st_size for file in files)}


def measure(scratch: str) -> list[Measured]:
    """Each side in a process of its own, in turns, so that noise hits all alike. The best of each counts."""
    table = str(indexed(ROWS))
    files = {count: write_keys(scratch, ROWS, count) for count in KEYS}
    found: dict[int, dict[str, list[Measured]]] = {count: {"ours": [], "java": [], "floor": []} for count in KEYS}
    for _ in range(ROUNDS):
        asked = [{"folder": table, "keys": file, "repeat": REPEAT} for file in files.values()]
        answers = {
            "ours": run("benchmarks.lookup_reader", *(json.dumps({"do": "locate"} | job) for job in asked)),
            "floor": run("benchmarks.lookup_reader", *(json.dumps({"do": "floor"} | job) for job in asked)),
            "java": run(
                "benchmarks.lookup_peer",
                str(bundle_jar("1.2.0")),
                *(json.dumps({"do": "locate"} | job) for job in asked),
            ),
        }
        for side, measured in answers.items():
            for count, one in zip(KEYS, measured, strict=True):
                found[count][side].append(one)
    return [summary(count, files[count], found[count]) for count in KEYS]


def summary(count: int, keys: str, found: Mapping[str, Sequence[Measured]]) -> Measured:
    ours, java = ({when: best(found[side], when) for when in WHENS} for side in ("ours", "java"))
    floor_seconds, floor_cpu_seconds = min(tuple(pair) for one in found["floor"] for pair in one["seconds"])
    return {
        "keys": count,
        "equal": is_equal(keys),
        "found": found["java"][0]["found"],
        "ours": ours | {"peak_bytes": max(one["peak_bytes"] for one in found["ours"])},
        "java": java | {"peak_bytes": max(one["peak_bytes"] for one in found["java"])},
        "floor": {"seconds": floor_seconds, "cpu_seconds": floor_cpu_seconds}
        | {name: found["floor"][0][name] for name in ("blocks", "bytes")},
        "times_as_fast_as_java": {when: round(java[when]["seconds"] / ours[when]["seconds"], 1) for when in WHENS},
        "ratio_to_floor": {when: round(ours[when]["seconds"] / floor_seconds, 2) for when in WHENS},
    }


def best(rounds: Sequence[Measured], when: str) -> Measured:
    """The fastest of all rounds. A round's first look-up is apart, as nothing is loaded or compiled before it."""
    pick = {"first": lambda one: one["cold"][:1], "cold": lambda one: one["cold"][1:], "warm": lambda one: one["warm"]}
    seconds, cpu_seconds = min(tuple(pair) for one in rounds for pair in pick[when](one))
    return {"seconds": seconds, "cpu_seconds": cpu_seconds}


def is_equal(keys: str) -> bool:
    """Whether both sides found the same keys, each at the same partition, file id and instant."""
    names = ["key", "partition", "file_id", "instant"]
    ours, java = (pq.read_table(f"{keys}.{side}.parquet") for side in ("ours", "java"))
    kind = pa.schema([(name, pa.string()) for name in names])
    tables = [rows.select(names).cast(kind).sort_by("key") for rows in (ours.filter(ours["found"]), java.select(names))]
    asked = Path(keys).read_text().splitlines()
    return bool(tables[0].equals(tables[1]) and ours["key"].to_pylist() == asked)


def peaks(scratch: str) -> list[Measured]:
    """The most memory of a process that looks 100,000 keys up once, in the index and in one a fifth of its size."""
    found = []
    for cache_bytes in (DEFAULT_CACHE, SMALL_CACHE):
        most = {}
        for rows in (FEWER_ROWS, ROWS):
            job = {"folder": str(indexed(rows)), "keys": write_keys(scratch, rows, KEYS[0])}
            asked = json.dumps({"do": "peak", "cache_bytes": cache_bytes} | job)
            most[rows] = min(run("benchmarks.lookup_reader", asked)[0]["peak_bytes"] for _ in range(ROUNDS))
        ratio = round(most[ROWS] / most[FEWER_ROWS], 3)
        found.append({"cache_bytes": cache_bytes, "peak_bytes": most, "ratio": ratio})
    return found


def validate(table: Path, rows: int) -> Measured:
    """How long the command takes, its start included, to compare the record index with all data files."""
    command = [str(Path(sys.executable).with_name("hudi-engine")), "validate", str(table), "--index", "record_index"]
    before, started = children_cpu_seconds(), time.perf_counter()
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    seconds, cpu_seconds = time.perf_counter() - started, children_cpu_seconds() - before
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"{' '.join(command)} failed with {done.returncode}: {done.stderr[-2000:]}")
    document = json.loads(done.stdout)
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "keys_per_second": round(rows / seconds),
        "ok": document["ok"],
        "discrepancies": len(document["discrepancies"]),
    }


def children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_keys(scratch: str, rows: int, count: int) -> str:
    """A file of keys by chance, most of which the table has."""
    chance = random.Random(count)
    absent = count // ABSENT
    numbers = [*chance.sample(range(rows), count - absent), *chance.sample(range(rows, 2 * rows), absent)]
    chance.shuffle(numbers)
    file = Path(scratch, f"keys-{rows}-{count}")
    file.write_text("".join(f"{key_of(number)}\n" for number in numbers))
    return str(file)


def key_of(number: int) -> str:
    """The key that `peer.made_rows` gives to the row of that number."""
    digest = hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-4000-8000-{digest[12:24]}"


def show(document: Measured) -> None:
    index = document["index"]
    title = f"look-up in a record index of {index['keys']:,} keys, {index['shards']} shards, {index['bytes']:,} bytes"
    grid = Grid(title=title, title_justify="left")
    columns = (
        "keys",
        "equal",
        "when",
        "ours s",
        "Java s",
        "floor s",
        "Java / ours",
        "ours / floor",
        "ours CPU s",
        "Java CPU s",
    )
    for column in columns:
        grid.add_column(column, justify="right")
    for one in document["lookups"]:
        for when in WHENS:
            ours, java = one["ours"][when], one["java"][when]
            grid.add_row(
                f"{one['keys']:,}",
                str(one["equal"]),
                when,
                *(f"{seconds:.4f}" for seconds in (ours["seconds"], java["seconds"], one["floor"]["seconds"])),
                f"{one['times_as_fast_as_java'][when]:.1f}",
                f"{one['ratio_to_floor'][when]:.2f}",
                f"{ours['cpu_seconds']:.3f}",
                f"{java['cpu_seconds']:.2f}",
            )
    Console(width=120).print(grid)
    show_memory(document["peak_memory"])
    java_peak = document["lookups"][0]["java"]["peak_bytes"]
    print(f"the JVM that did the same, with leave to take 6 GiB: {java_peak / 2**20:.0f} MiB")
    checked = document["validate"]
    print(
        f"validate --index record_index: {checked['seconds']:.1f} s ({checked['cpu_seconds']:.1f} of the processor), "
        f"{checked['keys_per_second']:,} keys/s, "
        f"ok: {checked['ok']}, discrepancies: {checked['discrepancies']}"
    )


def show_memory(peaks_found: Sequence[Measured]) -> None:
    grid = Grid(title=f"peak memory of a look-up of {KEYS[0]:,} keys, MiB", title_justify="left")
    for column in ("cache MiB", f"{FEWER_ROWS:,} keys", f"{ROWS:,} keys", "ratio"):
        grid.add_column(column, justify="right")
    for one in peaks_found:
        most = (f"{one['peak_bytes'][rows] / 2**20:.0f}" for rows in (FEWER_ROWS, ROWS))
        grid.add_row(f"{one['cache_bytes'] >> 20}", *most, f"{one['ratio']:.3f}")
    Console(width=120).print(grid)


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    main()
