"""Archivers of both timelines that overtake a build at any one of its reads: the build sees it through."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import pytest

from hudi_engine.action.index import Ready, build
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.index.kinds import IndexKind
from tests.kit.soak import is_soak
from tests.kit.valid import require_valid
from tests.worlds.archiver import archive_data, archive_metadata
from tests.worlds.services import clean_leftovers, compact_metadata, delete_savepoints
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, saved, world_at, world_of
from tests.worlds.writer import OutOfTurn, Writer, partitions_of

pytestmark = pytest.mark.thorough
_RECORDS, _STATS = IndexKind.RECORD_INDEX.value, IndexKind.COLUMN_STATS.value
_FIRST = IndexRequest((_RECORDS,))
_SEEN, _PAGE = (IndexRequest((_STATS,), columns={_STATS: (column,)}) for column in ("seen", "page"))
# Each layout of a timeline once: a first index, and a column for one that is there, before whose plan more is read.
_CASES = (("v6_cow", (), _FIRST), ("v9_mor", (_FIRST, _SEEN), _PAGE))


@pytest.mark.parametrize(("start", "built_before", "request_now"), _CASES, ids=["an index", "a column"])
def test_a_build_gets_ready_whichever_of_its_reads_two_archivers_overtake(
    start: str, built_before: Sequence[IndexRequest], request_now: IndexRequest
) -> None:
    names = sorted({name for each in (*built_before, request_now) for name in each.names})
    files = saved(_archivable(start, built_before))
    calm = world_at(files)
    reads = StagedStorage(calm.storage)
    build(calm.site("calm", reads), request_now)
    overtaken = 0

    count = sum(operation == "read" for operation, _ in reads.journal)
    for number in range(0, count, 1 if is_soak() else 2):
        world = world_at(files)
        stage = StagedStorage(world.storage)
        taken: list[str] = []
        stage.before("read", "", partial(_archive, world, taken), passes=number)

        built = build(world.site("builder", stage), request_now)

        assert isinstance(built, Ready), f"overtaken at read {number}: {built}"
        require_valid(world.metadata(), names)
        overtaken += bool(taken)

    assert overtaken > 10


def _archivable(start: str, requests: Sequence[IndexRequest]) -> World:
    """All is compacted and cleaned, and savepoints are gone, so that the archivers may take most of what is there."""
    world = world_of(start)
    delete_savepoints(world)
    clean_leftovers(world)
    for request in requests:
        assert isinstance(build(world.site(), request), Ready)
    for number in range(5):
        Writer(world).begin().insert(partitions_of(world)[0], f"new {number}").complete()
    compact_metadata(world)
    return world


def _archive(world: World, taken: list[str]) -> None:
    """Nothing if the build holds the lock."""
    with suppress(OutOfTurn):
        taken += archive_data(world, keep=2)
        taken += archive_metadata(world, keep=2)
