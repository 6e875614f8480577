"""One node for all tests in here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.node.images import archive, pause
from tests.node.node import Node
from tests.node.parts import programs
from tools.images import REPOSITORIES


def pytest_collection_finish(session: pytest.Session) -> None:
    """What has to be built is built before the first test, whose time limit it would not keep."""
    here = Path(__file__).parent
    if any(item.path.is_relative_to(here) for item in session.items):
        programs()
        for target in REPOSITORIES:
            archive(target)


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    folder = tmp_path_factory.mktemp("node")
    with Node(folder / "node", [pause(folder), *map(archive, REPOSITORIES)]) as ready:
        yield ready
