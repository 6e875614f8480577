"""Files made to do harm, one for each trick that we know: none of them may be read."""

import base64
import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from hudi_engine.format.bloom import GROWTH, HEADER
from hudi_engine.format.hfile.block import DATA, FILE_INFO, ROOT_INDEX, Codec, encode_block
from hudi_engine.format.hfile.index import encode_file_info, encode_root_index
from hudi_engine.format.hfile.trailer import Trailer, encode_trailer
from hudi_engine.format.log.block import MAGIC, BlockType, HeaderKey
from hudi_engine.format.log.writer import write_block
from hudi_engine.format.service_records import RecordName, encode, encode_commit_json, schema_text
from tests.fuzz.bombs import deflated
from tests.fuzz.cases import Case, forged
from tests.fuzz.mutations import varint, zigzag

_GIGABYTE = 1 << 30
_OUTSIDE = ("../outside", "/etc/passwd", "a/../../outside", "..")
_NESTED = 100_000
_INSTANT = "20990101000000000"
_COMPLETED = "20990101000001000"


def properties() -> Iterator[Case]:
    start = b"hoodie.table.name=t\nhoodie.table.version=6\n"
    yield forged("v6_mor_killed", "a \\u without digits", start + b"a=\\u12\n")
    yield forged("v6_mor_killed", "a \\u at the end", start + b"a=\\u")
    yield forged("v6_mor_killed", "half of a surrogate pair", start + b"a=\\ud800\n")
    yield forged("v6_mor_killed", "the wrong checksum", start + b"hoodie.table.checksum=1\n")
    yield forged("v6_mor_killed", "four megabytes", start + b"a" * (4 << 20))
    yield forged("v6_mor_killed", "a version of many digits", start.replace(b"=6", b"=" + b"9" * 5000))
    yield forged("v6_mor_killed", "a line of backslashes", b"\\" * (2 << 20))
    yield forged("v6_mor_killed", "lines of one backslash", b"\\\n" * (1 << 20))


def bloom_filters() -> Iterator[Case]:
    for what, bits, hashes, rows in (
        ("2^31-1 bits", 2**31 - 1, 10, 1),
        ("2^31-1 hashes", 64, 2**31 - 1, 1),
        ("2^31-1 rows", 64, 10, 2**31 - 1),
        ("no bits", 0, 10, 1),
    ):
        head = HEADER.pack(-1, hashes, 1, bits)
        data = head + GROWTH.pack(500, 1, rows) + head + bytes(8)
        yield forged("text", what, base64.b64encode(data))


def manifests() -> Iterator[Case]:
    for path in (f"{each}/1_2_0.parquet" for each in _OUTSIDE):
        yield forged("manifest", f"a path outside: {path}", json.dumps({"files": [{"fileName": path}]}).encode())
    yield forged("manifest", "nested lists", b"[" * _NESTED)
    yield forged("manifest", "nested files", b'{"files":' * _NESTED)
    yield forged("manifest", "an infinite name", b'{"files":[{"fileName":1e999}]}')
    yield forged("manifest", "a huge number", b'{"files":[{"fileName":%s}]}' % (b"9" * 100_000))
    yield forged("manifest", "a digit of another script", '{"files":[{"fileName":"١_٢_٠.parquet"}]}'.encode())
    yield forged("manifest", "a layer of many digits", b'{"files":[{"fileName":"1_2_%s.parquet"}]}' % (b"9" * 9999))


def schemas() -> Iterator[Case]:
    deep = b'{"type":"array","items":'
    yield forged("schema", "nested arrays", deep * _NESTED + b'"int"' + b"}" * _NESTED)
    yield forged("schema", "49 nested arrays", _in_record(deep * 49 + b'"int"' + b"}" * 49))
    yield forged("schema", "a record in itself", _in_record(b'"r"'))
    yield forged("schema", "a fixed type of 2^62", _in_record(b'{"type":"fixed","name":"f","size":%d}' % 2**62))
    yield forged("schema", "records used twice, 40 deep", _in_record(json.dumps(_doubled(40)).encode()))
    yield forged(
        "schema", "half of a character", b'{"type":"record","name":"r","fields":[{"name":"\\ud800","type":"int"}]}'
    )


