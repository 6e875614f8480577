"""Avro containers, strictly: against fastavro as another implementation, and against bytes made to harm."""

import contextlib
import io
import json
import time
import zlib
from collections.abc import Callable
from typing import Any

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format import avro_file
from hudi_engine.format.avro_encode import encode_long

Json = Any
FIXED = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
PAIR = {"type": "record", "name": "Pair", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]}
PAIRS = [{"a": 1, "b": "x"}, {"a": -(2**63), "b": "ü"}, {"a": 2**63 - 1, "b": ""}]


def container(schema: Json, content: bytes, count: int = 1, codec: str = "null") -> bytes:
    """A sound frame around a content that need not be."""
    text = json.dumps(schema).encode()
    meta = b"".join(encode_long(len(part)) + part for part in (b"avro.schema", text, b"avro.codec", codec.encode()))
    head = b"Obj\x01" + encode_long(2) + meta + b"\0" + b"s" * 16
    return head + encode_long(count) + encode_long(len(content)) + content + b"s" * 16


def record(*types: Json) -> Json:
    fields = [{"name": f"f{place}", "type": kind} for place, kind in enumerate(types)]
    return {"type": "record", "name": "R", "fields": fields}


def text_of(schema: Json) -> str:
    return json.dumps(schema)


@st.composite
def schemas_and_values(draw: st.DrawFn) -> tuple[Json, list[object]]:
    kinds = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=5))
    fields = [{"name": f"f{place}", "type": TYPES[kind][0](place)} for place, kind in enumerate(kinds)]
    values = st.fixed_dictionaries({f"f{place}": TYPES[kind][1] for place, kind in enumerate(kinds)})
    return {"type": "record", "name": "R", "fields": fields}, draw(st.lists(values, max_size=3))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LONG = st.integers(-(2**63), 2**63 - 1)
TYPES: dict[str, tuple[Callable[[int], Json], st.SearchStrategy[Any]]] = {
    "boolean": (lambda _: "boolean", st.booleans()),
    "int": (lambda _: "int", st.integers(-(2**31), 2**31 - 1)),
    "long": (lambda _: "long", LONG),
    "float": (lambda _: "float", st.floats(width=32, allow_nan=False)),
    "double": (lambda _: "double", st.floats(allow_nan=False)),
    "bytes": (lambda _: "bytes", st.binary(max_size=8)),
    "string": (lambda _: "string", TEXT),
    "nullable": (lambda _: ["null", "long"], st.none() | LONG),
    "nullable last": (lambda _: ["string", "null"], st.none() | TEXT),
    "fixed": (lambda n: {"type": "fixed", "name": f"X{n}", "size": 3}, st.binary(min_size=3, max_size=3)),
    "enum": (lambda n: {"type": "enum", "name": f"E{n}", "symbols": ["A", "B"]}, st.sampled_from(["A", "B"])),
    "array": (lambda _: {"type": "array", "items": ["null", "string"]}, st.lists(st.none() | TEXT, max_size=3)),
    "map": (lambda _: {"type": "map", "values": "double"}, st.dictionaries(TEXT, st.floats(allow_nan=False))),
    "record": (
        lambda n: {"type": "record", "name": f"N{n}", "fields": [{"name": "x", "type": "int"}]},
        st.fixed_dictionaries({"x": st.integers(-9, 9)}),
    ),
}


@FIXED
@given(schemas_and_values())
def test_another_implementation_reads_what_we_write(case: tuple[Json, list[object]]) -> None:
    schema, values = case

    written = avro_file.write_container(text_of(schema), values)

    assert list(fastavro.reader(io.BytesIO(written))) == values


@pytest.mark.thorough
@FIXED
@given(schemas_and_values(), st.sampled_from(["null", "deflate"]), st.sampled_from([1, 16000]))
def test_we_read_what_another_implementation_writes(
    case: tuple[Json, list[object]], codec: str, sync_interval: int
) -> None:
    schema, values = case
    out = io.BytesIO()
    fastavro.writer(out, schema, values, codec=codec, sync_interval=sync_interval)

    assert avro_file.read_container(out.getvalue()) == values


