"""A real API server refuses what is illegal, in the words that the operator has for it, and takes what is legal."""

import json
from typing import Any

import pytest

from hudi_operator.resources.parse import parse
from tests.cluster.admission.illegal import ILLEGAL, Illegal
from tests.cluster.admission.legal import LEGAL, Legal
from tests.cluster.admission.manifests import manifest
from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Refused


@pytest.mark.parametrize("case", ILLEGAL, ids=lambda case: case.why)
def test_what_is_illegal_is_refused_with_the_sentence_that_says_why(
    cluster: Cluster, shared: str, case: Illegal
) -> None:
    if case.before is not None:
        _apply(cluster, shared, manifest(case.kind, case.before))

    with pytest.raises(Refused) as refused:
        _apply(cluster, shared, manifest(case.kind, case.edits))

    _delete(cluster, shared, case)
    assert case.path in refused.value.said
    assert case.message in refused.value.said


@pytest.mark.parametrize("how", ["--server-side=true", "--server-side=false"])
@pytest.mark.parametrize("case", LEGAL, ids=lambda case: case.why)
def test_what_is_legal_is_taken_as_the_operator_reads_it(cluster: Cluster, shared: str, case: Legal, how: str) -> None:
    wanted = manifest(case.kind, case.edits)
    if case.before is not None:
        _apply(cluster, shared, manifest(case.kind, case.before), how)
    _apply(cluster, shared, wanted, how)

    got = cluster.get(case.kind.value, wanted["metadata"]["name"], f"--namespace={shared}")
    _delete(cluster, shared, case)
    assert spec_of(got) == spec_of(wanted)


def _apply(cluster: Cluster, namespace: str, tree: dict[str, Any], *arguments: str) -> None:
    cluster.apply(json.dumps(tree), f"--namespace={namespace}", *arguments)


def _delete(cluster: Cluster, namespace: str, case: Illegal | Legal) -> None:
    name = manifest(case.kind, case.edits)["metadata"]["name"]
    cluster.kubectl("delete", case.kind.value, name, f"--namespace={namespace}", "--ignore-not-found", "--wait=false")


def spec_of(tree: dict[str, Any]) -> dict[str, object]:
    """All that the operator makes of a manifest but what Kubernetes adds."""
    resource = parse(tree)
    return {name: getattr(resource, name) for name in resource.__slots__ if name != "meta"}
