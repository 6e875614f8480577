"""The real releases, started when a test first asks for one."""

from collections.abc import Callable, Iterator

import pytest

from tests.java.jvm import Jvm
from tests.kit.zookeeper_server import ZooKeeperServer
from tools.parts import HUDI_VERSIONS

_AT_ONCE = 3


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Brings the tests of a release together, whatever else they are given: a start costs more than most tests."""
    items.sort(key=_release)


def _release(item: pytest.Item) -> str:
    given = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return next((each for each in given if each in HUDI_VERSIONS), "")


class Jvms:
    """Those that are alive: a start takes longer than most tests."""

    def __init__(self) -> None:
        self._alive: list[Jvm] = []

    def of(self, version: str, count: int) -> list[Jvm]:
        """So many of that release. Of other releases those that were not asked for the longest end first."""
        found = [each for each in self._alive if each.version == version][:count]
        others = [each for each in self._alive if each not in found]
        while others and len(others) + count > _AT_ONCE:
            others.pop(0).close()
        found += [Jvm(version) for _ in range(count - len(found))]
        self._alive = [*others, *found]
        return found

    def close(self) -> None:
        for each in self._alive:
            each.close()


@pytest.fixture(scope="session")
def jvms() -> Iterator[Jvms]:
    alive = Jvms()
    yield alive
    alive.close()


@pytest.fixture(scope="session")
def jvm(jvms: Jvms) -> Callable[[str], Jvm]:
    """`jvm("1.2.0")` is that release."""
    return lambda version: jvms.of(version, 1)[0]


@pytest.fixture(scope="session", params=HUDI_VERSIONS)
def real_hudi(request: pytest.FixtureRequest, jvm: Callable[[str], Jvm]) -> Jvm:
    """Each release in turn: pytest groups the tests by it, so that each starts once."""
    return jvm(request.param)


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer(tick_ms=2000) as server:
        yield server


@pytest.fixture
def two_jvms(request: pytest.FixtureRequest, jvms: Jvms) -> tuple[Jvm, Jvm]:
    """Two processes of one release, which a test names in this fixture's place."""
    one, other = jvms.of(request.param, 2)
    return one, other
