"""Avro records decoded into Arrow columns, against fastavro's writer and reader and the engine's own decoder."""

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_decode, avro_schema, avro_types
from hudi_engine.format.avro_columns import decode_columns, framed_records
from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.log.block import BlockType, HeaderKey
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.records import records_head

Json = Any  # schemas and values as the json module and fastavro know them
LOCKSTEP = 64
"""Copies of a record enough that collections are not walked one by one."""

FIXED = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
EPOCH = datetime(1970, 1, 1)
GOLDEN = Path(__file__).parents[2] / "golden"


def record(*fields: tuple[str, Json], name: str = "row") -> dict[str, Json]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields]}


def encoded(schema: Json, value: Json) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def decoded(schema: Json, values: Iterable[bytes], columns: list[str] | None = None) -> pa.Table:
    values = list(values)
    ends = np.cumsum([len(value) for value in values], dtype=np.int64)
    starts = ends - np.array([len(value) for value in values], dtype=np.int64)
    table = decode_columns(json.dumps(schema), b"".join(values), starts, ends, columns)
    table.validate(full=True)
    # A cast to its own types fails where a required field is null beneath a null.
    assert table.cast(table.schema).equals(table)
    return table


def one_column(kind: Json, *values: bytes) -> list[Json]:
    column: list[Json] = decoded(record(("x", kind)), values)["x"].to_pylist()
    return column


def varint(number: int) -> bytes:
    rest, out = (number << 1) ^ (number >> 63), bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


