"""Somebody who has one namespace."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hudi_operator.words import Kind
from tests.cluster.api import Tree, path_of
from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import INDEX, Manifest
from tests.kit.eventually import eventually


class User:
    """`kubectl` is the program; all else asks the API server as it would."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._api = cluster.api
        self.namespace = namespace

    def kubectl(self, *arguments: str | Path, given: str = "") -> str:
        """What it prints; Refused, with what it says, if it fails."""
        return self._cluster.kubectl(*arguments, f"--namespace={self.namespace}", given=given)

    def apply(self, *documents: Manifest) -> None:
        for each in documents:
            self._api.apply(self._path(f"{each['kind']}/{each['metadata']['name']}"), each)

    def create(self, kind: str, name: str, **tree: Any) -> None:
        self._api.create(self._path(kind), {"metadata": {"name": name}, **tree})

    def edit(self, what: str, **spec: Any) -> None:
        self._api.patch(self._path(what), {"spec": spec})

    def annotate(self, what: str, **annotations: str) -> None:
        """With annotations of ours, by their short names."""
        ours = {f"hudi-operator.dev/{name}": text for name, text in annotations.items()}
        self._api.patch(self._path(what), {"metadata": {"annotations": ours}})

    def delete(self, *several: str) -> None:
        """Asked for and not waited for."""
        for what in several:
            self._api.delete(self._path(what))

    def get(self, what: str) -> Tree:
        found = self._api.get(self._path(what))
        found["metadata"].pop("managedFields", None)  # longer than all the rest, and nobody reads them in a failure
        return found

    def listed(self, kind: str) -> list[Tree]:
        return self._api.listed(self._path(kind))

    def say(self, what: str, **status: Any) -> None:
        """Writes the status, as an operator or a kubelet would."""
        self._api.patch(f"{self._path(what)}/status", {"status": status})

    def wait(self, what: str = f"metadataindex/{INDEX}", until: str = "Ready") -> None:
        """As `kubectl wait --for=condition=…`."""
        self.wait_for(what, until, "True")

    def wait_for(self, what: str, condition: str, status: str, reason: str | None = None) -> None:
        """Until a condition says so of the newest generation."""
        wanted = f"{what} to have {condition}={status}{f' because of {reason}' if reason else ''}"
        self.wait_until(wanted, what, lambda seen: _says(seen, condition, status, reason))

    def wait_until(self, wanted: str, what: str, holds: Callable[[Tree], object]) -> Tree:
        """The resource as it is then; one that nobody has looked at yet has an empty status."""
        return eventually(wanted, lambda: {"status": {}, **self.get(what)}, holds, told=self.events)

    def wait_for_first(self, kind: str) -> str:
        """The name of the first of them."""
        found = eventually(f"a {kind} in {self.namespace}", lambda: self.listed(kind), told=self.events)
        return str(found[0]["metadata"]["name"])

    def wait_for_event(self, word: str) -> None:
        """Events are written after the status, and by themselves."""
        eventually(f"an event that says {word}", self.events, lambda events: word in events)

    def wait_gone(self) -> None:
        """Until none of our resources is left in the namespace."""
        eventually(
            f"none of our resources in {self.namespace}", self.resources, lambda left: not left, told=self.events
        )

    def resources(self) -> list[str]:
        found = ((kind, each) for kind in Kind for each in self.listed(kind))
        return [f"{kind}/{each['metadata']['name']}" for kind, each in found]

    def events(self) -> str:
        return self.kubectl("get", "events", "--sort-by=.lastTimestamp")

    def _path(self, what: str) -> str:
        return path_of(self.namespace, what)


def _says(seen: Tree, condition: str, status: str, reason: str | None) -> bool:
    if seen.get("status", {}).get("observedGeneration") != seen["metadata"]["generation"]:
        return False
    said = next((each for each in seen["status"].get("conditions", []) if each["type"] == condition), None)
    return said is not None and said["status"] == status and reason in (None, said["reason"])
