import asyncio
import base64
import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hudi_operator.kube.connection import Connection, NoConnection
from hudi_operator.kube.credentials import NoCredentials, Program
from hudi_operator.kube.find import find_connection
from hudi_operator.kube.kubeconfig import by_kubeconfig
from hudi_operator.kube.proxies import proxy_of


def config(user: dict[str, Any], server: str = "http://there:8001/", **cluster: object) -> dict[str, Any]:
    return {
        "current-context": "shop",
        "contexts": [{"name": "shop", "context": {"cluster": "lake", "user": "me", "namespace": "orders"}}],
        "clusters": [{"name": "lake", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "me", "user": user}],
    }


def written(folder: Path, tree: object, name: str = "config") -> Path:
    file = folder / name
    file.write_text(json.dumps(tree))
    return file


def connected(folder: Path, user: dict[str, Any]) -> Connection:
    return by_kubeconfig([written(folder, config(user))], {})


def headers(connection: Connection) -> list[tuple[str, str]]:
    return asyncio.run(connection.headers())


def program(folder: Path, *lines: str) -> dict[str, Any]:
    """A user of a kubeconfig whose credentials that shell script prints; each run adds a line to `runs`."""
    script = folder / "credentials.sh"
    script.write_text("\n".join(["#!/bin/sh", f"echo run >> {folder}/runs", *lines]))
    script.chmod(stat.S_IRWXU)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./credentials.sh"}}


def credential(**status: object) -> str:
    tree = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    return f"echo '{json.dumps(tree)}'"


def test_a_context_names_the_server_the_namespace_and_the_token(tmp_path: Path) -> None:
    connection = connected(tmp_path, {"token": "word"})

    assert (connection.server, connection.namespace, connection.tls) == ("http://there:8001", "orders", None)
    assert headers(connection) == [("Authorization", "Bearer word")]


def test_a_token_in_a_file_is_read_for_each_request(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    connection = connected(tmp_path, {"tokenFile": "token"})

    assert headers(connection) == [("Authorization", "Bearer first")]
    (tmp_path / "token").write_text("second\n")
    assert headers(connection) == [("Authorization", "Bearer second")]


def test_a_name_and_a_password_are_sent_as_basic_authorization(tmp_path: Path) -> None:
    found = headers(connected(tmp_path, {"username": "me", "password": "hush"}))

    assert found == [("Authorization", f"Basic {base64.b64encode(b'me:hush').decode()}")]


def test_a_user_without_credentials_sends_no_header(tmp_path: Path) -> None:
    assert headers(connected(tmp_path, {})) == []


def test_a_user_that_acts_as_another_says_so_in_every_request(tmp_path: Path) -> None:
    user = {"token": "word", "as": "jane", "as-groups": ["ops", "dev"], "as-user-extra": {"Team/A": ["x"]}}

    assert headers(connected(tmp_path, user))[1:] == [
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Extra-team%2Fa", "x"),
    ]


def test_the_first_file_that_has_a_name_or_a_current_context_wins(tmp_path: Path) -> None:
    first = written(tmp_path, {"current-context": "shop", "users": [{"name": "me", "user": {"token": "mine"}}]}, "a")
    second = written(tmp_path, {**config({"token": "theirs"}), "current-context": "other"}, "b")

    connection = find_connection(None, {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"})

    assert headers(connection) == [("Authorization", "Bearer mine")]


def test_the_file_given_wins_over_the_environment(tmp_path: Path) -> None:
    file = written(tmp_path, config({"token": "word"}))

    assert find_connection(file, {"KUBECONFIG": "/nowhere"}).server == "http://there:8001"


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"current-context": "none"}, "contexts has no 'none'"),
        (config({"auth-provider": {"name": "gcp"}}), "auth-provider is not supported"),
        (config({"token": 7}), "user.token: must be of type string"),
        (config({"as-groups": ["ops"]}), "need the user that they belong to: as"),
        (config({}, **{"proxy-url": "socks5://there:1080"}), "expected an http or https proxy"),
        (config({}, server="https://there", **{"certificate-authority": "gone.crt"}), "gone.crt"),
        ({**config({}), "clusters": []}, "clusters has no 'lake'"),
        (config({}, server="https://there") | {"users": []}, "users has no 'me'"),
        ("words", "must be a mapping, found str"),
    ],
)
def test_a_fault_of_a_kubeconfig_is_named(tmp_path: Path, tree: object, said: str) -> None:
    with pytest.raises(NoConnection, match=said):
        by_kubeconfig([written(tmp_path, tree)], {})