def plans() -> Iterator[Case]:
    schema = schema_text(RecordName.COMPACTION_PLAN, 9).encode()
    kind = "compaction.requested"
    yield forged(kind, "an array of 2^60", _container(schema, varint(2) + zigzag(2**60)))
    yield forged(kind, "an array of -2^60", _container(schema, varint(2) + zigzag(-(2**60)) + zigzag(8)))
    yield forged(kind, "an array of -2^63", _container(schema, varint(2) + varint(2**64 - 1) + zigzag(8)))
    yield forged(kind, "a header of 2^60 entries", b"Obj\x01" + zigzag(2**60))
    yield forged(kind, "a header of -2^60 entries", b"Obj\x01" + zigzag(-(2**60)) + zigzag(2**60) + bytes(40))
    yield forged(kind, "2^60 records", _container(schema, bytes(8), records=2**60))
    yield forged(kind, "a block of 2^60 bytes", _container(schema, bytes(8), size=2**60))
    yield forged(kind, "a block of -1 bytes", _container(schema, bytes(8), size=-1))
    bomb = deflated(b"", _GIGABYTE)
    yield forged(kind, "a gigabyte of zeros, deflated", _container(schema, bomb, codec=b"deflate"))
    bomb = deflated(b"", 16 << 20)
    yield forged(kind, "16 MB of zeros, deflated", _container(schema, bomb, codec=b"deflate"))
    deep = b'{"type":"array","items":' * 40_000
    yield forged(kind, "a schema nested without an end", _container(deep, bytes(8)))
    empty = b'{"type":"record","name":"HoodieCompactionPlan","namespace":"org.apache.hudi.avro.model","fields":[]}'
    yield forged(kind, "a record without fields", _container(empty, b"", records=2**31))
    for path in _OUTSIDE:
        operation: dict[str, object] = {
            "baseInstantTime": "1",
            "fileId": "f",
            "partitionPath": "p",
            "dataFilePath": path,
        }
        plan: dict[str, object] = {"operations": [operation]}
        yield forged(kind, f"a path outside: {path}", encode(RecordName.COMPACTION_PLAN, plan, 9))
        plan = {"operations": [{**operation, "partitionPath": path, "dataFilePath": "f_1_1.parquet"}]}
        yield forged(kind, f"a path outside: partition {path}", encode(RecordName.COMPACTION_PLAN, plan, 9))
        plan = {"operations": [{**operation, "dataFilePath": "f_1_1.parquet", "deltaFilePaths": [path]}]}
        yield forged(kind, f"a path outside: log {path}", encode(RecordName.COMPACTION_PLAN, plan, 9))


def avro_commits() -> Iterator[Case]:
    schema = schema_text(RecordName.COMMIT, 9).encode()
    for what, number in (("2^60", 2**60), ("-2^60", -(2**60))):
        yield forged("commit", f"a map of {what}", _container(schema, varint(2) + zigzag(number) + zigzag(8)))
    # Two thousand blocks of one entry each, whose negative counts carry sizes that lie.
    entry = zigzag(-1) + zigzag(2**60) + varint(2) + b"a" + varint(0)
    yield forged("commit", "a map of lying blocks", _container(schema, varint(2) + entry * 2000 + b"\xff"))
    for record in _hostile_commits():
        yield forged("commit", record[0], encode(RecordName.COMMIT, record[1], 9))
    for path in _OUTSIDE:
        commit = {"partitionToReplaceFileIds": {path: ["f"]}}
        yield forged("replacecommit", f"a path outside: {path}", encode(RecordName.REPLACE_COMMIT, commit, 9))


def json_commits() -> Iterator[Case]:
    for record in _hostile_commits():
        yield forged("commit", record[0], encode_commit_json(RecordName.COMMIT, record[1]))
    yield forged("commit", "nested lists", b"[" * _NESTED)
    yield forged("commit", "nested maps", b'{"a":' * _NESTED)
    yield forged("commit", "nested maps that end", b'{"extraMetadata":' * 900 + b"{}" + b"}" * 900)
    stat = b'{"partitionToWriteStats":{"p":[{"path":"p/f","numWrites":%s}]}}'
    for number in (b"1e999", b"9" * 30, b"9" * 100_000, b"NaN", b"-Infinity", b'"1"', b"true"):
        yield forged("commit", f"the number {number[:30].decode()}", stat % number)
    yield forged("commit", "a text in UTF-16", '{"operationType":"\ud83d"}'.encode("utf-16", "surrogatepass"))
    schema = json.dumps(json.dumps(_doubled(40))).encode()
    yield forged("commit", "a schema that swells", b'{"extraMetadata":{"schema":%s}}' % schema)
    yield forged("commit", "a schema that is none", b'{"extraMetadata":{"schema":"[[[["}}')


