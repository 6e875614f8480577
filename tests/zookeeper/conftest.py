"""One real server for the tests that do not end it."""

from collections.abc import Iterator

import pytest

from tests.zookeeper.server import ZooKeeperServer


@pytest.fixture(scope="session")
def server() -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer() as running:
        yield running
