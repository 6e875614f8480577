"""Somebody who has kubectl and one namespace."""

import json
from pathlib import Path
from typing import Any

from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import INDEX, Manifest, text
from tests.kit.wait import wait_until


class User:
    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._within = f"--namespace={namespace}"
        self.namespace = namespace

    def kubectl(self, *arguments: str | Path, given: str = "") -> str:
        """What it prints; Refused, with what it says, if it fails."""
        return self._cluster.kubectl(*arguments, self._within, given=given)

    def apply(self, *documents: Manifest) -> str:
        return self.kubectl("apply", "-f", "-", given=text(*documents))

    def edit(self, what: str, **spec: Any) -> None:
        self.kubectl("patch", what, "--type=merge", "-p", json.dumps({"spec": spec}))

    def get(self, what: str) -> Any:
        return json.loads(self.kubectl("get", what, "-o", "json"))

    def wait(self, what: str = f"metadataindex/{INDEX}", until: str = "Ready", seconds: int = 120) -> None:
        """As `kubectl wait --for=condition=…`; what is known of the resource is in the failure."""
        try:
            self.kubectl("wait", f"--for=condition={until}", what, f"--timeout={seconds}s")
        except Exception as late:
            raise AssertionError(f"{late}\n{self.kubectl('get', what, '-o', 'yaml')}{self.events()}") from late

    def wait_for(self, what: str, name: str, status_and_reason: tuple[str, str], seconds: int) -> None:
        """Until a condition says so; what is known of the resource is in the failure."""
        try:
            wait_until(lambda: self.condition(what, name) == status_and_reason, seconds)
        except AssertionError as late:
            known = f"{self.kubectl('get', what, '-o', 'yaml')}{self.events()}"
            raise AssertionError(f"{what} not {name}={status_and_reason} within {seconds} s\n{known}") from late

    def wait_gone(self, seconds: int = 60) -> None:
        """Until none of our resources is left in the namespace."""
        wait_until(lambda: not self.resources(), seconds)

    def resources(self) -> list[str]:
        return self.kubectl("get", "hudi", "-o", "name", "--ignore-not-found").split()

    def events(self) -> str:
        return self.kubectl("get", "events", "--sort-by=.lastTimestamp")

    def condition(self, what: str, name: str) -> tuple[str, str]:
        """Its status and the reason; Unknown without a reason if it is not there."""
        conditions = self.get(what).get("status", {}).get("conditions", [])
        found = next((each for each in conditions if each["type"] == name), {"status": "Unknown", "reason": ""})
        return found["status"], found["reason"]