INT = st.integers(-(1 << 31), (1 << 31) - 1)
LONG = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-70, 70)
MICROS = st.integers(-62_000_000_000_000_000, 250_000_000_000_000_000)
LEAVES: dict[str, tuple[Json, st.SearchStrategy[Json], Callable[[Json], Json]]] = {
    "null": ("null", st.none(), lambda v: v),
    "boolean": ("boolean", st.booleans(), lambda v: v),
    "int": ("int", INT, lambda v: v),
    "long": ("long", LONG, lambda v: v),
    "float": ("float", st.floats(width=32, allow_nan=False), lambda v: v),
    "double": ("double", st.floats(allow_nan=False), lambda v: v),
    "bytes": ("bytes", st.binary(max_size=40), lambda v: v),
    "string": ("string", st.text(max_size=20), lambda v: v),
    "uuid": ({"type": "string", "logicalType": "uuid"}, st.uuids().map(str), lambda v: v),
    "date": (
        {"type": "int", "logicalType": "date"},
        st.integers(-700_000, 2_900_000),
        lambda v: (EPOCH + timedelta(days=v)).date(),
    ),
    "time-millis": (
        {"type": "int", "logicalType": "time-millis"},
        st.integers(0, 86_399_999),
        lambda v: (EPOCH + timedelta(milliseconds=v)).time(),
    ),
    "time-micros": (
        {"type": "long", "logicalType": "time-micros"},
        st.integers(0, 86_399_999_999),
        lambda v: (EPOCH + timedelta(microseconds=v)).time(),
    ),
    "timestamp-millis": (
        {"type": "long", "logicalType": "timestamp-millis"},
        MICROS.map(lambda v: v // 1000),
        lambda v: (EPOCH + timedelta(milliseconds=v)).replace(tzinfo=UTC),
    ),
    "timestamp-micros": (
        {"type": "long", "logicalType": "timestamp-micros"},
        MICROS,
        lambda v: (EPOCH + timedelta(microseconds=v)).replace(tzinfo=UTC),
    ),
    "local-timestamp-millis": (
        {"type": "long", "logicalType": "local-timestamp-millis"},
        MICROS.map(lambda v: v // 1000),
        lambda v: EPOCH + timedelta(milliseconds=v),
    ),
    "local-timestamp-micros": (
        {"type": "long", "logicalType": "local-timestamp-micros"},
        MICROS,
        lambda v: EPOCH + timedelta(microseconds=v),
    ),
}


@st.composite
def simple_kinds(draw: st.DrawFn, names: Callable[[], str]) -> Json:
    match draw(st.sampled_from(["leaf", "leaf", "leaf", "fixed", "enum", "decimal"])):
        case "leaf":
            return LEAVES[draw(st.sampled_from([name for name in LEAVES if name != "null"]))][0]
        case "fixed":
            return {"type": "fixed", "name": names(), "size": draw(st.integers(1, 20))}
        case "enum":
            return {"type": "enum", "name": names(), "symbols": ["one", "two", "three"][: draw(st.integers(1, 3))]}
        case _:
            precision = draw(st.integers(1, 38))
            form: dict[str, Json] = {"type": "bytes"}
            if draw(st.booleans()):
                # From as small as the precision needs to larger than the number that Arrow keeps.
                form = {"type": "fixed", "name": names(), "size": precision // 2 + 1 + draw(st.integers(0, 9))}
            return form | {"logicalType": "decimal", "precision": precision, "scale": draw(st.integers(0, precision))}


@st.composite
def kinds(draw: st.DrawFn, names: Callable[[], str], depth: int) -> Json:
    inner = kinds(names, depth - 1)
    shapes = ["nullable", "nullable", "union", "array", "map", "record"] if depth else []
    match draw(st.sampled_from(["simple", "simple", *shapes])):
        case "nullable":
            return draw(st.permutations(["null", draw(inner.filter(lambda kind: not isinstance(kind, list)))]))
        case "union":
            plain = draw(st.lists(st.sampled_from(["null", "long", "string", "boolean"]), unique=True, max_size=4))
            named = [record(("value", draw(inner)), name=names()) for _ in range(draw(st.integers(0, 2)))]
            return [*plain, *named] or ["double"]
        case "array":
            return {"type": "array", "items": draw(inner)}
        case "map":
            return {"type": "map", "values": draw(inner)}
        case "record":
            return record(*[(f"f{at}", draw(inner)) for at in range(draw(st.integers(1, 4)))], name=names())
        case _:
            return draw(simple_kinds(names))


def values_of(kind: Json) -> st.SearchStrategy[Json]:
    match kind:
        case list():
            return st.sampled_from(kind).flatmap(branch_values)
        case {"type": "record", "fields": list(fields)}:
            return st.fixed_dictionaries({field["name"]: values_of(field["type"]) for field in fields})
        case {"type": "array", "items": items}:
            return st.lists(values_of(items), max_size=4)
        case {"type": "map", "values": values}:
            return st.dictionaries(st.text(max_size=5), values_of(values), max_size=4)
        case _:
            return simple_values_of(kind)


def branch_values(branch: Json) -> st.SearchStrategy[Json]:
    return st.none() if branch == "null" else values_of(branch).map(lambda value: (tag(branch), value))


def simple_values_of(kind: Json) -> st.SearchStrategy[Json]:
    match kind:
        case {"logicalType": "decimal", "precision": int(precision), "scale": int(scale)}:
            limit = 10**precision - 1
            return st.integers(-limit, limit).map(lambda value: Decimal(value).scaleb(-scale, avro_decode.EXACT))
        case {"type": "fixed", "size": int(size)}:
            return st.binary(min_size=size, max_size=size)
        case {"type": "enum", "symbols": list(symbols)}:
            return st.sampled_from(symbols)
        case _:
            return LEAVES[leaf_name(kind)][1]


def leaf_name(kind: Json) -> str:
    return str(kind.get("logicalType", kind["type"]) if isinstance(kind, dict) else kind)


def tag(branch: Json) -> str:
    if not isinstance(branch, dict):
        return str(branch)
    return str(branch.get("name", branch["type"]))


def as_arrow(kind: Json, value: Json) -> Json:
    """What `to_pylist` must give for a value."""
    match kind:
        case {"logicalType": "decimal"} | {"type": "fixed" | "enum"}:
            return value
        case list():
            return None if value is None else branch_as_arrow(kind, *value)
        case {"type": "record", "fields": list(fields)}:
            return {field["name"]: as_arrow(field["type"], value[field["name"]]) for field in fields}
        case {"type": "array", "items": items}:
            return [as_arrow(items, item) for item in value]
        case {"type": "map", "values": values}:
            return [(key, as_arrow(values, item)) for key, item in value.items()]
        case _:
            return LEAVES[leaf_name(kind)][2](value)


def branch_as_arrow(union: list[Json], name: str, value: Json) -> Json:
    branches = {tag(branch): branch for branch in union if branch != "null"}
    made = as_arrow(branches[name], value)
    is_struct = len(union) > 2 or len(branches) == 2
    return {key: made if key == name else None for key in branches} if is_struct else made


@st.composite
def tables(draw: st.DrawFn) -> tuple[Json, list[Json]]:
    counter = iter(range(1000))
    schema = record(("a", draw(kinds(lambda: f"n{next(counter)}", 3))), ("b", "long"))
    return schema, draw(st.lists(values_of(schema), min_size=1, max_size=6))


@FIXED
@given(tables())
def test_every_schema_and_record_comes_back_as_it_was_written(
    case: tuple[Json, list[Json]],
) -> None:
    schema, rows = case
    written = [encoded(schema, row) for row in rows]

    few = decoded(schema, written)
    many = decoded(schema, written * LOCKSTEP, columns=["a"])
    skipped = decoded(schema, written * LOCKSTEP, columns=["b"])

    expected = [as_arrow(schema, row) for row in rows]
    assert few.to_pylist() == expected
    assert many["a"].to_pylist() == [row["a"] for row in expected] * LOCKSTEP
    assert skipped.to_pylist() == [{"b": row["b"]} for row in expected] * LOCKSTEP


@pytest.mark.parametrize("number", [0, -1, 63, 64, -64, -65, 8191, 8192, 1 << 34, (1 << 55) - 1, 1 << 55, 1 << 62])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_any_length_is_read_next_to_short_ones(number: int, sign: int) -> None:
    values = [1, sign * number, -2, (1 << 63) - 1, -(1 << 63)]

    assert one_column("long", *map(varint, values)) == values
    assert one_column("long", *map(varint, values[:3])) == values[:3]


@pytest.mark.parametrize("wrong", [b"\x80" * 9 + b"\x02", b"\xff" * 10, b"\xff" * 9 + b"\x81\x00"])
def test_an_integer_of_more_than_64_bits_is_refused(wrong: bytes) -> None:
    with pytest.raises(CorruptFile, match="more than 64 bits") as refusal:
        one_column("long", b"\x02", wrong)

    assert refusal.value.offset == 1


def test_an_int_of_more_than_32_bits_is_refused() -> None:
    assert one_column("int", varint((1 << 31) - 1), varint(-(1 << 31))) == [(1 << 31) - 1, -(1 << 31)]
    with pytest.raises(CorruptFile, match="32 bits"):
        one_column("int", varint(1 << 31))


@pytest.mark.parametrize(
    ("kind", "wrong", "what"),
    [
        ("boolean", b"\x02", "boolean"),
        ("string", b"\x02\xff", "not UTF-8"),
        ("string", b"\x04a", "larger than what is left"),
        ("string", b"\x01", "larger than what is left"),
        ("string", varint((1 << 63) - 1), "larger than what is left"),
        ("bytes", varint(-(1 << 63)), "larger than what is left"),
        ("double", b"1234567", "ends within"),
        ({"type": "fixed", "name": "f", "size": 1 << 30}, b"1234567", "ends within"),
        ({"type": "enum", "name": "e", "symbols": ["a"]}, b"\x02", "a symbol"),
        ({"type": "enum", "name": "e", "symbols": ["a"]}, b"\x01", "a symbol"),
        (["null", "long"], b"\x04", "a branch"),
        (["null", "long"], b"\x01", "a branch"),
        (["null", "long"], b"\x84\x80\x00", "a branch"),
        (["null", "long"], b"", "a union should begin"),
        ("long", b"", "within an integer"),
        ("long", b"\x80", "within an integer"),
        ("long", b"\x00\x00", "ends before its place does"),
        ({"type": "array", "items": "long"}, b"\x08\x00", "more items"),
        ({"type": "array", "items": "long"}, varint(-(1 << 63)) + b"\x00", "more items"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1}, b"\x04\x7f\xff", "3 digits"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1}, b"\x00", "decimal of no bytes"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 38}, b"\x22\x01" + bytes(16), "128 bits"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 38}, b"\x22\x00\xff" + bytes(15), "128 bits"),
    ],
)
def test_a_wrong_value_is_refused_with_its_offset(kind: Json, wrong: bytes, what: str) -> None:
    table = record(("before", "long"), ("x", kind))

    with pytest.raises(CorruptFile, match=what) as refusal:
        decoded(table, [b"\x02" + wrong])

    assert 0 <= refusal.value.offset <= 1 + len(wrong)


