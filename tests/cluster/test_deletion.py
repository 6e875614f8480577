"""Deleting what was applied, in whatever order, leaves what the policy says and nothing else."""

from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.api import Tree, path_of
from tests.cluster.kubernetes import HOME, Cluster
from tests.cluster.manifests import INDEX, SERVICE, TABLE, index, service, table
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.runs import builds_of, engines, orders
from tests.cluster.user import User
from tests.golden.unpack import unpack
from tests.java.remains import require_nothing_of_it, require_ready_and_nothing_left
from tests.kit.builds import Builds, is_asked_to_end
from tests.kit.eventually import eventually
from tests.kit.soak import and_in_soak

_ALL: Final = (f"huditable/{TABLE}", f"metadataindex/{INDEX}", f"tableservice/{SERVICE}")
_ORDERS: Final = tuple(permutations(_ALL))
# Either three: each resource is deleted first, second and last once, and before and after each of the others.
_TURNED, _OTHERS = [_ORDERS[n] for n in (0, 3, 4)], [_ORDERS[n] for n in (1, 2, 5)]


@pytest.fixture(scope="module")
def builds(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return builds_of(cluster, tmp_path_factory.mktemp("builds") / "pauses")


@pytest.fixture(scope="module")
def operator(cluster: Cluster, builds: Builds) -> Iterator[OperatorProcess]:
    """One for all these tests."""
    with cluster.operator(pauses=builds.folder) as running:
        yield running


@pytest.mark.parametrize(
    ("policy", "sequences"),
    and_in_soak([("Retain", _TURNED), ("Drop", _OTHERS)], [("Retain", _OTHERS), ("Drop", _TURNED)]),
)
def test_nothing_is_left_in_whatever_order_the_three_are_deleted(
    cluster: Cluster,
    new_user: Callable[[], User],
    operator: OperatorProcess,
    tmp_path: Path,
    policy: str,
    sequences: list[tuple[str, ...]],
) -> None:
    users = [new_user() for _ in sequences]
    tables = [unpack("v9_mor_orders", tmp_path / user.namespace) for user in users]
    for user, folder in zip(users, tables, strict=True):
        user.apply(table(folder), index(deletionPolicy=policy), service())
    for user in users:
        user.wait()
        user.wait(f"tableservice/{SERVICE}", "LastRunSucceeded")

    for user, sequence in zip(users, sequences, strict=True):
        user.delete(*sequence)

    for user, folder in zip(users, tables, strict=True):
        user.wait_gone()
        _require_nothing_left(cluster, user, operator, folder)
        if policy == "Drop":
            require_nothing_of_it(folder)
        else:
            require_ready_and_nothing_left(folder)


def test_an_index_deleted_in_the_middle_of_its_build_is_dropped(
    cluster: Cluster, user: User, operator: OperatorProcess, builds: Builds, quiet: Path
) -> None:
    builds.stop_the_next()
    user.apply(table(quiet), index(deletionPolicy="Drop"))
    with builds.stopped(quiet) as build:
        user.delete(f"metadataindex/{INDEX}")
        # Otherwise the build may be over before it is asked.
        eventually("the build to be asked to end", lambda: is_asked_to_end(build))

    eventually("the index to be gone", user.resources, lambda left: left == [f"HudiTable/{TABLE}"], told=user.events)

    user.delete(f"huditable/{TABLE}")
    user.wait_gone()
    _require_nothing_left(cluster, user, operator, quiet)
    require_nothing_of_it(quiet)


def test_an_index_that_is_kept_and_deleted_in_the_middle_of_its_build_is_missed_and_finished_when_applied_again(
    cluster: Cluster, user: User, builds: Builds, operator: OperatorProcess, quiet: Path
) -> None:
    builds.stop_the_next()
    user.apply(table(quiet), index())
    with builds.stopped(quiet) as build:
        user.delete(f"metadataindex/{INDEX}")
        eventually("the index to be gone", user.resources, lambda left: left == [f"HudiTable/{TABLE}"])
        eventually("the build to be asked to end", lambda: is_asked_to_end(build))
    eventually("the build to end", lambda: engines(cluster, quiet), lambda left: not left)
    user.wait_for(f"huditable/{TABLE}", "MetadataConsistent", "False", "OrphanedPlan")

    user.apply(index())

    user.wait()
    require_ready_and_nothing_left(quiet)


def _require_nothing_left(cluster: Cluster, user: User, operator: OperatorProcess, folder: Path) -> None:
    """Of resources, leases, processes, records of runs, locks and config maps."""
    assert user.resources() == []
    assert user.listed("lease") == []
    assert _names(cluster.api.listed(path_of(HOME, "lease"))) == [HOME]
    eventually("no record of a run", lambda: _of_table(orders(operator.state), folder), lambda left: not left)
    eventually("no engine", lambda: engines(cluster, folder), lambda left: not left)
    assert not (folder / ".hoodie" / "lock").exists()
    eventually(
        "no settings for writers", lambda: _names(user.listed("configmap")), lambda left: f"{TABLE}-writer" not in left
    )


def _names(found: list[Tree]) -> list[str]:
    return [each["metadata"]["name"] for each in found]


def _of_table(runs: list[dict[str, Any]], folder: Path) -> list[str]:
    return [run["name"] for run in runs if str(folder) in run["request"]]
