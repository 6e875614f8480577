"""A record index that we build of a golden table says of each key what Java's own index of that table says."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hudi_engine.compute.estimate import shard_counts, workload_of
from hudi_engine.compute.local import LocalCompute
from hudi_engine.compute.order import BuildOrder
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.kinds import IndexKind, parse_shard_name
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.index.payloads import family_of
from hudi_engine.open import open_table
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.table import Table
from hudi_engine.watch import Unwatched
from tests.golden.expected_indexes import expected_indexes
from tests.golden.unpack import unpack
from tests.unit.compute.tables import SOLO

pytestmark = pytest.mark.thorough

# Every golden table with a complete record index.
INDEXED = [
    "v6_cow_indexed",
    "v6_mor_pending",
    "v6_mor_pending_rolled_back",
    "v6_mor_record_index_large",
    "v6_mor_strange_keys",
    "v8_cow_secondary",
    "v8_mor_indexed",
    "v8_mor_pending",
    "v8_mor_pending_rolled_back",
    "v9_cow_partitioned_record_index",
    "v9_mor_indexed",
    "v9_mor_pending",
    "v9_mor_pending_rolled_back",
    "v9_mor_record_index_large",
    "v9_mor_secondary",
    "v9_mor_strange_keys",
]
Location = tuple[str, str, str]


@pytest.mark.parametrize("memory_bytes", [10_000, 1 << 30])
@pytest.mark.parametrize("name", INDEXED)
def test_keys_are_where_java_says(name: str, memory_bytes: int, tmp_path: Path) -> None:
    table = open_table(str(unpack(name, tmp_path))).table
    expected = expected_indexes(name)["record_index"]
    is_partitioned = "partitioned" in name

    found = built(table, is_partitioned, LocalCompute(2, memory_bytes, tmp_path))

    assert found == sorted((row["key"], row["partition"], row["file_id"]) for row in expected)


@pytest.mark.parametrize("name", INDEXED)
def test_rows_are_about_as_many_as_footers_and_commits_tell(name: str, tmp_path: Path) -> None:
    table = open_table(str(unpack(name, tmp_path))).table
    keys = len(expected_indexes(name)["record_index"])

    work = workload_of(table.rows(table.snapshot(), [RECORD_KEY]), is_partitioned=False)

    assert work.keys[None] == pytest.approx(keys, rel=0.25)


def built(table: Table, is_partitioned: bool, compute: LocalCompute) -> list[Location]:
    """What our own reader finds in the files, of which each has the keys of its shard in byte order."""
    snapshot = table.snapshot()
    reader = table.rows(snapshot, [RECORD_KEY])
    counts = shard_counts(reader, is_partitioned, {})
    version, utc = table.config.version, ZoneInfo("UTC")
    order = BuildOrder(reader, snapshot.slices, counts, SOLO, 1, version, utc, 1)
    locations = []
    for file in compute.build(order, table.storage, Unwatched()).files:
        hfile = read_hfile(table.storage.read(f"{FOLDER}/{file.path}"), 1)
        rows = family_of(IndexKind.RECORD_INDEX).decode(hfile.entries, hfile.info["schema"].decode())
        shard = parse_shard_name(file.file_id)
        assert set(shard_numbers(rows["key"], counts[shard.partition])) == {shard.number}
        columns = [rows[column].to_pylist() for column in ("key", "partition", "file_id")]
        locations += list(zip(*columns, strict=True))
    return sorted(locations)
