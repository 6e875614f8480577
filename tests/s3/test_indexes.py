"""Indexes of tables in a real S3 server: answers as on a disk, from as few bytes, and none where the store fails."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pytest

from hudi_engine.errors import StorageUnavailable
from hudi_engine.index.hfile_head import TAIL_BYTES, Head, read_head
from hudi_engine.index.ranges import GAP_BYTES, Region
from hudi_engine.index.shard import Shard
from hudi_engine.open import IndexedTable, open_table
from tests.golden.unpack import unpack
from tests.kit.commands import Ran, run_engine
from tests.kit.indexed import entries_of
from tests.s3.lossy_proxy import Asked, LossyProxy, Mishap
from tools.s3_server import S3Server

LARGE, LARGE_OLD, INDEXED = "v9_mor_record_index_large", "v6_mor_record_index_large", "v9_mor_indexed"
TABLES = (LARGE, INDEXED, LARGE_OLD)
# Both timelines, the data's twice; both `.hoodie` folders, both properties, the definitions.
OPENING = 8
FOR_EVER = 1_000
# A page of a listing names each file, Hudi's own and Hadoop's checksums, in some 300 bytes.
LISTING_BYTES = 16_000


@dataclass(frozen=True, slots=True)
class Placed:
    """A golden table as objects, reached through the proxy, and the same files as a table on disk."""

    url: str
    options: Mapping[str, str]
    local: IndexedTable

    def open(self, cache_bytes: int = 1 << 28) -> IndexedTable:
        """The table in S3, nothing of which was read before."""
        return open_table(self.url, self.options, cache_bytes)

    def run(self, *arguments: str) -> Ran:
        """A command, its first word before the table and the others behind."""
        conf = [word for key, value in self.options.items() for word in ("--conf", f"{key}={value}")]
        return run_engine(arguments[0], self.url, *arguments[1:], *conf)

    def keys(self) -> pa.Array:
        """Every key of the record index."""
        rows = pa.concat_tables(self.local.index("record_index").index.scan())
        return rows["key"].combine_chunks()

    def shard_of(self, key: str) -> Shard:
        """The shard on disk that holds the key."""
        wanted = pa.array([key.encode()], pa.large_binary())
        (shard,) = (one for one in self.local.index("record_index").index.shards if len(one.find(wanted)))
        return shard


Put = Callable[[str], Placed]


@pytest.fixture
def put(s3: S3Server, bucket: str, proxy: LossyProxy) -> Put:
    folder = f"{bucket.removeprefix('s3://')}/warm tables/é=1%20#x"

    def placed(name: str) -> Placed:
        local = open_table(str(unpack(name, s3.folder / folder)))
        return Placed(f"s3a://{folder}/{name}", {**s3.options, "fs.s3a.endpoint": proxy.endpoint}, local)

    return placed


def files_asked(asked: list[Asked], ending: str = "") -> list[Asked]:
    return [one for one in asked if "list-type=" not in one.target and one.target.endswith(ending)]


def bytes_of(asked: list[Asked]) -> int:
    return sum(one.answer_bytes for one in asked)


def cut_off(proxy: LossyProxy, mishap: Mishap, after: int) -> None:
    """From the request of this number on, each one that comes next meets the mishap."""
    proxy.mishaps["GET"] = [Mishap.NONE] * after + [mishap] * FOR_EVER


@pytest.mark.parametrize("name", TABLES)
def test_every_key_is_where_it_is_on_disk_and_others_are_nowhere(name: str, put: Put) -> None:
    table = put(name)
    keys = table.keys()
    asked = pa.concat_arrays([keys, pa.array([f"{key}x" for key in keys.to_pylist()], pa.large_string())])

    found = table.open().index("record_index").locate(asked)

    assert found.equals(table.local.index("record_index").locate(asked))
    assert found["found"].to_pylist() == [True] * len(keys) + [False] * len(keys)


@pytest.mark.parametrize("name", TABLES)
def test_every_index_has_the_entries_that_it_has_on_disk(name: str, put: Put) -> None:
    table = put(name)
    names = table.local.metadata.index_names

    far = table.open().metadata

    assert far.index_names == names
    assert {"files", "record_index"} <= set(names)
    for index in names:
        assert entries_of(far.index(index)) == entries_of(table.local.metadata.index(index)) != []


def test_keys_of_a_value_are_found_as_on_disk(put: Put) -> None:
    table = put(INDEXED)

    ran = table.run("lookup", "--secondary", "celsius=30", "--json")

    local = run_engine("lookup", table.local.table.storage.location, "--secondary", "celsius=30", "--json")
    assert (ran.code, ran.out) == (local.code, local.out)


@pytest.mark.parametrize("name", TABLES)
def test_opening_reads_both_timelines_and_no_index(name: str, put: Put, proxy: LossyProxy) -> None:
    table = put(name)

    table.open()

    assert len(proxy.asked) == OPENING
    assert not [one for one in files_asked(proxy.asked) if one.target.endswith((".hfile", "commit"))]
    assert bytes_of(proxy.asked) < 64_000


@pytest.mark.parametrize("name", TABLES)
def test_a_cold_key_costs_a_listing_the_end_of_the_base_one_block_and_the_logs(
    name: str, put: Put, proxy: LossyProxy
) -> None:
    table = put(name)
    key = table.keys()[7].as_py()
    slice_ = table.shard_of(key).file_slice
    assert slice_.base_file is not None
    opened = table.open()
    proxy.asked.clear()

    assert opened.index("record_index").locate([key])["found"].to_pylist() == [True]

    logs = [log.stat for log in slice_.log_files]
    assert len(proxy.asked) == 3 + len(logs)
    assert bytes_of(files_asked(proxy.asked, ".hfile")) <= TAIL_BYTES + largest_block(table.shard_of(key))
    assert bytes_of(proxy.asked) <= bytes_of(files_asked(proxy.asked, ".hfile")) + LISTING_BYTES + sum(
        log.size_bytes for log in logs
    )


def test_a_key_of_a_large_shard_costs_a_small_part_of_it(put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    key = table.keys()[7].as_py()
    base = table.shard_of(key).file_slice.base_file
    assert base is not None
    opened = table.open()
    proxy.asked.clear()

    opened.index("record_index").locate([key])

    assert bytes_of(files_asked(proxy.asked, ".hfile")) < base.stat.size_bytes / 6


def test_an_absent_key_after_the_last_log_costs_no_more_than_one_that_is_there(put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    opened = table.open()
    proxy.asked.clear()

    opened.index("record_index").locate(["nobody"])

    assert len(proxy.asked) <= 6


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_keys_cost_the_blocks_that_they_touch(count: int, put: Put, proxy: LossyProxy) -> None:
    """Lesson 43 of the field failures: bytes read per batch <= c · (blocks touched)."""
    table = put(LARGE)
    index = table.open(cache_bytes=1 << 16).index("record_index")
    shard = table.shard_of(table.keys()[7].as_py())
    keys = far_apart(shard, count)
    index.locate(keys[:1])  # so that the head is known, which is as much for one key as for all
    proxy.asked.clear()

    found = index.locate(keys)

    blocks = [one for one in files_asked(proxy.asked, ".hfile") if one.answer_bytes != TAIL_BYTES]
    assert found["found"].to_pylist() == [True] * count
    assert 0 < bytes_of(blocks) <= count * largest_block(shard) + (count - 1) * GAP_BYTES
    assert len(blocks) <= count


def test_what_was_read_is_not_asked_for_again(put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    opened = table.open()
    keys = table.keys()[7:8]
    opened.index("record_index").locate(keys)
    proxy.asked.clear()

    again = opened.refreshed().index("record_index").locate(keys)

    assert again["found"].to_pylist() == [True]
    assert files_asked(proxy.asked, ".hfile") == []
    assert [one for one in files_asked(proxy.asked) if ".log." in one.target] == []


@pytest.mark.parametrize("name", TABLES)
def test_validate_finds_an_undamaged_table_true(name: str, put: Put) -> None:
    table = put(name)

    ran = table.run("validate", "--json")

    assert (ran.code, ran.err) == (0, "")
    assert ran.document["ok"] is True
    assert ran.document["discrepancies"] == []
    assert {check["index"] for check in ran.document["checks"]} == set(table.local.metadata.index_names)
    assert {check["status"] for check in ran.document["checks"]} == {"ok"}


def test_validate_finds_what_is_missing_in_the_store(s3: S3Server, put: Put) -> None:
    table = put(INDEXED)
    path = next(iter(table.local.table.snapshot().slices)).base_file
    assert path is not None
    (s3.folder / table.url.removeprefix("s3a://") / path.stat.path).unlink()

    ran = table.run("validate", "--index", "files", "--json")

    assert ran.code == 1
    assert path.stat.name in json.dumps(ran.document["discrepancies"])


def test_lookup_opens_the_data_files_in_the_store(put: Put) -> None:
    table = put(INDEXED)

    ran = table.run("lookup", "--key", "s-30", "--key", "s-3", "--verify", "--json")

    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 1
    assert [(row["key"], row["found"], row["verified"]) for row in rows] == [("s-30", True, True), ("s-3", False, None)]


@pytest.mark.parametrize("mishap", [Mishap.ANSWER_LOST, Mishap.ANSWER_CUT, Mishap.FAULT_BEFORE])
@pytest.mark.parametrize("after", [0, 1, 2, 3, 5])
def test_a_connection_that_stays_lost_in_a_look_up_is_no_answer(
    mishap: Mishap, after: int, put: Put, proxy: LossyProxy
) -> None:
    table = put(LARGE)
    key = table.keys()[7].as_py()
    opened = table.open()
    cut_off(proxy, mishap, after)

    with pytest.raises(StorageUnavailable, match=LARGE):
        opened.index("record_index").locate([key])


@pytest.mark.parametrize("mishap", [Mishap.ANSWER_LOST, Mishap.FAULT_BEFORE])
def test_a_request_without_an_answer_is_repeated(mishap: Mishap, put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    keys = table.keys()[:50_000]
    expected = table.local.index("record_index").locate(keys)
    opened = table.open(cache_bytes=0)

    for number in range(6):
        proxy.mishaps["GET"] = [*[Mishap.NONE] * number, mishap]
        assert opened.index("record_index").locate(keys).equals(expected)
        assert not proxy.mishaps["GET"]


def test_an_answer_cut_short_once_gives_the_right_rows_or_none(put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    keys = table.keys()[::4]
    expected = table.local.index("record_index").locate(keys)
    opened = table.open(cache_bytes=0)
    proxy.asked.clear()
    assert opened.index("record_index").locate(keys).equals(expected)

    for number in range(len(proxy.asked)):
        proxy.mishaps["GET"] = [*[Mishap.NONE] * number, Mishap.ANSWER_CUT]
        with suppress(StorageUnavailable):
            assert opened.index("record_index").locate(keys).equals(expected)


def test_a_listing_cut_short_is_no_shorter_listing(put: Put, proxy: LossyProxy) -> None:
    opened = put(LARGE).open()
    proxy.mishaps["GET"] = [Mishap.ANSWER_CUT]

    with pytest.raises(StorageUnavailable, match="record_index"):
        opened.index("record_index")


def test_a_scan_that_loses_its_store_is_no_shorter_scan(put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    index = table.open().index("record_index").index
    cut_off(proxy, Mishap.ANSWER_LOST, 4)

    with pytest.raises(StorageUnavailable, match=LARGE):
        list(index.scan())


@pytest.mark.parametrize("after", [0, OPENING, OPENING + 2, OPENING + 5])
def test_lookup_without_its_store_says_so_and_exits_with_13(after: int, put: Put, proxy: LossyProxy) -> None:
    table = put(LARGE)
    key = table.keys()[7].as_py()
    cut_off(proxy, Mishap.ANSWER_LOST, after)

    ran = table.run("lookup", "--key", key, "--json")

    assert ran.code == 13
    assert ran.document["error"]["class"] == "StorageUnavailable"


@pytest.mark.parametrize("after", [OPENING, OPENING + 10, OPENING + 25, OPENING + 60])
def test_validate_without_its_store_says_so_and_exits_with_13(after: int, put: Put, proxy: LossyProxy) -> None:
    table = put(INDEXED)
    cut_off(proxy, Mishap.ANSWER_LOST, after)

    ran = table.run("validate", "--json")

    assert ran.code == 13, ran
    if after > OPENING + 5:
        assert ran.document["ok"] is False
        assert "no answer from the store" in json.dumps(ran.document["error"])
        assert ran.document["discrepancies"] == []


def far_apart(shard: Shard, count: int) -> list[str]:
    """The first keys of so many blocks of the shard's base file, spread over it."""
    firsts = head_of(shard).index.keys
    keys = [key.decode() for key in shard.find(firsts)["key"].cast(pa.large_binary()).to_pylist()]
    assert len(keys) >= count
    return keys[:: len(keys) // count][:count]


def largest_block(shard: Shard) -> int:
    """As stored, in the shard's base file."""
    return int(head_of(shard).index.sizes.max())


def head_of(shard: Shard) -> Head:
    base = shard.file_slice.base_file
    assert base is not None
    return read_head(shard.layers.storage, Region(base.stat.path, 0, base.stat.size_bytes, base.stat.modified_ms))


_ALONE = ("--conf", "hudi.engine.single.writer=true")
_KINDS = {
    "v9_mor_indexed": (
        ("column_stats", "partition_stats", "bloom_filters", "record_index", "secondary_index_by_celsius"),
        ("--column", "secondary_index_by_celsius=celsius"),
    ),
    "v6_cow_indexed": (("column_stats", "bloom_filters", "record_index"), ()),
}


@pytest.mark.parametrize("name", sorted(_KINDS))
def test_every_kind_is_dropped_and_built_again_in_one_plan_and_validates(name: str, put: Put) -> None:
    table = put(name)
    kinds, columns = _KINDS[name]
    types = [word for kind in kinds for word in ("--type", kind)]
    before = {kind: _entries(table, kind) for kind in kinds}

    dropped = _index(table, "drop", *types)
    built = _index(table, "build", *types, *columns, "--json")
    checked = table.run("validate")

    assert (dropped.code, built.code) == (0, 0), built.err
    assert {kind["kind"]: kind["state"] for kind in json.loads(built.out)["kinds"]} == dict.fromkeys(kinds, "ready")
    assert checked.code == 0, checked.out
    assert {kind: _entries(table, kind) for kind in kinds} == before


def _index(table: Placed, verb: str, *arguments: str) -> Ran:
    conf = [word for key, value in table.options.items() for word in ("--conf", f"{key}={value}")]
    return run_engine("index", verb, table.url, *arguments, *_ALONE, *conf)


def _entries(table: Placed, kind: str) -> int:
    return sum(len(rows) for rows in table.open().metadata.index(kind).scan())


def test_a_column_is_added_to_statistics_as_on_a_disk(put: Put) -> None:
    placed = put(INDEXED)
    for verb, *words in (
        ("drop", "--type", "column_stats", "--type", "partition_stats"),
        ("build", "--type", "column_stats", "--column", "seen"),
        ("build", "--type", "column_stats", "--column", "room"),
    ):
        conf = [word for key, value in placed.options.items() for word in ("--conf", f"{key}={value}")]
        assert run_engine("index", verb, placed.url, *words, "--single-writer", *conf).code == 0

    assert placed.open().metadata.definitions["column_stats"].source_fields[-2:] == ("seen", "room")
    assert placed.run("validate", "--index", "column_stats").code == 0
