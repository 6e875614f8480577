"""Records of each release become the same typed rows (section 3.3)."""

import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.payloads import family_of
from tests.unit.index.metadata_records import RELEASES, entries_of, schema_of, stats

FILE_ID = uuid.UUID("8f3c1a2b-0000-4000-b000-00000000000a")
each_release = pytest.mark.parametrize("release", RELEASES)
every_kind = pytest.mark.parametrize("kind", list(IndexKind))


def location(**changes: Any) -> dict[str, Any]:
    halves = [int.from_bytes(FILE_ID.bytes[at : at + 8], "big", signed=True) for at in (0, 8)]
    return {
        "partitionName": "p",
        "fileIdHighBits": halves[0],
        "fileIdLowBits": halves[1],
        "fileIndex": 0,
        "fileId": "",
        "instantTime": 1795003978340,
        "fileIdEncoding": 0,
        **changes,
    }


def rows(release: str, kind: IndexKind, number: int, values: dict[str, tuple[str, Any]]) -> list[dict[str, Any]]:
    decoded = family_of(kind).decode(entries_of(release, number, values), schema_of(release))
    decoded.validate(full=True)
    assert decoded.schema == family_of(kind).schema
    found: list[dict[str, Any]] = decoded.to_pylist()
    return found


@each_release
def test_a_listing_becomes_a_row_for_each_file(release: str) -> None:
    listing = {"a": {"size": 7, "isDeleted": False}, "b": {"size": 0, "isDeleted": True}}
    values = {"p": ("filesystemMetadata", listing), "q": ("filesystemMetadata", {}), "r": ("filesystemMetadata", None)}

    assert rows(release, IndexKind.FILES, 2, values) == [
        {"key": "p", "name": "a", "size_bytes": 7, "is_deleted": False},
        {"key": "p", "name": "b", "size_bytes": 0, "is_deleted": True},
    ]


@each_release
def test_a_location_has_its_file_id_put_together(release: str) -> None:
    given = {
        "new": location(),
        "old": location(fileIndex=-1),
        "raw": location(fileIdEncoding=1, fileId="bucket-7", fileIdHighBits=-1, fileIdLowBits=-1, fileIndex=-1),
        "third": location(fileIndex=12),
    }
    if release != "0.15.0":
        given = {key: {**value, "position": None} for key, value in given.items()}

    found = rows(release, IndexKind.RECORD_INDEX, 5, {k: ("recordIndexMetadata", v) for k, v in given.items()})

    assert [row["file_id"] for row in found] == [f"{FILE_ID}-0", str(FILE_ID), "bucket-7", f"{FILE_ID}-12"]
    assert found[0] == {
        "key": "new",
        "partition": "p",
        "file_id": f"{FILE_ID}-0",
        "instant_ms": 1795003978340,
        "position": None,
        "is_deleted": False,
    }


def test_an_unknown_encoding_of_file_ids_is_unsupported() -> None:
    values = {"k": ("recordIndexMetadata", location(fileIdEncoding=2))}

    with pytest.raises(Unsupported, match="encoding 2"):
        rows("0.15.0", IndexKind.RECORD_INDEX, 5, values)


@pytest.mark.parametrize("name", ["partitionName", "fileIdHighBits", "fileIdLowBits", "fileIndex", "instantTime"])
def test_a_location_that_lacks_a_part_is_corrupt(name: str) -> None:
    values = {"k": ("recordIndexMetadata", location(**{name: None}))}

    with pytest.raises(CorruptFile):
        rows("0.15.0", IndexKind.RECORD_INDEX, 5, values)


@each_release
def test_a_filter_comes_as_its_bytes(release: str) -> None:
    value = {"type": "SIMPLE", "timestamp": "001", "bloomFilter": b"AA==", "isDeleted": False}

    assert rows(release, IndexKind.BLOOM_FILTERS, 4, {"k": ("BloomFilterMetadata", value)}) == [
        {"key": "k", "type": "SIMPLE", "instant": "001", "bloom_filter": b"AA==", "is_deleted": False}
    ]


@pytest.mark.parametrize("release", RELEASES[1:])
def test_an_entry_of_a_secondary_index_is_deleted_or_not(release: str) -> None:
    values = {f"v${each}": ("SecondaryIndexMetadata", {"isDeleted": each}) for each in (True, False)}

    found = rows(release, IndexKind.SECONDARY_INDEX, 7, values)

    assert found == [{"key": "v$True", "is_deleted": True}, {"key": "v$False", "is_deleted": False}]


