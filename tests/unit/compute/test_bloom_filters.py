"""Bloom filters read from footers, and the entries made of them: those that Java has, byte by byte."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.compute.bloom_filters import read_bloom_filter
from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format.bloom import DYNAMIC, SIMPLE, Sizing, build_bloom_filter
from hudi_engine.format.bloom_footer import StoredFilter
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.index.bloom_entries import FileFilter, bloom_entries
from hudi_engine.index.entries import WRITTEN_SCHEMA
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of
from hudi_engine.storage.open import open_storage
from hudi_engine.storage.protocol import FileStat
from hudi_engine.validate.data_files import DataFiles
from hudi_engine.validate.subject import Subject
from tests.golden.unpack import unpack
from tests.golden.with_index import tables_with
from tests.kit.subjects import subject_at

INDEX = "bloom_filters"
TEXT = build_bloom_filter(pa.array(["a"]), Sizing(10, 0.01)).to_text().encode()
each_table = pytest.mark.parametrize("name", tables_with(INDEX))
NEW, OLD, TYPE = b"org.apache.hudi.bloomfilter", b"com.uber.hoodie.bloomfilter", b"hoodie_bloom_filter_type_code"


def ours(subject: Subject) -> pa.Table:
    """The entries of all base files that a completed commit wrote; no writer built an index later than its files."""
    files = DataFiles(subject)
    filters = []
    for file in (each for partition in files.listings for each in files.committed(partition)):
        if file.is_base:
            found = read_bloom_filter(subject.table.storage, file.stat)
            assert found is not None
            filters.append(FileFilter(file.partition, file.stat.name, file.name.instant, found))
    return bloom_entries(filters, subject.table.config.version)


@pytest.mark.thorough
@each_table
def test_entries_made_of_the_files_are_those_of_the_golden_index(name: str, tmp_path: Path) -> None:
    subject = subject_at(unpack(name, tmp_path))
    entries = ours(subject)

    made = family_of(IndexKind.BLOOM_FILTERS).decode(entries, WRITTEN_SCHEMA[subject.table.config.version])

    java = pa.concat_tables(subject.metadata.index(INDEX).scan()).sort_by("key")
    assert made.to_pylist() == java.to_pylist()
    assert entries["key"].to_pylist() == sorted(entries["key"].to_pylist())


@pytest.mark.thorough
@each_table
def test_each_entry_is_in_the_shard_that_its_key_chooses(name: str, tmp_path: Path) -> None:
    index = subject_at(unpack(name, tmp_path)).metadata.index(INDEX)
    shards = index.groups[None]

    for number, shard in enumerate(shards):
        for rows in shard.scan():
            assert set(shard_numbers(rows["key"], len(shards)).tolist()) <= {number}


@pytest.mark.parametrize(("version", "name"), [(6, "v6_cow_indexed"), (8, "v8_mor_indexed"), (9, "v9_mor_indexed")])
def test_values_are_those_of_java_to_the_byte(version: int, name: str, tmp_path: Path) -> None:
    table = unpack(name, tmp_path)
    made = ours(subject_at(table))
    values = dict(zip(made["key"].to_pylist(), made["value"].to_pylist(), strict=True))

    checked = 0
    for path in (table / ".hoodie/metadata/bloom_filters").glob("*.hfile"):
        entries = read_hfile(path.read_bytes(), 1).entries
        for key, value in zip(entries["key"].to_pylist(), entries["value"].to_pylist(), strict=True):
            # Four meta columns are null; the fifth has the name of the HFile, behind its branch and its length.
            assert value[:5] == b"\0\0\0\0\2"
            assert values[key] == bytes(5) + value[6 + (value[5] >> 1) :]
            checked += 1
    assert checked > 0


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a base file with a footer of one's own making can be read."""

    path: Path

    def read(self, about: Mapping[bytes, bytes], name: str = "f.parquet") -> StoredFilter | None:
        pq.write_table(pa.table({"a": [1]}).replace_schema_metadata(about), self.path / name)
        return read_bloom_filter(open_storage(str(self.path), {}), FileStat(name, (self.path / name).stat().st_size, 0))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_the_type_is_simple_unless_the_footer_says_otherwise(folder: Folder) -> None:
    simple = build_bloom_filter(pa.array(["a"]), Sizing(10, 0.01, None)).to_text().encode()

    assert folder.read({NEW: simple}) == StoredFilter(simple, SIMPLE)
    assert folder.read({NEW: TEXT, TYPE: b"DYNAMIC_V0"}) == StoredFilter(TEXT, DYNAMIC)


def test_the_name_from_before_apache_counts_where_the_new_one_is_missing(folder: Folder) -> None:
    assert folder.read({OLD: TEXT, TYPE: b"DYNAMIC_V0"}) == StoredFilter(TEXT, DYNAMIC)
    assert folder.read({OLD: b"old", NEW: TEXT, TYPE: b"DYNAMIC_V0"}) == StoredFilter(TEXT, DYNAMIC)


def test_a_file_without_a_filter_has_none(folder: Folder) -> None:
    assert folder.read({TYPE: b"DYNAMIC_V0", b"other": TEXT}) is None


@pytest.mark.parametrize("text", [b"", b"!", TEXT[:40], TEXT + b"AAAA"])
def test_a_damaged_filter_is_damage_of_its_file(text: bytes, folder: Folder) -> None:
    with pytest.raises(CorruptFile, match=r"f\.parquet"):
        folder.read({NEW: text, TYPE: b"DYNAMIC_V0"})


def test_what_no_look_up_could_use_is_refused_by_name(folder: Folder) -> None:
    jenkins = base64.b64encode(b"\0\0\0\7\0\0\0\x08" + bytes(8))

    with pytest.raises(Unsupported, match=r"f\.parquet: .*type 'BLOCKED'.*clustering"):
        folder.read({NEW: TEXT, TYPE: b"BLOCKED"})
    with pytest.raises(Unsupported, match=r"f\.parquet: .*Jenkins"):
        folder.read({NEW: jenkins})
    with pytest.raises(Unsupported, match=r"f\.orc: .*Parquet files only"):
        folder.read({}, "f.orc")


def test_a_file_that_is_cut_short_is_damage(tmp_path: Path) -> None:
    (tmp_path / "f.parquet").write_bytes(b"PAR1" * 4)
    storage = open_storage(str(tmp_path), {})

    with pytest.raises(CorruptFile, match=r"f\.parquet"):
        read_bloom_filter(storage, FileStat("f.parquet", 16, 0))


def test_no_files_make_no_entries() -> None:
    assert bloom_entries([], 9).num_rows == 0
    assert bloom_entries([], 9).schema == pa.schema([("key", pa.large_binary()), ("value", pa.large_binary())])


def test_a_file_given_twice_is_a_contradiction() -> None:
    one = FileFilter("p", "f.parquet", "1", StoredFilter(b"x", SIMPLE))

    with pytest.raises(Contradiction, match=r"p/f\.parquet"):
        bloom_entries([one, one], 9)
