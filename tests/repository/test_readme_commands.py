"""A test runs every command of the README and of docs/engine.md: here on golden tables, or in the test named here."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hudi_operator.resources.refusals import refuse_if_illegal
from hudi_operator.words import Kind
from tests.golden.unpack import unpack
from tests.kit.readme import commands

ROOT = Path(__file__).parents[2]
_LOCK = "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
# What the golden tables have in place of the README's table.
_WORDS = {
    "hoodie.write.lock.provider=…": _LOCK,
    "--conf …": f"--conf {_LOCK}",
    "region=eu": "region=plain",
    "2026-01-31 12:00:00": "2026-11-18 12:23:10",
    "order-17": "s-30",
    "order-18": "s-31",
    "customer=c-4711": "celsius=30.3",
    "--column customer": "--column region",
}
_WITHOUT_INDEX = re.compile(r"hudi-engine (inspect|timeline|files|read|index build)\b")
# The others: which file runs them, and by what one sees that it does.
_ELSEWHERE = {
    "make demo": ("tests/interop/test_demo.py", '"tools.demo"'),
    "make test": (".ci/run", "make test"),
    "kubectl apply -f crds/": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl wait --for=condition=Established -f crds/": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl apply -f examples/orders.yaml": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl wait --for=condition=Ready metadataindex/orders-by-key": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl hudi status": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl hudi plan orders-by-key": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl hudi approve orders-by-key": ("tests/cluster/test_readme.py", "commands()"),
    "kubectl hudi doctor": ("tests/cluster/test_readme.py", "commands()"),
}
_LOCAL = "hudi-operator local -f examples/orders.yaml"


_OF_THE_ENGINE = [command for command in commands() if command.startswith("hudi-engine ")]


@pytest.mark.thorough
@pytest.mark.parametrize("command", _OF_THE_ENGINE)
def test_a_command_of_the_engine_does_on_a_golden_table_what_the_readme_shows(command: str, tmp_path: Path) -> None:
    table = unpack("v9_mor_orders" if _WITHOUT_INDEX.match(command) else "v9_mor_indexed", tmp_path)
    (tmp_path / "keys.txt").write_text("s-30\ns-31\n")
    for shown, here in {**_WORDS, "s3a://warehouse/orders": str(table), "/data/orders": str(table)}.items():
        command = re.sub(rf"(?<!\S|/){re.escape(shown)}|{re.escape(shown)}(?=\s|$|')", here, command)

    _require_done(command, tmp_path)


@pytest.mark.thorough
def test_the_command_without_a_cluster_makes_all_that_the_example_asks_for_ready(tmp_path: Path) -> None:
    table = unpack("v9_mor_orders", tmp_path)
    (tmp_path / "examples").mkdir()
    example = (ROOT / "examples/orders.yaml").read_text().replace("file:/tables/orders", str(table))
    (tmp_path / "examples/orders.yaml").write_text(example)

    said = _require_done(_LOCAL, tmp_path)

    assert "orders-by-key" in said
    assert "ready: 3 resources" in said


def _require_done(command: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_other_command_is_run_by_the_test_that_is_named_here() -> None:
    others = {command for command in commands() if command not in _OF_THE_ENGINE}

    assert others == {*_ELSEWHERE, _LOCAL}
    for command, (file, words) in _ELSEWHERE.items():
        assert words in (ROOT / file).read_text(), f"{command}: {file} does not have {words}"


def test_the_readme_shows_commands_of_the_engine_at_all() -> None:
    assert len(_OF_THE_ENGINE) > 10


def test_the_resources_that_the_readme_shows_are_legal() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    trees = list(yaml.safe_load_all(shown))

    assert [tree["kind"] for tree in trees] == ["HudiTable", "MetadataIndex"]
    for tree in trees:
        refuse_if_illegal(Kind(tree["kind"]), tree)


def test_every_picture_that_the_readme_shows_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\((docs/pictures/[\w.]+)\)", (ROOT / "README.md").read_text())

    assert len(pictures) == 2
    for picture in pictures:
        assert (ROOT / picture).read_text().startswith("<svg ")
