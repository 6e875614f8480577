"""An index in flight in a world: as far as a build is when the catch-up begins."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hudi_engine.action.base import build_base
from hudi_engine.action.catch_up import CatchUp
from hudi_engine.action.coverage import Base, find_base
from hudi_engine.action.execute import Run, execute_plan
from hudi_engine.action.index import Ready, Redo, run_index
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.publish import publish
from hudi_engine.action.reading import Reading, read
from hudi_engine.action.schedule import IndexRequest, Skipped, schedule
from hudi_engine.action.undo import undo_run
from hudi_engine.clock import SystemClock
from hudi_engine.format import properties
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.index import Index
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import open_metadata_table
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import open_table
from tests.worlds.java_metadata import Location
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World

NAME = "record_index"
_COMPLETE, _IN_FLIGHT = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"
_GLOBAL = IndexRequest((IndexKind.RECORD_INDEX,))


@dataclass(slots=True)
class Heard:
    """A watch that remembers what it was told."""

    said: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    rows: int = 0

    def begin(self, phase: str, total: int | None = None) -> None:
        self.phases.append(phase)

    def advance(self, steps: int, rows: int = 0) -> None:
        self.rows += rows

    def say(self, what: str) -> None:
        self.said.append(what)


def in_build(
    world: World,
    body: Callable[[Run], None],
    *,
    before_publishing: Callable[[], object] = lambda: None,
    request: IndexRequest = _GLOBAL,
) -> Heard:
    """Let `body` happen while a build runs whose base is published."""
    watch = Heard()
    site = world.site(watch=watch)
    plan = schedule(site, request)
    assert isinstance(plan, IndexPlan)

    def run(run: Run) -> None:
        base = build_base(run, plan.indexes)
        before_publishing()
        publish(run, base)
        body(run)

    execute_plan(site, plan.requested_at, run)
    return watch


def on_stage(run: Run, stage: StagedStorage) -> Run:
    """The same run by a process on stage."""
    return replace(run, site=replace(run.site, storage=stage))


def built_beside(
    world: World,
    request: IndexRequest,
    *,
    before: Callable[[], object] = lambda: None,
    after: Callable[[Run], object] = lambda _: None,
) -> tuple[Heard, Ready | Skipped | Redo]:
    """A whole build, with what happens before it is published and after; what is not `Ready` is undone."""
    outcomes: list[Ready | Skipped | Redo] = []

    def body(run: Run) -> None:
        after(run)
        outcomes.append(run_index(run))
        if not isinstance(outcomes[0], Ready):
            undo_run(run)

    watch = in_build(world, body, before_publishing=before, request=request)
    (outcome,) = outcomes
    return watch, outcome


def base_of(run: Run, name: str = NAME) -> Base:
    base = find_base(run.site.metadata(), run.plan.requested_at, name)
    assert base is not None
    return base


def catching_up(run: Run) -> CatchUp:
    return CatchUp(run, base_of(run))


def index_of(world: World) -> Index:
    return open_metadata_table(world.table(), BlockCache(1 << 20)).being_built(NAME)


def answers(world: World) -> dict[str, Location]:
    """Where the index in flight has each key."""
    found: dict[str, Location] = {}
    for rows in index_of(world).scan():
        for row in rows.to_pylist():
            assert row["key"] not in found, row
            found[row["key"]] = (row["partition"], row["file_id"])
    return found


def reading_of(table: Path, upto: str = "") -> Reading:
    """A look at a table on disk whose record index, complete as Hudi left it, counts as being built.

    The base is held to be older than every commit, or to have been made of all up to `upto`.
    """
    file = table / ".hoodie/hoodie.properties"
    known = properties.parse(file.read_bytes())
    complete = [name for name in known[_COMPLETE].split(",") if name != NAME]
    file.write_bytes(properties.render({**known, _COMPLETE: ",".join(complete), _IN_FLIGHT: NAME}))
    opened = open_table(open_storage(str(table), {}), SystemClock(), {})
    metadata = open_metadata_table(opened, BlockCache(1 << 20))
    return read(metadata, Base(NAME, "0", "0", "plan", 1, upto, upto, frozenset()))
