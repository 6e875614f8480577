import base64
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hudi_engine.index.keys import bloom_filter_key
from hudi_engine.validate.bloom_filters import check_bloom_filters
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.subject import Sample
from tests.golden.unpack import unpack
from tests.kit import damaged
from tests.kit.damaged import Entry
from tests.kit.subjects import subject_at

pytestmark = pytest.mark.thorough

INDEX = "bloom_filters"
FOOTER_KEY = b"org.apache.hudi.bloomfilter"
GOLDEN = ("v6_cow_indexed", "v8_mor_indexed", "v9_mor_indexed")
each_table = pytest.mark.parametrize("folder", GOLDEN, indirect=True)


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(getattr(request, "param", "v9_mor_indexed"), tmp_path)


def check(folder: Path) -> list[Discrepancy]:
    return list(check_bloom_filters(subject_at(folder)))


def in_short(found: list[Discrepancy]) -> list[tuple[Fault, str, str]]:
    return [(each.fault, each.key, each.place) for each in found]


def a_file(folder: Path) -> Path:
    """The base file of the first commit in a partition."""
    return min((folder / "hall").glob("*.parquet"), key=lambda file: file.name.split("_")[2])


def key_of(file: Path) -> str:
    return bloom_filter_key("hall", file.name)


def filter_edit(edit: Callable[[Entry], None]) -> Callable[[Entry], None]:
    return lambda entry: edit(entry["BloomFilterMetadata"])


def flip_a_bit(says: Entry) -> None:
    bits = bytearray(base64.b64decode(says["bloomFilter"]))
    bits[-1] ^= 1
    says["bloomFilter"] = base64.b64encode(bits)


def rewrite_without_filter(file: Path) -> None:
    """The same rows in a file whose footer has no bloom filter, under the same name."""
    rows = pq.read_table(file)
    metadata = {name: value for name, value in rows.schema.metadata.items() if name != FOOTER_KEY}
    pq.write_table(rows.replace_schema_metadata(metadata), file)


@each_table
def test_a_lost_entry_is_missing(folder: Path) -> None:
    file = a_file(folder)
    damaged.remove_entry(folder, INDEX, key_of(file))

    assert in_short(check(folder)) == [(Fault.MISSING, key_of(file), f"hall/{file.name}")]


@each_table
@pytest.mark.parametrize(
    "edit",
    [
        flip_a_bit,
        lambda says: says.update(bloomFilter=b""),
        lambda says: says.update(type="SIMPLE"),
        lambda says: says.update(timestamp="20000101000000000"),
        lambda says: says.update(timestamp="29991231235959999"),
        lambda says: says.update(timestamp=says["timestamp"] + "x"),
    ],
)
def test_an_entry_that_says_otherwise_is_wrong(folder: Path, edit: Callable[[Entry], None]) -> None:
    file = a_file(folder)
    damaged.change_entry(folder, INDEX, key_of(file), filter_edit(edit))

    found = check(folder)

    assert in_short(found) == [(Fault.WRONG, key_of(file), f"hall/{file.name}")]
    assert found[0].found != found[0].expected


@each_table
def test_an_entry_of_a_file_that_is_not_there_is_a_ghost(folder: Path) -> None:
    key = key_of(a_file(folder))
    entry = next(entry for entry in damaged.entries(folder, INDEX) if entry["key"] == key)
    shards = len({file.name.split("_")[0].lstrip(".") for file in damaged.shard_files(folder, INDEX)})
    wanted = damaged.shard_number(key, shards)
    # In the same shard, since another one may have no HFile to put it into.
    name = next(name for name in map(str, range(99)) if shard_of(name, shards) == wanted)
    entry["key"] = bloom_filter_key("hall", name)
    damaged.add_entry(folder, INDEX, entry)

    assert in_short(check(folder)) == [(Fault.GHOST, entry["key"], "")]


def shard_of(name: str, shards: int) -> int:
    return damaged.shard_number(bloom_filter_key("hall", name), shards)


def test_a_file_that_vanished_makes_its_entry_a_ghost(folder: Path) -> None:
    file = a_file(folder)
    file.unlink()

    assert in_short(check(folder)) == [(Fault.GHOST, key_of(file), "")]


def test_the_entry_of_a_file_without_filter_must_contain_its_keys(folder: Path) -> None:
    file = a_file(folder)
    rewrite_without_filter(file)

    assert not check(folder)


def test_the_entry_of_a_file_without_filter_that_lacks_a_key_is_wrong(folder: Path) -> None:
    file, other = a_file(folder), next((folder / "attic").glob("*.parquet"))
    text = pq.read_schema(other).metadata[FOOTER_KEY]
    damaged.change_entry(folder, INDEX, key_of(file), filter_edit(lambda says: says.update(bloomFilter=text)))
    rewrite_without_filter(file)

    (only,) = check(folder)

    assert (only.fault, only.key) == (Fault.WRONG, key_of(file))
    assert only.found == "a filter that does not contain 's-00'"


def test_a_file_without_filter_needs_no_entry(folder: Path) -> None:
    file = a_file(folder)
    damaged.remove_entry(folder, INDEX, key_of(file))
    rewrite_without_filter(file)

    assert not check(folder)


def test_a_sample_is_compared_with_its_own_entries_alone(folder: Path) -> None:
    subject = subject_at(folder, Sample(1, seed=1))
    (chosen,) = subject.slices
    damaged.rewrite_index(folder, INDEX, lambda stored: [])

    found = list(check_bloom_filters(subject))

    assert found
    assert all(each.fault is Fault.MISSING and chosen.file_id in each.place for each in found)