def test_files_that_do_not_exist_are_named(tmp_path: Path) -> None:
    with pytest.raises(NoConnection, match="nothing-here"):
        by_kubeconfig([tmp_path / "nothing-here"], {})


def test_a_programs_token_is_used_until_shortly_before_its_end(tmp_path: Path) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    lasting = connected(tmp_path, program(tmp_path, credential(token="word", expirationTimestamp=later)))

    assert [headers(lasting) for _ in range(2)] == [[("Authorization", "Bearer word")]] * 2
    assert (tmp_path / "runs").read_text().count("run") == 1

    soon = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    ending = connected(tmp_path, program(tmp_path, credential(token="word", expirationTimestamp=soon)))
    assert [headers(ending) for _ in range(2)] == [[("Authorization", "Bearer word")]] * 2
    assert (tmp_path / "runs").read_text().count("run") == 3


def test_a_program_is_run_again_after_its_token_was_refused(tmp_path: Path) -> None:
    connection = connected(tmp_path, program(tmp_path, credential(token="word")))

    headers(connection)
    connection.credentials.refused()
    headers(connection)

    assert (tmp_path / "runs").read_text().count("run") == 2


def test_requests_of_the_same_moment_wait_for_one_run_of_a_program(tmp_path: Path) -> None:
    connection = connected(tmp_path, program(tmp_path, credential(token="word")))

    async def ask_at_once() -> None:
        await asyncio.gather(*(connection.headers() for _ in range(5)))

    asyncio.run(ask_at_once())

    assert (tmp_path / "runs").read_text().count("run") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("echo 'no session' >&2; exit 3", "returned 3.*no session"),
        ("echo words", "failed to decode"),
        (credential(clientCertificateData="x", clientKeyData="y"), "gave no token"),
        (credential(token="word", expirationTimestamp="soon"), "expirationTimestamp 'soon'"),
    ],
)
def test_a_program_that_fails_sends_no_request_as_nobody(tmp_path: Path, line: str, said: str) -> None:
    connection = connected(tmp_path, program(tmp_path, line))

    with pytest.raises(NoCredentials, match=said):
        headers(connection)


def test_a_program_that_is_not_installed_is_named() -> None:
    absent = Program({"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-program"})

    with pytest.raises(NoCredentials, match="no-such-program failed"):
        asyncio.run(absent.authorization())


def test_a_proxy_of_the_kubeconfig_wins_over_the_environment(tmp_path: Path) -> None:
    environment = {"HTTP_PROXY": "http://other:3128"}
    given = written(tmp_path, config({}, **{"proxy-url": "http://mine:3128"}), "given")

    assert by_kubeconfig([given], environment).proxy == "http://mine:3128"
    assert by_kubeconfig([written(tmp_path, config({}))], environment).proxy == "http://other:3128"


@pytest.mark.parametrize(
    ("server", "except_for", "is_used"),
    [
        ("https://api.lake:6443", "", True),
        ("https://127.0.0.1:6443", "", False),
        ("https://localhost", "", False),
        ("https://[::1]:6443", "", False),
        ("https://10.96.0.1:443", "10.0.0.0/8,.svc", False),
        ("https://11.96.0.1:443", "10.0.0.0/8,.svc", True),
        ("https://api.lake:6443", "lake", False),
        ("https://api.lake:6443", ".lake", False),
        ("https://lake:6443", ".lake", True),
        ("https://api.lake:6443", "api.lake:443", True),
        ("https://api.lake:6443", "api.lake:6443", False),
        ("https://api.lake:6443", "*", False),
        ("https://snowflake:6443", "lake", True),
        ("http://api.lake:8080", "", False),
    ],
)
def test_the_environments_proxy_is_used_unless_the_server_is_excepted(
    server: str, except_for: str, is_used: bool
) -> None:
    found = proxy_of(server, {"HTTPS_PROXY": "there:3128", "NO_PROXY": except_for})

    assert found == ("http://there:3128" if is_used else None)
