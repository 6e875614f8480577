"""The verbs that are killed, and the moment of a world at which each begins."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

from hudi_engine.action.attempts import FOLDER as ATTEMPTS
from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import build
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.action.site import Site
from hudi_engine.action.undo import run_abort
from hudi_engine.errors import NotFound
from hudi_engine.format.instant_names import Action
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import Crash
from hudi_engine.table.properties_file import BACKUP
from tests.worlds.java_metadata import RECORD_INDEX
from tests.worlds.stage import StagedStorage
from tests.worlds.world import Saved, World, saved, world_of
from tests.worlds.writer import Write, Writer, partitions_of

REQUEST: Final = IndexRequest((IndexKind.RECORD_INDEX,))
_BY_PARTITION: Final = IndexRequest((IndexKind.RECORD_INDEX,), is_partitioned=True)


@dataclass(frozen=True, slots=True)
class Verb:
    """What is done, by `run`, again and again until it is done; `prepare` brings a table to where it begins.

    `is_ready_after` says whether the index is complete afterwards; None where the verb leaves a plan for others.
    """

    prepare: Callable[[World], None]
    run: Callable[[World, Site], None]
    is_ready_after: bool | None


@cache
def moment(start: str, name: str) -> Saved:
    """The table as it is when the verb begins."""
    world = world_of(start)
    VERBS[name].prepare(world)
    return saved(world)


def _one_commit(world: World) -> None:
    write = Writer(world).begin()
    _change(world, write).complete()


def _change(world: World, write: Write) -> Write:
    """Of everything a commit can do, something."""
    kept, gone, moved, *_ = sorted(world.truth())
    first, second, *_ = partitions_of(world)
    target = second if world.truth()[moved][0] == first else first
    return write.upsert(kept).delete(gone).move(target, moved).insert(first, "new 1", "new 2")


def _schedule(world: World, site: Site) -> None:
    schedule(site, REQUEST)


def _build(world: World, site: Site) -> None:
    build(site, REQUEST)


def _build_by_partition(world: World, site: Site) -> None:
    build(site, _BY_PARTITION)


def _published_with_arrears(world: World, request: IndexRequest = REQUEST) -> None:
    """A runner died right after it published, and a writer that knew of no index completed since."""
    write = _change(world, Writer(world).begin())
    write.write_files()
    _publish_and_die(world, request)
    write.complete()


def _published_by_partition_with_arrears(world: World) -> None:
    _published_with_arrears(world, _BY_PARTITION)


def _publish_and_die(world: World, request: IndexRequest = REQUEST) -> None:
    stage = StagedStorage(world.storage.restarted())
    stage.once(lambda: RECORD_INDEX in world.flags()[1] and BACKUP not in world.paths(), stage.die)
    with suppress(Crash):
        build(world.site("first", stage), request)
    assert stage.is_dead, "the build ended before it could be killed"


def _ready(world: World) -> None:
    build(world.site("builder"), REQUEST)


def _drop(world: World, site: Site) -> None:
    run_drop(site, [RECORD_INDEX])


def _abort(world: World, site: Site) -> None:
    """Of whatever plan there is, or was: it may be done already, which is said."""
    pending = {i.requested_at for i in world.table().timeline().of(Action.INDEXING) if not i.is_completed}
    begun = {folder.name for folder in world.storage.list(ATTEMPTS) if folder.is_folder}
    for plan in sorted(pending | begun):
        with suppress(NotFound):
            run_abort(site, plan)


EVERYWHERE: Final = {
    "schedule": Verb(_one_commit, _schedule, None),
    "build": Verb(_one_commit, _build, True),
    "catch-up": Verb(_published_with_arrears, _build, True),
    "drop": Verb(_ready, _drop, False),
    "abort": Verb(_publish_and_die, _abort, False),
}
"""Of `build` all of RFC-45's steps are killed: base, publish, catch-up, complete. Of `catch-up` only the last two."""
BY_PARTITION: Final = {
    "build by partition": Verb(_one_commit, _build_by_partition, True),
    "catch-up by partition": Verb(_published_by_partition_with_arrears, _build_by_partition, True),
}
"""A record index for each partition, which only version 9 has."""
VERBS: Final = EVERYWHERE | BY_PARTITION
