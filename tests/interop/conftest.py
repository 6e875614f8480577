"""The real releases, started when a test first asks for one."""

from collections.abc import Callable, Iterator

import pytest

from tests.interop.jvm import Jvm
from tests.zookeeper.server import ZooKeeperServer
from tools.parts import HUDI_VERSIONS

_AT_ONCE = 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Brings the tests of a release together, whatever else they are given: a start costs more than most tests."""
    items.sort(key=_release)


def _release(item: pytest.Item) -> str:
    given = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return next((each for each in given if each in HUDI_VERSIONS), "")


@pytest.fixture(scope="session")
def jvm() -> Iterator[Callable[[str], Jvm]]:
    """`jvm("1.2.0")` is that release, alive until the tests end or two others have been asked for since."""
    alive: dict[str, Jvm] = {}

    def of(version: str) -> Jvm:
        found = alive.pop(version, None) or Jvm(version)
        alive[version] = found
        while len(alive) > _AT_ONCE:
            alive.pop(next(iter(alive))).close()
        return found

    yield of
    for each in alive.values():
        each.close()


@pytest.fixture(scope="session", params=HUDI_VERSIONS)
def real_hudi(request: pytest.FixtureRequest, jvm: Callable[[str], Jvm]) -> Jvm:
    """Each release in turn: pytest groups the tests by it, so that each starts once."""
    return jvm(request.param)


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer(tick_ms=2000) as server:
        yield server


@pytest.fixture(scope="module")
def two_jvms(request: pytest.FixtureRequest) -> Iterator[tuple[Jvm, Jvm]]:
    """Two processes of one release, which a test names in this fixture's place."""
    with Jvm(request.param) as one, Jvm(request.param) as other:
        yield one, other
