"""Resources that are edited stay what was last applied, by whichever manner of applying."""

import json
from typing import Any

import pytest

from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.words import Kind
from tests.cluster.admission.edits import filled, random_edits
from tests.cluster.admission.manifests import manifest
from tests.cluster.admission.test_admission import spec_of
from tests.cluster.kubernetes import Cluster


@pytest.mark.parametrize(("how", "seed"), [("--server-side=true", 6), ("--server-side=false", 7)])
def test_a_hundred_random_edits_are_taken_and_leave_what_was_last_applied(
    cluster: Cluster, namespace: str, how: str, seed: int
) -> None:
    edits = [wanted for _, wanted in random_edits(seed, count=100)]

    for wanted in edits:
        answer = cluster.apply(json.dumps(wanted), f"--namespace={namespace}", how, "-o", "json")

        assert spec_of(json.loads(answer)) == spec_of(wanted)
    print(f"edits taken, {how}: {len(edits)}")


def test_two_owners_each_keep_their_own_secrets_for_images(cluster: Cluster, namespace: str) -> None:
    for owner in ("one", "two"):
        edits = {"spec.execution.imagePullSecrets": [{"name": owner}]}
        cluster.apply(
            json.dumps(manifest(Kind.TABLE, edits)),
            f"--namespace={namespace}",
            "--server-side",
            f"--field-manager={owner}",
        )

    got = cluster.get("hudit", "orders", f"--namespace={namespace}")

    assert got["spec"]["execution"]["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]


@pytest.mark.parametrize("kind", Kind)
def test_a_status_with_every_field_is_taken_whole_and_the_spec_is_left_alone(
    cluster: Cluster, namespace: str, kind: Kind
) -> None:
    cluster.apply(json.dumps(manifest(kind)), f"--namespace={namespace}")
    status = filled(STATUSES[kind])

    _write_status(cluster, namespace, kind, status)
    got = cluster.get(kind.plural, "orders", f"--namespace={namespace}")

    assert got["status"] == status
    assert spec_of(got) == spec_of(manifest(kind))


def test_columns_say_at_a_glance_how_it_stands(cluster: Cluster, namespace: str) -> None:
    for kind in Kind:
        cluster.apply(json.dumps(manifest(kind)), f"--namespace={namespace}")

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
        cluster.apply(json.dumps(manifest(Kind.INDEX, edits)), f"--namespace={namespace}")

    found = cluster.kubectl(
        "get", "hudii", f"--namespace={namespace}", "--field-selector=spec.tableRef.name=clicks", "-o", "name"
    )

    assert found.split() == ["metadataindex.hudi-operator.dev/clicks-index"]


def _write_status(cluster: Cluster, namespace: str, kind: Kind, status: dict[str, Any]) -> None:
    tree = {key: value for key, value in manifest(kind).items() if key != "spec"} | {"status": status}
    where = (f"--namespace={namespace}", "--server-side", "--subresource=status", "--field-manager=hudi-operator")
    cluster.apply(json.dumps(tree), *where)