def test_a_record_may_not_read_into_the_next_one() -> None:
    starts, ends = np.array([0, 2]), np.array([2, 5])

    with pytest.raises(CorruptFile, match="larger than what is left") as refusal:
        decode_columns(json.dumps(record(("x", "string"))), b"\x04ab\x02a", starts, ends)

    assert refusal.value.offset == 1


@pytest.mark.parametrize("copies", [1, LOCKSTEP])
def test_an_array_may_not_read_into_the_next_record(copies: int) -> None:
    schema = record(("x", {"type": "array", "items": "string"}))

    with pytest.raises(CorruptFile) as refusal:
        decoded(schema, [b"\x02\x04ab\x00"] * copies + [b"\x04\x04ab", b"\x02\x00\x00"])

    assert 5 * copies + 1 <= refusal.value.offset <= 5 * copies + 4


@pytest.mark.parametrize("kind", ["long", {"type": "enum", "name": "e", "symbols": ["\ud800"]}])
def test_a_schema_with_half_a_character_in_a_name_is_refused(kind: Json) -> None:
    with pytest.raises(CorruptFile, match="no text"):
        decoded(record(("\ud800" if kind == "long" else "x", kind)), [])


@pytest.mark.parametrize(
    ("starts", "ends"), [([0, 1], [2, 3]), ([0, 2], [2, 4]), ([1, 0], [2, 1]), ([-1], [1]), ([2], [1])]
)
def test_records_that_overlap_or_leave_the_bytes_are_refused(starts: list[int], ends: list[int]) -> None:
    with pytest.raises(CorruptFile, match="overlaps another or leaves"):
        decode_columns(json.dumps(record(("x", "long"))), b"\x00\x00\x00", np.array(starts), np.array(ends))


