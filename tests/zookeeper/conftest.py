"""One real server for the tests that do not end it."""

from collections.abc import Iterator

import pytest

from tests.kit.zookeeper_server import ZooKeeperServer


@pytest.fixture(scope="session")
def server() -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer(tick_ms=2_000) as running:  # sessions of up to 40 seconds
        yield running
