import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough  # each is a process of its own

_KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: none, user: {}}]
"""


def run(tmp_path: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`hudi-operator run` in a cluster that never answers."""
    (tmp_path / "kubeconfig").write_text(_KUBECONFIG)
    command = [sys.executable, "-m", "hudi_operator.main", "run", "--no-leader-election"]
    ports = ["--metrics-port", "0", "--health-port", "0"]
    return subprocess.run(
        [*command, *ports, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "KUBECONFIG": str(tmp_path / "kubeconfig")},
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("namespaces: {shop: {place: []}}", "policy.yaml: namespaces.shop: an unknown field 'place'"),
        (None, "No such file or directory"),
    ],
)
def test_an_operator_whose_policy_cannot_be_read_does_not_start(text: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    if text is not None:
        file.write_text(text)

    ended = run(tmp_path, "--policy", file)

    assert ended.returncode == 1
    assert f"{message}" in ended.stderr
    assert "no policy" not in ended.stderr


def test_an_operator_without_a_policy_says_in_its_log_that_it_opens_nothing(tmp_path: Path) -> None:
    ended = run(tmp_path)

    assert ended.returncode == 1
    assert "no table is opened before --policy names a file that allows it" in ended.stderr
