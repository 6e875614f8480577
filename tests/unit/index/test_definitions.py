"""Definitions of indexes are read strictly: a guess would look for keys in the wrong shards."""

import json
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.index.definitions import DEFAULT_PATH, IndexDefinition, IndexVersion, parse_definitions
from hudi_engine.index.kinds import IndexKind, kind_of, parse_shard_name, shards_by_partition
from tests.golden.unpack import unpack


def written(**changes: Any) -> bytes:
    one = {"indexName": "secondary_index_a", "indexType": "secondary_index", "sourceFields": ["a"], **changes}
    return json.dumps({"indexDefinitions": {"secondary_index_a": one}}).encode()


@pytest.mark.parametrize(
    ("name", "version"), [("v8_mor_indexed", IndexVersion.V1), ("v9_mor_indexed", IndexVersion.V2)]
)
def test_definitions_that_hudi_wrote_are_read(name: str, version: IndexVersion, tmp_path: Path) -> None:
    found = parse_definitions((unpack(name, tmp_path) / DEFAULT_PATH).read_bytes())

    assert found["secondary_index_by_celsius"] == IndexDefinition(
        name="secondary_index_by_celsius",
        kind=IndexKind.SECONDARY_INDEX,
        index_type="secondary_index",
        function="identity",
        source_fields=("celsius",),
        version=version,
    )


def test_an_empty_file_and_an_empty_object_define_nothing() -> None:
    assert parse_definitions(b"") == parse_definitions(b"{}") == parse_definitions(b'{"indexDefinitions": null}') == {}


def test_a_record_index_per_partition_says_so() -> None:
    one = {"indexName": "record_index", "indexType": "record_index", "indexOptions": {"isPartitioned": "true"}}

    found = parse_definitions(json.dumps({"indexDefinitions": {"record_index": one}}).encode())

    assert found["record_index"].is_partitioned


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (written(version="V3"), Unsupported),
        (written(version=2), CorruptFile),
        (written(indexName="secondary_index_b"), Contradiction),
        (written(sourceFields="a"), CorruptFile),
        (written(indexOptions={"a": 1}), CorruptFile),
        (b'{"indexDefinitions": []}', CorruptFile),
        (b'{"indexDefinitions": [1]}', CorruptFile),
        (b'{"indexDefinitions": {"vectors": {"indexName": "vectors"}}}', Unsupported),
        (b"[]", CorruptFile),
        (b"{", CorruptFile),
    ],
)
def test_what_is_no_definition_is_refused_and_never_guessed(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_definitions(data)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("files", IndexKind.FILES),
        ("secondary_index_files", IndexKind.SECONDARY_INDEX),
        ("expr_index_files", IndexKind.EXPRESSION_INDEX),
    ],
)
def test_kinds_are_told_by_names(name: str, kind: IndexKind) -> None:
    assert kind_of(name) is kind


@pytest.mark.parametrize("name", ["secondary_index", "files_2", "", "FILES"])
def test_unknown_names_of_indexes_are_unsupported(name: str) -> None:
    with pytest.raises(Unsupported, match="an index named"):
        kind_of(name)


def test_shards_of_a_partitioned_record_index_name_their_partition() -> None:
    assert parse_shard_name("record-index-0007-0").partition is None
    assert parse_shard_name("record-index-a%2Db%3Dc%2Fd-0003-0").partition == "a-b=c/d"
    assert parse_shard_name("record-index--0000-0").partition == ""
    assert parse_shard_name("secondary-index-by-celsius-0009-0").partition is None
    assert parse_shard_name("files-0000").number == 0


def test_shards_are_grouped_by_their_partition_in_order() -> None:
    names = ["record-index-a-0000-0", "record-index-a-0001-0", "record-index-b-0000-0"]

    assert shards_by_partition(names) == {"a": (0, 1), "b": (2,)}
    assert shards_by_partition(["files-0000-0", "files-0001-0"]) == {None: (0, 1)}


@pytest.mark.parametrize("name", ["files", "", "0000-0", "files-1-0", "files-00x0-0"])
def test_a_name_that_is_no_shards_is_unsupported(name: str) -> None:
    with pytest.raises(Unsupported, match="a file group"):
        parse_shard_name(name)
