"""A table that writers use, for each sentence of an RFC."""

import pytest

from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, world_of


@pytest.fixture
def world() -> World:
    """A merge-on-read table of version 9: nine keys in two partitions."""
    return world_of("v9_mor")


@pytest.fixture
def stage(world: World) -> StagedStorage:
    """The table's store as the engine under test uses it."""
    return StagedStorage(world.storage.restarted())
