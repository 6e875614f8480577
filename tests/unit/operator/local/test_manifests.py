"""What is read from files, and what is said of those that cannot be read."""

import pytest

from tests.unit.operator.local.manifests import INDEX, INDEX_REF, SOURCE, TABLE, TABLE_REF, found_in, manifest


def test_every_document_of_a_file_is_read_and_empty_ones_are_no_fault() -> None:
    found = found_in(f"---\n{TABLE}---\n---\n{INDEX}---\n# nothing\n")

    assert list(found.manifests) == [TABLE_REF, INDEX_REF]
    assert (found.faults, found.ignored) == ([], [])


def test_what_only_a_server_may_say_is_left_out() -> None:
    given = TABLE.replace("{name: orders}", "{name: orders, uid: x, generation: 7, finalizers: [y], labels: {a: b}}")

    assert manifest(given).tree["metadata"] == {"name": "orders", "namespace": "default", "labels": {"a": "b"}}


def test_other_kinds_are_left_out_and_named() -> None:
    found = found_in("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n")

    assert found.ignored == [f"{SOURCE}, document 1: Deployment of apps/v1"]
    assert found.faults == []


def test_all_faults_of_a_file_are_told_with_their_documents() -> None:
    found = found_in(f"{TABLE}---\n{TABLE}---\nkind: x\n---\n[1]\n---\n{INDEX.replace('RecordIndex', 'Best')}")

    assert [fault.partition(": ")[0] for fault in found.faults] == [f"{SOURCE}, document {n}" for n in (2, 3, 4, 5)]
    assert "HudiTable default/orders stands in all.yaml already" in found.faults[0]
    assert "spec.indexType" in found.faults[3]
    assert found.faulty == {SOURCE}
    assert list(found.manifests) == [TABLE_REF]


def test_every_fault_of_one_document_is_told_at_once() -> None:
    text = """
apiVersion: hudi-operator.dev/v1alpha1
kind: HudiTable
metadata: {name: Orders}
spec:
  basePath: tables/orders
  colour: red
  observe: {intervalSeconds: soon}
  concurrency: {mode: Optimistic}
  execution: {executor: {instances: 0}}
"""

    faults = [fault.removeprefix(f"{SOURCE}, document 1: ") for fault in found_in(text).faults]

    assert [fault.partition(": ")[0] for fault in faults] == [
        "metadata.name",
        "spec",
        "spec.observe.intervalSeconds",
        "spec.execution.executor.instances",
        "spec.basePath",
        "spec.concurrency",
    ]


def test_every_fault_of_a_secret_is_told_at_once() -> None:
    faults = found_in("apiVersion: v1\nkind: Secret\ndata: {a: 'ä', b: 3}\nstringData: [x]\n").faults

    assert [fault.split(": ")[1] for fault in faults] == ["metadata", "data[a]", "data[b]", "stringData"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", f"{SOURCE}: no YAML: "),
        (TABLE.replace("{name: orders}", "{}"), "metadata.name"),
        (TABLE.replace("metadata: {name: orders}", "metadata: 3"), "metadata: must be of type object"),
        (TABLE.replace("v1alpha1", "v9"), "apiVersion: found 'hudi-operator.dev/v9'"),
        (TABLE.replace("HudiTable", "Hudi"), "kind: found 'Hudi', expected one of HudiTable"),
        (TABLE.replace("/tables/orders", "tables/orders"), "spec.basePath: must begin with /"),
        ("apiVersion: v1\nkind: Secret\n", "metadata: Required value"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {}\n", "metadata.name: Required value"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 1}\n", "stringData[a]: must be of type"),
    ],
)
def test_what_is_wrong_is_told(text: str, message: str) -> None:
    (fault,) = found_in(text).faults

    assert message in fault


def test_a_secret_s_values_are_read_as_they_are_and_from_base64() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\ndata: {a: eA==}\nstringData: {b: y}\n"

    assert found_in(text).secrets == {("n", "s"): {"a": b"x", "b": b"y"}}


def test_no_fault_shows_the_value_of_a_secret() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: 'canary%'}\n"

    assert "canary" not in "".join(found_in(text).faults)