def hfiles() -> Iterator[Case]:
    cell = struct.pack(">iih", 13, 4, 1) + b"k" + b"\0\x7f" + b"\xff" * 7 + b"\x04" + b"four" + b"\0"
    block = b"".join(encode_block(DATA, len(cell), cell))
    for name, at in (("its size on disk", 8), ("its size unpacked", 12), ("its size with the header", 29)):
        for number in (2**31 - 1, -(2**31), -1, 0):
            forgery = block[:at] + struct.pack(">i", number) + block[at + 4 :]
            yield forged("native_1.2.0_gz", f"a block of which {name} is {number}", _hfile([forgery], Codec.NONE))
    for number in (2**31 - 1, 2**31, 2**32 - 1):
        forgery = cell[:4] + struct.pack(">I", number) + cell[8:]
        blocks = [b"".join(encode_block(DATA, len(cell), forgery))]
        yield forged("native_1.2.0_gz", f"a value of {number} bytes", _hfile(blocks, Codec.NONE))
    bomb = deflated(b"", _GIGABYTE, wbits=31)
    for claim in (0, 100, 1 << 20, 128 << 20, _GIGABYTE, 2**31 - 1):
        forgery = b"".join(encode_block(DATA, claim, bomb))
        yield forged("native_1.2.0_gz", f"a gigabyte of zeros that claims to be {claim}", _hfile([forgery], Codec.GZ))
    whole = _huge_cell(100 << 20)
    many = [b"".join(encode_block(DATA, 100 << 20, whole))] * 10
    yield forged("native_1.2.0_gz", "ten blocks of 100 MB each in a megabyte", _hfile(many, Codec.GZ))
    for field in ("data_index_count", "meta_index_count", "entry_count", "index_levels", "load_on_open_offset"):
        for value in (2**31 - 1, 2**60, 2**64 - 1):
            forgery = _hfile([block], Codec.NONE, **{field: value})
            yield forged("native_1.2.0_gz", f"a trailer whose {field} is {value}", forgery)
    yield forged("native_1.2.0_gz", "the same block in the index twice", _hfile([block], Codec.NONE, repeat=2))
    yield forged("native_1.2.0_gz", "16 levels of index", _hfile([block], Codec.NONE, index_levels=16))


def logs() -> Iterator[Case]:
    seed = "v9_avro/2"
    header = {HeaderKey.INSTANT_TIME: "1"}
    frame = struct.pack(">iii", 1, 3, 2**31 - 1) + bytes(64)
    size = len(frame) + 8
    hostile = MAGIC + struct.pack(">q", size) + frame + struct.pack(">q", size + len(MAGIC))
    yield forged(seed, "a header of 2^31-1 entries", hostile)
    for number in (2**62, 2**63 - 1, -1, -(2**63), 0, 2**31):
        yield forged(seed, f"a block of {number} bytes", MAGIC + struct.pack(">q", number) + bytes(64))
    schema = '{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"int"}}]}'
    data = {**header, HeaderKey.SCHEMA: schema}
    for what, content in (
        ("2^31-1 records", struct.pack(">ii", 3, 2**31 - 1) + bytes(64)),
        ("a record of 2^31-1 bytes", struct.pack(">iii", 3, 1, 2**31 - 1) + bytes(64)),
        ("a record of -1 bytes", struct.pack(">iii", 3, 1, -1) + bytes(64)),
        ("an array of 2^60", _framed(zigzag(2**60))),
        ("an array of -2^60", _framed(zigzag(-(2**60)) + zigzag(2**60))),
        ("an array of -2^63", _framed(varint(2**64 - 1) + zigzag(9))),
    ):
        yield forged(seed, what, write_block(BlockType.AVRO_DATA, data, content, 8))
    deep = '{"type":"record","name":"r","fields":[{"name":"a","type":' + '{"type":"array","items":' * 30_000
    block = write_block(BlockType.AVRO_DATA, {**header, HeaderKey.SCHEMA: deep}, _framed(b"\0"), 8)
    yield forged(seed, "a schema nested without an end", block)
    swelling = json.dumps({"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", _doubled(13)]}]})
    many = struct.pack(">ii", 3, 100_000) + (struct.pack(">i", 1) + b"\0") * 100_000
    block = write_block(BlockType.AVRO_DATA, {**header, HeaderKey.SCHEMA: swelling}, many, 8)
    yield forged(seed, "nulls of a record of 8192 columns", block)
    deletes = varint(2**61) + bytes(32)
    content = struct.pack(">ii", 3, len(deletes)) + deletes
    yield forged(seed, "2^60 deletions", write_block(BlockType.DELETE, header, content, 8))
    bomb = _hfile([b"".join(encode_block(DATA, 1 << 20, deflated(b"", _GIGABYTE, wbits=31)))], Codec.GZ)
    yield forged(seed, "a bomb in an HFile block", write_block(BlockType.HFILE_DATA, data, bomb, 8))
    content = b"PAR1" + bytes(20) + struct.pack("<I", 2**31) + b"PAR1"
    yield forged(seed, "a Parquet footer of 2^31", write_block(BlockType.PARQUET_DATA, data, content, 8))


