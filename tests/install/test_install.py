"""What is installed without the lock starts, and does its work."""

import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.fuzz.crafted_parquet import parquet_files
from tests.golden.unpack import unpack
from tests.install.conftest import Environments
from tests.install.environments import EXTRAS, Case, Package, Versions, lower_bounds
from tests.install.pyproject import PROJECT

_PLAIN = (Case(Package.FOLDER, Versions.NEWEST, ()), Case(Package.WHEEL, Versions.LOWEST, ()))
_WHOLE = (Case(Package.WHEEL, Versions.NEWEST, EXTRAS), Case(Package.SDIST, Versions.LOWEST, EXTRAS))
_ALL = (*_PLAIN, *_WHOLE)
_LOWEST = [case for case in _ALL if case.versions is Versions.LOWEST]

_VERSION = PROJECT["version"]
_COMMANDS = set(PROJECT["scripts"])
_OF_AN_EXTRA = "hudi-operator"

_IMPORT_EVERY_MODULE = """
from importlib import import_module
from pkgutil import walk_packages
import hudi_engine, hudi_operator

packages = ((package.__path__, f"{package.__name__}.") for package in (hudi_engine, hudi_operator))
print(len([import_module(found.name) for package in packages for found in walk_packages(*package)]))
"""
_READ_EACH_FILE = """
import sys
from pathlib import Path
from hudi_engine.errors import EngineError
from hudi_engine.format.parquet_file import read_rows

for path in sys.argv[1:]:
    try:
        read_rows(Path(path).read_bytes())
    except EngineError:
        print("refused")
"""


def _each(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """The tests of a case share a process of pytest, and so the environment."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=str(case), marks=pytest.mark.xdist_group(str(case))) for case in cases]
    )


@_each(_ALL)
def test_each_command_shows_its_version_and_its_help(case: Case, environments: Environments) -> None:
    for command in _COMMANDS if case.extras else _COMMANDS - {_OF_AN_EXTRA}:
        version, shown = (environments(case).run(command, option) for option in ("--version", "--help"))

        assert (version.code, version.out, version.err) == (0, f"{command} {_VERSION}\n", "")
        assert (shown.code, shown.err) == (0, "")
        assert f"Usage: {command} " in shown.out


@_each(_PLAIN)
def test_a_command_without_its_extra_names_the_extra(case: Case, environments: Environments) -> None:
    ran = environments(case).run(_OF_AN_EXTRA, "--help")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith("run `pip install 'hudi-operator[operator]'`\n")
    assert "Traceback" not in ran.err


@_each(_PLAIN)
def test_a_build_on_spark_without_its_extra_names_the_extra(
    case: Case, environments: Environments, tmp_path: Path
) -> None:
    ran = environments(case).run("hudi-engine", *_build(unpack("v9_mor_orders", tmp_path)), "--compute", "spark")

    assert "pip install 'hudi-operator[spark]'" in ran.err
    assert "internal error" not in ran.err


@_each(_ALL)
def test_the_engine_reads_indexes_and_validates_a_table(case: Case, environments: Environments, tmp_path: Path) -> None:
    table = unpack("v9_mor_orders", tmp_path)
    asked = (("read", table, "--json"), _build(table), ("validate", table, "--json"))

    read, built, valid = ran = [environments(case).run("hudi-engine", *arguments) for arguments in asked]

    assert [each.code for each in ran] == [0, 0, 0], f"{read.err}\n{built.err}\n{valid.err}"
    assert '"order_id": ' in read.out
    assert '"kind": "record_index", "status": "ok"' in valid.out


@_each(_WHOLE)
def test_every_module_can_be_imported_with_every_extra(case: Case, environments: Environments) -> None:
    ran = environments(case).run("python", "-c", _IMPORT_EVERY_MODULE)

    assert ran.code == 0, ran.err
    assert int(ran.out) > 400


@_each(_WHOLE)
def test_kopf_knows_every_setting_of_the_operator(case: Case, environments: Environments) -> None:
    ran = environments(case).run("python", "-c", "from hudi_operator.kube.handlers import settings; settings()")

    assert ran.code == 0, ran.err


@_each(_LOWEST)
def test_the_lowest_versions_are_those_that_are_declared(case: Case, environments: Environments) -> None:
    """A bound that another distribution raises says of a version that it works, and nobody has tried it."""
    installed, lowest = environments(case).installed(), lower_bounds(case)

    higher = {name: installed[name] for name, bound in lowest.items() if not installed[name].startswith(bound)}

    assert higher == {}


@_each(_LOWEST)
def test_the_lowest_versions_refuse_forged_files(case: Case, environments: Environments, tmp_path: Path) -> None:
    """Up to 25, pyarrow ends the process with a segmentation fault."""
    files = [tmp_path / str(number) for number, _ in enumerate(parquet_files())]
    for path, forged in zip(files, parquet_files(), strict=True):
        path.write_bytes(forged.data)

    ran = environments(case).run("python", "-c", _READ_EACH_FILE, *files)

    assert (ran.code, ran.out) == (0, "refused\n" * len(files)), ran.err


def test_the_wheel_has_the_two_packages_their_types_and_the_license(packages: dict[Package, Path]) -> None:
    with zipfile.ZipFile(packages[Package.WHEEL]) as wheel:
        names = set(wheel.namelist())

    about = f"hudi_operator-{_VERSION}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"hudi_engine", "hudi_operator", about}
    assert {f"{about}/licenses/LICENSE", f"{about}/licenses/NOTICE"} < names
    assert {"hudi_engine/py.typed", "hudi_operator/py.typed"} < names


def test_the_sdist_has_the_documentation_and_the_resources_of_kubernetes(packages: dict[Package, Path]) -> None:
    with tarfile.open(packages[Package.SDIST]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}

    assert {"README.md", "LICENSE", "CHANGELOG.md", "docs/cli.md", "crds/huditables.yaml"} < names


def _build(table: Path) -> tuple[str | Path, ...]:
    return ("index", "build", table, "--type", "record_index", "--conf", "hudi.engine.single.writer=true")
