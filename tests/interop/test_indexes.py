"""Indexes of every golden table, entry by entry and key by key, as each release's own reader has them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.record_index import RecordIndex
from hudi_engine.open import open_table
from tests.golden.expected_indexes import expected_indexes
from tests.golden.names import EXPECTED_NAMES
from tests.golden.recipes import RECIPES
from tests.golden.unpack import unpack
from tests.interop.readable import TABLE_VERSIONS
from tests.java.jvm import Jvm
from tests.kit.indexed import entries_of, expected_entries
from tests.kit.spread import spread

_GOLDEN = Path(__file__).parents[1] / "golden"
_WITH_INDEXES = sorted(name for name in EXPECTED_NAMES if (_GOLDEN / name / "indexes.json.gz").exists())
_EVERY_PAIR = [
    (name, release)
    for release, versions in TABLE_VERSIONS.items()
    for name in _WITH_INDEXES
    if RECIPES[name].table_version in versions
]
# The tables are frozen, and so are the releases: one release reads each table, and the releases take turns.
_PAIRS = [(release, name) for name, release in spread(_EVERY_PAIR, each=1)]
_EVERY = pytest.mark.parametrize(("real_hudi", "name"), _PAIRS, indirect=["real_hudi"])
_WITH_RECORD_INDEX = pytest.mark.parametrize(
    ("real_hudi", "name"),
    [pair for pair in _PAIRS if "record_index" in expected_indexes(pair[1])],
    indirect=["real_hudi"],
)


def test_every_table_and_every_release_that_reads_its_version_is_among_the_pairs() -> None:
    versions = {(release, RECIPES[name].table_version) for release, name in _PAIRS}

    assert {name for _, name in _PAIRS} == set(_WITH_INDEXES)
    assert versions == {(release, version) for release, read in TABLE_VERSIONS.items() for version in read}


@_EVERY
def test_every_entry_of_every_index_is_what_java_reads(real_hudi: Jvm, name: str, tmp_path: Path) -> None:
    table = str(unpack(name, tmp_path))
    ours = open_table(table).metadata

    counts = real_hudi.metadata_entries(table=table, out=str(tmp_path / "out"))

    assert set(counts) == set(ours.index_names)
    for index in counts:
        assert entries_of(ours.index(index)) == expected_entries(_lines(tmp_path / f"out/{index}.jsonl")), index


@_WITH_RECORD_INDEX
def test_a_key_is_found_where_java_finds_it_or_by_neither(real_hudi: Jvm, name: str, tmp_path: Path) -> None:
    table = str(unpack(name, tmp_path))
    ours = open_table(table).index("record_index")
    entries = expected_indexes(name)["record_index"]
    keys = sorted({entry["key"] for entry in entries} | _absent([entry["key"] for entry in entries]))

    for partition in _partitions(ours):
        located = _found(ours.locate(keys, partition).to_pylist())

        assert located == _found(each | {"found": True} for each in entries if partition in {None, each["partition"]})
        asked = [key for key in keys if _is_found_by_java(key, real_hudi.version)]
        assert [each for each in located if _is_found_by_java(each["key"], real_hudi.version)] == _java_finds(
            real_hudi, table, _batches(ours, asked, partition), partition
        )


def _found(located: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("key", "partition", "file_id", "instant")
    found = [{name: each[name] for name in names} for each in located if each["found"]]
    return sorted(found, key=lambda each: str(each["key"]))


def _is_found_by_java(key: str, release: str) -> bool:
    """Releases up to 1.2.0 sort files as UTF-16 and search them as UTF-8: a scan has such keys, a look-up may not.

    0.15.0 fails a look-up ("Row > 32767") if one of the keys is longer than HBase allows.
    """
    return max(key, default="") < "\ue000" and (release != "0.15.0" or len(key.encode()) <= 32_767)


def _batches(index: RecordIndex, keys: Sequence[str], partition: str | None) -> Iterator[list[str]]:
    """Keys that Java can look up together: in an index that is kept per partition it looks for all of them in the shard
    of the first (field failure 15).
    """
    shards = len(index.index.groups[partition]) if partition is not None else 1
    numbers = shard_numbers(pa.array(keys, pa.large_string()), shards).tolist()
    for shard in range(shards):
        batch = [key for key, number in zip(keys, numbers, strict=True) if number == shard]
        if batch:
            yield batch


def _partitions(index: RecordIndex) -> list[str | None]:
    """Java looks into an index that is kept per partition for one partition at a time."""
    return list(index.index.groups)


def _java_finds(
    real_hudi: Jvm, table: str, batches: Iterable[list[str]], partition: str | None
) -> list[dict[str, Any]]:
    given, out = Path(table).parent / "keys.json", Path(table).parent / "found.jsonl"
    found = []
    for batch in batches:
        given.write_text(json.dumps(batch))
        real_hudi.metadata_lookup(table=table, keys_file=str(given), out=str(out), partition=partition)
        found += _lines(out)
    return sorted(found, key=lambda each: str(each["key"]))


def _absent(present: Sequence[str]) -> set[str]:
    """Keys near those that are there: parts of them, longer ones, and some that no writer would think of."""
    near = {key[:-1] for key in present[:300]} | {
        key + end for key in present[:300] for end in ("0", "\0", "\uffff", "$")
    }
    strange = {"", "a", "\0", "\x7f", "ÿ", "\ue000", "\uffff", "😀", "𐀀", "k" * 65_536, "😀" * 16_384}
    return (near | strange) - set(present)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]
