"""The harness itself: what the other tests lean on when they believe Java's answers."""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.golden.unpack import unpack
from tests.interop.readable import one_release
from tests.java.jvm import JavaError, Jvm
from tests.kit.compare import first_difference, require_equal
from tests.kit.soak import and_in_soak
from tools.parts import HUDI_VERSIONS

GOLDEN = Path(__file__).parents[1] / "golden"


def test_the_four_releases_are_the_ones_we_promise() -> None:
    assert HUDI_VERSIONS == ("0.15.0", "1.0.2", "1.1.1", "1.2.0")


@one_release
def test_an_error_in_java_is_raised_here_and_the_worker_goes_on(real_hudi: Jvm, tmp_path: Path) -> None:
    with pytest.raises(JavaError, match="TableNotFoundException"):
        real_hudi.timeline(table=str(tmp_path))

    table = str(unpack("v6_cow_orders", tmp_path))
    assert len(real_hudi.timeline(table=table)) == 6


@one_release
def test_a_later_release_reads_a_table_of_version_6_as_its_writer_did(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_mor_orders", tmp_path))

    real_hudi.snapshot(table=table, out=str(tmp_path / "rows.parquet"))

    rows, expected = pq.read_table(tmp_path / "rows.parquet"), pq.read_table(GOLDEN / "v6_mor_orders/expected.parquet")
    require_equal(rows, expected)


@one_release
def test_java_reads_every_entry_and_every_key_of_its_own_index_file(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_cow_indexed", tmp_path))
    file = next(Path(table, ".hoodie/metadata/files").glob("*.hfile"))

    whole = real_hudi.read_hfile(path=str(file))
    keys = [base64.b64decode(key).decode() for key, _ in whole["entries"]]
    looked_up = real_hudi.read_hfile(path=str(file), keys=["", *keys, "zzz"])

    assert "__all_partitions__" in keys
    assert whole["count"] == len(keys)
    assert looked_up["entries"] == whole["entries"]


@pytest.mark.parametrize("version", and_in_soak(["1.0.2"], ["0.15.0"]))
def test_hbase_reads_the_same_entries(version: str, jvm: Callable[[str], Jvm], tmp_path: Path) -> None:
    table = str(unpack("v6_cow_indexed", tmp_path))
    file = next(Path(table, ".hoodie/metadata/files").glob("*.hfile"))

    by_hbase = jvm(version).read_hfile(path=str(file), reader="hbase")

    assert by_hbase == jvm(version).read_hfile(path=str(file))


@one_release
def test_java_reads_the_blocks_of_its_own_logs(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_mor_orders", tmp_path))
    logs = sorted(Path(table).glob("region=*/.*.log.*"))

    blocks = [block for log in logs for block in real_hudi.read_log(path=str(log))]

    assert {block["type"] for block in blocks} == {"AVRO_DATA_BLOCK", "DELETE_BLOCK"}
    assert any(record["note"] == "second" for block in blocks for record in block.get("records", ()))
    assert any(delete["key"] == "order_id:order 2,line:1" for block in blocks for delete in block.get("deletes", ()))


@one_release
def test_java_reads_each_kind_of_timeline_file(real_hudi: Jvm, tmp_path: Path) -> None:
    table = str(unpack("v6_cow_services", tmp_path))

    read = {
        file.name.partition(".")[2]: real_hudi.read_instant(table=table, file=file.name)
        for file in sorted(Path(table, ".hoodie").glob("2*"))
        if file.stat().st_size
    }

    assert read["commit"]["partitionToWriteStats"]
    assert read["replacecommit"]["partitionToReplaceFileIds"]
    assert read["clean"]["totalFilesDeleted"] > 0
    assert read["clean.requested"]["policy"] == "KEEP_LATEST_COMMITS"


@one_release
def test_java_finds_its_own_checksum_right(real_hudi: Jvm, tmp_path: Path) -> None:
    read = real_hudi.read_properties(table=str(unpack("v6_cow_orders", tmp_path)))

    assert read["checksum_is_right"]
    assert read["properties"]["hoodie.table.name"] == "v6_cow_orders"


@one_release
def test_java_finds_its_keys_in_its_own_bloom_filter(real_hudi: Jvm, tmp_path: Path) -> None:
    file = next(Path(str(unpack("v6_cow_orders", tmp_path))).glob("region=*/*.parquet"))
    footer = pq.read_metadata(file).metadata

    text, kind = footer[b"org.apache.hudi.bloomfilter"].decode(), footer[b"hoodie_bloom_filter_type_code"].decode()
    key = pq.read_table(file, columns=["_hoodie_record_key"])[0][0].as_py()

    assert real_hudi.bloom(text=text, kind=kind, keys=[key, "not there"]) == [True, False]


def test_the_comparison_sees_one_changed_value() -> None:
    rows = pq.read_table(GOLDEN / "v6_cow_orders/expected.parquet")
    changed = rows.set_column(rows.column_names.index("seen"), "seen", [[*rows["seen"].to_pylist()[:-1], -1]])

    assert first_difference(rows, rows) == ""
    assert "column seen" in first_difference(changed, rows)
    assert "1 only in theirs, such as ('region=eu%3Dwest 1'" in first_difference(rows.slice(1), rows)


@one_release
def test_every_release_sees_the_same_files_in_a_table_of_version_6(real_hudi: Jvm, tmp_path: Path) -> None:
    view = real_hudi.file_view(table=str(unpack("v6_mor_compacted", tmp_path)))

    assert view == json.loads((GOLDEN / "v6_mor_compacted/files.json").read_text())
