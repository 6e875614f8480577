"""Which cluster is meant, as kubectl decides it."""

import os
from collections.abc import Mapping
from pathlib import Path

from hudi_operator.kube.connection import Connection, NoConnection, by_service_account
from hudi_operator.kube.kubeconfig import by_kubeconfig


def find_connection(kubeconfig: Path | None, environment: Mapping[str, str]) -> Connection:
    """By the file given, else by `KUBECONFIG`, else by the service account of this pod, else by `~/.kube/config`."""
    if kubeconfig is not None:
        return by_kubeconfig([kubeconfig], environment)
    named = [Path(path) for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    if named:
        return by_kubeconfig(named, environment)
    account = by_service_account(environment)
    if account is not None:
        return account
    default = Path("~/.kube/config").expanduser()
    if default.exists():
        return by_kubeconfig([default], environment)
    raise NoConnection(
        f"no cluster: --kubeconfig and KUBECONFIG are not given, this is no pod, and {default} does not exist"
    )
