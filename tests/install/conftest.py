"""Each environment is made once, for all tests of its case."""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.install.environments import Case, Environment, Package, build_packages, make_environment

Environments = Callable[[Case], Environment]


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[Package, Path]:
    return build_packages(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="session")
def environments(packages: dict[Package, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environments]:
    folder = tmp_path_factory.mktemp("environments")

    @cache
    def made(case: Case) -> Environment:
        return make_environment(case, packages[case.package], folder / str(case))

    yield made
    shutil.rmtree(folder)
