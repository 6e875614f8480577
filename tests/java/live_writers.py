"""Two real Java writers that never pause, and the book of which keys must be in their table."""

import operator
import random
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.java.holds import HELD_ZOOKEEPER_LOCK
from tests.java.jvm import JavaError, Jvm
from tests.kit.soak import seed
from tests.kit.wait import wait_until

Row = dict[str, Any]
Options = Mapping[str, str]

PARTITIONS = ("north", "south")
_KEYS_AT_FIRST, _SHARED_AT_FIRST = 30, 6
# What Java throws at the second of two writers that changed the same file group: OCC's doing and nobody's fault.
_CONFLICT = "HoodieWriteConflictException"
# Java makes a plan's file and then fills it: on a local disk its other writer may read half of one as it writes rows.
_HALF_A_PLAN = (
    "Error upserting bucketType",
    "unable to read commit metadata for instant [==>",
    "Not an Avro data file",
)
_ATTEMPTS = 20
_NOTHING: Options = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table that several may write to, as each commit of each writer names it.

    One that is not on this disk has a `url`, and what reaches the store of that; `folder` names nothing then, and what
    is written for or of the table lies beside it. `stored` is where the store's server keeps its files.
    """

    folder: Path
    table_version: int
    table_type: str
    options: Options
    url: str = ""
    store: Options = field(default_factory=dict)
    stored: Path | None = None

    @property
    def heartbeats(self) -> Path:
        return (self.stored or self.folder) / ".hoodie/.heartbeat"

    @property
    def place(self) -> str:
        return self.url or str(self.folder)

    def described(self, options: Options) -> dict[str, Any]:
        return {
            "folder": self.place,
            "table_version": self.table_version,
            "table_type": self.table_type,
            "options": {**SEVERAL_WRITERS, **self.options, **options},
        }


@dataclass(frozen=True, slots=True)
class Step:
    """One commit, and which keys are where, or nowhere, once it is complete."""

    how: str
    rows: list[Row]
    then: dict[str, str | None]


class Author:
    """Thinks up the commits of one writer, who alone may touch the keys that begin with its name; keeps its book.

    With `leaves_moved_alone` a key that has moved is not written again until `free`: where there are logs, the simple
    index finds it in the old base file, too, and Hudi 0.15.0 then writes a second row.
    """

    def __init__(self, name: str, seed: int, *, leaves_moved_alone: bool = False) -> None:
        self._name = name
        self._leaves_moved_alone = leaves_moved_alone
        self._moved: set[str] = set()
        self._chance = random.Random(f"{name} {seed}")
        self._numbers = count()
        self._seen = count(1)
        self._gone: list[str] = []
        self._shared: frozenset[str] = frozenset()
        self.book: dict[str, str] = {}

    def first_step(self, keys: int) -> Step:
        return self._step("insert", dict.fromkeys(self._new_keys(keys)))

    def next_step(self) -> Step:
        """Mostly an upsert that updates, moves, adds and brings back; sometimes an insert or a delete."""
        drawn = self._chance.random()
        if drawn < 0.2 and len(self.book) > _KEYS_AT_FIRST // 2:
            return self._delete()
        if drawn < 0.35:
            return self.first_step(4)
        at = dict.fromkeys([*self._some(6), *self._new_keys(3), *self._returning(2)])
        moved = {key: self._elsewhere(key) for key in self._some(2)}
        return self._step("upsert", {**at, **moved})

    def shared_step(self) -> Step:
        """An upsert of keys in file groups that both writers have keys in: a conflict for who commits it second."""
        return self._step("upsert", dict.fromkeys(sorted(self._shared)))

    def keep_for_shared_steps(self, keys: Collection[str]) -> None:
        self._shared = frozenset(keys)

    def note(self, done: Step) -> None:
        for key, partition in done.then.items():
            if partition is None:
                del self.book[key]
                self._gone.append(key)
                continue
            if self.book.get(key, partition) != partition:
                self._moved.add(key)
            self.book[key] = partition

    def free(self) -> None:
        """Keys that have moved, and those that are gone, may be written again."""
        self._leaves_moved_alone = False

    def _delete(self) -> Step:
        keys = self._some(4)
        return Step("delete", [self._row(key, self.book[key]) for key in keys], dict.fromkeys(keys))

    def _step(self, how: str, at: Mapping[str, str | None]) -> Step:
        places = {key: place or self.book.get(key) or self._chance.choice(PARTITIONS) for key, place in at.items()}
        return Step(how, [self._row(key, place) for key, place in places.items()], dict(places))

    def _row(self, key: str, partition: str) -> Row:
        return {"id": key, "part": partition, "seen": next(self._seen)}

    def _some(self, wanted: int) -> list[str]:
        touched = self._moved if self._leaves_moved_alone else set()
        return self._chance.sample(sorted(self.book.keys() - touched - self._shared), wanted)

    def _new_keys(self, wanted: int) -> list[str]:
        return [f"{self._name}-{next(self._numbers):05}" for _ in range(wanted)]

    def _returning(self, wanted: int) -> list[str]:
        if self._leaves_moved_alone:
            return []
        back, self._gone = self._gone[:wanted], self._gone[wanted:]
        return back

    def _elsewhere(self, key: str) -> str:
        return PARTITIONS[1 - PARTITIONS.index(self.book[key])]


@dataclass(slots=True)
class Writer:
    """One Java process and what it is to write."""

    jvm: Jvm
    table: LiveTable
    author: Author
    options: Options
    commits: int = 0
    conflicts: int = 0

    def commit(self, step: Step | None = None, options: Options = _NOTHING) -> None:
        """Commits the step, or the author's next, as often as it takes; JavaError if it fails for another reason."""
        step = step or self.author.next_step()
        for _ in range(_ATTEMPTS):
            if self.attempt(step, options):
                return
        raise AssertionError(f"{_ATTEMPTS} conflicts in a row: {step}")

    def attempt(self, step: Step, options: Options = _NOTHING) -> bool:
        """Whether it was committed: False if another writer was first."""
        described = self.table.described({**self.options, **options})
        try:
            self.jvm.commit(table=described, rows=step.rows, how=step.how)
        except JavaError as failed:
            if _CONFLICT not in str(failed) and not all(words in str(failed) for words in _HALF_A_PLAN):
                raise
            self.conflicts += 1
            return False
        self.author.note(step)
        self.commits += 1
        return True


