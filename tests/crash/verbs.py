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
from tests.worlds.stage import StagedStorage
from tests.worlds.starts import STARTS
from tests.worlds.world import Saved, World, saved, world_of
from tests.worlds.writer import Write, Writer, partitions_of

REQUEST: Final = IndexRequest((IndexKind.RECORD_INDEX,))
_OLDEST: Final = 6


@dataclass(frozen=True, slots=True)
class Verb:
    """What is done, by `run`, again and again until it is done; `prepare` brings a table to where it begins.

    `is_ready_after` says whether the indexes are complete afterwards; None where the verb leaves a plan for others.
    `stands_on` is complete before; `since` is the first table version that has such indexes.
    """

    prepare: Callable[[World, IndexRequest], None]
    run: Callable[[World, Site, IndexRequest], None]
    is_ready_after: bool | None
    request: IndexRequest = REQUEST
    stands_on: IndexRequest | None = None
    since: int = _OLDEST

    def perform(self, world: World, site: Site) -> None:
        self.run(world, site, self.request)

    @property
    def starts(self) -> list[str]:
        """The tables that can have such indexes."""
        return [start for start in STARTS if version_of(start) >= self.since]


def version_of(start: str) -> int:
    return int(start[1])


@cache
def moment(start: str, name: str) -> Saved:
    """The table as it is when the verb begins."""
    world, verb = world_of(start), VERBS[name]
    if verb.stands_on is not None:
        _ready(world, verb.stands_on)
    verb.prepare(world, verb.request)
    return saved(world)


def _one_commit(world: World, _: IndexRequest = REQUEST) -> None:
    write = Writer(world).begin()
    _change(world, write).complete()


def _change(world: World, write: Write) -> Write:
    """Of everything a commit can do, something."""
    kept, gone, moved, *_ = sorted(world.truth())
    first, second, *_ = partitions_of(world)
    target = second if world.truth()[moved][0] == first else first
    return write.upsert(kept).delete(gone).move(target, moved).insert(first, "new 1", "new 2")


def _schedule(_: World, site: Site, request: IndexRequest) -> None:
    schedule(site, request)


def _build(_: World, site: Site, request: IndexRequest) -> None:
    build(site, request)


def _published_with_arrears(world: World, request: IndexRequest) -> None:
    """A runner died right after it published, and a writer that knew of no index completed since."""
    write = _change(world, Writer(world).begin())
    write.write_files()
    _publish_and_die(world, request)
    write.complete()


def _publish_and_die(world: World, request: IndexRequest) -> None:
    _build_and_die_once(
        world, request, lambda: set(request.names) <= set(world.flags()[1]) and BACKUP not in world.paths()
    )


def _build_and_die_once(world: World, request: IndexRequest, is_so: Callable[[], bool]) -> None:
    stage = StagedStorage(world.storage.restarted())
    stage.once(is_so, stage.die)
    with suppress(Crash):
        build(world.site("first", stage), request)
    assert stage.is_dead, "the build ended before it could be killed"


def _ready(world: World, request: IndexRequest) -> None:
    build(world.site("builder"), request)


def _drop(_: World, site: Site, request: IndexRequest) -> None:
    run_drop(site, request.names)


def _abort(world: World, site: Site, _: IndexRequest) -> None:
    """Of whatever plan there is, or was: it may be done already, which is said."""
    pending = {i.requested_at for i in world.table().timeline().of(Action.INDEXING) if not i.is_completed}
    begun = {folder.name for folder in world.storage.list(ATTEMPTS) if folder.is_folder}
    for plan in sorted(pending | begun):
        with suppress(NotFound):
            run_abort(site, plan)


def _of(
    suffix: str, request: IndexRequest, stands_on: IndexRequest | None = None, since: int = _OLDEST
) -> dict[str, Verb]:
    """All steps of RFC-45 are killed in `build`: base, publish, catch-up, complete; in `catch-up` the last two."""
    return {
        f"schedule{suffix}": Verb(_one_commit, _schedule, None, request, stands_on, since),
        f"build{suffix}": Verb(_one_commit, _build, True, request, stands_on, since),
        f"catch-up{suffix}": Verb(_published_with_arrears, _build, True, request, stands_on, since),
        f"drop{suffix}": Verb(_ready, _drop, False, request, stands_on, since),
        f"abort{suffix}": Verb(_publish_and_die, _abort, False, request, stands_on, since),
    }


EVERYWHERE: Final = _of("", REQUEST)
BY_PARTITION: Final = _of(" by partition", IndexRequest((IndexKind.RECORD_INDEX,), is_partitioned=True), since=9)
"""A record index for each partition, which only version 9 has."""

OF_FILES: Final = IndexRequest((IndexKind.BLOOM_FILTERS, IndexKind.COLUMN_STATS))
_SECONDARY: Final = "secondary_index_by_seen"
SECONDARY: Final = IndexRequest((_SECONDARY,), columns={_SECONDARY: ("seen",)})
_STATS: Final = IndexKind.COLUMN_STATS.value
_ONE_COLUMN: Final = IndexRequest((_STATS,), columns={_STATS: ("seen",)})
_ANOTHER: Final = IndexRequest((_STATS,), columns={_STATS: ("day",)})
PARTITIONS: Final = IndexRequest((IndexKind.PARTITION_STATS,))
FIRST_WITH_DEFINITIONS: Final = 8


def _of_one_column(world: World, _: IndexRequest) -> None:
    """A commit first: the writers of these worlds do not keep the index up."""
    _one_commit(world)
    _ready(world, _ONE_COLUMN)


def _add_and_die(world: World, _: IndexRequest) -> None:
    """A runner died with entries of the new column committed, and the column not yet defined."""
    _of_one_column(world, _ONE_COLUMN)
    began_with = len(world.metadata().timeline.completed())
    _build_and_die_once(world, _ANOTHER, lambda: len(world.metadata().timeline.completed()) > began_with)


OTHER_KINDS: Final = (
    _of(" of files", OF_FILES)
    | _of(" by value", SECONDARY, REQUEST, FIRST_WITH_DEFINITIONS)
    | _of(" of partitions", PARTITIONS, _ONE_COLUMN, FIRST_WITH_DEFINITIONS)
    | {
        "schedule a column": Verb(_of_one_column, _schedule, None, _ANOTHER, since=FIRST_WITH_DEFINITIONS),
        "build a column": Verb(_of_one_column, _build, True, _ANOTHER, since=FIRST_WITH_DEFINITIONS),
        # What it was to be added to is complete all the time.
        "abort a column": Verb(_add_and_die, _abort, True, _ONE_COLUMN, since=FIRST_WITH_DEFINITIONS),
    }
)
VERBS: Final = EVERYWHERE | BY_PARTITION | OTHER_KINDS
