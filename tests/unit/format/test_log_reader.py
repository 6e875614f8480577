"""Log files into blocks: what Hudi wrote, what a dying writer leaves, and what should never be there."""

import contextlib
import struct
import time
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.log.block import BlockType, HeaderKey, LogBlock
from hudi_engine.format.log.delete import COMMIT_TIME, decode_deletes
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import decode_avro_records
from hudi_engine.format.log.writer import avro_block, rollback_block, write_block
from hudi_engine.format.service_records import RecordName, record_type

with zipfile.ZipFile(Path(__file__).parent / "data" / "log_files.zip") as _zipped:
    FILES = {name: _zipped.read(name) for name in _zipped.namelist()}
SCHEMA = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
MAGIC = b"#HUDI#"


def blocks(data: bytes, *, is_store_atomic: bool = True, is_archive: bool = False) -> list[LogBlock]:
    return list(read_blocks(data, is_store_atomic=is_store_atomic, is_archive=is_archive))


def data_block(instant: str, *values: int) -> bytes:
    return avro_block(SCHEMA, [{"a": value} for value in values], {HeaderKey.INSTANT_TIME: instant}, 9)


def kinds(found: list[LogBlock]) -> list[str]:
    return [block.type.name for block in found]


def test_no_file_of_the_fixture_went_missing() -> None:
    assert sorted(FILES) == [
        "v6_archive/1",
        "v6_rollback/1",
        "v6_rollback/2",
        "v6_rollback/3",
        "v6_rollback/4",
        "v6_rollback/5",
        "v8_parquet/1",
        "v9_avro/1",
        "v9_avro/2",
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("v6_archive/1", "AVRO_DATA"),
        ("v6_rollback/1", "AVRO_DATA"),
        ("v6_rollback/2", "DELETE"),
        ("v6_rollback/4", "COMMAND"),
        ("v8_parquet/1", "PARQUET_DATA"),
        ("v9_avro/2", "DELETE"),
    ],
)
def test_blocks_of_hudi_have_their_type(name: str, kind: str) -> None:
    assert kinds(blocks(FILES[name], is_archive=name.startswith("v6_archive"))) == [kind]


def test_a_rollback_block_of_hudi_names_its_target() -> None:
    (failed,), (command,) = blocks(FILES["v6_rollback/3"]), blocks(FILES["v6_rollback/4"])

    assert command.header[HeaderKey.TARGET_INSTANT_TIME] == failed.instant
    assert command.header[HeaderKey.COMMAND_BLOCK_TYPE] == "0"
    assert len(command.content) == 0


def test_a_parquet_block_holds_a_parquet_file() -> None:
    (block,) = blocks(FILES["v8_parquet/1"])

    assert bytes(block.content[:4]) == bytes(block.content[-4:]) == b"PAR1"


@pytest.mark.parametrize("name", ["v6_rollback/1", "v9_avro/1"])
def test_records_of_hudi_are_read_with_their_types(name: str) -> None:
    (block,) = blocks(FILES[name])

    rows = list(decode_avro_records(block))

    assert len(rows) == 3
    for row in rows:
        key = row["id"]
        assert isinstance(key, int)
        assert row["_hoodie_commit_time"] == block.instant
        assert row["name"] == f"name{key}"
        assert row["price"] == Decimal(key) + Decimal("0.25")
        assert row["day"] == 19723 + key
        assert row["at"] == 1704067200123456 + key * 1_000_000
        assert (row["nums"], row["props"], row["st"]) == ([key, key + 1], {"k": key}, {"a": key, "b": "x"})
        assert (row["raw"], row["ok"]) == (b"\x01\x02", True)


@pytest.mark.parametrize("name", ["v6_rollback/2", "v9_avro/2"])
def test_deletes_of_hudi_are_read_with_their_ordering(name: str) -> None:
    (block,) = blocks(FILES[name])

    (deleted,) = decode_deletes(block)

    assert deleted.key in {"4", "5"}
    assert deleted.ordering == COMMIT_TIME


