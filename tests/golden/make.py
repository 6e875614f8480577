"""Makes golden tables anew with the real Hudi releases, or only says anew what their indexes hold.

python -m tests.golden.make [NAME...]
python -m tests.golden.make indexes [NAME...]
"""

import gzip
import json
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.golden.lab import Recipe
from tests.golden.names import largest_bytes
from tests.golden.recipes import RECIPES
from tests.golden.unpack import unpack
from tests.java.jvm import Jvm

HERE = Path(__file__).parent
_MOST_ENTRIES_AS_JSON = 10_000
_SAME_TIME = (2024, 1, 1, 0, 0, 0)


def make(recipe: Recipe, jvms: dict[str, Jvm]) -> None:
    """Plays the recipe in a fresh folder and leaves the zip with what Spark and Java see in it beside it."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, recipe.name)
        as_of = [
            instant
            for stage, hudi in enumerate(recipe.writers)
            for instant in jvms[hudi].run(recipe=recipe.name, stage=stage, folder=str(table))
        ]
        made = Path(folder, "made")
        made.mkdir()
        _zip(table, made / "table.zip")
        _write_expectations(jvms[recipe.writers[-1]], recipe, table, made, as_of)
        _write_indexes(jvms[recipe.writers[-1]], table, made)
        shutil.rmtree(HERE / recipe.name, ignore_errors=True)
        shutil.move(made, HERE / recipe.name)


def _write_expectations(jvm: Jvm, recipe: Recipe, table: Path, made: Path, as_of: Sequence[str]) -> None:
    rows = jvm.snapshot(table=str(table), out=str(made / "expected.parquet"))
    for instant in as_of:
        out = made / f"expected_{instant}.parquet"
        jvm.snapshot(table=str(table), out=str(out), options={"as.of.instant": instant})
    _write_json(made / "files.json", jvm.file_view(table=str(table)))
    instants = {
        "active": jvm.timeline(table=str(table)),
        "archived": jvm.timeline(table=str(table), archived=True),
    }
    if recipe.table_version == 6:
        # Layout 1 has no completion time but the modification time of a file, which no zip keeps.
        for instant in (*instants["active"], *instants["archived"]):
            instant["completed"] = None
    _write_json(made / "timeline.json", instants)
    features = [sentence for stage in recipe.stages for sentence in (stage.__doc__ or "").splitlines()[:1]]
    described = {**asdict(recipe), "stages": [stage.__name__ for stage in recipe.stages], "features": features}
    described |= {"rows": rows, "as_of": list(as_of)}
    _write_json(made / "recipe.json", described)


def make_indexes(recipe: Recipe, jvms: dict[str, Jvm]) -> None:
    """What the last writer's release finds in the indexes of the table that is there."""
    with tempfile.TemporaryDirectory() as folder:
        _write_indexes(jvms[recipe.writers[-1]], unpack(recipe.name, Path(folder)), HERE / recipe.name)


def _write_indexes(jvm: Jvm, table: Path, made: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        counts = jvm.metadata_entries(table=str(table), out=folder)
        found = {name: [json.loads(line) for line in _lines(Path(folder, f"{name}.jsonl"))] for name in counts}
    many = {name for name, entries in found.items() if len(entries) > _MOST_ENTRIES_AS_JSON}
    for name in many:
        pq.write_table(pa.Table.from_pylist(found[name]), made / f"index_{name}.parquet", compression="zstd")
    few = {name: entries for name, entries in found.items() if name not in many}
    text = json.dumps(few, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    (made / "indexes.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def _zip(table: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for file in sorted(file for file in table.rglob("*") if file.is_file() and not file.name.endswith(".crc")):
            packed.writestr(_entry(file.relative_to(table).as_posix()), file.read_bytes())
    if path.stat().st_size > largest_bytes(table.name):
        raise ValueError(f"{path} has {path.stat().st_size} bytes; it may have {largest_bytes(table.name)}")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _SAME_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def main(arguments: Sequence[str]) -> None:
    match arguments:
        case ["indexes", *names]:
            _for_each(names, make_indexes)
        case names:
            _for_each(names, make)


def _for_each(names: Sequence[str], do: Callable[[Recipe, dict[str, Jvm]], None]) -> None:
    """One release after the other, so that no more than two JVMs live at once (an upgraded table needs two)."""
    wanted = [RECIPES[name] for name in names or RECIPES]
    for writers in sorted({recipe.writers for recipe in wanted}):
        jvms = {hudi: Jvm(hudi) for hudi in writers}
        try:
            for recipe in (each for each in wanted if each.writers == writers):
                started = time.monotonic()
                do(recipe, jvms)
                size = (HERE / recipe.name / "table.zip").stat().st_size
                print(f"{recipe.name} seconds={time.monotonic() - started:.1f} zip_bytes={size}", flush=True)
        finally:
            for jvm in jvms.values():
                jvm.close()


if __name__ == "__main__":
    main(sys.argv[1:])
