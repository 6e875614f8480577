"""The base of an index is found wherever its commit stands: on the metadata table's timeline, or in its archive."""

import pytest

from hudi_engine.action.execute import Run
from hudi_engine.action.published import published_base
from tests.unit.action.builds import NAME, base_of, in_build, on_stage
from tests.worlds.archiver import archive_metadata
from tests.worlds.services import compact_metadata
from tests.worlds.stage import StagedStorage
from tests.worlds.world import world_of

_STARTS = ["v6_cow", "v9_mor"]


@pytest.mark.parametrize("start", _STARTS)
def test_a_base_whose_commit_was_archived_is_found(start: str) -> None:
    world = world_of(start)

    def body(run: Run) -> None:
        base = base_of(run)
        compact_metadata(world)
        assert base.instant in archive_metadata(world, keep=2)
        assert published_base(run.site.metadata(), run.plan, NAME) == base

    in_build(world, body)


@pytest.mark.parametrize("start", _STARTS)
def test_a_base_whose_commit_is_archived_between_a_listing_and_a_look_into_it_is_found(start: str) -> None:
    world = world_of(start)

    def body(run: Run) -> None:
        base = base_of(run)
        compact_metadata(world)
        stage = StagedStorage(world.storage.restarted())
        separator = "." if start.startswith("v6") else "_"
        archived: list[str] = []
        stage.before("read", f"/{base.instant}{separator}", lambda: archived.extend(archive_metadata(world, keep=2)))
        assert published_base(on_stage(run, stage).site.metadata(), run.plan, NAME) == base
        assert base.instant in archived

    in_build(world, body)
