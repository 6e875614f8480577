from dataclasses import replace

import pyarrow as pa
import pytest

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.index.definitions import IndexDefinition, IndexVersion
from hudi_engine.index.indexable import require_indexable
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.secondary_values import Column

V1, V2 = IndexVersion.V1, IndexVersion.V2
NAME = "secondary_index_by_it"
GOOD = {
    "text": pa.string(),
    "tiny": pa.int8(),
    "small": pa.int16(),
    "whole": pa.int32(),
    "large": pa.int64(),
    "near": pa.float32(),
    "far": pa.float64(),
    "day": pa.date32(),
    "at": pa.timestamp("us", "UTC"),
}
BAD = {
    "flag": pa.bool_(),
    "raw": pa.binary(),
    "price": pa.decimal128(12, 3),
    "tags": pa.list_(pa.string()),
    "map": pa.map_(pa.string(), pa.int32()),
    "clock": pa.time64("us"),
    "local": pa.timestamp("us"),
    "coarse": pa.timestamp("ms", "UTC"),
    "place": pa.struct([("city", pa.string())]),
}
ROWS = pa.schema(list((GOOD | BAD).items()))


def wanted(*columns: str, version: IndexVersion = V2) -> IndexDefinition:
    return IndexDefinition(NAME, IndexKind.SECONDARY_INDEX, "secondary_index", "identity", columns, {}, version)


@pytest.mark.parametrize(("table_version", "version"), [(8, V1), (9, V2)])
@pytest.mark.parametrize("name", GOOD)
def test_types_that_hudi_lists_are_indexed(name: str, table_version: int, version: IndexVersion) -> None:
    found = require_indexable(wanted(name, version=version), ROWS, table_version, has_record_index=True)

    assert found == Column((name,), GOOD[name], version)


def test_a_field_of_a_struct_is_a_column_too() -> None:
    assert require_indexable(wanted("place.city"), ROWS, 9, has_record_index=True).path == ("place", "city")


@pytest.mark.parametrize("name", BAD)
def test_other_types_are_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match=rf"{NAME}: the column {name} is "):
        require_indexable(wanted(name), ROWS, 9, has_record_index=True)


@pytest.mark.parametrize("name", ["gone", "place.zip", "text.more", ""])
def test_a_column_that_is_not_there_is_not_found(name: str) -> None:
    with pytest.raises(NotFound, match=f"no column '{name}'"):
        require_indexable(wanted(name), ROWS, 9, has_record_index=True)


@pytest.mark.parametrize(("columns", "found"), [((), "no column is named"), (("text", "whole"), "2 columns")])
def test_an_index_is_of_one_column(columns: tuple[str, ...], found: str) -> None:
    with pytest.raises(Unsupported, match=found):
        require_indexable(wanted(*columns), ROWS, 9, has_record_index=True)


def test_a_table_without_record_index_is_told_to_build_it_first() -> None:
    with pytest.raises(Contradiction, match="Build record_index first"):
        require_indexable(wanted("text"), ROWS, 9, has_record_index=False)


def test_version_6_is_refused() -> None:
    with pytest.raises(Unsupported, match="the table has version 6"):
        require_indexable(wanted("text", version=V1), ROWS, 6, has_record_index=True)


@pytest.mark.parametrize(("table_version", "version"), [(8, V2), (9, V1)])
def test_an_index_of_another_version_than_the_table_makes_is_refused(table_version: int, version: IndexVersion) -> None:
    with pytest.raises(Unsupported, match=f"version {version} on a table of version {table_version}"):
        require_indexable(wanted("text", version=version), ROWS, table_version, has_record_index=True)


def test_an_index_of_another_kind_is_a_contradiction() -> None:
    other = replace(wanted("text"), kind=IndexKind.BLOOM_FILTERS)

    with pytest.raises(Contradiction, match="of kind bloom_filters"):
        require_indexable(other, ROWS, 9, has_record_index=True)
