"""One life of a table in which anything may happen at any moment, told by a seed.

While an engine builds, writers begin, commit, die and are rolled back, services run, and engines are killed and
followed by others. What happens is what real writers may do: no two pending commits touch one file group.

The writers of these worlds keep up no index but the record index. So in a life of another kind nothing more happens
once that is complete, until it has been validated and dropped.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import Ready, build
from hudi_engine.action.schedule import Skipped
from hudi_engine.errors import Contradiction, EngineError, LockLost, Superseded, TimedOut
from hudi_engine.storage.memory import Crash
from tests.crash.verbs import VERBS, Verb
from tests.kit.valid import require_valid
from tests.worlds import archiver, services
from tests.worlds.invariants import ROWS, require_safe, require_tidy
from tests.worlds.java_metadata import Location, WriterFailed
from tests.worlds.stage import StagedStorage
from tests.worlds.world import World, world_of
from tests.worlds.writer import Write, Writer, partitions_of

_MOST_ACTS: Final = 10
_PER_OPERATION: Final = 0.02
_DEATHS: Final = 0.003
_ENGINES: Final = 8
BUILDS: Final = tuple(verb for verb in VERBS if verb.startswith("build") and verb != "build a column")
"""What is built in a life: a record index, or indexes of another kind."""
_SAID: Final = (TimedOut, Contradiction, Superseded, LockLost)


@dataclass(slots=True)
class Life:
    """A world, who is at work in it, and what has happened, for the message if it goes wrong. `kind` is of `BUILDS`."""

    seed: int
    kind: str = "build"
    start: str = ""
    told: list[str] = field(default_factory=list)
    pending: list[Write] = field(default_factory=list)
    dead: list[Write] = field(default_factory=list)
    cleaning: str = ""
    compaction: str = ""
    restorable_from: str = ""
    _is_acting: bool = False
    _was_complete: bool = False
    _random: random.Random = field(default_factory=random.Random)
    world: World = field(default_factory=lambda: world_of("v9_mor"))

    def live(self) -> None:
        """From the start to an index that is complete, right and tidy, with a commit after it."""
        self._random = random.Random(self.seed)
        self.start = self._random.choice(sorted(self._verb.starts))
        self.world = world_of(self.start)
        if self._random.random() < 0.5:
            # The archiver goes beyond neither.
            services.delete_savepoints(self.world)
            services.clean_leftovers(self.world)
        if self._verb.stands_on is not None:
            build(self.world.site("before"), self._verb.stands_on)
            self._no_restore_before_now()
        self.world.clock.each_second(self._beat)
        for _ in range(3):
            self._act()
        for number in range(_ENGINES):
            self._engine(number)
            require_safe(self.world, self._names)
            require_valid(self.world.metadata(), self._unkept())
        if self._unkept():
            self._drop()
        self._settle()
        self._finish()

    @property
    def _verb(self) -> Verb:
        return VERBS[self.kind]

    @property
    def _names(self) -> tuple[str, ...]:
        first = () if self._verb.stands_on is None else self._verb.stands_on.names
        return tuple(dict.fromkeys((*ROWS, *first, *self._verb.request.names)))

    def _unkept(self) -> list[str]:
        """What is complete, and wrong from the next commit on."""
        return [name for name in self._verb.request.names if name in self.world.flags()[0] and name not in ROWS]

    def _drop(self) -> None:
        try:
            run_drop(self.world.site("drops"), self._verb.request.names)
        except Contradiction as refused:  # who built it died with nothing left to do but to end the plan
            self.told.append(f"finished: {refused}")
            build(self.world.site("finishes"), self._verb.request)
            run_drop(self.world.site("drops"), self._verb.request.names)
        self.told.append("dropped")

    def _engine(self, number: int) -> None:
        is_built = {*self._verb.request.names} <= {*self.world.flags()[0]}
        if self._unkept() or (is_built and self._random.random() < 0.7):
            self._drop()
        stage = StagedStorage(self.world.storage.restarted(), is_still_meanwhile=True)
        for _ in range(self._random.randrange(_MOST_ACTS)):
            stage.once(self._may(_PER_OPERATION), self._act)
        if self._random.random() < 0.5:
            stage.once(lambda: self._random.random() < _DEATHS, stage.die)
        try:
            outcome = build(self.world.site(f"engine {number}", stage), self._verb.request)
            self.told.append(f"engine {number}: {type(outcome).__name__}")
        except Crash:
            self.told.append(f"engine {number} died")
        except _SAID as error:
            self.told.append(f"engine {number}: {type(error).__name__}: {error}")

    def _may(self, chance: float) -> Callable[[], bool]:
        return lambda: self._random.random() < chance and self._is_lock_free() and not self._unkept()

    def _is_lock_free(self) -> bool:
        lock = self.world.site("asks").lock
        try:
            lock.acquire(0)
        except EngineError:
            return False
        lock.release()
        return True

    def _act(self) -> None:
        """One thing, unless it would happen in the middle of another."""
        if not self._is_acting:
            self._is_acting = True
            self._act_once()
            self._is_acting = False

    def _act_once(self) -> None:
        self._note_completion()
        acts = [self._begin, self._begin, self._complete, self._complete, self._commit, self._kill]
        acts += [self._roll_back, self._clean, self._compact, self._compact_metadata, self._restore, self._replace]
        acts += [self._archive, self._archive_metadata]
        self._random.choice(acts)()

    def _note_completion(self) -> None:
        """A restore to before an index was complete makes it stale, which `index status` says."""
        is_complete = {*self._verb.request.names} <= {*self.world.flags()[0]}
        if is_complete and not self._was_complete:
            self._no_restore_before_now()
        self._was_complete = is_complete

    def _begin(self) -> None:
        writer = Writer(self.world)
        write = writer.begin()
        taken = {place for each in self.pending + self.dead for place in each.changes}
        free = [place for place in sorted(write.rows) if place not in taken and write.rows[place]]
        self._random.shuffle(free)
        self._change(write, free[:2])
        write.write_files()
        self.pending.append(write)
        self._tell(f"begin {write.instant} knowing {sorted(write.knows)}: {sorted(write.locations.items())}")

    def _change(self, write: Write, free: list[Location]) -> None:
        partitions = partitions_of(self.world)
        for place in free:
            keys = sorted(write.rows[place])
            self._random.shuffle(keys)
            write.upsert(*keys[:1])
            if len(self.world.truth()) > 6:
                write.delete(*keys[1:2])
                write.move(self._random.choice([p for p in partitions if p != place[0]] or partitions), *keys[2:3])
        name = f"new {next(self.world.numbers)}"
        write.insert(self._random.choice([*partitions, partitions[0]]), name)

    def _complete(self) -> None:
        if not self.pending:
            return
        write = self.pending.pop(self._random.randrange(len(self.pending)))
        try:
            write.complete()
            self._tell(f"complete {write.instant}")
        except WriterFailed:
            # It knew of an index that was taken back since; Java's streaming writers fail then.
            services.roll_back(self.world, write.instant)
            self._tell(f"fail {write.instant}")

    def _commit(self) -> None:
        self._begin()
        write = self.pending.pop()
        write.complete()
        self._tell(f"commit {write.instant}")

    def _kill(self) -> None:
        if self.pending:
            write = self.pending.pop()
            if self._random.random() < 0.5:
                try:
                    write.write_metadata()
                except WriterFailed:
                    self._tell("could not log")
            self.dead.append(write)
            self._tell(f"kill {write.instant}")

    def _roll_back(self) -> None:
        if self.dead:
            write = self.dead.pop()
            services.roll_back(self.world, write.instant)
            self._tell(f"roll back {write.instant}")

    def _clean(self) -> None:
        if self.cleaning:
            services.complete_clean(self.world, self.cleaning)
            self._tell(f"complete clean {self.cleaning}")
            self.cleaning = ""
            self._no_restore_before_now()
        else:
            self.cleaning = services.begin_clean(self.world)
            self._tell(f"begin clean {self.cleaning}")

    def _compact(self) -> None:
        if not self.world.table().config.is_merge_on_read:
            return
        if self.compaction:
            services.complete_compaction(self.world, self.compaction)
            self._tell(f"complete compaction {self.compaction}")
            self.compaction = ""
            self._no_restore_before_now()
        elif not self.pending and not self.dead:
            self.compaction = services.begin_compaction(self.world)
            self._tell(f"request compaction {self.compaction}")
            self._no_restore_before_now()

    def _compact_metadata(self) -> None:
        instant = services.compact_metadata(self.world)
        self._tell(f"compact metadata {instant}")
        if instant:
            self._no_restore_before_now()

    def _archive(self) -> None:
        """The last commits stay, at least two: fewer would be as few as cleans keep, which Java refuses."""
        gone = archiver.archive_data(self.world, self._random.randint(2, 4))
        self._tell(f"archive {gone}")

    def _archive_metadata(self) -> None:
        gone = archiver.archive_metadata(self.world, self._random.randint(2, 4))
        self._tell(f"archive of the metadata table {gone}")

    def _restore(self) -> None:
        writes = [i for i in self.world.table().timeline().writes() if i.is_completed]
        later = [i.requested_at for i in writes if i.requested_at >= self.restorable_from]
        is_free = not self.compaction and not self.cleaning  # which would delete what the restore brings back
        if len(later) > 2 and self.restorable_from and is_free and self._random.random() < 0.3:
            self.pending.clear()  # before: their hearts would go on beating
            self.dead.clear()
            services.restore(self.world, later[-2])
            self._tell(f"restore to {later[-2]}")

    def _replace(self) -> None:
        taken = {place[0] for each in self.pending + self.dead for place in each.changes}
        free = [partition for partition in partitions_of(self.world) if partition not in taken]
        if free and not self.compaction and not self.pending and not self.dead:
            write = Writer(self.world).begin("replacecommit")
            is_overwrite = self._random.random() < 0.3
            write.replace(free[0], f"new {next(self.world.numbers)}", is_overwrite=is_overwrite)
            write.complete()
            self._tell(f"replace {free[0]} in {write.instant}")

    def _no_restore_before_now(self) -> None:
        self.restorable_from = max(i.requested_at for i in self.world.table().timeline().writes())

    def _settle(self) -> None:
        """Whoever is pending ends, one way or the other."""
        while self.pending:
            self._complete()
        while self.dead:
            self._roll_back()
        if self.compaction:
            self._compact()
        if self.cleaning:
            self._clean()

    def _finish(self) -> None:
        outcome = build(self.world.site("last"), self._verb.request)
        assert isinstance(outcome, Ready | Skipped)
        require_tidy(self.world, self._names)
        assert {*self._verb.request.names} <= {*self.world.flags()[0]}
        require_valid(self.world.metadata(), self._unkept())
        for _ in range(3):
            self._commit()
            self._compact_metadata()
        require_tidy(self.world, self._names)

    def _beat(self) -> None:
        for write in self.pending:
            write.beat()

    def _tell(self, what: str) -> None:
        self.told.append(f"  {what}")
