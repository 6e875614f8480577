"""The tables of the look-up benchmark: read's copy-on-write table and a record index that Hudi 1.2.0 built on it."""

import json
import os
import shutil
from pathlib import Path

from benchmarks import read
from tools.parts import bundle_jar, cached


def indexed(rows: int) -> Path:
    """The table, made unless it is in the cache: some minutes on both cores."""
    name = f"record_index-{rows}"
    return cached("bench", name, lambda folder: _make(rows, folder / name))


def _make(rows: int, table: Path) -> None:
    plain, _ = read.made({"do": "make_copy_on_write", "rows": rows})
    # Nothing writes to a data file again, so both tables have the same ones.
    shutil.copytree(plain, table, copy_function=os.link, ignore=shutil.ignore_patterns(".hoodie"))
    shutil.copytree(plain / ".hoodie", table / ".hoodie")
    job = {"do": "add_record_index", "folder": str(table)}
    read.run("benchmarks.lookup_peer", str(bundle_jar("1.2.0")), json.dumps(job))
