"""One Kubernetes for all tests in here, and a namespace for each."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.cluster.kubernetes import Cluster
from tests.cluster.live import live_table
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.parts import kubernetes
from tests.cluster.user import User
from tests.golden.unpack import unpack
from tests.java.jvm import Jvm
from tests.java.live import Scene

_NUMBERS = count(1)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Kubernetes is built, if it must be, before the first test, whose time limit it would not keep."""
    here = Path(__file__).parent
    if any(item.path.is_relative_to(here) for item in session.items):
        kubernetes()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as ready:
        yield ready


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    with Jvm("1.2.0") as writer:
        yield writer


@pytest.fixture
def live(jvm: Jvm, tmp_path: Path) -> Scene:
    """A table that has just been begun; its Java writer commits when `live.commit()` says so."""
    return live_table(jvm, tmp_path / "live")


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    """A table of real Hudi's that nobody writes to."""
    return unpack("v9_mor_orders", tmp_path)


@pytest.fixture
def user(cluster: Cluster, namespace: str) -> User:
    return User(cluster, namespace)


@pytest.fixture
def new_user(cluster: Cluster) -> Iterator[Callable[[], User]]:
    """Any number of them, each with a namespace of its own."""
    made: list[str] = []

    def make() -> User:
        made.append(_new_namespace(cluster))
        return User(cluster, made[-1])

    yield make
    for name in made:
        cluster.empty_namespace(name)


@pytest.fixture
def operator(cluster: Cluster) -> Iterator[OperatorProcess]:
    with cluster.operator() as running:
        yield running


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A new one; at its end none of our resources is left in there, for the next test's operator sees all of them."""
    name = _new_namespace(cluster)
    yield name
    cluster.empty_namespace(name)


def _new_namespace(cluster: Cluster) -> str:
    name = f"test-{next(_NUMBERS)}"
    cluster.make_namespace(name)
    return name
