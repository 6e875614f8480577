"""The golden tables are all there, are small, and say where they come from."""

import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.golden.expected_indexes import expected_indexes
from tests.golden.names import EXPECTED_NAMES, largest_bytes
from tests.golden.recipes import RECIPES

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted(path.parent for path in GOLDEN.glob("*/table.zip"))
each_table = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def test_no_golden_table_went_missing() -> None:
    assert {folder.name for folder in FOLDERS} == EXPECTED_NAMES == set(RECIPES)


def test_every_release_and_every_table_version_and_type_wrote_one() -> None:
    written = {(writer, recipe.table_version) for recipe in RECIPES.values() for writer in recipe.writers}

    assert {writer for writer, _ in written} == {"0.15.0", "1.0.2", "1.1.1", "1.2.0"}
    assert {("1.2.0", version) for version in (6, 8, 9)} <= written
    assert {(recipe.table_version, recipe.table_type) for recipe in RECIPES.values()} == {
        (version, kind) for version in (6, 8, 9) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    }


@each_table
def test_a_golden_table_stays_small(folder: Path) -> None:
    assert (folder / "table.zip").stat().st_size < largest_bytes(folder.name) <= 3_000_000


@each_table
def test_a_golden_table_is_what_its_recipe_says(folder: Path) -> None:
    recipe = json.loads((folder / "recipe.json").read_text())

    with zipfile.ZipFile(folder / "table.zip") as packed:
        properties = packed.read(".hoodie/hoodie.properties").decode("latin-1").splitlines()

    assert f"hoodie.table.version={recipe['table_version']}" in properties
    assert f"hoodie.table.type={recipe['table_type']}" in properties
    assert recipe["writers"] == list(RECIPES[folder.name].writers)


@each_table
def test_expected_rows_are_there_for_now_and_for_every_instant_travelled_to(folder: Path) -> None:
    recipe = json.loads((folder / "recipe.json").read_text())

    names = {path.name for path in folder.glob("expected*.parquet")}

    assert names == {"expected.parquet", *(f"expected_{instant}.parquet" for instant in recipe["as_of"])}
    assert pq.read_metadata(folder / "expected.parquet").num_rows == recipe["rows"] > 0


@each_table
def test_what_java_found_is_there_for_every_index_that_is_ready(folder: Path) -> None:
    with zipfile.ZipFile(folder / "table.zip") as packed:
        properties = packed.read(".hoodie/hoodie.properties").decode("latin-1").splitlines()
    (ready,) = (line for line in properties if line.startswith("hoodie.table.metadata.partitions="))

    found = expected_indexes(folder.name)

    assert set(found) == set(ready.partition("=")[2].split(","))
    for name, entries in found.items():
        keys = [entry["key"].encode() for entry in entries]
        assert keys, name
        assert keys == sorted(keys), name


def test_one_record_index_has_many_entries() -> None:
    assert len(expected_indexes("v9_mor_record_index_large")["record_index"]) >= 200_000
