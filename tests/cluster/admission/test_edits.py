"""Resources that are edited stay what was written last, whichever way it was written."""

import json

import pytest

from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.words import Kind
from tests.cluster.admission.test_admission import spec_of
from tests.cluster.api import path_of
from tests.cluster.kubernetes import Cluster
from tests.kit.admission.edits import filled, random_edits
from tests.kit.admission.manifests import manifest


@pytest.mark.parametrize("is_applied", [True, False], ids=["applied", "put"])
def test_a_hundred_edits_are_taken_and_leave_what_was_last_written(
    cluster: Cluster, namespace: str, *, is_applied: bool
) -> None:
    for kind, wanted in random_edits(seed=6, count=100):
        path = path_of(namespace, f"{kind}/orders")
        found = None if is_applied else cluster.api.find(path)

        if is_applied:
            got = cluster.api.apply(path, wanted)
        elif found is None:
            got = cluster.api.create(path_of(namespace, kind), wanted)
        else:
            version = found["metadata"]["resourceVersion"]
            got = cluster.api.replace(path, {**wanted, "metadata": {**wanted["metadata"], "resourceVersion": version}})

        assert spec_of(got) == spec_of(wanted)


def test_some_edits_that_kubectl_applies_leave_what_was_last_applied(cluster: Cluster, namespace: str) -> None:
    """Without `--server-side` kubectl itself finds out what to change and what to take away."""
    edits = [wanted for kind, wanted in random_edits(seed=7, count=40) if kind is Kind.TABLE]

    for wanted in edits[:10]:
        answer = cluster.apply(json.dumps(wanted), f"--namespace={namespace}", "-o", "json")

        assert spec_of(json.loads(answer)) == spec_of(wanted)


def test_two_owners_each_keep_their_own_secrets_for_images(cluster: Cluster, namespace: str) -> None:
    table = path_of(namespace, "huditable/orders")
    for owner in ("one", "two"):
        edits = {"spec.execution.imagePullSecrets": [{"name": owner}]}
        cluster.api.apply(table, manifest(Kind.TABLE, edits), manager=owner)

    got = cluster.api.get(table)

    assert got["spec"]["execution"]["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]


@pytest.mark.parametrize("kind", Kind)
def test_a_status_with_every_field_is_taken_whole_and_the_spec_is_left_alone(
    cluster: Cluster, namespace: str, kind: Kind
) -> None:
    path, status = path_of(namespace, f"{kind}/orders"), filled(STATUSES[kind])
    cluster.api.apply(path, manifest(kind))

    tree = {key: value for key, value in manifest(kind).items() if key != "spec"} | {"status": status}
    cluster.api.apply(f"{path}/status", tree, manager="hudi-operator")
    got = cluster.api.get(path)

    assert got["status"] == status
    assert spec_of(got) == spec_of(manifest(kind))


def test_columns_say_at_a_glance_how_it_stands(cluster: Cluster, namespace: str) -> None:
    for kind in Kind:
        cluster.api.create(path_of(namespace, kind), manifest(kind))

    shown = {kind: cluster.kubectl("get", kind.plural, f"--namespace={namespace}") for kind in Kind}
    wide = cluster.kubectl("get", "hudit", f"--namespace={namespace}", "-o", "wide")
    all_of_them = cluster.kubectl("get", "hudi", f"--namespace={namespace}", "-o", "name")

    heads = {kind: text.splitlines()[0].split("  ") for kind, text in shown.items()}
    columns = {kind: [head.strip() for head in line if head] for kind, line in heads.items()}
    assert columns[Kind.TABLE] == ["NAME", "READY", "STATE", "TYPE", "PENDING", "LAST COMMIT", "SUSPENDED", "AGE"]
    assert columns[Kind.INDEX] == ["NAME", "TABLE", "TYPE", "READY", "STATE", "PROGRESS", "LAG", "AGE"]
    assert " ".join(columns[Kind.SERVICE]).endswith("SCHEDULE LAST SUCCESS LAST RESULT SUSPENDED AGE")
    assert "s3a://lake/orders" in wide
    assert len(all_of_them.splitlines()) == 3


def test_resources_are_found_by_their_table(cluster: Cluster, namespace: str) -> None:
    for table in ("orders", "clicks"):
        edits = {"metadata.name": f"{table}-index", "spec.tableRef.name": table}
        cluster.api.create(path_of(namespace, Kind.INDEX), manifest(Kind.INDEX, edits))

    found = cluster.kubectl(
        "get", "hudii", f"--namespace={namespace}", "--field-selector=spec.tableRef.name=clicks", "-o", "name"
    )

    assert found.split() == ["metadataindex.hudi-operator.dev/clicks-index"]
