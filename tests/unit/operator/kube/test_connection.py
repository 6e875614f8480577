import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from hudi_operator.kube.connection import NoConnection, by_kubeconfig, find_connection


def config(user: dict[str, Any], server: str = "http://there:8001/") -> dict[str, Any]:
    return {
        "current-context": "shop",
        "contexts": [{"name": "shop", "context": {"cluster": "lake", "user": "me", "namespace": "orders"}}],
        "clusters": [{"name": "lake", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": user}],
    }


def written(folder: Path, tree: object, name: str = "config") -> Path:
    file = folder / name
    file.write_text(json.dumps(tree))
    return file


def header(file: Path) -> str | None:
    return asyncio.run(by_kubeconfig([file]).authorization())


def test_the_current_context_says_where_and_as_whom(tmp_path: Path) -> None:
    connection = by_kubeconfig([written(tmp_path, config({"token": "word"}))])

    assert (connection.server, connection.namespace, connection.tls) == ("http://there:8001", "orders", None)
    assert asyncio.run(connection.authorization()) == "Bearer word"


def test_a_token_in_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    connection = by_kubeconfig([written(tmp_path, config({"tokenFile": "token"}))])

    assert asyncio.run(connection.authorization()) == "Bearer first"
    (tmp_path / "token").write_text("second\n")
    assert asyncio.run(connection.authorization()) == "Bearer second"


def test_a_name_and_a_password_are_sent_as_basic_authorization(tmp_path: Path) -> None:
    file = written(tmp_path, config({"username": "me", "password": "hush"}))

    assert header(file) == f"Basic {base64.b64encode(b'me:hush').decode()}"


def test_a_client_without_credentials_sends_none(tmp_path: Path) -> None:
    assert header(written(tmp_path, config({}))) is None


def test_of_several_files_the_first_that_has_a_name_wins(tmp_path: Path) -> None:
    first = written(tmp_path, {"current-context": "shop", "users": [{"name": "me", "user": {"token": "mine"}}]}, "a")
    second = written(tmp_path, config({"token": "theirs"}), "b")

    connection = find_connection(None, {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"})

    assert asyncio.run(connection.authorization()) == "Bearer mine"


def test_the_file_given_wins_over_the_environment(tmp_path: Path) -> None:
    file = written(tmp_path, config({"token": "word"}))

    assert find_connection(file, {"KUBECONFIG": "/nowhere"}).server == "http://there:8001"


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"current-context": "none"}, "contexts has no 'none'"),
        (config({"exec": {"command": "aws"}}), "made by a program"),
        (config({"token": 7}), "users.*user.token|user.token: must be of type string"),
        ({**config({}), "clusters": []}, "clusters has no 'lake'"),
        (config({}, server="https://there") | {"users": []}, "users has no 'me'"),
    ],
)
def test_what_is_wrong_with_a_kubeconfig_is_said(tmp_path: Path, tree: object, said: str) -> None:
    with pytest.raises(NoConnection, match=said):
        by_kubeconfig([written(tmp_path, tree)])


def test_files_that_do_not_exist_are_named(tmp_path: Path) -> None:
    with pytest.raises(NoConnection, match="nothing-here"):
        by_kubeconfig([tmp_path / "nothing-here"])
