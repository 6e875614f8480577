"""A secret's value is searched for wherever somebody might see it."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import SERVICE, index, service, table
from tests.cluster.runs import builds_of
from tests.cluster.user import User
from tests.kit.eventually import eventually

_CANARY = "canary-7f3b9c15d2"
_PORT = 9517  # in the network namespace of the cluster
_FETCH = f"import urllib.request as web; print(web.urlopen('http://127.0.0.1:{_PORT}/metrics').read().decode())"
_SHOWN = ("hudi", "events", "configmaps", "leases", "jobs", "pods", "serviceaccounts")


def test_the_value_of_a_secret_is_nowhere_but_in_the_secret(
    cluster: Cluster, user: User, quiet: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    user.kubectl("create", "secret", "generic", "store", f"--from-literal=fs.s3a.secret.key={_CANARY}")
    builds = builds_of(cluster, tmp_path / "pauses")
    builds.stop_the_next()
    options = ("--metrics-port", str(_PORT))
    with (
        cluster.operator(*options, folder=state, pauses=builds.folder) as operator,
        _watched(cluster) as seen,
    ):
        user.apply(table(quiet, storage={"credentialsSecretRef": {"name": "store"}}), index(), service())
        with builds.stopped(quiet):
            eventually("the watch to see the build's arguments", lambda: "tests.kit.paused_engine" in seen)
        user.wait()
        user.wait(f"tableservice/{SERVICE}", "LastRunSucceeded")
        metrics = cluster.run([sys.executable, "-c", _FETCH])
        said = operator.said

    shown = {kind: user.kubectl("get", kind, "-o", "yaml") for kind in _SHOWN}
    files = [file for folder in (state, quiet) for file in folder.rglob("*") if file.is_file()]
    assert "fs.s3a.secret.key" in user.kubectl("get", "secret", "store", "-o", "yaml")
    assert [kind for kind, text in shown.items() if _CANARY in text] == []
    assert _CANARY not in said
    assert "hudi_" in metrics
    assert _CANARY not in metrics
    assert [file for file in files if _CANARY.encode() in file.read_bytes()] == []
    assert {"order.json", "hoodie.properties"} <= {file.name for file in files}
    assert [text for text in seen if _CANARY in text] == []


@contextmanager
def _watched(cluster: Cluster) -> Iterator[set[str]]:
    """Arguments and environments of all processes that there are during the block."""
    seen: set[str] = set()
    halt = threading.Event()

    def watch() -> None:
        while not halt.wait(0.1):
            seen.update(part for each in cluster.processes() for part in (*each.arguments, *each.environment))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        halt.set()
        thread.join()
