"""One case: a verb killed, or failed, at one write; what is seen right then, and what the next requests make of it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from hudi_engine.action.index import build
from hudi_engine.errors import EngineError
from hudi_engine.storage.memory import Crash, Fault, Way
from tests.crash.verbs import VERBS, moment
from tests.kit.valid import require_valid
from tests.worlds.invariants import ROWS, require_safe, require_tidy
from tests.worlds.stage import Cue, StagedStorage
from tests.worlds.world import World, world_at
from tests.worlds.writer import Writer, partitions_of

_TORN_BYTES: Final = 20
_LOOKS: Final = ("read", "list")
_MOST_REQUESTS: Final = 4


@dataclass(frozen=True, slots=True)
class Case:
    """What is killed where. With `is_other` another engine recovers it, after a writer has committed meanwhile."""

    start: str
    verb: str
    at_write: int
    way: Way
    is_other: bool
    what: str = "write"

    def __str__(self) -> str:
        who = "another engine" if self.is_other else "the same"
        return f"{self.start}: {self.verb} at {self.what} {self.at_write} ({self.way}), then {who}"


@cache
def count_writes(start: str, verb: str) -> int:
    """How many writes the verb makes when nothing happens to it."""
    world = world_at(moment(start, verb))
    storage = world.storage.restarted()
    VERBS[verb].perform(world, world.site("first", StagedStorage(storage)))
    return storage.writes


def require_survives_crash(case: Case) -> None:
    """Dead at that write; safe right after; done, right and tidy after the same request."""
    world, path = _struck(case, Crash())
    with _told(case, path):
        require_safe(world, _names(case))
        require_valid(world.metadata(), _others_in_use(world, case))
        _recover(world, case)


def require_survives_error(case: Case, error: EngineError) -> None:
    """The same where the process lives on, and either has done its work in spite of it or says what happened."""
    world = world_at(moment(case.start, case.verb))
    stage = StagedStorage(world.storage.restarted(Fault(case.at_write, case.way, error, _TORN_BYTES)))
    _require_survives(world, stage, case)


@cache
def count_looks(start: str, verb: str) -> int:
    """How many reads and listings the verb makes when nothing happens to it."""
    world = world_at(moment(start, verb))
    stage = StagedStorage(world.storage.restarted())
    VERBS[verb].perform(world, world.site("first", stage))
    return sum(operation in _LOOKS for operation, _ in stage.journal)


def require_survives_blindness(start: str, verb: str, at_look: int, error: EngineError) -> None:
    """The same where a read or a listing fails; every second time another engine goes on."""
    case = Case(start, verb, at_look, Way.BEFORE, is_other=bool(at_look % 2), what="read or listing")
    world = world_at(moment(start, verb))
    stage = StagedStorage(world.storage.restarted())
    stage.cues.append(Cue(lambda operation, _: operation in _LOOKS, partial(_fail, error), at_look - 1))
    _require_survives(world, stage, case)
    assert stage.cues[0].is_done, f"{case}: nothing failed"


def _fail(error: EngineError) -> None:
    raise error


def _require_survives(world: World, stage: StagedStorage, case: Case) -> None:
    said: EngineError | None = None
    try:
        VERBS[case.verb].perform(world, world.site("first", stage))
    except EngineError as raised:
        said = raised
    with _told(case, *stage.writes[-1:]):
        assert said is None or str(said), "an error without a word"
        assert not _locked(world), "the lock is still held"
        require_safe(world, _names(case))
        require_valid(world.metadata(), _others_in_use(world, case))
        if said is None:
            _require_done(world, case)
        _recover(world, case)


def _struck(case: Case, signal: BaseException) -> tuple[World, tuple[str, str]]:
    world = world_at(moment(case.start, case.verb))
    stage = StagedStorage(world.storage.restarted(Fault(case.at_write, case.way, signal, _TORN_BYTES)))
    with suppress(Crash):
        VERBS[case.verb].perform(world, world.site("first", stage))
    assert stage.is_dead, f"{case}: nothing died"
    return world, stage.writes[-1]


def _recover(world: World, case: Case) -> None:
    left_out: tuple[str, ...] = ()
    if case.is_other:
        left_out = _others_in_use(world, case)
        _commit(world, "meanwhile")
        require_safe(world, _names(case))
    site = world.site("second" if case.is_other else "first")
    VERBS[case.verb].perform(world, site)
    _require_done(world, case)
    require_valid(world.metadata(), [name for name in _others_in_use(world, case) if name not in left_out])
    _commit(world, "afterwards")
    require_safe(world, _names(case))


def _require_done(world: World, case: Case) -> None:
    verb = VERBS[case.verb]
    is_ready = verb.is_ready_after
    if is_ready is None:
        require_safe(world, _names(case))
        build(world.site("third"), verb.request)
        is_ready = True
    require_tidy(world, _names(case))
    assert [name in world.flags()[0] for name in verb.request.names] == [is_ready] * len(verb.request.names)
    for name, columns in verb.request.columns.items():
        assert not is_ready or set(columns) <= set(world.metadata().definitions[name].source_fields)


def _names(case: Case) -> tuple[str, ...]:
    return (*ROWS, *(name for name in VERBS[case.verb].request.names if name not in ROWS))


def _others_in_use(world: World, case: Case) -> tuple[str, ...]:
    """The indexes of the case that are complete and that the writers of these worlds do not maintain."""
    readable, _ = world.flags()
    return tuple(name for name in VERBS[case.verb].request.names if name in readable and name not in ROWS)


def _commit(world: World, name: str) -> None:
    """A writer that knows what is flagged commits: it must not fail, and the index must stay right."""
    first = partitions_of(world)[0]
    kept, gone, *_ = sorted(world.truth())
    Writer(world).begin().upsert(kept).delete(gone).insert(first, f"{name} 1").complete()


def _locked(world: World) -> bool:
    lock = world.site("asks").lock
    try:
        lock.acquire(0)
    except EngineError:
        return True
    lock.release()
    return False


class _told:  # noqa: N801 reads as a word of the case
    """Whatever fails inside names its case."""

    def __init__(self, case: Case, *writes: tuple[str, str]) -> None:
        self._text = ", ".join([str(case), *(f"a {operation} of {path}" for operation, path in writes)])

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None:
            error.add_note(self._text)


Check = Callable[[Case], None]
