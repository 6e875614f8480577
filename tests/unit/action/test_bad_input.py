"""What goes wrong in the middle of a build, of each kind of index: one clear error, and nothing left behind."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import pytest

from hudi_engine.action.flags import flag_complete
from hudi_engine.action.index import Ready, build
from hudi_engine.action.plans import pending_plans
from hudi_engine.action.schedule import IndexRequest, Skipped
from hudi_engine.action.undo import run_abort
from hudi_engine.errors import AccessDenied, Contradiction, EngineError, TimedOut, Unsupported
from hudi_engine.format import properties
from hudi_engine.index.definitions import DEFAULT_PATH
from hudi_engine.index.kinds import shard_name_of
from hudi_engine.table.properties_file import BACKUP, MAIN
from tests.kit.valid import require_valid
from tests.unit.action.builds import in_build
from tests.worlds.invariants import require_tidy
from tests.worlds.stage import Cue, StagedStorage
from tests.worlds.starts import stored_in
from tests.worlds.world import Saved, World, saved, world_at, world_of
from tests.worlds.writer import Writer, partitions_of

pytestmark = pytest.mark.thorough

SECONDARY: Final = "secondary_index_by_seen"
STATS: Final = "column_stats"
STANDS_ON: Final = {"partition_stats": "column_stats", SECONDARY: "record_index"}
KINDS: Final = ("record_index", "column_stats", "partition_stats", "bloom_filters", SECONDARY)
each_kind = pytest.mark.parametrize("name", KINDS)
VERSION: Final = "hoodie.table.version"
GIVEN: Final = ".hoodie/.index_attempts/given-"
"""What remembers which attempts there were, so that no number is ever given twice: it stays."""
LEFT: Final = {
    "plan": r"\.hoodie/(timeline/|\.index_attempts/plans/)?[0-9]{17}\.indexing\.(requested|inflight)",
    "attempt": r"\.hoodie/\.index_attempts/[0-9]{17}/[0-9]{4}\.json",
    "file of the index": r"\.hoodie/metadata/[a-z_]+/[^/]+",
    # Of files that are gone: of no effect, and a completed instant is never taken off a timeline.
    "commit of the base": r"\.hoodie/metadata/\.hoodie/timeline/0{14}[0-9]{3}(_[0-9]{17})?\.deltacommit[a-z.]*",
    "commit of entries": r"\.hoodie/metadata/\.hoodie/timeline/2[0-9]{16}(_[0-9]{17})?\.deltacommit[a-z.]*",
}
"""What a build may leave, by what it is."""
_WRITES: Final = ("create", "replace", "delete")


@dataclass(frozen=True, slots=True)
class Closed:
    """Files on which the store refuses these operations, from our first write to a path with `since` in it on."""

    operations: tuple[str, ...]
    folder: str
    since: str


def closed_at(moment: str, name: str, partition: str) -> Closed:
    """What we have no rights to any more from that moment of a build on."""
    return {
        "data": Closed(("read",), f"{partition}/", "indexing.inflight"),
        "shard": Closed(_WRITES, f".hoodie/metadata/{name}/", f"{name}/"),
        "commit": Closed(_WRITES, ".hoodie/metadata/.hoodie/timeline/", "metadata/.hoodie/timeline/0000"),
        "definition": Closed(_WRITES, DEFAULT_PATH, DEFAULT_PATH),
        "flag": Closed(_WRITES, MAIN, BACKUP),
    }[moment]


def request_for(name: str) -> IndexRequest:
    return IndexRequest((name,), columns={SECONDARY: ("seen",)} if name == SECONDARY else {})


@cache
def _ready_for(start: str, name: str) -> Saved:
    world = world_of(start)
    if first := STANDS_ON.get(name):
        assert isinstance(build(world.site("before"), request_for(first)), Ready)
    return saved(world)


def ready_for(name: str, start: str = "v9_mor") -> World:
    """A table on which nothing is missing that the index stands on."""
    return world_at(_ready_for(start, name))


def content(world: World) -> dict[str, object]:
    """What every file says."""
    files = stored_in(world.storage).items()
    return {path: _meaning(path, file.data) for path, file in files if not path.startswith(GIVEN)}


def require_left(before: Mapping[str, object], world: World, *what: str) -> None:
    """All that was there is as it was, and of each of these kinds, and of no other, files came."""
    after = content(world)
    assert {path: said for path, said in after.items() if path in before} == before
    found = {path: next((kind for kind, text in LEFT.items() if re.fullmatch(text, path)), path) for path in after}
    assert {kind for path, kind in found.items() if path not in before} == {*what}


def _meaning(path: str, data: bytes) -> object:
    if path == MAIN:
        return {key: text for key, text in properties.parse(data).items() if text}
    return json.loads(data)["indexDefinitions"] if path == DEFAULT_PATH else data


def refused(world: World, name: str, error: type[EngineError], stage: StagedStorage | None = None) -> str:
    """The one line that a build ends with."""
    with pytest.raises(error) as raised:
        build(world.site("first", stage), request_for(name))
    said = str(raised.value)
    assert "\n" not in said
    return said


def require_built(world: World, name: str) -> None:
    """The same call as before makes it, and nothing of the first is left."""
    assert isinstance(build(world.site("second"), request_for(name)), Ready)
    require_tidy(world, sorted({name, STANDS_ON.get(name, name)}))
    require_valid(world.metadata(), [name])


def set_version(world: World, version: int) -> None:
    lines = {**properties.parse(world.storage.read(MAIN)), VERSION: str(version)}
    world.storage.replace(MAIN, properties.render(lines, ["of an upgrade"]))


def close(stage: StagedStorage, closed: Closed) -> None:
    """From that moment on the store refuses what we ask of these files, again and again."""
    is_time = False

    def fits(operation: str, path: str) -> bool:
        nonlocal is_time
        is_time = is_time or (operation in _WRITES and closed.since in path)
        return is_time and operation in closed.operations and path.startswith(closed.folder)

    def deny() -> None:
        stage.cues.append(Cue(fits, deny))
        raise AccessDenied(f"{closed.folder}: no rights")

    stage.cues.append(Cue(fits, deny))


@each_kind
def test_a_writer_that_never_ends_is_named_when_time_is_up_and_nothing_is_left_of_the_build(name: str) -> None:
    world = ready_for(name)
    first, *_ = partitions_of(world)
    writer = Writer(world)
    writer.keep_alive()
    write = writer.begin().insert(first, "never committed")
    if name == SECONDARY:  # a write settles as it becomes in flight which of these it keeps, or at its end
        world.storage.delete(f"{world.table().config.timeline_folder}/{write.instant}.{write.action}.inflight")
    before, flags = content(world), world.flags()

    said = refused(world, name, TimedOut)

    assert f"waiting for 1 pending: {write.instant}" in said
    assert world.flags() == flags
    require_left(before, world, "commit of the base")
    require_tidy(world, sorted({name, STANDS_ON.get(name, name)}))
    write.complete()
    require_built(world, name)


@each_kind
def test_an_upgrade_while_the_base_is_made_is_refused_and_nothing_is_left_of_it(name: str) -> None:
    world = ready_for(name, "v8_mor")
    before, stage = content(world), StagedStorage(world.storage.restarted())
    stage.before("create", f"metadata/{name}/", lambda: set_version(world, 9))

    said = refused(world, name, Contradiction, stage)

    assert "table version 9, and 8 when the base" in said
    assert "run the same request again" in said
    set_version(world, 8)
    assert content(world) == before
    require_built(world, name)


def _made_by_a_writer(world: World, name: str) -> str:
    """The one file of an index that is complete all at once."""
    path = f".hoodie/metadata/{name}/{shard_name_of(name, 0)}_0-7-7_{world.next_time()}.hfile"
    world.storage.create(path, b"the writer's")
    flag_complete(world.table(), [name])
    return path


def _files_of(world: World, name: str) -> list[str]:
    return [path for path in content(world) if path.startswith(f".hoodie/metadata/{name}/")]


@each_kind
def test_an_index_that_a_writer_makes_while_the_base_is_made_keeps_its_own_files_alone(name: str) -> None:
    world = ready_for(name)
    made: list[str] = []
    stage = StagedStorage(world.storage.restarted())
    stage.before("create", f"metadata/{name}/", lambda: made.append(_made_by_a_writer(world, name)))

    said = refused(world, name, Contradiction, stage)

    assert "hoodie.metadata.index.async=true" in said
    assert _files_of(world, name) == made


def _build_again(world: World) -> None:
    assert isinstance(build(world.site("second"), request_for("record_index")), Skipped)


def _abort(world: World) -> None:
    (plan,) = pending_plans(world.table(), world.table().timeline()).values()
    run_abort(world.site("second"), plan.requested_at)


@pytest.mark.parametrize("go_on", [_build_again, _abort])
def test_what_a_runner_that_died_wrote_beside_a_writers_index_is_removed_with_its_plan(
    go_on: Callable[[World], None],
) -> None:
    world = ready_for("record_index")
    made: list[str] = []
    with pytest.raises(Contradiction):
        in_build(world, lambda _: None, before_publishing=lambda: made.append(_made_by_a_writer(world, "record_index")))
    assert {*_files_of(world, "record_index")} > {*made}

    go_on(world)

    assert _files_of(world, "record_index") == made


@each_kind
@pytest.mark.parametrize("moment", ["metadata/{}/", "metadata/{}/."], ids=["shard", "log"])
def test_a_version_that_nobody_knows_yet_is_refused_and_nothing_is_in_effect_once_it_is_known_again(
    name: str, moment: str
) -> None:
    """Nor is anything tidied up before: nobody can say what such a table makes of it."""
    world = ready_for(name)
    before, flags = content(world), world.flags()
    stage = StagedStorage(world.storage.restarted())
    stage.before("create", moment.format(name), lambda: set_version(world, 10))

    said = refused(world, name, Unsupported, stage)

    assert "hoodie.table.version=10, expected one of 6, 8, 9" in said
    set_version(world, 9)
    assert world.flags() == flags
    require_left(before, world, "plan", "attempt", "file of the index")
    require_built(world, name)


@each_kind
@pytest.mark.parametrize("moment", ["data", "shard", "commit", "flag"])
def test_rights_that_are_taken_away_in_the_middle_end_the_build_which_goes_on_once_they_are_back(
    name: str, moment: str
) -> None:
    world = ready_for(name)
    before, flags = content(world), world.flags()
    stage, closed = StagedStorage(world.storage.restarted()), closed_at(moment, name, partitions_of(world)[0])
    close(stage, closed)

    said = refused(world, name, AccessDenied, stage)

    assert said == f"{closed.folder}: no rights"
    assert world.flags() == flags
    require_left(before, world, *(["commit of the base"] if moment == "flag" else []))
    require_built(world, name)


@pytest.mark.parametrize("name", ["record_index", "column_stats", SECONDARY])
def test_an_index_that_may_not_be_defined_is_undone(name: str) -> None:
    world = ready_for(name)
    before, flags = content(world), world.flags()
    stage = StagedStorage(world.storage.restarted())
    close(stage, closed_at("definition", name, ""))

    assert refused(world, name, AccessDenied, stage) == f"{DEFAULT_PATH}: no rights"

    assert world.flags() == flags
    # A secondary index is defined in the end, the others before anything of them is committed.
    require_left(before, world, *(["commit of the base"] if name == SECONDARY else []))
    require_built(world, name)


@pytest.mark.parametrize("moment", ["data", "shard", "commit", "definition"])
def test_a_column_that_could_not_be_added_is_not_defined_and_the_index_is_as_right_as_before(moment: str) -> None:
    world = world_of("v9_mor")
    assert isinstance(build(world.site("before"), IndexRequest((STATS,), columns={STATS: ("seen",)})), Ready)
    before, flags = content(world), world.flags()
    stage = StagedStorage(world.storage.restarted())
    close(
        stage,
        {
            "data": Closed(("read",), f"{partitions_of(world)[0]}/", "indexing.inflight"),
            "shard": Closed(_WRITES, f".hoodie/metadata/{STATS}/", f"{STATS}/"),
            "commit": Closed(_WRITES, ".hoodie/metadata/.hoodie/timeline/", "metadata/.hoodie/timeline/"),
            "definition": Closed(_WRITES, DEFAULT_PATH, DEFAULT_PATH),
        }[moment],
    )
    more = IndexRequest((STATS,), columns={STATS: ("day",)})

    with pytest.raises(AccessDenied, match="no rights"):
        build(world.site("first", stage), more)

    assert world.flags() == flags
    # Entries of a column that nobody asks for stay.
    require_left(before, world, *(["file of the index", "commit of entries"] if moment == "definition" else []))
    require_valid(world.metadata(), [STATS])
    assert isinstance(build(world.site("second"), more), Ready)
    require_tidy(world, [STATS])
    require_valid(world.metadata(), [STATS])