def test_no_records_are_a_table_of_the_right_columns() -> None:
    schema = record(("x", {"type": "array", "items": "string"}), ("y", ["null", "double"]))

    assert decoded(schema, []).schema == avro_schema.to_arrow(json.dumps(schema))


def test_columns_come_as_the_schema_orders_them_and_unknown_ones_are_left_out() -> None:
    table = decoded(record(("x", "long"), ("y", "long"), ("z", "long")), [b"\x02\x04\x06"], ["z", "w", "x"])

    assert table.to_pylist() == [{"x": 1, "z": 3}]


@pytest.mark.parametrize("copies", [1, LOCKSTEP])
def test_arrays_and_maps_may_come_in_several_blocks_with_and_without_their_size(copies: int) -> None:
    numbers = b"".join([b"\x04\x02\x04", b"\x03\x06\x06\x80\x01", b"\x02\x09", b"\x00"])
    entries = b"".join([b"\x02\x02a", numbers, b"\x01\x0c\x02b", b"\x00", b"\x00"])

    assert one_column({"type": "array", "items": "long"}, *[numbers] * copies) == [[1, 2, 3, 64, -5]] * copies
    nested = {"type": "map", "values": {"type": "array", "items": "long"}}
    assert one_column(nested, *[entries] * copies) == [[("a", [1, 2, 3, 64, -5]), ("b", [])]] * copies
    assert (
        decoded(record(("x", nested), ("y", "long")), [entries + b"\x08"] * copies, ["y"])["y"].to_pylist()
        == [4] * copies
    )


