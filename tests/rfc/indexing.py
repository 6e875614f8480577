"""What the tests of both RFCs ask of a world, in their words."""

import re
from typing import Final

from hudi_engine.action.plans import IndexPlan, pending_plans
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.errors import EngineError
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.table.timeline import Timeline
from tests.worlds.invariants import answers, as_if_complete, entries
from tests.worlds.java_metadata import RECORD_INDEX
from tests.worlds.stage import Act, StagedStorage
from tests.worlds.world import World
from tests.worlds.writer import Write, Writer, partitions_of

REQUEST: Final = IndexRequest((IndexKind.RECORD_INDEX,))
SHARDS: Final = f"{FOLDER}/{RECORD_INDEX}"
_BASE: Final = re.compile(r"record-index-[0-9]{4}-0_.*\.hfile")


def planned(world: World) -> IndexPlan:
    """A plan that somebody asked for."""
    plan = schedule(world.site("asker"), REQUEST)
    assert isinstance(plan, IndexPlan)
    return plan


def plans(world: World) -> list[IndexPlan]:
    table = world.table()
    return list(pending_plans(table, table.timeline()).values())


def indexing(world: World) -> list[Instant]:
    return list(world.table().timeline().of(Action.INDEXING))


def is_complete(world: World) -> bool:
    return RECORD_INDEX in world.flags()[0]


def is_in_flight(world: World) -> bool:
    return RECORD_INDEX in world.flags()[1]


def base_files(world: World) -> list[str]:
    return [file.name for file in world.storage.list(SHARDS) if _BASE.fullmatch(file.name)]


def shard_files(world: World) -> list[str]:
    return [file.name for file in world.storage.list(SHARDS)]


def is_right(world: World) -> bool:
    """Whether the index, in whatever state, answers every committed key with its place, and no other key."""
    index = as_if_complete(world.metadata(), RECORD_INDEX).index(RECORD_INDEX)
    truth = world.truth()
    return entries(index) == truth == answers(index, truth)


def commit(world: World, *keys: str) -> str:
    """A writer inserts these keys."""
    return Writer(world).begin().insert(partitions_of(world)[0], *keys).complete()


def begun(world: World, *keys: str) -> Write:
    """A writer is about to insert these keys, and has not committed."""
    write = Writer(world).begin().insert(partitions_of(world)[0], *keys)
    write.write_files()
    return write


def writes(world: World) -> list[Instant]:
    timeline: Timeline = world.table().timeline()
    return list(timeline.writes())


def keep_alive(world: World, *pending: Write) -> None:
    """The hearts of these writers go on beating."""
    for write in pending:
        world.clock.each_second(write.beat)


def when_published(world: World, stage: StagedStorage, act: Act) -> None:
    """Let something happen as soon as the base is in effect and the lock is free."""
    stage.once(lambda: is_in_flight(world) and is_lock_free(world), act)


def is_lock_free(world: World) -> bool:
    lock = world.site("asks").lock
    try:
        lock.acquire(0)
    except EngineError:
        return False
    lock.release()
    return True