def tables(files: Mapping[str, bytes]) -> Iterator[Case]:
    """Tables that name paths outside of themselves, in every place that holds paths."""
    layout_2 = any("/timeline/" in path for path in files)
    main = ".hoodie/hoodie.properties"
    key = "hoodie.timeline.path" if layout_2 else "hoodie.archivelog.folder"
    for path in ("../../outside", "..", "a/../../../outside"):
        yield forged(main, f"a path outside: {key}={path}", files[main] + f"{key}={path}\n".encode())
    if layout_2:
        for path in ("../../../outside", ".."):
            line = f"hoodie.timeline.history.path={path}\n".encode()
            yield forged(main, f"a path outside: history {path}", files[main] + line)
    folder = ".hoodie/timeline" if layout_2 else ".hoodie"
    version = 8 if layout_2 else 6
    for path in _OUTSIDE:
        operation = {"baseInstantTime": "1", "fileId": "f", "partitionPath": "", "dataFilePath": path}
        plan = encode(RecordName.COMPACTION_PLAN, {"operations": [operation]}, version)
        yield forged(f"{folder}/{_INSTANT}.compaction.requested", f"a path outside: plan {path}", plan)
        commit = {"partitionToReplaceFileIds": {path: ["f"]}}
        if layout_2:
            name, data = f"{_INSTANT}_{_COMPLETED}.replacecommit", encode(RecordName.REPLACE_COMMIT, commit, version)
        else:
            name, data = f"{_INSTANT}.replacecommit", encode_commit_json(RecordName.REPLACE_COMMIT, commit)
        yield forged(f"{folder}/{name}", f"a path outside: replaced {path}", data)


def _hostile_commits() -> Iterator[tuple[str, dict[str, object]]]:
    for path in _OUTSIDE:
        yield f"a path outside: {path}", {"partitionToWriteStats": {"p": [{"path": path, "fileId": "f"}]}}
        yield f"a path outside: partition {path}", {"partitionToWriteStats": {path: [{"path": "p/f"}]}}


def _in_record(kind: bytes) -> bytes:
    return b'{"type":"record","name":"r","fields":[{"name":"a","type":%s}]}' % kind


def _doubled(levels: int) -> dict[str, object]:
    """A record with two fields, each a record with two fields, and so on: as a tree it has 2^levels leaves."""
    kind: object = "int"
    names = count()
    for _ in range(levels):
        name = f"d{next(names)}"
        kind = {
            "type": "record",
            "name": name,
            "fields": [{"name": "l", "type": kind}, {"name": "r", "type": _named(kind)}],
        }
    assert isinstance(kind, dict)
    return kind


def _named(kind: object) -> object:
    return kind["name"] if isinstance(kind, dict) else kind


def _container(
    schema: bytes, content: bytes, *, records: int = 1, size: int | None = None, codec: bytes = b"null"
) -> bytes:
    entries = ((b"avro.schema", schema), (b"avro.codec", codec))
    header = b"".join(zigzag(len(part)) + part for entry in entries for part in entry)
    sync = bytes(range(16))
    length = zigzag(len(content) if size is None else size)
    return b"".join((b"Obj\x01", zigzag(2), header, b"\0", sync, zigzag(records), length, content, sync))


def _framed(record: bytes) -> bytes:
    return struct.pack(">iii", 3, 1, len(record)) + record


def _hfile(blocks: list[bytes], codec: Codec, repeat: int = 1, **lies: Any) -> bytes:
    """An HFile of these blocks, each with one cell so far as the trailer knows, that is otherwise as it should be."""
    places, at = [], 0
    for number, block in enumerate(blocks):
        places += [(b"k%d" % number, at, len(block))] * repeat
        at += len(block)
    stored = _packed(encode_root_index(places), codec)
    root = b"".join(encode_block(ROOT_INDEX, *stored))
    meta = b"".join(encode_block(ROOT_INDEX, *_packed(b"", codec)))
    info = b"".join(encode_block(FILE_INFO, *_packed(encode_file_info({}, b"k"), codec)))
    index = len(root) + len(meta)
    trailer = Trailer(at + index, at, index, at, len(places), 0, len(places), 1, 0, places[-1][1], codec)
    return b"".join((*blocks, root, meta, info, encode_trailer(replace(trailer, **lies))))


def _packed(raw: bytes, codec: Codec) -> tuple[int, bytes]:
    return len(raw), zlib.compress(raw, wbits=31) if codec is Codec.GZ else raw


def _huge_cell(size: int) -> bytes:
    """The gzip of one cell that fills so many bytes with a value of zeros."""
    head = struct.pack(">iih", 13, size - 22, 1) + b"k" + b"\0\x7f" + b"\xff" * 7 + b"\x04"
    return deflated(head, size - len(head), wbits=31)
