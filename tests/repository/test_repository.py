"""What holds for the repository as a whole."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repository.declared import PROJECT, declared, names, plain

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "engine" / "hudi_engine", ROOT / "operator" / "hudi_operator")
FOLDERS = ("engine", "operator", "tests", "tools", "benchmarks")


def _modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_the_folder_operator_is_no_package() -> None:
    """With an `__init__.py` there, whether `collections` can be imported depends on the environment's site files."""
    assert not (ROOT / "operator" / "__init__.py").exists()


def test_the_standard_library_s_operator_is_found_from_the_repository_root() -> None:
    program = "import operator, os; print(os.path.dirname(operator.__file__) == os.path.dirname(os.__file__))"

    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "True"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_layers_name_every_module(package: Path) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (each for each in contracts if each["type"] == "layers" and each["containers"] == [package.name])

    named = {name.strip() for layer in layers["layers"] for name in layer.split("|")}

    there = {path.stem for path in package.glob("*.py")} | {
        path.name for path in package.iterdir() if path.is_dir() and any(path.rglob("*.py"))
    }
    assert layers["exhaustive"] is True
    assert there - {"__init__"} == named


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in _modules("engine", "operator")
    }

    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_the_readme_shows_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()

    assert re.search(r"^\s*make demo\b", readme, re.MULTILINE)
    assert re.search(r"^\s*make test\b", readme, re.MULTILINE)


def test_what_the_continuous_integration_runs_is_make_test_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]

    assert [line for line in commands if not line.startswith(("set ", "cd "))] in (["make test"], ["exec make test"])


def test_every_ignored_type_error_names_its_code() -> None:
    unnamed = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _modules(*FOLDERS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"#\s*type:\s*ignore(?!\[[a-z-]+(, ?[a-z-]+)*\])", line)
    ]

    assert unnamed == []


def test_no_module_is_exempt_from_the_type_checker() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]

    assert settings["strict"] is True
    assert "overrides" not in settings


def test_no_test_can_skip_itself_or_be_expected_to_fail() -> None:
    ways_out = {"skip", "skipif", "xfail", "importorskip", "skipTest"}

    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _modules("tests")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ways_out
    ]

    assert found == []


def test_test_folders_are_no_packages() -> None:
    """They are imported by path; a package would shadow what it is named after."""
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_what_is_installed_is_locked_with_hashes_and_comes_from_no_particular_host() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    requirements = re.split(r"\n(?=\S)", lock.strip())

    assert requirements
    assert [text.splitlines()[0] for text in requirements if "--hash=sha256:" not in text] == []
    assert "://" not in lock
    assert not re.search(r"^\s*(-i|--index-url|--extra-index-url|--find-links|-e)\b", lock, re.MULTILINE)


@pytest.mark.parametrize("file", ["tools/setup", "Dockerfile"])
def test_the_installer_itself_is_installed_by_its_hash(file: str) -> None:
    text = (ROOT / file).read_text().replace("\\\n", " ")
    installs = [
        line for line in text.splitlines() if re.search(r"\bpip install\b", line) and "uv pip install" not in line
    ]

    assert len(installs) == 1
    assert "--require-hashes" in installs[0]


def test_every_dependency_is_locked() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    wanted = names(PROJECT["dependency-groups"]["dev"]).union(*declared().values())

    locked = {plain(name) for name in re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)}

    assert wanted - locked == set()
