"""The project as a stranger installs it: packages built once, and environments that know no lock."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.install.pyproject import PROJECT, PYPROJECT, ROOT
from tests.install.spark_wheels import spark_wheels
from tests.install.uv import done, uv

EXTRAS: Final = tuple(sorted(PROJECT["optional-dependencies"]))
# What an installation does not need, or must not find: tables, other environments, earlier builds.
_LEFT_OUT: Final = shutil.ignore_patterns(".*", "golden", "demo", "out", "__pycache__", "*.egg-info", "dist")


class Package(StrEnum):
    FOLDER = "folder"
    SDIST = "sdist"
    WHEEL = "wheel"


class Versions(StrEnum):
    """Which versions of the dependencies, within what pyproject.toml allows."""

    NEWEST = "newest"
    LOWEST = "lowest"


@dataclass(frozen=True, slots=True)
class Case:
    package: Package
    versions: Versions
    extras: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.package}-{self.versions}-{'all' if self.extras else 'no'}-extras"


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Environment:
    folder: Path

    def run(self, command: str, *arguments: str | Path) -> Ran:
        """A command of this environment, which finds neither the repository nor the machine's own time zones."""
        known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        ran = subprocess.run(
            [self.folder / "bin" / command, *arguments],
            cwd=self.folder,
            env={**known, "PYTHONTZPATH": "", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def installed(self) -> dict[str, str]:
        """The version of each distribution that is there."""
        lines = uv("pip", "freeze", "--python", self.folder / "bin/python").splitlines()
        return dict(line.split("==") for line in lines if "==" in line)


def build_packages(folder: Path) -> dict[Package, Path]:
    """An sdist, a wheel built from the sdist alone by the lowest allowed setuptools, and a copy of the repository."""
    source, built, builders = folder / "hudi-operator", folder / "built", folder / "builders.txt"
    shutil.copytree(ROOT, source, ignore=_LEFT_OUT)
    required = "\n".join(PYPROJECT["build-system"]["requires"])
    builders.write_text(uv("pip", "compile", "-", "--resolution", "lowest-direct", given=required))
    uv("build", source, "--out-dir", built, "--build-constraint", builders)
    (sdist,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    return {Package.FOLDER: source, Package.SDIST: sdist, Package.WHEEL: wheel}


def make_environment(case: Case, package: Path, folder: Path) -> Environment:
    """A new environment in which the package is, what the package brings, and nothing else but pip."""
    uv("venv", "--seed", "--python", sys.executable, folder)
    wanted = f"{package}[{','.join(case.extras)}]" if case.extras else str(package)
    wheels = ("--find-links", spark_wheels()) if case.extras else ()
    into = ("pip", "install", "--python", folder / "bin/python", *wheels)
    match case:
        case Case(package=Package.FOLDER):
            done(folder / "bin/python", "-m", "pip", "install", "--quiet", wanted)  # as a person does, by pip itself
        case Case(versions=Versions.NEWEST):
            uv(*into, wanted)
        case Case(versions=Versions.LOWEST):
            extras = ("--all-extras",) if case.extras else ()
            uv(*into, "--resolution", "lowest-direct", "-r", ROOT / "pyproject.toml", *extras)
            uv(*into, "--no-deps", wanted)
    return Environment(folder)


def lower_bounds(case: Case) -> dict[str, str]:
    """The lowest version of each distribution that is declared for the case, as pyproject.toml writes it."""
    extras = [text for extra in case.extras for text in PROJECT["optional-dependencies"][extra]]
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)(,<[\w.]+)?", text) for text in [*PROJECT["dependencies"], *extras]]
    assert None not in found, "expected a lower bound for each dependency, and at most one upper bound"
    return {match[1]: match[2] for match in found if match is not None}
