"""What the other tests in here rely on: a real API server that meets nobody and leaves nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hudi_operator.words import Kind
from tests.cluster.api import path_of
from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Refused
from tests.kit.admission.manifests import manifest
from tests.kit.eventually import eventually

_ROOT = Path(__file__).parents[2]
_HOLDER = """
import sys, time
from pathlib import Path
from tests.cluster.namespaces import Namespaces
with Namespaces() as inside, Path(sys.argv[1]).open("wb") as log:
    print(inside.start(["sleep", "1000"], log).pid, flush=True)
    time.sleep(1000)
"""


def test_the_operators_account_may_read_what_it_needs_and_change_nothing_else(cluster: Cluster) -> None:
    user = f"--kubeconfig={cluster.operator_kubeconfig}"

    assert cluster.kubectl("auth", "can-i", "patch", "metadataindexes.hudi-operator.dev/status", user) == "yes\n"
    for verb, what in (("delete", "metadataindexes.hudi-operator.dev"), ("list", "secrets"), ("create", "pods")):
        with pytest.raises(Refused, match="no"):
            cluster.kubectl("auth", "can-i", verb, what, user)


def test_a_namespace_is_empty_at_the_end_though_nobody_heeds_the_finalizers_in_it(cluster: Cluster) -> None:
    cluster.make_namespace("held")
    held = manifest(Kind.TABLE, {"metadata.finalizers": ["hudi-operator.dev/drop"]})
    cluster.api.create(path_of("held", "huditable"), held)

    cluster.empty_namespace("held")

    assert cluster.api.listed(path_of("held", "huditable")) == []


def test_all_that_runs_in_namespaces_ends_with_whoever_made_them(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, "-c", _HOLDER, tmp_path / "log"]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT)
    assert holder.stdout is not None
    kept = int(holder.stdout.readline())
    assert os.path.exists(f"/proc/{kept}")

    holder.kill()

    holder.wait()
    holder.stdout.close()
    eventually("the process in the namespaces to end", lambda: not os.path.exists(f"/proc/{kept}"))
