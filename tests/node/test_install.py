"""`helm install`, then the table of the README in an S3 server: its index is built by pods."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest
import yaml

from tests.cluster.api import path_of
from tests.golden.unpack import unpack
from tests.java.jvm import Jvm
from tests.java.live import COPY_ON_WRITE, RECOMMENDED, TABLE_VERSION
from tests.java.live_checks import require_rows, require_valid
from tests.java.live_writers import SERVICES, Author, LiveTable, Writer, zookeeper_lock
from tests.kit.eventually import eventually
from tests.node.images import TAG
from tests.node.node import Node
from tests.node.pods import Pods
from tests.node.servers import ZOOKEEPER, start_s3, start_zookeeper
from tools.go_programs import HELM
from tools.images import REPOSITORIES
from tools.s3_server import S3Server

_ROOT: Final = Path(__file__).parents[2]
_CHART: Final = _ROOT / "charts/hudi-operator"
_LONGEST_SECONDS: Final = 150.0
_KEYS_AT_FIRST: Final = 30
_BUCKET, _KEYS = "warehouse", "warehouse-keys"
_SMALL: Final = {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
_DRIVER_ONLY: Final = {"driver": {"resources": _SMALL}}
_TWO_EXECUTORS: Final = {**_DRIVER_ONLY, "executor": {"instances": 2, "resources": _SMALL}}


_CASES: Final[dict[str, tuple[dict[str, Any], int]]] = {
    "driver-only": (_DRIVER_ONLY, 0),
    "two-executors": (_TWO_EXECUTORS, 2),
}
"""How the runs of each namespace are carried out, and how many executors they have."""
_LIVE: Final = "live"
_NAMESPACES: Final = (*_CASES, _LIVE)


@pytest.fixture(scope="module")
def s3(node: Node, tmp_path_factory: pytest.TempPathFactory) -> S3Server:
    return start_s3(node, tmp_path_factory.mktemp("s3"))


@pytest.fixture(scope="module")
def installed(node: Node, s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Node:
    for namespace in _NAMESPACES:
        node.cluster.make_namespace(namespace)
    values = tmp_path_factory.mktemp("values") / "values.json"
    place = {"path": f"s3a://{_BUCKET}", "endpoints": [s3.endpoint]}
    values.write_text(
        json.dumps(
            {
                "image": {"repository": f"localhost/{REPOSITORIES['operator']}", "tag": TAG},
                "engineImage": {"repository": f"localhost/{REPOSITORIES['engine']}", "tag": TAG},
                "workload": {"namespaces": _NAMESPACES},
                "policy": {"namespaces": {namespace: {"places": [place]} for namespace in _NAMESPACES}},
            }
        )
    )
    node.cluster.run(
        [
            *(HELM.built(), "install", "hudi-operator", _CHART, "--namespace=hudi", "--create-namespace"),
            *("--wait", "--timeout=120s", "--values", values),
        ],
        environment={"KUBECONFIG": str(node.cluster.kubeconfig), "HOME": str(values.parent)},
    )
    return node


@pytest.fixture
def zookeeper(installed: Node, namespace: str) -> Iterator[None]:
    with Pods(installed, namespace) as pods:
        start_zookeeper(pods)
        yield


@pytest.mark.usefixtures("zookeeper")
@pytest.mark.parametrize("namespace", _CASES)
def test_the_readmes_index_of_a_table_in_s3_is_ready_after_a_run_in_pods(
    namespace: str, installed: Node, s3: S3Server
) -> None:
    execution, executors = _CASES[namespace]
    table = unpack("v9_mor_orders", s3.folder / _BUCKET / namespace)
    items = [_keys(s3), *_resources(s3, f"s3a://{_BUCKET}/{namespace}/{table.name}", execution)]

    _apply(installed, namespace, items)
    _wait_ready(installed, namespace)

    assert len(_executors(installed, namespace)) == executors
    require_valid(table)


@pytest.mark.usefixtures("zookeeper")
@pytest.mark.parametrize("namespace", [_LIVE])
def test_the_index_of_a_table_in_s3_is_whole_beside_a_java_writer_that_keeps_committing(
    namespace: str, installed: Node, s3: S3Server, tmp_path: Path
) -> None:
    service = installed.cluster.api.get(path_of(namespace, f"service/{ZOOKEEPER}"))["spec"]
    lock = zookeeper_lock(f"{service['clusterIP']}:{service['ports'][0]['port']}", "orders")
    url = f"s3a://{_BUCKET}/{namespace}/orders"
    stored = s3.folder / _BUCKET / namespace / "orders"
    stored.parents[1].mkdir(exist_ok=True)
    table = LiveTable(tmp_path / "table", TABLE_VERSION, COPY_ON_WRITE, lock, url, s3.options, stored)

    with Jvm("1.2.0", s3, entered=installed.cluster.in_network()) as jvm:
        writer = Writer(jvm, table, Author("a", 0), {**RECOMMENDED, **SERVICES})
        writer.commit(writer.author.first_step(_KEYS_AT_FIRST))
        with _committing(writer):
            _apply(installed, namespace, [_keys(s3), *_resources(s3, url, _DRIVER_ONLY)])
            _wait_ready(installed, namespace)
        before = writer.commits
        writer.commit()
        require_rows(jvm, table, writer.author.book)

    assert before > 1, "the writer committed nothing beside the build"
    require_valid(stored)


@contextmanager
def _committing(writer: Writer) -> Iterator[None]:
    """In a thread, without a pause; what it fails with is raised at the end."""
    halt = Event()

    def commit() -> None:
        while not halt.is_set():
            writer.commit()

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(commit)
        try:
            yield
        finally:
            halt.set()
        done.result()


def _apply(node: Node, namespace: str, items: list[dict[str, Any]]) -> None:
    applied = {"apiVersion": "v1", "kind": "List", "items": items}
    node.cluster.apply(json.dumps(applied), f"--namespace={namespace}")


def _wait_ready(node: Node, namespace: str) -> None:
    eventually(
        "the index to be ready",
        lambda: _is_ready(node, namespace),
        seconds=_LONGEST_SECONDS,
        told=lambda: _told(node, namespace),
    )


def _resources(s3: S3Server, place: str, execution: dict[str, Any]) -> list[dict[str, Any]]:
    """The README's, with where the table and its store are, and how much a pod may take of this machine."""
    (shown,) = re.findall(
        r"```yaml\n(apiVersion: hudi-operator.dev.*?)```", (_ROOT / "README.md").read_text(), re.DOTALL
    )
    table, index = yaml.safe_load_all(shown)
    keys = {"fs.s3a.access.key", "fs.s3a.secret.key"}
    table["spec"]["basePath"] = place
    table["spec"]["storage"] = {
        "credentialsSecretRef": {"name": _KEYS},
        "hadoopConf": {name: text for name, text in s3.options.items() if name not in keys},
    }
    table["spec"]["execution"] = execution
    return [table, index]