@pytest.mark.thorough
@FIXED
@given(schemas_and_values(), st.data())
def test_a_cut_container_is_corrupt_but_at_the_end_of_a_block(
    case: tuple[Json, list[object]], data: st.DataObject
) -> None:
    schema, values = case
    whole = avro_file.write_container(text_of(schema), values)
    head = len(avro_file.write_container(text_of(schema), []))
    end = data.draw(st.integers(0, len(whole) - 1).filter(lambda end: end != head))

    with pytest.raises(CorruptFile) as raised:
        avro_file.read_container(whole[:end])

    assert 0 <= raised.value.offset <= end


@pytest.mark.thorough
@FIXED
@given(schemas_and_values(), st.data())
def test_a_flipped_bit_never_escapes_as_another_error(case: tuple[Json, list[object]], data: st.DataObject) -> None:
    schema, values = case
    broken = bytearray(avro_file.write_container(text_of(schema), values))
    place = data.draw(st.integers(0, len(broken) * 8 - 1))
    broken[place // 8] ^= 1 << place % 8

    with contextlib.suppress(CorruptFile, Unsupported):  # nothing else
        avro_file.read_container(bytes(broken))


def test_the_same_records_give_the_same_bytes_and_others_another_marker() -> None:
    first, again = (avro_file.write_container(text_of(PAIR), PAIRS) for _ in range(2))
    other = avro_file.write_container(text_of(PAIR), PAIRS[:2])

    assert first == again
    assert avro_file.read_header(first).sync != avro_file.read_header(other).sync


def test_a_plan_file_must_hold_one_record() -> None:
    for records in ([], PAIRS):
        with pytest.raises(CorruptFile, match="where one is promised"):
            avro_file.read_one(avro_file.write_container(text_of(PAIR), records))


HUGE = encode_long(2**60)
MINUS = encode_long(-(2**62))
HOSTILE = {
    "a block of 2^60 records": container(record("int"), b"\0", count=2**60),
    "a block of minus one records": container(record("int"), b"\0", count=-1),
    "an array of 2^60 items": container(record({"type": "array", "items": "int"}), HUGE + b"\0"),
    "an array of minus 2^62 items": container(record({"type": "array", "items": "int"}), MINUS + b"\2\0"),
    "a map of 2^60 entries": container(record({"type": "map", "values": "int"}), HUGE + b"\0"),
    "a text of 2^60 bytes": container(record("string"), HUGE + b"abc"),
    "bytes of minus 2^62 length": container(record("bytes"), MINUS + b"abc"),
    "a text that is no UTF-8": container(record("string"), b"\4\xff\xfe"),
    "an integer of eleven bytes": container(record("long"), b"\xff" * 10 + b"\1"),
    "an integer of 65 bits": container(record("long"), b"\xff" * 9 + b"\x02"),
    "a long in an int": container(record("int"), encode_long(2**31)),
    "a boolean of two": container(record("boolean"), b"\2"),
    "a branch beyond the union": container(record(["null", "int"]), b"\4\0"),
    "a branch before the union": container(record(["null", "int"]), b"\1\0"),
    "a symbol before the enum": container(record({"type": "enum", "name": "E", "symbols": ["A"]}), b"\1"),
    "bytes left over": container(record("int"), b"\0\0"),
    "a record that is cut": container(record("double"), b"\0" * 7),
    "a codec content that is none": container(record("int"), b"\xff\xff\xff", codec="deflate"),
    "a schema that is no JSON": container(record("int"), b"\0").replace(b'{"type"', b'("type"', 1),
    "a name that is not defined": container(record("Other"), b"\0"),
    "one name twice": container(record(*[{"type": "fixed", "name": "F", "size": 1}] * 2), b"\0\0"),
    "a union of two integers": container(record(["int", "int"]), b"\0\0"),
    "a schema nested 100000 deep": container(record("int"), b"\0").replace(
        json.dumps(record("int")).encode(), b"[" * len(json.dumps(record("int")))
    ),
    "another sync marker": container(record("int"), b"\0")[:-1] + b"t",
    "not Avro at all": b"PAR1" + bytes(100),
    "nothing": b"",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bytes_are_corrupt_and_quickly_so(what: str) -> None:
    began = time.process_time()

    with pytest.raises(CorruptFile):
        avro_file.read_container(HOSTILE[what])

    assert time.process_time() - began < 1


def chain(depth: int) -> Json:
    inner: Json = "int"
    for level in range(depth):
        inner = {"type": "record", "name": f"R{level}", "fields": [{"name": "x", "type": inner}]}
    return inner


def doubling(depth: int) -> Json:
    """A schema of a few lines whose value has 2^depth parts."""
    kind: Json = {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "int"}]}
    for level in range(1, depth):
        fields = [{"name": "x", "type": kind}, {"name": "y", "type": f"R{level - 1}"}]
        kind = {"type": "record", "name": f"R{level}", "fields": fields}
    return kind