@pytest.mark.thorough
def test_collections_of_very_different_sizes_keep_their_items_in_order() -> None:
    sizes = [0, 1, 70_000, 3, 0, 500, *([2, 0, 7] * 30), 20_000]
    schema = record(("files", {"type": "map", "values": record(("size", "long"), ("gone", "boolean"), name="file")}))
    rows = [
        {"files": {f"{at}-{row}": {"size": at * row, "gone": at % 3 == 0} for at in range(size)}}
        for row, size in enumerate(sizes)
    ]

    table = decoded(schema, [encoded(schema, row) for row in rows])

    assert [{"files": dict(files)} for files in table["files"].to_pylist()] == rows


def test_records_of_many_batches_keep_their_order() -> None:
    schema = record(("x", "long"), ("y", ["null", "string"]))
    rows = [{"x": at, "y": f"{at}" if at % 3 else None} for at in range(40_000)]

    assert decoded(schema, [encoded(schema, row) for row in rows]).to_pylist() == rows


def test_a_record_larger_than_a_batch_is_read() -> None:
    texts = ["a", "b" * (9 << 20), "c"]

    assert one_column("string", *[varint(len(text)) + text.encode() for text in texts]) == texts


def test_a_map_keeps_a_key_that_stands_twice() -> None:
    assert one_column({"type": "map", "values": "long"}, b"\x04\x02a\x02\x02a\x04\x00") == [[("a", 1), ("a", 2)]]


def test_every_type_of_a_data_column_is_the_one_that_the_schema_module_promises() -> None:
    leaves = [kind for name, (kind, _, _) in LEAVES.items() if name != "null"]
    decimals = {"logicalType": "decimal", "precision": 20, "scale": 3}
    leaves += [{"type": "fixed", "name": "f", "size": 3}, {"type": "enum", "name": "e", "symbols": ["a"]}]
    leaves += [{"type": "bytes"} | decimals, {"type": "fixed", "name": "d", "size": 9} | decimals]
    leaves += [{"type": "int", "logicalType": "time-micros"}, record(("in", ["null", "int"]), name="inner")]
    nested = [["null", {"type": "array", "items": ["null", "int"]}], {"type": "map", "values": ["int", "null"]}]
    schema = record(*[(f"c{at}", kind) for at, kind in enumerate([*leaves, *nested])])

    assert decoded(schema, []).schema == avro_schema.to_arrow(json.dumps(schema))


def test_a_wide_union_is_a_struct_of_its_branches_by_their_full_names() -> None:
    wrappers = [record(("value", kind), name=f"model.{name}") for name, kind in [("Int", "int"), ("Text", "string")]]
    array = record(("wrapped", {"type": "array", "items": ["null", "model.Int", "model.Text"]}), name="model.Array")
    schema = record(("least", ["null", *wrappers]), ("most", ["null", "model.Int", "model.Text", array]))
    texts = [("model.Text", {"value": "a"}), None, ("model.Int", {"value": 1})]
    rows = [{"least": texts[0], "most": ("model.Array", {"wrapped": texts})}, {"least": None, "most": texts[2]}]

    first, second = decoded(schema, [encoded(schema, row) for row in rows]).to_pylist()

    text, number = {"model.Int": None, "model.Text": {"value": "a"}}, {"model.Int": {"value": 1}, "model.Text": None}
    assert first["least"] == text
    assert first["most"]["model.Array"] == {"wrapped": [text, None, number]}
    assert second == {"least": None, "most": number | {"model.Array": None}}


