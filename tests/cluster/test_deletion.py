"""Deleting what was applied, in whatever order, leaves what the policy says and nothing else."""

import time
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes import HOME, Cluster
from tests.cluster.manifests import INDEX, SERVICE, TABLE, index, service, table
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.runs import engines, is_asked_to_end, orders, stopped_in_a_build
from tests.cluster.user import User
from tests.faults.remains import require_nothing_of_it, require_ready_and_nothing_left
from tests.golden.unpack import unpack
from tests.kit.wait import wait_until

_ALL = (f"huditable/{TABLE}", f"metadataindex/{INDEX}", f"tableservice/{SERVICE}")


@pytest.fixture(scope="module")
def operator(cluster: Cluster) -> Iterator[OperatorProcess]:
    """One for all these tests."""
    with cluster.operator() as running:
        yield running


@pytest.mark.parametrize("policy", ["Retain", "Drop"])
def test_nothing_is_left_in_whatever_order_the_three_are_deleted(
    cluster: Cluster, new_user: Callable[[], User], operator: OperatorProcess, tmp_path: Path, policy: str
) -> None:
    sequences = list(permutations(_ALL))
    users = [new_user() for _ in sequences]
    tables = [unpack("v9_mor_orders", tmp_path / user.namespace) for user in users]
    for user, folder in zip(users, tables, strict=True):
        user.apply(table(folder), index(deletionPolicy=policy), service())
    for user in users:
        user.wait(seconds=240)
        user.wait(f"tableservice/{SERVICE}", "LastRunSucceeded", seconds=240)

    for user, sequence in zip(users, sequences, strict=True):
        for each in sequence:
            user.kubectl("delete", each, "--wait=false")

    for user, folder in zip(users, tables, strict=True):
        user.wait_gone(240)
        _require_nothing_left(cluster, user, operator, folder)
        if policy == "Drop":
            require_nothing_of_it(folder)
        else:
            require_ready_and_nothing_left(folder)


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


def test_an_index_that_is_kept_and_deleted_in_the_middle_of_its_build_is_missed_and_finished_when_applied_again(
    cluster: Cluster, user: User, operator: OperatorProcess, quiet: Path
) -> None:
    user.apply(table(quiet), index())
    with stopped_in_a_build(cluster, quiet) as build:
        user.kubectl("delete", f"metadataindex/{INDEX}")
        # Otherwise it may be ready before it is asked.
        wait_until(lambda: is_asked_to_end(build), 60)
    wait_until(lambda: not engines(cluster, quiet), 90)
    user.wait_for(f"huditable/{TABLE}", "MetadataConsistent", ("False", "OrphanedPlan"), 90)

    user.apply(index())

    user.wait()
    require_ready_and_nothing_left(quiet)


def _require_nothing_left(cluster: Cluster, user: User, operator: OperatorProcess, folder: Path) -> None:
    """Of resources, leases, processes, records of runs, locks and config maps."""
    assert user.resources() == []
    leases = cluster.kubectl("get", "leases", "--all-namespaces", "-o", "name", f"--namespace={HOME}")
    assert user.kubectl("get", "leases", "-o", "name") == ""
    assert len([lease for lease in leases.split() if "hudi" in lease]) <= 1, leases
    wait_until(lambda: not _of_table(orders(operator.state), folder), 60)
    wait_until(lambda: not engines(cluster, folder), 30)
    assert not (folder / ".hoodie" / "lock").exists()
    wait_until(lambda: f"{TABLE}-writer" not in user.kubectl("get", "configmaps", "-o", "name"), 30)


def _of_table(runs: list[dict[str, Any]], folder: Path) -> list[str]:
    return [run["name"] for run in runs if str(folder) in run["request"]]
