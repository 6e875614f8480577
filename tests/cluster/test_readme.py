"""The commands of the README for a cluster, as they stand there, on one that has never heard of us."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.api import path_of
from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Refused
from tests.cluster.parts import kubernetes
from tests.cluster.test_plugin import PLAN, condition
from tests.kit.readme import commands

Typed = Callable[[str], str]
_APPLY = "kubectl apply -f examples/orders.yaml"
_WAIT = "kubectl wait --for=condition=Ready metadataindex/orders-by-key"
_STATUS, _PLANNED, _APPROVE, _DOCTOR = (
    f"kubectl hudi {words}" for words in ("status", "plan orders-by-key", "approve orders-by-key", "doctor")
)
_INDEX = path_of("default", "metadataindex/orders-by-key")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster") / "bare", bare=True) as ready:
        yield ready


@pytest.fixture
def typed(bare: Cluster, tmp_path: Path) -> Typed:
    """What a command prints for a person who has kubectl and our programs on the PATH."""
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nexec {kubernetes()} kubectl "$@"\n')
    kubectl.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "KUBECONFIG": str(bare.kubeconfig),
    }
    return lambda command: bare.run(["bash", "-c", command], environment=environment)


def test_two_clusters_on_one_machine_know_nothing_of_each_other(cluster: Cluster, bare: Cluster) -> None:
    mine = path_of("default", "configmap/mine")
    cluster.api.create(path_of("default", "configmap"), {"metadata": {"name": "mine"}})

    assert cluster.api.find(mine) is not None
    assert bare.api.find(mine) is None


def test_what_the_readme_begins_with_is_taken_by_a_new_cluster(bare: Cluster, typed: Typed) -> None:
    shown = [command for command in commands() if command.startswith("kubectl ")]
    assert shown[2:] == [_APPLY, _WAIT, _STATUS, _PLANNED, _APPROVE, _DOCTOR]

    for command in shown[:3]:
        typed(command)

    found = bare.kubectl("get", "hudi", "-o", "name").split()
    assert sorted(name.rpartition("/")[2] for name in found) == ["orders", "orders-by-key", "orders-nightly-check"]
    _says(bare, state="AwaitingApproval", conditions=[condition("Approved", "False", "AwaitingApproval")], plan=PLAN)
    assert "plan 3f9a1c0b2d waits: kubectl hudi plan orders-by-key" in typed(_STATUS)
    assert "5,000,000 in 10 shards" in typed(_PLANNED)
    typed(f"echo y | script --quiet --return --command {shlex.quote(_APPROVE)} /dev/null")
    annotations = bare.api.get(_INDEX)["metadata"]["annotations"]
    assert annotations["hudi-operator.dev/approve"] == "3f9a1c0b2d"
    with pytest.raises(Refused, match="not looked at by any operator: HudiTable orders"):
        typed(_DOCTOR)
    _says(bare, state="Ready", conditions=[condition("Ready", "True", "Complete")])
    assert "condition met" in typed(_WAIT)


def _says(bare: Cluster, **status: object) -> None:
    """What an operator would write."""
    bare.api.patch(f"{_INDEX}/status", {"status": {"observedGeneration": 1, **status}})
