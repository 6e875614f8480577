"""What the other tests in here rely on: a real API server that meets nobody and leaves nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Refused
from tests.kit.wait import wait_until

_ROOT = Path(__file__).parents[2]
_HOLDER = """
import sys, time
from pathlib import Path
from tests.cluster.namespaces import Namespaces
with Namespaces() as inside, Path(sys.argv[1]).open("wb") as log:
    print(inside.start(["sleep", "1000"], log).pid, flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def other_cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "other") as ready:
        yield ready


def test_two_clusters_on_one_machine_know_nothing_of_each_other(cluster: Cluster, other_cluster: Cluster) -> None:
    cluster.kubectl("create", "configmap", "mine")

    with pytest.raises(Refused, match="not found"):
        other_cluster.kubectl("get", "configmap", "mine")
    cluster.kubectl("delete", "configmap", "mine")


def test_what_was_written_is_there_when_the_api_server_is_killed_and_begun_again(
    cluster: Cluster, namespace: str
) -> None:
    in_it = f"--namespace={namespace}"
    cluster.kubectl("create", "configmap", "kept", in_it)

    cluster.kill_api()
    with pytest.raises(Refused):
        cluster.kubectl("get", "configmap", "kept", in_it, "--request-timeout=2s")
    cluster.restart_api()

    assert cluster.get("configmap", "kept", in_it)["metadata"]["name"] == "kept"


def test_the_operators_account_may_read_what_it_needs_and_change_nothing_else(cluster: Cluster) -> None:
    user = f"--kubeconfig={cluster.operator_kubeconfig}"

    assert cluster.kubectl("auth", "can-i", "patch", "metadataindexes.hudi-operator.dev/status", user) == "yes\n"
    for verb, what in (("delete", "metadataindexes.hudi-operator.dev"), ("list", "secrets"), ("create", "pods")):
        with pytest.raises(Refused, match="no"):
            cluster.kubectl("auth", "can-i", verb, what, user)


def test_a_namespace_goes_with_resources_whose_finalizers_nobody_heeds(cluster: Cluster) -> None:
    cluster.kubectl("create", "namespace", "held")
    cluster.apply("""
        {"apiVersion": "hudi-operator.dev/v1alpha1", "kind": "HudiTable",
         "metadata": {"name": "orders", "namespace": "held", "finalizers": ["hudi-operator.dev/drop"]},
         "spec": {"basePath": "/nowhere", "concurrency": {"mode": "SingleWriter"}}}
    """)

    cluster.remove_namespace("held")

    cluster.kubectl("wait", "--for=delete", "namespace/held", "--timeout=60s")


def test_all_that_runs_in_namespaces_ends_with_whoever_made_them(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, "-c", _HOLDER, tmp_path / "log"]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT)
    assert holder.stdout is not None
    kept = int(holder.stdout.readline())
    assert os.path.exists(f"/proc/{kept}")

    holder.kill()

    holder.wait()
    holder.stdout.close()
    wait_until(lambda: not os.path.exists(f"/proc/{kept}"), 10)
