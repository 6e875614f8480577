"""The file of definitions: one changed, all else kept, in the shape that each table version has."""

import json
from typing import Any

import pytest

from hudi_engine.action.definitions_file import PATH_KEY, remove_definition, write_definition
from hudi_engine.index.definitions import DEFAULT_PATH, IndexDefinition, backup_of, parse_definitions
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import opened

RECORD_INDEX = IndexDefinition(
    "record_index", IndexKind.RECORD_INDEX, "record_index", options={"isPartitioned": "false"}
)


def test_a_definition_says_what_java_says_of_the_same_index() -> None:
    storage = golden_in_memory("v9_cow_partitioned_record_index")
    by_java = storage.read(DEFAULT_PATH)
    storage.delete(DEFAULT_PATH)
    (definition,) = parse_definitions(by_java).values()

    write_definition(opened(storage).data, definition)

    assert json.loads(storage.read(DEFAULT_PATH)) == json.loads(by_java)


@pytest.mark.parametrize(("golden", "version"), [("v8_mor_indexed", None), ("v9_mor_secondary", "V1")])
def test_a_definition_has_a_version_from_table_version_9_on(golden: str, version: str | None) -> None:
    storage = golden_in_memory(golden)

    write_definition(opened(storage).data, RECORD_INDEX)

    assert definitions(storage)["record_index"].get("version") == version


def test_the_first_definition_says_in_the_properties_where_it_is() -> None:
    storage = golden_in_memory("v9_mor_orders")
    storage.delete(DEFAULT_PATH)
    text = storage.read(".hoodie/hoodie.properties")
    kept = [line for line in text.splitlines() if not line.startswith(PATH_KEY.encode())]
    storage.replace(".hoodie/hoodie.properties", b"\n".join(kept))

    write_definition(opened(storage).data, RECORD_INDEX)

    assert opened(storage).data.config.properties[PATH_KEY] == DEFAULT_PATH
    assert opened(storage).definitions == {"record_index": RECORD_INDEX}


def test_a_table_of_version_6_knows_no_definitions_and_gets_none() -> None:
    storage = golden_in_memory("v6_cow_indexed")

    write_definition(opened(storage).data, RECORD_INDEX)

    assert not storage.list(".hoodie/.index_defs")
    assert PATH_KEY not in opened(storage).data.config.properties


def test_properties_that_the_engine_does_not_know_are_kept() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    tree = json.loads(storage.read(DEFAULT_PATH))
    tree["indexDefinitions"]["record_index"]["madeBy"] = "somebody"
    tree["indexDefinitions"]["column_stats"]["more"] = {"deep": [1, None]}
    tree["of tomorrow"] = 1
    storage.replace(DEFAULT_PATH, json.dumps(tree).encode())

    write_definition(opened(storage).data, RECORD_INDEX)

    assert json.loads(storage.read(DEFAULT_PATH)) == tree


def test_one_definition_is_removed_and_the_others_stay() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    before = definitions(storage)

    remove_definition(opened(storage).data, "record_index")

    assert definitions(storage) == {name: value for name, value in before.items() if name != "record_index"}


def test_nothing_is_written_where_nothing_changes() -> None:
    storage = golden_in_memory("v9_mor_indexed").restarted(Fault(1, Way.BEFORE, Crash()))

    remove_definition(opened(storage).data, "secondary_index_of_nobody")
    write_definition(opened(storage).data, RECORD_INDEX)


@pytest.mark.parametrize("name", ["bloom_filters", "column_stats"])
def test_a_file_that_was_cut_short_is_whole_again_before_its_backup_goes(name: str) -> None:
    """Of bloom filters there is no definition to remove: the file is not written for them."""
    storage = golden_in_memory("v9_mor_indexed")
    before, data = definitions(storage), storage.read(DEFAULT_PATH)
    storage.create(backup_of(DEFAULT_PATH), data)
    storage.replace(DEFAULT_PATH, data[:20])

    remove_definition(opened(storage).data, name)

    assert definitions(storage) == {known: value for known, value in before.items() if known != name}
    assert [file.path for file in storage.list(DEFAULT_PATH.rpartition("/")[0])] == [DEFAULT_PATH]


@pytest.mark.parametrize("way", Way)
def test_the_first_definition_of_a_table_is_there_whole_or_not_at_all(way: Way) -> None:
    storage = golden_in_memory("v9_mor_orders")
    storage.delete(DEFAULT_PATH)
    with pytest.raises(Crash):
        write_definition(opened(storage.restarted(Fault(1, way, Crash(), 20))).data, RECORD_INDEX)

    write_definition(opened(storage).data, RECORD_INDEX)

    assert definitions(storage).keys() == {"record_index"}


def test_a_file_of_definitions_that_is_empty_gets_its_first() -> None:
    storage = golden_in_memory("v9_mor_orders")
    storage.replace(DEFAULT_PATH, b"")

    write_definition(opened(storage).data, RECORD_INDEX)

    assert definitions(storage).keys() == {"record_index"}


def definitions(storage: MemoryStorage) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(storage.read(DEFAULT_PATH))["indexDefinitions"]
    return found
