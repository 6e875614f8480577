"""Manifests become values."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    FileSystemLock,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    Ref,
    TableService,
    ZooKeeperLock,
)
from hudi_operator.resources.parse import InvalidResource, parse
from hudi_operator.words import Kind
from tests.kit.admission.manifests import ZOOKEEPER, manifest

_ANYTHING = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda part: some.lists(part, max_size=3) | some.dictionaries(some.text(max_size=8), part, max_size=3),
    max_leaves=8,
)


def test_a_table_is_what_its_manifest_says() -> None:
    table = parse(manifest(Kind.TABLE, {"spec.concurrency": {"mode": "Optimistic", "lock": {"zookeeper": ZOOKEEPER}}}))

    assert table == HudiTable(
        meta=Meta(Ref(Kind.TABLE, "default", "orders"), uid=""),
        base_path="s3a://lake/orders",
        table_name=None,
        concurrency=Concurrency(
            ConcurrencyMode.OPTIMISTIC, ZooKeeperLock("zk-0:2181,zk-1:2181", base_path="/hudi", lock_key="orders")
        ),
    )


def test_an_empty_lock_file_is_a_lock() -> None:
    table = parse(manifest(Kind.TABLE, {"spec.concurrency": {"mode": "Optimistic", "lock": {"fileSystem": {}}}}))

    assert isinstance(table, HudiTable)
    assert table.concurrency.lock == FileSystemLock()


def test_an_index_is_what_its_manifest_says() -> None:
    index = parse(manifest(Kind.INDEX))

    assert index == MetadataIndex(Meta(Ref(Kind.INDEX, "default", "orders"), ""), "orders", IndexType.RECORD_INDEX)


@pytest.mark.parametrize(
    ("name", "given", "called"),
    [("by-customer.eu2", None, "by_customer_eu2"), ("by-customer", "Who_2", "Who_2")],
)
def test_a_secondary_index_is_called_as_it_says_or_after_its_resource(
    name: str, given: str | None, called: str
) -> None:
    edits = {"metadata.name": name, "spec.indexType": "SecondaryIndex", "spec.columns": ["customer.id"]}

    index = parse(manifest(Kind.INDEX, {**edits, "spec.indexName": given}))

    assert isinstance(index, MetadataIndex)
    assert index.engine_name == f"secondary_index_{called}"
    assert index.columns == ("customer.id",)


def test_an_index_that_there_is_once_on_a_table_is_called_after_its_type() -> None:
    once = [each for each in IndexType if each is not IndexType.SECONDARY_INDEX]

    found = [parse(manifest(Kind.INDEX, {"spec.indexType": each.value})) for each in once]

    names = [index.engine_name for index in found if isinstance(index, MetadataIndex)]
    assert names == ["files", "column_stats", "partition_stats", "bloom_filters", "record_index"]


def test_the_indexes_of_a_validation_are_called_as_the_engine_calls_them() -> None:
    service = parse(manifest(Kind.SERVICE, {"spec.validate.indexes": ["RecordIndex", "ExpressionIndex"]}))

    assert isinstance(service, TableService)
    assert service.validate.indexes == ("record_index", "expr_index")


def test_what_kubernetes_knows_of_a_resource_is_kept() -> None:
    meta = {
        "name": "orders",
        "namespace": "sales",
        "uid": "u-1",
        "generation": 3,
        "resourceVersion": "77",
        "labels": {"team": "a"},
        "annotations": {"hudi-operator.dev/approve": "abc"},
        "finalizers": ["hudi-operator.dev/drop"],
        "creationTimestamp": "2026-11-18T21:54:07Z",
        "deletionTimestamp": "2026-11-18T22:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
    }

    resource = parse(manifest(Kind.INDEX, {"metadata": meta, "status": {"state": "what it likes"}}))

    assert resource.meta == Meta(
        ref=Ref(Kind.INDEX, "sales", "orders"),
        uid="u-1",
        generation=3,
        resource_version="77",
        labels={"team": "a"},
        annotations={"hudi-operator.dev/approve": "abc"},
        finalizers=("hudi-operator.dev/drop",),
        created_at=datetime(2026, 11, 18, 21, 54, 7, tzinfo=UTC),
        deleting_since=datetime(2026, 11, 18, 22, tzinfo=UTC),
    )


def test_a_time_that_yaml_has_made_of_text_already_is_one() -> None:
    meta = yaml.safe_load("{name: orders, creationTimestamp: 2026-11-18T21:54:07Z}")

    resource = parse(manifest(Kind.TABLE, {"metadata": meta}))

    assert resource.meta.created_at == datetime(2026, 11, 18, 21, 54, 7, tzinfo=UTC)


def test_null_is_as_good_as_nothing() -> None:
    given_null = manifest(Kind.SERVICE)
    given_null["spec"] |= {"schedule": None, "timeZone": None, "execution": None, "validate": {"sample": None}}

    assert parse(given_null) == parse(manifest(Kind.SERVICE))


@given(some.dictionaries(some.text(max_size=8), _ANYTHING, max_size=3), some.sampled_from(Kind))
def test_no_manifest_does_worse_than_to_be_invalid(tree: dict[str, object], kind: Kind) -> None:
    with pytest.raises(InvalidResource):
        parse(tree)
    with pytest.raises(InvalidResource):
        parse({**manifest(kind), "spec": tree})


@given(_ANYTHING, some.sampled_from(Kind), some.sampled_from(["metadata", "spec", "spec.execution", "spec.storage"]))
def test_whatever_stands_in_a_field_a_manifest_is_legal_or_invalid(value: object, kind: Kind, path: str) -> None:
    with suppress(InvalidResource):
        parse(manifest(kind, {path: value}))


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidResource) as refused:
        parse(manifest(Kind.TABLE, {"metadata.creationTimestamp": "yesterday"}))

    assert refused.value.path == "metadata.creationTimestamp"
    assert refused.value.message == "must be a time, found 'yesterday'"