BEYOND_US = {
    "a record that holds itself": record(["null", {"type": "array", "items": "R"}]),
    "a field that takes no bytes": record("null"),
    "an array of nulls": record({"type": "array", "items": "null"}),
    "a map of empty records": record({"type": "map", "values": {"type": "record", "name": "E", "fields": []}}),
    "a fixed type of no bytes": record({"type": "fixed", "name": "F", "size": 0}),
    "records nested 60 deep": chain(60),
    "records that swell the memory": chain(20),
    "a decimal of a thousand digits": record({"type": "bytes", "logicalType": "decimal", "precision": 1000}),
}


@pytest.mark.parametrize("what", BEYOND_US)
def test_a_schema_that_could_swell_or_recurse_is_refused(what: str) -> None:
    with pytest.raises(Unsupported):
        avro_file.read_container(container(BEYOND_US[what], b"\0" * 100))


def test_a_schema_whose_parts_double_costs_no_more_than_its_bytes() -> None:
    began = time.process_time()

    with pytest.raises((CorruptFile, Unsupported)):
        avro_file.read_container(container(doubling(40), b"\0" * 1000))

    assert time.process_time() - began < 1


def test_an_unknown_codec_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="snappy"):
        avro_file.read_container(container(record("int"), b"\0", codec="snappy"))


@pytest.mark.thorough
def test_a_deflate_bomb_is_corrupt() -> None:
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = b"".join(deflater.compress(bytes(2**20)) for _ in range(200)) + deflater.flush()

    with pytest.raises(CorruptFile, match="beyond reason"):
        avro_file.read_container(container(record({"type": "array", "items": "int"}), bomb, codec="deflate"))


MISFITS: list[tuple[Json, object]] = [
    ("int", 2**31),
    ("int", True),
    ("int", 1.0),
    ("long", 2**63),
    ("boolean", 1),
    ("float", 1e39),
    ("double", "1"),
    ("string", b"x"),
    ("bytes", "x"),
    ({"type": "fixed", "name": "F", "size": 2}, b"x"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, "B"),
    ({"type": "array", "items": "int"}, {}),
    ({"type": "map", "values": "int"}, []),
    (["int", "string"], 1),
    (["null", "int"], "1"),
]


@pytest.mark.parametrize(("kind", "value"), MISFITS, ids=str)
def test_a_value_of_another_type_is_refused_with_its_place(kind: Json, value: object) -> None:
    with pytest.raises(Contradiction, match=r"R\.f0 "):
        avro_file.write_container(text_of(record(kind)), [{"f0": value}])


def test_a_wide_union_says_which_branch_it_takes() -> None:
    schema = record(["null", "int", "string"])
    values: list[object] = [{"f0": None}, {"f0": ("int", 1)}, {"f0": ("string", "x")}]

    assert avro_file.read_container(avro_file.write_container(text_of(schema), values)) == values


@pytest.mark.parametrize("kind", ["int", "string", "boolean"])
def test_a_decimal_of_what_has_no_bytes_is_no_decimal(kind: str) -> None:
    schema = record({"type": kind, "logicalType": "decimal", "precision": 4, "scale": 2})

    (read,) = avro_file.read_container(container(schema, b"\0"))

    assert read == {"f0": {"int": 0, "string": "", "boolean": False}[kind]}


def test_a_decimal_with_more_digits_than_promised_is_corrupt() -> None:
    schema = record({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 1})

    with pytest.raises(CorruptFile, match="more than 2 digits"):
        avro_file.read_container(container(schema, b"\2\x64"))
