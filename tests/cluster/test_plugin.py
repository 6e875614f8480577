"""`kubectl hudi` against a real API server: what it shows there, and the approval that it writes."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import INDEX, TABLE, index, table
from tests.cluster.namespaces import Refused
from tests.cluster.parts import kubernetes
from tests.cluster.user import User

PLAN = {
    "hash": "3f9a1c0b2d",
    "keys": 5_000_000,
    "shards": 10,
    "readBytes": 535 << 20,
    "writeBytes": 93 << 20,
    "memoryBytes": 2 << 30,
    "plannedTime": "2026-01-31T11:58:00Z",
}


class Plugin:
    """`kubectl hudi` as kubectl finds it: a program called `kubectl-hudi` on the PATH."""

    def __init__(self, cluster: Cluster, namespace: str, folder: Path) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._path = f"{folder}:{Path(sys.executable).parent}:/usr/bin:/bin"
        self._kubectl = folder / "kubectl"
        # By its environment: kubectl takes no flags before a plugin's name.
        known = f"KUBECONFIG={cluster.kubeconfig}"
        self._kubectl.write_text(f'#!/bin/sh\n{known} exec {kubernetes()} kubectl "$@"\n')
        self._kubectl.chmod(0o755)

    def __call__(self, *arguments: str) -> str:
        within = ("-n", self._namespace)
        return self._cluster.run(["env", f"PATH={self._path}", self._kubectl, "hudi", *arguments, *within])


@pytest.fixture
def plugin(cluster: Cluster, namespace: str, tmp_path: Path) -> Plugin:
    return Plugin(cluster, namespace, tmp_path)


def _says(user: User, what: str, **status: Any) -> None:
    """The status, as an operator would write it."""
    user.say(what, observedGeneration=1, **status)


def condition(kind: str, status: str, reason: str) -> dict[str, str]:
    words = {"type": kind, "status": status, "reason": reason, "message": "said by a test"}
    return {**words, "lastTransitionTime": "2026-01-31T11:59:00Z"}


def _await_approval(user: User, **plan: Any) -> None:
    approved = condition("Approved", "False", "AwaitingApproval")
    _says(user, f"metadataindex/{INDEX}", state="AwaitingApproval", conditions=[approved], plan={**PLAN, **plan})


@pytest.fixture
def waiting(user: User, tmp_path: Path) -> User:
    """A user whose index waits for approval of its plan."""
    user.apply(table(tmp_path), index(approval="Manual"))
    _says(user, f"huditable/{TABLE}", state="Ready", conditions=[condition("Ready", "True", "Observed")])
    _await_approval(user)
    return user


def test_status_and_plan_show_what_waits(plugin: Plugin, waiting: User) -> None:
    status, plan = plugin("status"), plugin("plan", INDEX)

    assert f"{waiting.namespace}/{TABLE}   Ready" in status
    assert f"plan 3f9a1c0b2d waits: kubectl hudi plan {INDEX}" in status
    assert "5,000,000 in 10 shards" in plan


def test_approve_writes_the_annotation_with_the_hash_that_was_shown(plugin: Plugin, waiting: User) -> None:
    plugin("approve", INDEX, "--hash", "3f9a1c0b2d")

    annotations = waiting.get(f"metadataindex/{INDEX}")["metadata"]["annotations"]
    assert annotations["hudi-operator.dev/approve"] == "3f9a1c0b2d"


def test_approve_refuses_a_plan_that_changed(plugin: Plugin, waiting: User) -> None:
    _await_approval(waiting, hash="aaaaaaaaaa")

    with pytest.raises(Refused, match="the plan is aaaaaaaaaa by now, not 3f9a1c0b2d"):
        plugin("approve", INDEX, "--hash", "3f9a1c0b2d")

    assert "hudi-operator.dev/approve" not in waiting.get(f"metadataindex/{INDEX}")["metadata"].get("annotations", {})


def test_doctor_finds_what_is_wrong(plugin: Plugin, waiting: User) -> None:
    with pytest.raises(Refused, match=f"there is no ConfigMap {TABLE}-writer"):
        plugin("doctor")


def test_an_index_that_is_not_there_is_an_error(plugin: Plugin) -> None:
    with pytest.raises(Refused, match="NotFound"):
        plugin("plan", "none")
