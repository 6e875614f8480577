"""The first commands of the README, as they stand there, on a cluster that has never heard of us."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.parts import kubernetes
from tests.repository.readme import commands


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "bare", bare=True) as ready:
        yield ready


def test_what_the_readme_begins_with_is_taken_by_a_new_cluster(bare: Cluster, tmp_path: Path) -> None:
    first = [command for command in commands() if command.startswith("kubectl ")][:3]
    assert first[-1] == "kubectl apply -f examples/orders.yaml"
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nexec {kubernetes()} kubectl "$@"\n')
    kubectl.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "KUBECONFIG": str(bare.kubeconfig)}

    for command in first:
        bare.run(["bash", "-c", command], environment=environment)

    found = bare.kubectl("get", "hudi", "-o", "name").split()
    assert sorted(name.rpartition("/")[2] for name in found) == ["orders", "orders-by-key", "orders-nightly-check"]
