"""The verbs that are killed, and the moment of a world at which each begins."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
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
from tests.worlds.world import Saved, World, saved, world_of
from tests.worlds.writer import Write, Writer, partitions_of

REQUEST: Final = IndexRequest((IndexKind.RECORD_INDEX,))
_BY_PARTITION: Final = IndexRequest((IndexKind.RECORD_INDEX,), is_partitioned=True)


@dataclass(frozen=True, slots=True)
class Verb:
    """What is done, by `run`, again and again until it is done; `prepare` brings a table to where it begins.

    `is_ready_after` says whether the indexes are complete afterwards; None where the verb leaves a plan for others.
    """

    prepare: Callable[[World], None]
    run: Callable[[World, Site], None]
    is_ready_after: bool | None
    request: IndexRequest = REQUEST


def verb_of(name: str) -> Verb:
    return (VERBS | VERBS_OF_OTHER_KINDS)[name]


@cache
def moment(start: str, name: str) -> Saved:
    """The table as it is when the verb begins."""
    world = world_of(start)
    verb_of(name).prepare(world)
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


def _build(_: World, site: Site, request: IndexRequest = REQUEST) -> None:
    build(site, request)


def _published_with_arrears(world: World, request: IndexRequest = REQUEST) -> None:
    """A runner died right after it published, and a writer that knew of no index completed since."""
    write = _change(world, Writer(world).begin())
    write.write_files()
    _publish_and_die(world, request)
    write.complete()


def _publish_and_die(world: World, request: IndexRequest = REQUEST) -> None:
    stage = StagedStorage(world.storage.restarted())
    stage.once(lambda: set(request.names) <= set(world.flags()[1]) and BACKUP not in world.paths(), stage.die)
    with suppress(Crash):
        build(world.site("first", stage), request)
    assert stage.is_dead, "the build ended before it could be killed"


def _ready(world: World, request: IndexRequest = REQUEST) -> None:
    build(world.site("builder"), request)


def _drop(_: World, site: Site, request: IndexRequest = REQUEST) -> None:
    run_drop(site, request.names)


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
    "build by partition": Verb(_one_commit, partial(_build, request=_BY_PARTITION), True, _BY_PARTITION),
    "catch-up by partition": Verb(
        partial(_published_with_arrears, request=_BY_PARTITION),
        partial(_build, request=_BY_PARTITION),
        True,
        _BY_PARTITION,
    ),
}
"""A record index for each partition, which only version 9 has."""
VERBS: Final = EVERYWHERE | BY_PARTITION


OF_FILES: Final = IndexRequest((IndexKind.BLOOM_FILTERS, IndexKind.COLUMN_STATS))
_SECONDARY: Final = "secondary_index_by_seen"
SECONDARY: Final = IndexRequest((_SECONDARY,), columns={_SECONDARY: ("seen",)})


def _of(request: IndexRequest, first: Callable[[World], None]) -> dict[str, Verb]:
    """Build, catch-up and drop of these indexes; `first` brings a table to where they can be built."""

    def prepared(more: Callable[[World], None]) -> Callable[[World], None]:
        def both(world: World) -> None:
            first(world)
            more(world)

        return both

    def build_them(world: World, site: Site) -> None:
        _build(world, site, request)

    def drop_them(world: World, site: Site) -> None:
        _drop(world, site, request)

    named = " and ".join(request.names)
    return {
        f"build {named}": Verb(prepared(_one_commit), build_them, True, request),
        f"catch up {named}": Verb(
            prepared(partial(_published_with_arrears, request=request)), build_them, True, request
        ),
        f"drop {named}": Verb(prepared(partial(_ready, request=request)), drop_them, False, request),
    }


_STATS: Final = IndexKind.COLUMN_STATS.value
_ONE_COLUMN: Final = IndexRequest((_STATS,), columns={_STATS: ("seen",)})
_ANOTHER: Final = IndexRequest((_STATS,), columns={_STATS: ("page",)})


def _of_one_column(world: World) -> None:
    _one_commit(world)
    _ready(world, _ONE_COLUMN)


_PARTITIONS: Final = IndexRequest((IndexKind.PARTITION_STATS,))
_ADD_COLUMNS: Final = {"add a column": Verb(_of_one_column, partial(_build, request=_ANOTHER), True, _ANOTHER)}
VERBS_OF_OTHER_KINDS: Final = (
    _ADD_COLUMNS
    | _of(OF_FILES, lambda _: None)
    | _of(SECONDARY, _ready)
    | _of(_PARTITIONS, partial(_ready, request=_ONE_COLUMN))
)
