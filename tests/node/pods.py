"""Pods of a test's own."""

from types import TracebackType
from typing import Any, Final, Self

from tests.cluster.api import path_of
from tests.kit.eventually import eventually
from tests.node.images import TAG
from tests.node.node import Node
from tools.images import REPOSITORIES

Manifest = dict[str, Any]

OPERATOR, ENGINE = (f"localhost/{REPOSITORIES[target]}:{TAG}" for target in ("operator", "engine"))
RESTRICTED: Final[Manifest] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod(name: str, image: str, *command: str) -> Manifest:
    """As the profile `restricted` has it. Its image is on the node, and /tmp is its one volume."""
    container: Manifest = {
        "name": name,
        "image": image,
        "command": list(command),
        "imagePullPolicy": "Never",
        "securityContext": RESTRICTED,
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
        },
    }


class Pods:
    """They and their services are removed at the end of the block."""

    def __init__(self, node: Node, namespace: str) -> None:
        self._cluster = node.cluster
        self._namespace = namespace
        self._made: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for what in reversed(self._made):
            self._cluster.api.delete(path_of(self._namespace, what))

    def start(self, manifest: Manifest) -> None:
        self._create("pod", manifest)

    def expose(self, name: str, port: int) -> None:
        """By a service of its name."""
        self._create(
            "service", {"metadata": {"name": name}, "spec": {"selector": {"app": name}, "ports": [{"port": port}]}}
        )

    def wait_ready(self, name: str) -> None:
        eventually(f"pod {name} to be ready", lambda: self._ready(name) == "True", told=lambda: self._said(name))

    def log_at_end(self, name: str) -> str:
        """What it printed, once it has ended."""
        eventually(
            f"pod {name} to end", lambda: self._phase(name) in ("Succeeded", "Failed"), told=lambda: self._said(name)
        )
        return self._cluster.kubectl("logs", name, f"--namespace={self._namespace}")

    def _create(self, kind: str, manifest: Manifest) -> None:
        self._cluster.api.create(path_of(self._namespace, kind), manifest)
        self._made.append(f"{kind}/{manifest['metadata']['name']}")

    def _phase(self, name: str) -> str:
        return str(self._status(name).get("phase"))

    def _ready(self, name: str) -> str | None:
        conditions = self._status(name).get("conditions", [])
        return next((each["status"] for each in conditions if each["type"] == "Ready"), None)

    def _status(self, name: str) -> Manifest:
        status: Manifest = self._cluster.api.get(path_of(self._namespace, f"pod/{name}"))["status"]
        return status

    def _said(self, name: str) -> str:
        return self._cluster.kubectl("describe", "pod", name, f"--namespace={self._namespace}")