def test_a_small_schema_of_very_many_columns_is_refused() -> None:
    kind: Json = record(("x", "long"), name="r0")
    for level in range(1, 20):
        kind = record(("left", kind), ("right", f"r{level - 1}"), name=f"r{level}")

    with pytest.raises(Unsupported, match="nested columns"):
        decoded(kind, [])


@pytest.mark.thorough
def test_nulls_of_very_wide_records_may_not_fill_the_memory() -> None:
    wide = record(*[(f"c{at}", ["null", "string"]) for at in range(2000)], name="wide")
    count = 20_000

    with pytest.raises(Unsupported, match="values in columns"):
        decoded(record(("x", ["null", wide])), [b"\x00"] * count)
    with pytest.raises(Unsupported, match="values in columns"):
        one_column({"type": "array", "items": ["null", wide]}, varint(count) + bytes(count + 1))


def test_a_fixed_type_larger_than_any_block_is_refused() -> None:
    with pytest.raises(Unsupported, match="the size"):
        decoded(record(("x", {"type": "fixed", "name": "f", "size": 1 << 40})), [])


def test_a_value_that_is_no_record_is_refused() -> None:
    with pytest.raises(Unsupported, match="no records"):
        decode_columns('"long"', b"\x00", np.array([0]), np.array([1]))


HOSTILE = record(
    ("name", ["null", "string"]),
    ("number", "long"),
    ("small", ["int", "null"]),
    ("flag", "boolean"),
    ("amount", {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}),
    ("digest", ["null", {"type": "fixed", "name": "f", "size": 5}]),
    ("kind", {"type": "enum", "name": "e", "symbols": ["a", "b"]}),
    ("tags", {"type": "array", "items": ["null", "string"]}),
    ("files", {"type": "map", "values": record(("size", "long"), ("gone", "boolean"), name="file")}),
    ("any", ["null", record(("value", "long"), name="l"), record(("value", "bytes"), name="b")]),
)


def hostile_row(chance: random.Random) -> dict[str, Json]:
    return {
        "name": chance.choice([None, "", "é" * chance.randrange(80)]),
        "number": chance.randrange(-(1 << chance.randrange(1, 64)), 1 << 62),
        "small": chance.choice([None, chance.randrange(1 << 31)]),
        "flag": chance.random() < 0.5,
        "amount": Decimal(chance.randrange(-(10**19), 10**19)).scaleb(-2),
        "digest": chance.choice([None, b"12345"]),
        "kind": chance.choice("ab"),
        "tags": chance.choices([None, "x", "yy"], k=chance.randrange(4)),
        "files": {f"{at}": {"size": at << 40, "gone": False} for at in range(chance.randrange(4))},
        "any": chance.choice([None, ("l", {"value": 9}), ("b", {"value": b"12"})]),
    }


def as_engine_reads(row: dict[str, Json]) -> dict[str, Json]:
    """A row of a table in the form in which the engine's own decoder gives it."""
    files, union = row["files"], row["any"]
    chosen = {key: value for key, value in union.items() if value is not None} if isinstance(union, dict) else {}
    return row | {"files": dict(files), "any": next(iter(chosen.items()), None)}


@pytest.mark.parametrize("count", [3, LOCKSTEP])
def test_flipped_and_cut_bytes_give_what_the_plain_decoder_gives_or_corrupt_file(count: int) -> None:
    chance = random.Random(count)
    schema = json.dumps(HOSTILE)
    read = avro_decode.compile_decoder(avro_types.parse(schema, 0))
    parts = [encoded(HOSTILE, hostile_row(chance)) for _ in range(count)]
    ends = np.cumsum([len(part) for part in parts])
    starts = ends - np.array([len(part) for part in parts])
    accepted = 0

    for _ in range(200):
        data, moved = damaged(chance, b"".join(parts)), ends.copy()
        if chance.random() < 0.1:
            moved[-1] = chance.randrange(starts[-1], ends[-1] + 1)
        rows = rows_or_refusal(schema, data, starts, moved)
        if isinstance(rows, CorruptFile):
            assert 0 <= rows.offset <= len(data)
            continue
        accepted += 1
        places = zip(starts.tolist(), moved.tolist(), strict=True)
        assert [as_engine_reads(row) for row in rows] == [avro_decode.decode(read, data, *place) for place in places]

    assert accepted > 20