@dataclass(slots=True)
class LiveWriters:
    """The two of them, each in a thread of its own while they run.

    With options in `alone` the first writes with these at every fourth commit, and the other one waits meanwhile.
    """

    writers: tuple[Writer, Writer]
    alone: Options = field(default_factory=dict)
    _shared: dict[Author, Collection[str]] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _halt: threading.Event = field(default_factory=threading.Event)
    _failures: list[BaseException] = field(default_factory=list)

    def lay_table(self) -> None:
        """Keys of each writer in file groups of its own, and some of both in the same."""
        one, other = self.writers
        for writer in self.writers:
            writer.commit(writer.author.first_step(_KEYS_AT_FIRST))
        shared = mine, others = [writer.author.first_step(_SHARED_AT_FIRST) for writer in self.writers]
        one.commit(Step("insert", mine.rows + others.rows, mine.then))
        other.author.note(others)
        self._shared = {writer.author: step.then.keys() for writer, step in zip(self.writers, shared, strict=True)}

    def keep_apart(self) -> None:
        """From now on they meet in no file group but by their shared steps."""
        for author, keys in self._shared.items():
            author.keep_for_shared_steps(keys)

    @contextmanager
    def running(self) -> Iterator[None]:
        """They write until the end of the block; a failure that is no conflict is raised there, in Java's words."""
        threads = [threading.Thread(target=self._run, args=(writer,)) for writer in self.writers]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._halt.set()
            for thread in threads:
                thread.join()
        for failure in self._failures:
            raise failure

    def wait_for_commits(self, more: int) -> None:
        """Until each has committed so many times more, or one has failed."""
        goals = [writer.commits + more for writer in self.writers]
        wait_until(
            lambda: bool(self._failures) or all(map(operator.ge, self._commits(), goals)),
            what=f"the writers: {goals} commits",
            found=lambda: f"they are at {self._commits()}; conflicts: {[writer.conflicts for writer in self.writers]}",
        )

    def _commits(self) -> list[int]:
        return [writer.commits for writer in self.writers]

    def truth(self) -> dict[str, str]:
        """The partition of each key that must be in the table."""
        one, other = self.writers
        return one.author.book | other.author.book

    def look_up_by(self, options: Options) -> None:
        """From now on they write by turns, with these options, which find a key where it is and nowhere else."""
        for writer in self.writers:
            writer.options = {**writer.options, **options}
            writer.author.free()
        self.writers[0].options = {**self.writers[0].options, **self.alone}

    def _run(self, writer: Writer) -> None:
        try:
            for number in count(1):
                if self._halt.is_set() or self._failures:
                    return
                options = self.alone if writer is self.writers[0] and number % 4 == 0 else _NOTHING
                with self._turn if options or writer is self.writers[1] else nullcontext():
                    writer.commit(options=options)
                time.sleep(0.01)  # else who lets go of the turn has it again before the other one wakes
        except BaseException as failed:  # noqa: BLE001  the border of the thread: raised again where it ends
            self._failures.append(failed)


