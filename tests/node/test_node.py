"""Pods of our images run, reach each other and the API server, and leave nothing on the machine."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from hudi_operator.version import installed_version
from tests.cluster.parts import KUBERNETES_VERSION
from tests.node.images import pause
from tests.node.node import Node
from tests.node.pods import ENGINE, OPERATOR, Pods, pod
from tests.node.settings import PAUSE

_SERVE: Final = (
    "import http.server; http.server.HTTPServer(('', 8000), http.server.SimpleHTTPRequestHandler).serve_forever()"
)
_READ: Final = """
import json, ssl, urllib.request
account = "/var/run/secrets/kubernetes.io/serviceaccount"
api = urllib.request.Request("https://kubernetes.default.svc/version")
api.add_header("Authorization", "Bearer " + open(account + "/token").read())
trusted = ssl.create_default_context(cafile=account + "/ca.crt")
print(json.load(urllib.request.urlopen(api, context=trusted))["gitVersion"])
print(urllib.request.urlopen("http://other:8000/").status)
"""
_SETTINGS: Final = ("vm/overcommit_memory", "kernel/panic", "kernel/keys/root_maxkeys", "net/ipv4/ip_forward")


@pytest.fixture
def pods(node: Node) -> Iterator[Pods]:
    with Pods(node, "default") as mine:
        yield mine


@pytest.mark.parametrize(
    ("image", "command", "printed"),
    [
        (OPERATOR, ("hudi-operator", "--version"), "hudi-operator"),
        (ENGINE, ("hudi-engine", "--version"), "hudi-engine"),
    ],
)
def test_a_pod_of_each_image_prints_the_version_of_its_command(
    pods: Pods, image: str, command: tuple[str, ...], printed: str
) -> None:
    pods.start(pod(printed, image, *command))

    assert pods.log_at_end(printed) == f"{printed} {installed_version()}\n"


def test_a_pod_reaches_the_api_server_and_another_pod_by_their_names(pods: Pods) -> None:
    pods.start(pod("other", OPERATOR, "python3", "-c", _SERVE))
    pods.expose("other", 8000)
    pods.wait_ready("other")
    pods.start(pod("reader", OPERATOR, "python3", "-c", _READ))

    assert pods.log_at_end("reader").split() == [f"v{KUBERNETES_VERSION}", "200"]


def test_nothing_of_a_node_stays_when_a_test_fails_beside_a_running_pod(tmp_path: Path) -> None:
    before = _machine()

    with pytest.raises(_FailedTest):
        _fail_beside_a_pod(tmp_path)

    assert _machine() == before


def _fail_beside_a_pod(folder: Path) -> None:
    with Node(folder / "node", [pause(folder)]) as node, Pods(node, "default") as pods:
        pods.start(pod("running", PAUSE, "/pause"))
        pods.wait_ready("running")
        inside = node.cluster.run(["sh", "-c", "cat /proc/self/mountinfo; iptables-save; ip link"])
        assert [word for word in ("overlay", "KUBE-SERVICES", "veth") if word not in inside] == []
        raise _FailedTest


class _FailedTest(Exception):
    pass


def _machine() -> dict[str, object]:
    """What a node might change of it. Others use this machine as well: what is theirs is left out."""
    rules = subprocess.run(["iptables", "--list-rules"], capture_output=True, text=True, check=True).stdout
    return {
        "mounts": [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "/node/" in line],
        "links": sorted(path.name for path in Path("/sys/class/net").iterdir()),
        "rules": rules,
        "control groups": sorted(str(path) for path in Path("/sys/fs/cgroup").rglob("hudi-tests-*")),
        "settings": [Path("/proc/sys", name).read_text() for name in _SETTINGS],
        "folders": [name for name in ("/var/lib/cni", "/var/lib/kubelet", "/var/log/pods") if Path(name).exists()],
    }