def damaged(chance: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(out))
        out[at] = chance.choice([out[at] ^ 1 << chance.randrange(8), chance.randrange(256), 0xFF, 0x80, 0])
    return bytes(out)


def rows_or_refusal(schema: str, data: bytes, starts: Json, ends: Json) -> list[Json] | CorruptFile:
    try:
        rows: list[Json] = decode_columns(schema, data, starts, ends).to_pylist()
    except CorruptFile as refusal:
        return refusal
    return rows


@pytest.mark.parametrize("table", ["v6_mor_orders", "v8_mor_orders", "v9_mor_commit_time"])
def test_log_blocks_of_real_tables_are_read_as_fastavro_reads_them(table: str) -> None:
    with zipfile.ZipFile(GOLDEN / table / "table.zip") as archive:
        logs = [archive.read(name) for name in archive.namelist() if ".log." in Path(name).name]
    blocks = [block for log in logs for block in read_blocks(log, is_store_atomic=True)]
    kinds = [block.type for block in blocks]

    for block in blocks:
        schema = block.header.get(HeaderKey.SCHEMA, "")
        if block.type is BlockType.AVRO_DATA:
            require_like_fastavro(schema, block.content, *framed_records(block.content, *records_head(block)))
        if block.type is BlockType.HFILE_DATA:
            values = read_hfile(bytes(block.content)).entries["value"].combine_chunks()
            ends = np.cumsum([len(value.as_py()) for value in values], dtype=np.int64)
            require_like_fastavro(schema, b"".join(values.to_pylist()), np.concatenate(([0], ends[:-1])), ends)

    assert {BlockType.AVRO_DATA, BlockType.HFILE_DATA} <= set(kinds)


def require_like_fastavro(schema: str, content: bytes | memoryview, starts: Json, ends: Json) -> None:
    parsed = fastavro.parse_schema(json.loads(schema))
    # fastavro does not tell which branch of a wide union it read, and only these statistics have such.
    wanted = {field["name"] for field in json.loads(schema)["fields"]} - {"ColumnStatsMetadata"}

    rows = decode_columns(schema, content, starts, ends, wanted).to_pylist(maps_as_pydicts="strict")

    places = zip(starts, ends, strict=True)
    read: Json = [fastavro.schemaless_reader(io.BytesIO(content[start:end]), parsed, None) for start, end in places]
    assert rows == [{name: row[name] for name in row if name in wanted} for row in read]


def framed(values: Iterable[bytes]) -> bytes:
    return b"".join(struct.pack(">i", len(value)) + value for value in values)


def test_framed_records_are_found_behind_their_lengths() -> None:
    content = b"header" + framed([b"abc", b"", b"de"])

    starts, ends = framed_records(content, 6, 3)

    assert [content[start:end] for start, end in zip(starts, ends, strict=True)] == [b"abc", b"", b"de"]


@pytest.mark.parametrize("count", [4, 1 << 40, -1])
def test_a_count_of_more_framed_records_than_there_are_is_refused(count: int) -> None:
    with pytest.raises(CorruptFile):
        framed_records(framed([b"abc", b"", b"de"]), 0, count)


@pytest.mark.parametrize("wrong", [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x04abc", b"\x00\x00"])
def test_a_framed_record_of_an_impossible_length_is_refused_with_its_offset(wrong: bytes) -> None:
    with pytest.raises(CorruptFile) as refusal:
        framed_records(framed([b"abc"]) + wrong, 0, 2)

    assert refusal.value.offset >= 7