def test_an_archive_of_hudi_is_read_as_the_newest_record() -> None:
    (block,) = blocks(FILES["v6_archive/1"], is_archive=True)

    entries = list(decode_avro_records(block, record_type(RecordName.ARCHIVED_ENTRY, 9)))

    assert [entry["actionState"] for entry in entries] == ["REQUESTED", "INFLIGHT", "COMPLETED"] * 2
    assert {entry["actionType"] for entry in entries} == {"deltacommit"}
    metadata = entries[-1]["hoodieCommitMetadata"]
    assert isinstance(metadata, dict)
    assert metadata["compacted"] is None  # a field that 0.15 did not know


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_cut_block_is_corrupt_where_files_appear_whole(name: str) -> None:
    data = FILES[name]

    for end in (1, 5, 6, 13, 14, 40, len(data) // 2, len(data) - 8, len(data) - 1):
        with pytest.raises(CorruptFile) as raised:
            blocks(data[:end])
        assert raised.value.offset == 0


@pytest.mark.parametrize("cut", [1, 5, 6, 10, 14, 20, 60, -9, -8, -1])
def test_a_torn_block_is_skipped_where_writers_may_die_inside_of_one(cut: int) -> None:
    first, torn, last = data_block("1", 1), data_block("2", 2)[:cut], data_block("3", 3)

    found = blocks(first + torn + last, is_store_atomic=False)
    at_the_end = blocks(first + torn, is_store_atomic=False)

    assert kinds(at_the_end) == ["AVRO_DATA", "CORRUPT"]
    assert [block.offset for block in at_the_end] == [0, len(first)]
    if len(torn) < 5:  # what follows the first block is then no magic, by which Java takes that one for torn
        assert kinds(found) == ["CORRUPT", "AVRO_DATA"]
    else:
        assert kinds(found) == ["AVRO_DATA", "CORRUPT", "AVRO_DATA"]
        assert bytes(found[1].content) == torn
        assert found[2].offset == len(first + torn)


def test_a_magic_inside_of_a_torn_block_starts_no_block() -> None:
    inner = MAGIC + struct.pack(">q", 10) + b"no block"
    torn = data_block("2", 2)[:30] + inner

    found = blocks(torn + data_block("3", 3), is_store_atomic=False)

    assert kinds(found) == ["CORRUPT", "CORRUPT", "AVRO_DATA"]


def test_a_sound_block_may_hold_the_magic() -> None:
    block = write_block(BlockType.PARQUET_DATA, {HeaderKey.INSTANT_TIME: "1"}, MAGIC * 3, 9)

    assert kinds(blocks(block + block, is_store_atomic=False)) == ["PARQUET_DATA"] * 2


def test_bytes_that_begin_with_no_magic_are_no_log_on_any_store() -> None:
    for is_store_atomic in (True, False):
        with pytest.raises(CorruptFile):
            blocks(b"PAR1" + data_block("1", 1), is_store_atomic=is_store_atomic)


def test_no_bytes_are_no_blocks() -> None:
    assert blocks(b"") == []


def changed(block: bytes, offset: int, replacement: bytes) -> bytes:
    return block[:offset] + replacement + block[offset + len(replacement) :]


@pytest.mark.parametrize(
    ("offset", "number", "message"),
    [
        (14, 0, "version 0"),
        (14, 2, "version 2"),
        (18, 2, "type 2"),
        (18, 7, "type 7"),
        (18, -1, "type -1"),
        (26, 9, "key 9"),
        (26, -1, "key -1"),
    ],
)
def test_what_a_block_says_that_nobody_knows_is_unsupported(offset: int, number: int, message: str) -> None:
    block = rollback_block("20240102", "20240101", 9)

    with pytest.raises(Unsupported, match=message):
        blocks(changed(block, offset, struct.pack(">i", number)))


def test_a_footer_is_unsupported() -> None:
    block = rollback_block("20240102", "20240101", 9)

    with pytest.raises(Unsupported, match="footer"):
        blocks(changed(block, len(block) - 12, struct.pack(">i", 1)))


@pytest.mark.parametrize(
    ("offset", "replacement"),
    [
        (6, struct.pack(">q", 2**62)),
        (6, struct.pack(">q", -1)),
        (6, struct.pack(">q", 0)),
        (22, struct.pack(">i", 2**31 - 1)),
        (22, struct.pack(">i", -1)),
        (30, struct.pack(">i", 2**31 - 1)),
        (30, struct.pack(">i", -5)),
        (34, b"\xff\xff"),
    ],
)
def test_lengths_that_lie_are_corrupt(offset: int, replacement: bytes) -> None:
    with pytest.raises(CorruptFile):
        blocks(changed(rollback_block("20240102", "20240101", 9), offset, replacement))


def test_many_magics_take_no_longer_than_their_bytes() -> None:
    began = time.process_time()

    found = blocks(MAGIC * 100_000, is_store_atomic=False)

    assert len(found) == 100_000
    assert time.process_time() - began < 4


def content(block: bytes) -> LogBlock:
    return blocks(block)[0]


@pytest.mark.parametrize(
    "inside",
    [
        b"",
        struct.pack(">ii", 3, 2**31 - 1),
        struct.pack(">ii", 3, -1),
        struct.pack(">ii", 3, 1),
        struct.pack(">iii", 3, 1, 2**31 - 1) + b"\2",
        struct.pack(">iii", 3, 1, -4) + b"\2",
        struct.pack(">iii", 3, 1, 2) + b"\2",
        struct.pack(">iii", 3, 1, 2) + b"\2\2",
        struct.pack(">iii", 3, 1, 1) + b"\2\2",
        struct.pack(">iii", 3, 2, 1) + b"\2",
        struct.pack(">iii", 3, 1, 1) + b"\x80",
    ],
)
def test_an_avro_block_whose_lengths_lie_is_corrupt(inside: bytes) -> None:
    header = {HeaderKey.INSTANT_TIME: "1", HeaderKey.SCHEMA: SCHEMA}
    block = content(write_block(BlockType.AVRO_DATA, header, inside, 9))

    with pytest.raises(CorruptFile):
        list(decode_avro_records(block))


def test_an_avro_block_without_a_schema_is_corrupt_and_says_so() -> None:
    block = content(write_block(BlockType.AVRO_DATA, {HeaderKey.INSTANT_TIME: "1"}, b"", 9))

    with pytest.raises(CorruptFile, match="SCHEMA"):
        list(decode_avro_records(block))


def test_another_content_version_is_unsupported() -> None:
    header = {HeaderKey.INSTANT_TIME: "1", HeaderKey.SCHEMA: SCHEMA}
    records = content(write_block(BlockType.AVRO_DATA, header, struct.pack(">ii", 4, 0), 9))
    deletes = content(write_block(BlockType.DELETE, header, struct.pack(">ii", 2, 0), 9))

    with pytest.raises(Unsupported, match="version 4"):
        list(decode_avro_records(records))
    with pytest.raises(Unsupported, match="version 2"):
        decode_deletes(deletes)


@pytest.mark.parametrize("name", ["v6_rollback/1", "v6_rollback/2", "v6_rollback/4", "v9_avro/1"])
@pytest.mark.parametrize("is_store_atomic", [True, False])
def test_a_flipped_bit_gives_blocks_or_a_typed_error(name: str, is_store_atomic: bool) -> None:
    data = FILES[name]

    for place in range(0, len(data) * 8, 37):
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        with contextlib.suppress(CorruptFile, Unsupported):  # nothing else
            for block in read_blocks(bytes(broken), is_store_atomic=is_store_atomic):
                if block.type is BlockType.AVRO_DATA:
                    list(decode_avro_records(block))
                elif block.type is BlockType.DELETE:
                    decode_deletes(block)


@pytest.mark.parametrize("kind", [BlockType.COMMAND, BlockType.DELETE, BlockType.AVRO_DATA])
def test_a_block_that_does_not_say_where_it_belongs_is_refused_with_its_offset(kind: BlockType) -> None:
    first = data_block("1", 1)
    placeless = write_block(kind, {HeaderKey.INSTANT_TIME: "2"}, b"", 9).replace(
        struct.pack(">ii", HeaderKey.INSTANT_TIME, 1) + b"2", struct.pack(">ii", HeaderKey.SCHEMA, 1) + b"2"
    )

    with pytest.raises(CorruptFile, match="without the header") as refusal:
        blocks(first + placeless)

    assert refusal.value.offset == len(first)
