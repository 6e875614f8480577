"""Texts made to do harm: JSON, schemas and properties."""

import json

import pytest

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import avro_schema, avro_types, json_text, properties
from hudi_engine.format.service_records import RecordName, decode_commit_json


def doubled(levels: int) -> dict[str, object]:
    """A record of two fields, each the record before it: it has 2^levels columns."""
    kind: dict[str, object] = {"type": "record", "name": "d", "fields": [{"name": "a", "type": "int"}]}
    for level in range(levels):
        fields = [{"name": "l", "type": kind}, {"name": "r", "type": kind["name"]}]
        kind = {"type": "record", "name": f"d{level}", "fields": fields}
    return kind


@pytest.mark.parametrize("text", ['{"a":"\\ud800"}', '{"\\uDFFF":1}', '["\\ud83d", "\\ude00"]'])
def test_half_of_a_character_is_refused_wherever_it_stands(text: str) -> None:
    with pytest.raises(CorruptFile, match="half of a character"):
        json_text.parse(text, "it")


def test_both_halves_of_a_character_are_read() -> None:
    assert json_text.parse(b'"\\ud83d\\ude00"', "it") == "\N{GRINNING FACE}"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_json_is_read_as_utf_8_alone(encoding: str) -> None:
    with pytest.raises(CorruptFile):
        json_text.parse('{"a":1}'.encode(encoding), "it")


def test_an_error_in_json_is_named_with_its_offset_in_bytes() -> None:
    with pytest.raises(CorruptFile, match="it is no JSON text") as found:
        json_text.parse('["ü", x]'.encode(), "it")

    assert found.value.offset == 7


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 100_000])
def test_json_that_python_will_not_read_is_corrupt(text: bytes) -> None:
    with pytest.raises(CorruptFile, match="it is no JSON text that can be read"):
        json_text.parse(text, "it")


def test_half_of_a_character_in_commit_metadata_is_refused() -> None:
    with pytest.raises(CorruptFile, match="commit metadata spells half of a character"):
        decode_commit_json(RecordName.COMMIT, b'{"operationType":"\\ud800"}')


def test_half_of_a_character_in_a_schema_is_refused_before_arrow_meets_it() -> None:
    with pytest.raises(CorruptFile, match="the Avro schema spells half of a character"):
        avro_types.parse('{"type":"record","name":"r","fields":[{"name":"\\ud800","type":"int"}]}', 0)


def test_a_schema_that_swells_to_billions_of_columns_is_refused_at_once() -> None:
    with pytest.raises(Unsupported, match=f"an Avro schema of {3 * 2**40 - 1} nested columns"):
        avro_schema.to_arrow(json.dumps(doubled(40)))


def test_a_record_that_is_used_twice_is_two_columns() -> None:
    assert avro_schema.to_arrow(json.dumps(doubled(1))).names == ["l", "r"]


@pytest.mark.parametrize("line_break", [b"\n", b"\r", b"\\\n"])
def test_properties_of_a_million_lines_are_refused_at_once(line_break: bytes) -> None:
    with pytest.raises(CorruptFile, match="more than 100000 lines"):
        properties.parse(b"hoodie.table.name=t\n" + line_break * 1_000_000)