def _keys(s3: S3Server) -> dict[str, Any]:
    keys = {"fs.s3a.access.key": s3.access_key, "fs.s3a.secret.key": s3.secret_key}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _KEYS}, "stringData": keys}


def _is_ready(node: Node, namespace: str) -> bool:
    status = node.cluster.api.get(path_of(namespace, "metadataindex/orders-by-key")).get("status", {})
    return any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", []))


def _executors(node: Node, namespace: str) -> set[str]:
    """Of the events, which outlive the pods: Spark removes those of executors."""
    events = node.cluster.api.listed(path_of(namespace, "event"))
    started = (each for each in events if each["reason"] == "Started")
    return {name for each in started if "-exec-" in (name := each["involvedObject"]["name"])}


def _told(node: Node, namespace: str) -> str:
    looks = (
        ("get", "hudi,jobs,pods", f"--namespace={namespace}", "--output=wide"),
        ("describe", "pods", "--selector=app.kubernetes.io/managed-by=hudi-operator", f"--namespace={namespace}"),
        ("get", "huditable,metadataindex", f"--namespace={namespace}", "--output=yaml"),
        ("logs", "deployment/hudi-operator", "--namespace=hudi", "--tail=40"),
        ("get", "events", f"--namespace={namespace}"),
    )
    return "\n".join(node.cluster.kubectl(*look) for look in looks)
