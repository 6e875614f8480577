"""Deleting what was applied, in whatever order, leaves what the policy says and nothing else."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pytest

from tests.cluster.kubernetes import HOME, Cluster
from tests.cluster.manifests import INDEX, SERVICE, TABLE, index, service, table
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.runs import engines, orders, stopped_in_a_build
from tests.cluster.user import User
from tests.faults.engine import wait_until
from tests.faults.remains import require_nothing_of_it, require_ready_and_nothing_left

_ALL = (f"huditable/{TABLE}", f"metadataindex/{INDEX}", f"tableservice/{SERVICE}")


@pytest.fixture(scope="module")
def operator(cluster: Cluster) -> Iterator[OperatorProcess]:
    """One for all these tests."""
    with cluster.operator() as running:
        yield running


@pytest.mark.parametrize("policy", ["Retain", "Drop"])
@pytest.mark.parametrize(
    "order", [*permutations(_ALL)], ids=lambda order: ", ".join(each.split("/")[0] for each in order)
)
def test_nothing_is_left_in_whatever_order_the_three_are_deleted(
    cluster: Cluster, user: User, operator: OperatorProcess, quiet: Path, order: Sequence[str], policy: str
) -> None:
    user.apply(table(quiet), index(deletionPolicy=policy), service())
    user.wait()
    user.wait(f"tableservice/{SERVICE}", "LastRunSucceeded")

    for each in order:
        user.kubectl("delete", each, "--wait=false")

    user.wait_gone()
    _require_nothing_left(cluster, user, operator, quiet)
    if policy == "Drop":
        require_nothing_of_it(quiet)
    else:
        require_ready_and_nothing_left(quiet)


def test_an_index_deleted_in_the_middle_of_its_build_is_dropped(
    cluster: Cluster, user: User, operator: OperatorProcess, quiet: Path, say: Callable[[str], None]
) -> None:
    user.apply(table(quiet), index(deletionPolicy="Drop"))
    with stopped_in_a_build(cluster, quiet):
        user.kubectl("delete", f"metadataindex/{INDEX}", "--wait=false")
    began = time.monotonic()

    user.kubectl("wait", "--for=delete", f"metadataindex/{INDEX}", "--timeout=90s")

    say(f"gone {time.monotonic() - began:.1f} s after it was deleted in the middle of its build")
    user.kubectl("delete", f"huditable/{TABLE}")
    _require_nothing_left(cluster, user, operator, quiet)
    require_nothing_of_it(quiet)


def _require_nothing_left(cluster: Cluster, user: User, operator: OperatorProcess, folder: Path) -> None:
    """Of resources, leases, processes, records of runs, locks and config maps."""
    assert user.resources() == []
    leases = cluster.kubectl("get", "leases", "--all-namespaces", "-o", "name", f"--namespace={HOME}")
    assert user.kubectl("get", "leases", "-o", "name") == ""
    assert len([lease for lease in leases.split() if "hudi" in lease]) <= 1, leases
    wait_until(lambda: not engines(cluster), 30)
    wait_until(lambda: not orders(operator.state), 60)
    assert not (folder / ".hoodie" / "lock").exists()
    wait_until(lambda: f"{TABLE}-writer" not in user.kubectl("get", "configmaps", "-o", "name"), 30)