def test_records_without_the_field_of_their_index_are_corrupt() -> None:
    with pytest.raises(CorruptFile, match="without type and SecondaryIndexMetadata"):
        rows("0.15.0", IndexKind.SECONDARY_INDEX, 7, {"k": ("filesystemMetadata", None)})


@every_kind
def test_a_record_of_another_kind_is_corrupt(kind: IndexKind) -> None:
    with pytest.raises(CorruptFile):
        rows("1.2.0", kind, 9, {"k": ("filesystemMetadata", {})})


@pytest.mark.parametrize(
    ("wrapper", "value", "field", "expected"),
    [
        ("BooleanWrapper", True, "boolean", True),
        ("IntWrapper", -5, "int", -5),
        ("LongWrapper", 1 << 40, "long", 1 << 40),
        ("DoubleWrapper", 0.1, "double", 0.1),
        ("BytesWrapper", b"\xff", "bytes", b"\xff"),
        ("StringWrapper", "é", "string", "é"),
        ("DecimalWrapper", Decimal("1.5").quantize(Decimal("1e-15")), "decimal", Decimal("1.5")),
    ],
)
@each_release
def test_bounds_keep_the_type_of_their_wrapper(
    release: str, wrapper: str, value: Any, field: str, expected: Any
) -> None:
    given = stats(minValue=(wrapper, value), maxValue=None)
    if release != "0.15.0":
        given["isTightBound"] = True
    if release not in ("0.15.0", "1.0.2"):
        given["valueType"] = {"typeOrdinal": 7, "additionalInfo": None}

    (found,) = rows(release, IndexKind.COLUMN_STATS, 3, {"k": ("ColumnStatsMetadata", given)})

    assert {name: each for name, each in found["min"].items() if each is not None} == {field: expected}
    assert found["max"] is None
    assert found["is_tight_bound"] is (release != "0.15.0")
    assert found["value_type"] == (None if release in ("0.15.0", "1.0.2") else 7)


@pytest.mark.parametrize("ordinal", [-1, 0, 21])
def test_an_unknown_type_of_values_is_unsupported(ordinal: int) -> None:
    given = stats(isTightBound=False, valueType={"typeOrdinal": ordinal, "additionalInfo": None})

    with pytest.raises(Unsupported, match=f"values of type {ordinal}"):
        rows("1.2.0", IndexKind.COLUMN_STATS, 3, {"k": ("ColumnStatsMetadata", given)})


def test_an_array_as_bound_is_unsupported() -> None:
    given = stats(minValue=("ArrayWrapper", None), isTightBound=False, valueType=None)
    given["minValue"] = (given["minValue"][0], {"wrappedValues": None})

    with pytest.raises(Unsupported, match="an array as bound"):
        rows("1.2.0", IndexKind.COLUMN_STATS, 3, {"k": ("ColumnStatsMetadata", given)})


def test_an_expression_index_has_the_records_that_its_definition_names() -> None:
    kind = IndexKind.EXPRESSION_INDEX
    blooms = IndexDefinition("expr_index_a", kind, "bloom_filters")

    assert family_of(kind, blooms).schema == family_of(IndexKind.BLOOM_FILTERS).schema
    assert family_of(kind).schema == family_of(IndexKind.COLUMN_STATS).schema


@every_kind
def test_no_entries_are_no_rows(kind: IndexKind) -> None:
    family = family_of(kind)
    nothing = entries_of("1.2.0", 1, {})

    assert family.decode(nothing, schema_of("1.2.0")) == family.schema.empty_table()
    assert len(family.deleted(pa.array([], pa.large_string()))) == 0


@every_kind
@pytest.mark.parametrize("value", [b"", b"\xff" * 20, b"\0" * 5])
def test_values_that_are_no_records_are_corrupt(kind: IndexKind, value: bytes) -> None:
    entries = pa.table({"key": pa.array([b"k"], pa.large_binary()), "value": pa.array([value], pa.large_binary())})

    with pytest.raises(CorruptFile):
        family_of(kind).decode(entries, schema_of("1.2.0"))


def test_a_key_that_is_not_utf8_is_corrupt() -> None:
    entries = entries_of("1.2.0", 1, {"k": ("filesystemMetadata", {})})
    entries = entries.set_column(0, "key", pa.array([b"\xff"], pa.large_binary()))

    with pytest.raises(CorruptFile):
        family_of(IndexKind.FILES).decode(entries, schema_of("1.2.0"))
