"""Helm on our chart, without a cluster."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tools.go_programs import HELM

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "charts/hudi-operator"
VALUES: Final = (*sorted((CHART / "ci").glob("*-values.yaml")), CHART / "values-demo.yaml")
NAMESPACE: Final = "hudi"

Manifest = dict[str, Any]

# Without a cluster Helm has to be told which Kubernetes there is.
_KUBERNETES: Final = ("--kube-version", "1.35.4", "--namespace", NAMESPACE)


def helm(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([HELM.built(), *arguments], capture_output=True, text=True, timeout=120, check=False)


def rendered(*values: Path, given: Mapping[str, str] | None = None) -> list[Manifest]:
    """What `helm install hudi-operator` creates with these files of values."""
    ran = template(*values, given=given)
    assert ran.returncode == 0, ran.stderr
    return [document for document in yaml.safe_load_all(ran.stdout) if document]


def template(*values: Path, given: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    files = [word for path in values for word in ("--values", path)]
    settings = [word for name, value in (given or {}).items() for word in ("--set", f"{name}={value}")]
    return helm("template", "hudi-operator", CHART, *_KUBERNETES, *files, *settings)


def lint(values: Path) -> "subprocess.CompletedProcess[str]":
    return helm("lint", CHART, "--strict", *_KUBERNETES, "--values", values)


def of_kinds(documents: Sequence[Manifest], *kinds: str) -> list[Manifest]:
    return [document for document in documents if document["kind"] in kinds]


def pods(documents: Sequence[Manifest]) -> list[Manifest]:
    """The specs of all pods, also of those that a Deployment makes."""
    made = [each["spec"]["template"]["spec"] for each in of_kinds(documents, "Deployment")]
    return made + [each["spec"] for each in of_kinds(documents, "Pod")]
