"""What a build says of itself at its end, while writers go on."""

from hudi_engine.action.index import Ready, build
from hudi_engine.action.metadata_instants import OURS
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.cli.built import built_report
from hudi_engine.contract import Outcome
from hudi_engine.index.kinds import IndexKind
from tests.worlds.archives import move_to_archive
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, world_of

_INDEX = IndexKind.RECORD_INDEX.value


def test_a_report_tells_of_an_index_whose_commit_is_archived_while_the_report_looks_for_it() -> None:
    world = world_of("v9_mor")
    built = build(world.site("builder"), IndexRequest((IndexKind.RECORD_INDEX,)))
    assert isinstance(built, Ready)
    stage = StagedStorage(world.storage)
    stage.before("read", _commit_of_base(world), lambda: _archive_all_of_metadata(world))

    report = built_report(world.site("reporter", stage), built)

    (kind,) = report.kinds
    assert stage.cues[0].is_done
    assert (report.outcome, kind.kind, kind.state) == (Outcome.READY, _INDEX, Outcome.READY)
    assert (kind.shards, kind.keys) == (2, len(world.truth()))


def test_a_report_tells_of_an_index_whose_commit_was_archived_before() -> None:
    world = world_of("v9_mor")
    built = build(world.site("builder"), IndexRequest((IndexKind.RECORD_INDEX,)))
    assert isinstance(built, Ready)
    _archive_all_of_metadata(world)

    (kind,) = built_report(world.site("reporter"), built).kinds

    assert (kind.shards, kind.keys) == (2, len(world.truth()))


def _commit_of_base(world: World) -> str:
    """How the path of its file begins."""
    completed = world.metadata().timeline.completed()
    (base,) = (each for each in completed if OURS[0] <= each.requested_at <= OURS[1])
    return f".hoodie/metadata/.hoodie/timeline/{base.requested_at}_"


def _archive_all_of_metadata(world: World) -> None:
    metadata = world.metadata()
    move_to_archive(metadata.table, metadata.timeline.completed())
