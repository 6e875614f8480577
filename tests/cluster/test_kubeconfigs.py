"""Kubeconfigs as clouds and companies have them, against the real API server."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.manifests import TABLE, table
from tests.cluster.parts import kubernetes
from tests.cluster.user import User
from tests.kit.eventually import eventually

# The server's certificate is for 127.0.0.1 and localhost. No other name leads there but through the proxy.
_BEHIND_A_PROXY: Final = "https://api.lake:6443"
_PROXY_PORT: Final = 3128
_PROXY: Final = f"http://127.0.0.1:{_PROXY_PORT}"

Tree = dict[str, Any]


@pytest.fixture
def proxy_log(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    """A proxy is running; each address that it was asked for is a line of this file."""
    log = tmp_path / "proxy.log"
    command = (sys.executable, "-m", "tests.cluster.connect_proxy", f"{_PROXY_PORT}", "6443", log)
    proxy = cluster.start("connect-proxy", *command)
    eventually("the proxy to listen", log.exists)
    yield log
    proxy.kill()


def test_a_program_of_the_kubeconfig_says_who_we_are(cluster: Cluster, tmp_path: Path) -> None:
    assert _who(cluster, _written(cluster, tmp_path, user=_program(cluster, tmp_path))) == ["admin"]


def test_a_program_that_fails_is_named_and_nothing_is_asked_as_nobody(cluster: Cluster, tmp_path: Path) -> None:
    failing = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/false"}}

    (said,) = _who(cluster, _written(cluster, tmp_path, user=failing))

    assert said == "NoCredentials: kubeconfig: the credential program /bin/false failed: exec: process returned 1"


def test_a_user_who_acts_as_another_is_the_other(cluster: Cluster, tmp_path: Path) -> None:
    user = {**_user(cluster), "as": "jane", "as-groups": ["ops"]}

    assert _who(cluster, _written(cluster, tmp_path, user=user)) == ["jane"]


def test_a_server_behind_a_proxy_is_known_by_its_tls_server_name(
    cluster: Cluster, tmp_path: Path, proxy_log: Path
) -> None:
    behind = {"server": _BEHIND_A_PROXY, "proxy-url": _PROXY}

    named = _who(cluster, _written(cluster, tmp_path, {**behind, "tls-server-name": "localhost"}))
    (unnamed,) = _who(cluster, _written(cluster, tmp_path, behind))

    assert named == ["admin"]
    assert "certificate is not valid for 'api.lake'" in unnamed
    assert proxy_log.read_text().split() == ["api.lake:6443", "api.lake:6443"]


def test_a_proxy_of_the_environment_is_used(cluster: Cluster, tmp_path: Path, proxy_log: Path) -> None:
    file = _written(cluster, tmp_path, {"server": _BEHIND_A_PROXY, "tls-server-name": "localhost"})

    assert _who(cluster, file, HTTPS_PROXY=_PROXY) == ["admin"]
    (excepted,) = _who(cluster, file, HTTPS_PROXY=_PROXY, NO_PROXY=".lake")

    assert "ClientConnector" in excepted
    assert proxy_log.read_text().split() == ["api.lake:6443"]


def test_an_authority_that_was_replaced_is_trusted_from_the_next_request_on(cluster: Cluster, tmp_path: Path) -> None:
    authority, following = tmp_path / "ca.crt", tmp_path / "next.crt"
    cluster.run([kubernetes(), "certificate", authority, tmp_path / "ca.key"])
    following.write_text(_authority(cluster))
    entry = {"server": cluster.api_url, "certificate-authority": "ca.crt"}

    before, after = _who(cluster, _config(tmp_path, entry, _user(cluster)), authority, following)

    assert "CERTIFICATE_VERIFY_FAILED" in before
    assert after == "admin"


def test_an_operator_works_by_a_program_through_a_proxy(
    cluster: Cluster, user: User, quiet: Path, tmp_path: Path, proxy_log: Path
) -> None:
    cloud = {"server": _BEHIND_A_PROXY, "proxy-url": _PROXY, "tls-server-name": "localhost"}
    file = _written(cluster, tmp_path, cloud, _program(cluster, tmp_path))

    with cluster.operator("--kubeconfig", file, f"--namespace={user.namespace}") as operator:
        user.apply(table(quiet))
        user.wait(f"huditable/{TABLE}")
        assert operator.stop() == 0

    assert set(proxy_log.read_text().split()) == {"api.lake:6443"}


def _who(cluster: Cluster, *arguments: Path, **environment: str) -> list[str]:
    command: list[str | Path] = [sys.executable, "-m", "tests.cluster.who_am_i", *arguments]
    return cluster.run(command, environment=environment).splitlines()


def _written(
    cluster: Cluster, folder: Path, changed: Mapping[str, str] = MappingProxyType({}), user: Tree | None = None
) -> Path:
    """A kubeconfig with the changes to its cluster's entry."""
    entry = {"server": cluster.api_url, "certificate-authority": str(folder / "authority.crt"), **changed}
    (folder / "authority.crt").write_text(_authority(cluster))
    return _config(folder, entry, user or _user(cluster))


def _config(folder: Path, cluster: Tree, user: Tree) -> Path:
    file = folder / "kubeconfig.json"
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "c", "user": user}],
    }
    file.write_text(json.dumps(config))
    return file


def _authority(cluster: Cluster) -> str:
    return (cluster.folder / "api.crt").read_text()


def _user(cluster: Cluster) -> Tree:
    """The administrator, by a token."""
    user: Tree = json.loads(cluster.kubeconfig.read_text())["users"][0]["user"]
    return user


def _program(cluster: Cluster, folder: Path) -> Tree:
    """The administrator, by a program that prints the token."""
    version = "client.authentication.k8s.io/v1"
    credential = {"apiVersion": version, "kind": "ExecCredential", "status": _user(cluster)}
    script = folder / "credentials.sh"
    script.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    script.chmod(0o700)
    return {"exec": {"apiVersion": version, "command": "./credentials.sh"}}
