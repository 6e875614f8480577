"""A real API server refuses what is illegal, in the words that the operator has for it, and takes what is legal."""

import json
from typing import Any

import pytest

from hudi_operator.resources.parse import parse
from tests.cluster.api import Tree, path_of
from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Refused
from tests.kit.admission.illegal import ILLEGAL, Illegal
from tests.kit.admission.legal import LEGAL, Legal
from tests.kit.admission.manifests import manifest

_DRY_RUN = "dryRun=All"
_MOVED_LOCK = "a lock that moves"
_ALL_FIELDS = "all of an execution"


@pytest.mark.parametrize("case", ILLEGAL, ids=lambda case: case.why)
def test_what_is_illegal_is_refused_with_the_sentence_that_says_why(
    cluster: Cluster, shared: str, case: Illegal
) -> None:
    with pytest.raises(Refused) as refused:
        _written(cluster, shared, case, is_applied=False)

    assert case.path in refused.value.said
    assert case.message in refused.value.said


@pytest.mark.parametrize("is_applied", [True, False], ids=["applied", "put"])
@pytest.mark.parametrize("case", LEGAL, ids=lambda case: case.why)
def test_what_is_legal_is_taken_as_the_operator_reads_it(
    cluster: Cluster, shared: str, case: Legal, *, is_applied: bool
) -> None:
    got = _written(cluster, shared, case, is_applied=is_applied)

    assert spec_of(got) == spec_of(manifest(case.kind, case.edits))


def test_kubectl_shows_the_sentence_that_says_why_a_change_is_illegal(cluster: Cluster, namespace: str) -> None:
    (case,) = (each for each in ILLEGAL if each.why == _MOVED_LOCK)
    _apply(cluster, namespace, manifest(case.kind, case.before))

    with pytest.raises(Refused) as refused:
        _apply(cluster, namespace, manifest(case.kind, case.edits))

    assert case.path in refused.value.said
    assert case.message in refused.value.said


@pytest.mark.parametrize("how", ["--server-side=true", "--server-side=false"])
def test_what_kubectl_applies_is_taken_as_the_operator_reads_it(cluster: Cluster, namespace: str, how: str) -> None:
    (case,) = (each for each in LEGAL if each.why == _ALL_FIELDS)
    wanted = manifest(case.kind, case.edits)

    answer = _apply(cluster, namespace, wanted, how, "-o", "json")

    assert spec_of(json.loads(answer)) == spec_of(wanted)


def _written(cluster: Cluster, namespace: str, case: Illegal | Legal, *, is_applied: bool) -> Tree:
    """The case's manifest as the API server has it, or would have it; nothing stays in the cluster."""
    wanted, kinds = manifest(case.kind, case.edits), path_of(namespace, case.kind)
    path = f"{kinds}/{wanted['metadata']['name']}"
    if case.before is not None:
        cluster.api.apply(path, manifest(case.kind, case.before))
    try:
        if is_applied:
            return cluster.api.apply(path, wanted, _DRY_RUN)
        if case.before is None:
            return cluster.api.create(kinds, wanted, _DRY_RUN)
        version = cluster.api.get(path)["metadata"]["resourceVersion"]
        wanted["metadata"]["resourceVersion"] = version
        return cluster.api.replace(path, wanted, _DRY_RUN)
    finally:
        if case.before is not None:
            cluster.api.delete(path)


def _apply(cluster: Cluster, namespace: str, tree: dict[str, Any], *arguments: str) -> str:
    return cluster.apply(json.dumps(tree), f"--namespace={namespace}", *arguments)


def spec_of(tree: dict[str, Any]) -> dict[str, object]:
    """All that the operator makes of a manifest but what Kubernetes adds."""
    resource = parse(tree)
    return {name: getattr(resource, name) for name in resource.__slots__ if name != "meta"}