def live_writers(jvms: tuple[Jvm, Jvm], table: LiveTable, options: Options) -> LiveWriters:
    """Both with these options; the first also cleans, archives and compacts, the metadata table at every turn."""
    has_logs = table.table_type == "MERGE_ON_READ"
    # Release 0.15.0 loses what a writer logs that begins just as a compaction is planned.
    alone = COMPACTION if has_logs and table.table_version == 6 else {}
    services = SERVICES | (COMPACTION if has_logs and not alone else {})
    held = {"hoodie.write.lock.provider": HELD_ZOOKEEPER_LOCK, **options}
    of_each = ({**held, **services}, held)
    authors = (Author(name, seed(), leaves_moved_alone=has_logs) for name in "ab")
    one, other = (Writer(jvm, table, author, some) for jvm, author, some in zip(jvms, authors, of_each, strict=True))
    return LiveWriters((one, other), alone)


def zookeeper_lock(address: str, name: str) -> dict[str, str]:
    """The lock that the writers share."""
    return {
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
        "hoodie.write.lock.zookeeper.url": address,
        "hoodie.write.lock.zookeeper.port": address.rpartition(":")[2],
        "hoodie.write.lock.zookeeper.base_path": "/hudi",
        "hoodie.write.lock.zookeeper.lock_key": name,
    }


# A key is found wherever it is, and written where it is wanted.
SEVERAL_WRITERS = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.client.heartbeat.interval_in_ms": "3000",
    "hoodie.client.heartbeat.tolerable.misses": "4",
    "hoodie.write.lock.wait_time_ms_between_retry": "100",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
    "hoodie.index.type": "GLOBAL_SIMPLE",
    "hoodie.simple.index.update.partition.path": "true",
    "hoodie.parquet.small.file.limit": "0",
}
# Hudi's default: longer than anything takes here.
USUAL_LEASE = {
    "hoodie.client.heartbeat.interval_in_ms": "60000",
    "hoodie.client.heartbeat.tolerable.misses": "2",
}
SERVICES = {
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "4",
    "hoodie.clean.commits.retained": "4",
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "6",
    "hoodie.keep.max.commits": "8",
    "hoodie.metadata.compact.max.delta.commits": "1",
}
COMPACTION = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "4"}
# What docs/writers.md recommends to 1.2.0 for indexes of files and of values. Without a timeline server the tasks of a
# writer find no metadata table to update a secondary index by.
KEEPS_OTHER_KINDS = {
    "hoodie.metadata.auto.delete.partitions": "false",
    "hoodie.metadata.streaming.write.enabled": "false",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.embed.timeline.server": "true",
}
# Looked up by the index that was built.
BY_RECORD_INDEX = {
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.record.index.update.partition.path": "true",
    "hoodie.metadata.record.index.enable": "true",
}
