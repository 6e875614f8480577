"""Tables that nobody writes to, a small disk, and one writer and one ZooKeeper for all tests."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.golden.unpack import unpack
from tests.java.jvm import Jvm
from tests.kit.soak import is_soak
from tests.kit.zookeeper_server import ZooKeeperServer

# Random cases are for soak, not for the gate.
collect_ignore = [] if is_soak() else ["test_random_kills.py"]


@pytest.fixture
def quiet_table(tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: unpack(name, tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    with Jvm("1.2.0") as writer:
        yield writer


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeperServer]:
    """Its sessions last from 4 seconds to 40: a test that wants one to end expires it."""
    with ZooKeeperServer(tick_ms=2_000) as server:
        yield server
