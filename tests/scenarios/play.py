"""The commands of scenarios. Each is a method; what it prints is what a person would ask about first.

Under `X build` and its like, further lines say what others do meanwhile: `when published: complete C5` lets it happen
as soon as that is so and the lock is free; `after 10 seconds: …` while X waits; `asleep when …: …` is like `when`, but
X's heart stands still meanwhile; `dies when published` ends X there. `sleeps when …` lets what comes after the build
happen, also within others' builds, until `X wakes`. `sleeps before it locks when …` and `dies before it locks when …`
are for what happens just before X takes the lock once more.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from hudi_engine.action.drop import Dropped, run_drop
from hudi_engine.action.dropped import completed_plans
from hudi_engine.action.index import Ready, Redo, build, run
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.schedule import IndexRequest, Skipped, schedule
from hudi_engine.action.site import Site
from hudi_engine.action.undo import Undone, run_abort
from hudi_engine.errors import EngineError, LockUnavailable
from hudi_engine.format.instant_names import Action
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import Crash
from hudi_engine.validate.run import plan_checks, run_check
from hudi_engine.validate.subject import subject_of
from tests.kit.subjects import Count
from tests.scenarios.names import Names
from tests.worlds import services
from tests.worlds.invariants import answers, as_if_complete, entries, require_safe
from tests.worlds.java_metadata import RECORD_INDEX
from tests.worlds.stage import Cue, Sleeper, StagedLock, StagedStorage
from tests.worlds.world import World, world_of
from tests.worlds.writer import Write, Writer, partitions_of

REQUEST = IndexRequest((IndexKind.RECORD_INDEX,))
_BY = "secondary_index_by_"
_WHEN = re.compile(r"when ([a-z ]+): (.+)")
_AFTER = re.compile(r"after ([0-9]+) seconds: (.+)")
_SLEEPS = re.compile(r"asleep when ([a-z ]+): (.+)")
_REMAINS_ASLEEP = re.compile(r"sleeps (before it locks )?when ([a-z ]+)")
_DERIVING = re.compile(r"when deriving: (.+)")
_DIES = re.compile(r"dies (before it locks )?when ([a-z ]+)")


@dataclass(slots=True)
class Telling:
    """A watch that writes down what an engine says."""

    say_line: Callable[[str], None]

    def begin(self, phase: str, total: int | None = None) -> None: ...
    def advance(self, steps: int, rows: int = 0) -> None: ...
    def say(self, what: str) -> None:
        self.say_line(what)


@dataclass(slots=True)
class Player:
    """One scenario under way."""

    world: World = field(default_factory=lambda: world_of("v9_mor"))
    names: Names = field(default_factory=Names)
    writes: dict[str, Write] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    old: dict[str, str] = field(default_factory=dict)
    start: str = ""
    sleepers: dict[str, Sleeper] = field(default_factory=dict)
    request: IndexRequest = REQUEST
    asked: set[str] = field(default_factory=set)

    @property
    def built(self) -> tuple[str, ...]:
        """The indexes whose builds are looked after, the record index first."""
        return (*REQUEST.names, *sorted(self.asked.difference(REQUEST.names)))

    def play(self, command: tuple[str, ...]) -> list[str]:
        """What the command prints. After each the table is safe, whatever it did."""
        self.lines = []
        self._do(command[0], command[1:])
        require_safe(self.world, self.built)
        return self.lines

    def _do(self, line: str, further: tuple[str, ...] = ()) -> None:
        for part in line.split("; "):
            self._one(part.split(), further)

    def _one(self, words: list[str], further: tuple[str, ...]) -> None:
        match words:
            case [who, ("schedule" | "build" | "run" | "drop" | "abort") as verb, *names]:
                self.request = request_for(names) if names else REQUEST
                self.asked.update(self.request.names)
                self._engine(who, verb, further)
            case ["index", name]:
                self._index_of(name)
            case [who, "wakes"]:
                self._wake(who)
            case ["table" | "begin" | "change" | "complete" | "commit" | "kill" as verb, name, *what]:
                getattr(self, f"_{verb}")(name, *what)
            case [("timeline" | "index" | "leftovers") as verb]:
                getattr(self, f"_{verb}")()
            case ["look", "up", *keys]:
                self._look_up(keys)
            case ["pass", seconds, "seconds"]:
                self.world.clock.sleep(int(seconds))
            case _:
                self._service(words)

    def _service(self, words: list[str]) -> None:
        match words:
            case ["roll", "back", name]:
                services.roll_back(self.world, self.names.instant(name))
                self._print(f"{name} is rolled back")
            case ["restore", "to", name]:
                self._restore(name)
            case ["clean", "begin", name]:
                self._named(name, services.begin_clean(self.world), "in flight")
            case ["clean", "complete", name]:
                services.complete_clean(self.world, self.names.instant(name))
                self._print(f"{name} is completed")
            case ["compaction", "begin", name]:
                self._named(name, services.begin_compaction(self.world, is_inflight=True), "in flight")
            case ["compaction", "request", name]:
                self._named(name, services.begin_compaction(self.world), "requested")
            case ["compaction", "complete", name]:
                services.complete_compaction(self.world, self.names.instant(name))
                self._print(f"{name} is completed")
            case ["compact", "metadata"]:
                self._compact_metadata()
            case _:
                raise AssertionError(f"no such command: {' '.join(words)}")

    def _kill(self, name: str) -> None:
        self.dead.add(name)
        self._print(f"{name} is dead")

    def _table(self, start: str) -> None:
        """`old1`, `old2` and so on are the keys that the table has; a player of another table has its own."""
        self.world, self.names, self.writes = world_of(self.start or start), Names(), {}
        self.old = {f"old{number}": key for number, key in enumerate(sorted(self.world.truth()), 1)}
        self.world.clock.each_second(self._beat)
        writes = [i for i in self.world.table().timeline().writes() if i.is_completed]
        self.names.give("C0", writes[-1].requested_at)
        readable, _ = self.world.flags()
        self._print(f"{len(self.world.truth())} keys, the last commit is C0, complete: {', '.join(readable)}")

    def _beat(self) -> None:
        pending = {i.requested_at for i in self.world.table().timeline().pending()}
        for name, write in self.writes.items():
            if name not in self.dead and write.instant in pending:
                write.beat()

    def _begin(self, name: str) -> None:
        write = Writer(self.world).begin()
        self.writes[name] = write
        self._named(name, write.instant, f"in flight, its writer knows of {', '.join(sorted(write.knows))}")

    def _change(self, name: str, *what: str) -> None:
        """Words are verbs and keys: `upsert v1 v2 delete v3 insert k1 move v4`."""
        write, verb = self.writes[name], ""
        first, second, *_ = partitions_of(self.world)
        for word in what:
            if word in {"upsert", "delete", "insert", "move"}:
                verb = word
                continue
            key = self.old.get(word, word)
            match verb:
                case "upsert":
                    write.upsert(key)
                case "delete":
                    write.delete(key)
                case "insert":
                    write.insert(first, key)
                case _:
                    write.move(second if self.world.truth()[key][0] == first else first, key)
        write.write_files()

    def _complete(self, name: str) -> None:
        write = self.writes[name]
        write.complete()
        index = "the index" if self.request is REQUEST else "the record index"
        logged = f"logged to {index}" if write.is_aware else f"did not log to {index}"
        self._print(f"{name} is completed, and {logged}")

    def _commit(self, name: str, *what: str) -> None:
        write = Writer(self.world).begin()
        self.writes[name] = write
        self.names.give(name, write.instant)
        self._change(name, *what)
        self._complete(name)

    def _restore(self, name: str) -> None:
        self.names.give(f"RESTORE-{name}", services.restore(self.world, self.names.instant(name)))
        self._print(f"all after {name} is gone")

    def _compact_metadata(self) -> None:
        instant = services.compact_metadata(self.world)
        shards = [
            file.name for file in self.world.storage.list(f"{FOLDER}/{RECORD_INDEX}") if f"_{instant}." in file.name
        ]
        self._print(
            f"new base files of {len(shards)} shards of the record index" if instant else "Java does not compact now"
        )

    def _timeline(self) -> None:
        for instant in self.world.table().timeline().instants:
            if instant.requested_at >= min(self.names.given, default=""):
                self._print(f"{self.names.told(instant.requested_at, self.world)} {instant.action} {instant.state}")

    def _index(self) -> None:
        readable, in_flight = self.world.flags()
        if RECORD_INDEX not in (*readable, *in_flight):
            self._print("nobody's: neither complete nor in flight")
            return
        metadata = as_if_complete(self.world.metadata(), RECORD_INDEX)
        found, truth = entries(metadata.index(RECORD_INDEX)), self.world.truth()
        state = "complete" if RECORD_INDEX in readable else "in flight"
        wrong = sorted(key for key in truth.keys() | found.keys() if truth.get(key) != found.get(key))
        told = (
            f"right about all {len(truth)} keys" if not wrong else f"wrong about {', '.join(map(self._called, wrong))}"
        )
        self._print(f"{state}, {told}")

    def _index_of(self, name: str) -> None:
        """Of an index that these writers do not maintain, what a validation finds."""
        readable, in_flight = self.world.flags()
        if name not in readable:
            self._print("in flight" if name in in_flight else "nobody's: neither complete nor in flight")
            return
        metadata = self.world.metadata()
        subject = subject_of(metadata.data, metadata, None, Count())
        (outcome,) = [run_check(subject, planned, lambda _: None) for planned in plan_checks(metadata, [name])]
        self._print(f"complete, {outcome.discrepancies or 'nothing'} wrong: {outcome.status}")

    def _look_up(self, keys: list[str]) -> None:
        sought = [self.old.get(key, key) for key in keys]
        found, truth = answers(self.world.metadata().index(RECORD_INDEX), sought), self.world.truth()
        for key in sought:
            where = f"in {found[key][0]}" if key in found else "not there"
            self._print(f"{self._called(key)}: {where}{'' if truth.get(key) == found.get(key) else ', which is wrong'}")

    def _called(self, key: str) -> str:
        return next((name for name, old in self.old.items() if old == key), key)

    def _leftovers(self) -> None:
        paths = self.world.paths()
        pending = self.world.table().timeline().pending()
        indexing = [i for i in pending if i.action is Action.INDEXING]
        live = {i.requested_at for i in pending if i.action is not Action.INDEXING}
        for what, count in {
            "pending plans": len(indexing),
            "files of the record index": sum(path.startswith(f"{FOLDER}/{RECORD_INDEX}/") for path in paths),
            **{
                f"files of {name}": sum(path.startswith(f"{FOLDER}/{name}/") for path in paths)
                for name in self.built[1:]
            },
            "records of attempts": sum(path.startswith(".hoodie/.index_attempts/2") for path in paths),
            "heartbeats": sum(path.startswith(".hoodie/.heartbeat/") and path[-17:] not in live for path in paths),
            "backups of properties": sum(path.endswith(".backup") for path in paths),
            "pending commits of the metadata table": len(self.world.metadata().timeline.pending()),
        }.items():
            if count:
                self._print(f"{count} {what}")
        if not self.lines:
            self._print("nothing")

    def _engine(self, who: str, verb: str, further: tuple[str, ...]) -> None:
        stage = StagedStorage(self.world.storage.restarted())
        site = self.world.site(who, stage, Telling(lambda text: self._print(f"{who}: {text}")))
        lock = StagedLock(site.lock, [])
        site = replace(site, lock=lock)
        for line in further:
            self._cue(who, stage, lock, line.strip())
        self.sleepers[who] = Sleeper(partial(self._act, who, verb, site))
        self._wake(who)

    def _wake(self, who: str) -> None:
        if self.sleepers[who].wake():
            self._print(f"{who} sleeps")

    def _act(self, who: str, verb: str, site: Site) -> None:
        try:
            outcome = self._verb(site, verb)
        except Crash:
            outcome = "dies"
        except EngineError as error:
            outcome = f"{type(error).__name__}: {error}"
        self._print(f"{who} {verb}: {outcome}")

    def _verb(self, site: Site, verb: str) -> str:
        match verb:
            case "schedule":
                return _words(schedule(site, self.request))
            case "build":
                return _words(build(site, self.request))
            case "run":
                return _words(run(site, self._plan()))
            case "drop":
                return _words(run_drop(site, self.request.names))
            case _:
                return _words(run_abort(site, self._plan()))

    def _plan(self) -> str:
        table = self.world.table()
        pending = [i for i in table.timeline().of(Action.INDEXING) if not i.is_completed]
        return (pending or list(completed_plans(table, table.timeline()).built))[-1].requested_at

    def _cue(self, who: str, stage: StagedStorage, lock: StagedLock, line: str) -> None:
        """`when deriving` is when X reads the data once more, to find what the index lacks."""
        if found := _DIES.fullmatch(line):
            (lock.cues if found[1] else stage.cues).append(Cue(self._fits(found[2]), stage.die))
        elif found := _AFTER.fullmatch(line):
            self.world.clock.later(int(found[1]), partial(self._once_free, found[2]))
        elif found := _DERIVING.fullmatch(line):
            is_so = self._free("published")
            act = partial(self._nested, found[1])
            stage.cues.append(
                Cue(lambda name, path: name == "read" and not path.startswith(".hoodie/") and is_so(), act)
            )
        elif found := _WHEN.fullmatch(line):
            stage.once(self._free(found[1]), partial(self._nested, found[2]))
        elif found := _REMAINS_ASLEEP.fullmatch(line):
            cue = Cue(self._fits(found[2]), partial(self._sleep, who, stage))
            (lock.cues if found[1] else stage.cues).append(cue)
        elif found := _SLEEPS.fullmatch(line):
            stage.once(self._free(found[1]), partial(self._while_asleep, stage, found[2]))
        else:
            raise AssertionError(f"no such cue: {line}")

    def _free(self, condition: str) -> Callable[[], bool]:
        is_so = self._condition(condition)
        return lambda: is_so() and self._is_lock_free()

    def _fits(self, condition: str) -> Callable[[str, str], bool]:
        """Which operation comes next if this is so and the lock is free."""
        if condition == "deleting":
            folder = f"{FOLDER}/{RECORD_INDEX}/"
            return lambda name, path: name == "delete" and path.startswith(folder) and self._is_lock_free()
        is_so = self._free(condition)
        return lambda *_: is_so()

    def _sleep(self, who: str, stage: StagedStorage) -> None:
        with stage.asleep():
            self.sleepers[who].sleep()

    def _once_free(self, line: str) -> None:
        if self._is_lock_free():
            self._nested(line)
        else:
            self.world.clock.later(0.1, partial(self._once_free, line))

    def _while_asleep(self, stage: StagedStorage, line: str) -> None:
        with stage.asleep():
            self._nested(line)

    def _condition(self, name: str) -> Callable[[], bool]:
        folder = f"{FOLDER}/{RECORD_INDEX}"
        conditions: dict[str, Callable[[], bool]] = {
            "running": lambda: any(p.startswith(".hoodie/.index_attempts/2") for p in self.world.paths()),
            "base written": lambda: any(f.name.endswith("0-0-0") for f in self.world.storage.list(folder)),
            "published": lambda: set(self.request.names) <= set(self.world.flags()[1]),
            "logged": lambda: any(
                f.name.startswith(".") and "0-0-0" not in f.name for f in self.world.storage.list(folder)
            ),
            "planned": lambda: any(i for i in self.world.table().timeline().of(Action.INDEXING) if not i.is_completed),
            "nobodys": lambda: not any(RECORD_INDEX in names for names in self.world.flags()),
            "caught up": lambda: bool(self._own_commits()),
            "ready": lambda: set(self.request.names) <= set(self.world.flags()[0]),
            "undone": lambda: (
                not any(i for i in self.world.table().timeline().of(Action.INDEXING) if not i.is_completed)
            ),
        }
        return conditions[name]

    def _own_commits(self) -> list[str]:
        """Commits of the metadata table that are of no instant of the data and no base."""
        metadata = self.world.metadata()
        known = {i.requested_at for i in metadata.data_timeline.instants}
        done = [i.requested_at for i in metadata.timeline.completed() if i.action is Action.DELTA_COMMIT]
        return [time for time in done if time not in known and not time.startswith("0" * 14)]

    def _is_lock_free(self) -> bool:
        lock = self.world.site("asks").lock
        try:
            lock.acquire(0)
        except LockUnavailable:
            return False
        lock.release()
        return True

    def _nested(self, line: str) -> None:
        with self._deeper():
            self._do(line)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def _named(self, name: str, instant: str, state: str) -> None:
        self.names.give(name, instant)
        self._print(f"{name} is {state}")

    def _print(self, text: str) -> None:
        self.lines.append("  " * self.depth + self.names.told(text, self.world))


def request_for(names: Sequence[str]) -> IndexRequest:
    """These indexes; a secondary one is of the column in its name."""
    columns = {name: (name.removeprefix(_BY),) for name in names if name.startswith(_BY)}
    return IndexRequest(tuple(names), columns=columns)


def _words(outcome: object) -> str:
    """An outcome as a person would be told of it."""
    match outcome:
        case IndexPlan(requested_at, indexes):
            return f"{requested_at}, of all commits up to {indexes[0].upto}"
        case Skipped(reasons):
            return "skipped, " + ", ".join(f"{name} is {why}" for name, why in reasons.items())
        case Ready(_, ends):
            return "ready, caught up to " + ", ".join(sorted({end.caught_up_to for end in ends}))
        case Redo(why):
            return f"undone, {why}"
        case Dropped(indexes):
            return f"dropped {', '.join(indexes) or 'nothing'}"
        case Undone(plan, indexes):
            return f"{plan} is undone, with {', '.join(indexes)}"
        case _:
            raise AssertionError(f"an outcome without words: {outcome!r}")
