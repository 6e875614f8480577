"""What breaks the record index that Hudi's own indexer makes leaves ours whole, or is told as what it is.

Numbers in names are those of the failures of Hudi 1.2.0 that this project was begun for.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from hudi_engine.format import properties
from tests.interop.engine_of_one_clock import ONE_CLOCK
from tests.interop.readable import TABLE_VERSIONS
from tests.interop.writer_subjects import IN_FLIGHT as HELD_IN_FLIGHT
from tests.java.jvm import JavaError, Jvm
from tests.java.live_checks import (
    base_files,
    require_found_by_java,
    require_not_rebuilt,
    require_pairs,
    require_rows,
    require_valid,
    run_engine,
)
from tests.java.live_commits import IN_FLIGHT
from tests.java.live_writers import LiveTable
from tests.kit.engine import RECORD_INDEX, Engine
from tests.kit.heartbeats import back_date_heartbeats
from tests.kit.soak import and_in_soak
from tests.kit.wait import wait_until

_LOCK: Final = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}
# Nobody writes while the engine builds in these.
_ALONE: Final = {"hudi.engine.single.writer": "true"}
_FILE_LOCK: Final = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
}
# A commit that is waited for ends when the test says so, however busy the machine is.
_PATIENT: Final = {"hoodie.metadata.index.check.timeout.seconds": "240"}
_STREAMS: Final = {
    "hoodie.metadata.streaming.write.enabled": "true",
    "hoodie.metadata.auto.delete.partitions": "false",
}
_NOTHING: Final[Mapping[str, str]] = {}
_ON: Final = {"hoodie.metadata.record.index.enable": "true"}
_STATISTICS: Final = {"hoodie.metadata.index.column.stats.enable": "true", **_ON}
_ARCHIVING: Final = {
    "hoodie.archive.automatic": "true",
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "2",
    "hoodie.keep.min.commits": "3",
    "hoodie.keep.max.commits": "4",
    "hoodie.metadata.compact.max.delta.commits": "2",
}
_BY_RECORD_INDEX: Final = {"hoodie.index.type": "RECORD_INDEX", **_ON}
_IN_PARTITION: Final = {"hoodie.index.type": "SIMPLE"}
_BY_PARTITION: Final = {
    "hoodie.index.type": "RECORD_LEVEL_INDEX",
    "hoodie.metadata.record.level.index.enable": "true",
}
_COMMITS: Final = 10
_LONGER_THAN_A_LEASE_SECONDS: Final = 300
# Where its writing is a sign of its life.
_OF_JAVAS_INDEXER: Final = (
    "timeline/*.indexing.*",
    "metadata/record_index/*",
    "metadata/.hoodie/timeline/*.*commit.*",
    "metadata/.hoodie/.heartbeat/*",
)

Book = dict[str, str]


class Scene:
    """A table of forty rows that a release wrote, and the book of its keys."""

    def __init__(self, jvm: Jvm, folder: Path) -> None:
        self.jvm = jvm
        self.table = LiveTable(folder, TABLE_VERSIONS[jvm.version][-1], "COPY_ON_WRITE", _LOCK)
        self.book: Book = {}
        self.write(range(40))

    def write(self, numbers: range, options: Mapping[str, str] = _NOTHING) -> None:
        self.jvm.commit(table=self.described(options), rows=self.noted(numbers), how="upsert")

    def noted(self, numbers: range) -> list[dict[str, Any]]:
        """Rows that are in the book from now on."""
        book = {f"k{n}": f"p{n % 2}" for n in numbers}
        self.book |= book
        return _rows(book.items())

    def write_pairs(self, pairs: Sequence[tuple[str, str]], options: Mapping[str, str]) -> set[tuple[str, str]]:
        """A commit of rows that are in no book: the answer is what there is of them."""
        self.jvm.commit(table=self.described(options), rows=_rows(pairs), how="upsert")
        return set(pairs)

    def described(self, options: Mapping[str, str]) -> dict[str, Any]:
        return self.table.described({"hoodie.metadata.index.column.stats.enable": "false", **options})

    def build(self) -> tuple[int, dict[str, Any]]:
        conf = [word for item in _ALONE.items() for word in ("--conf", "=".join(item))]
        return run_engine("index", "build", str(self.table.folder), "--type", "record_index", *conf)

    def build_held(self, *options: str) -> Engine:
        """A build beside writers with the lock of the file system, held where its index is in flight."""
        asked = (*RECORD_INDEX, *options)
        return Engine(self.table.folder, _FILE_LOCK | _PATIENT, [HELD_IN_FLIGHT], asked=asked, program=ONE_CLOCK)

    def properties(self) -> dict[str, str]:
        return properties.parse((self.table.folder / ".hoodie/hoodie.properties").read_bytes())

    def require_right(self) -> None:
        require_valid(self.table.folder)
        rows = require_rows(self.jvm, self.table.folder, self.book)
        require_found_by_java(self.jvm, self.table.folder, rows)

    def require_right_by_partition(self, truth: Collection[tuple[str, str]]) -> None:
        require_valid(self.table.folder)
        rows = require_pairs(self.jvm, self.table.folder, truth)
        for partition in {part for _, part in truth}:
            there = [row for row in rows if row["part"] == partition]
            require_found_by_java(self.jvm, self.table.folder, there, partition)


@pytest.fixture
def scene(jvm: Callable[[str], Jvm], tmp_path: Path) -> Callable[[str], Scene]:
    return lambda version: Scene(jvm(version), tmp_path / "table")


@pytest.fixture
def doomed_jvm() -> Iterator[Jvm]:
    """A process of its own, to be killed."""
    with suppress(BrokenPipeError), Jvm("1.2.0") as own:
        yield own


def test_2_the_next_index_that_java_makes_does_not_wipe_ours(scene: Callable[[str], Scene]) -> None:
    here = scene("1.2.0")

    assert here.build()[0] == 0
    here.jvm.create_index(table=here.described(_ON), name="by_seen", column="seen")

    here.require_right()


def test_3_upserts_by_our_index_make_no_duplicates_whatever_java_makes_beside_it(scene: Callable[[str], Scene]) -> None:
    here = scene("1.2.0")

    assert here.build()[0] == 0
    here.write(range(20, 60), _STATISTICS | _BY_RECORD_INDEX)

    here.require_right()


@pytest.mark.parametrize("version", ["1.0.2", "1.1.1"])
def test_2_column_statistics_that_java_makes_right_after_are_whole_and_ours_stays(
    scene: Callable[[str], Scene], version: str
) -> None:
    here = scene(version)

    assert here.build()[0] == 0
    here.write(range(30, 50), _STATISTICS)

    here.require_right()
    assert "column_stats" in here.properties()["hoodie.table.metadata.partitions"]


def test_4_an_index_that_a_writer_without_it_deletes_is_told_with_what_to_set(scene: Callable[[str], Scene]) -> None:
    here = scene("1.2.0")

    assert here.build()[0] == 0
    for commits in (1, _COMMITS - 1):
        for number in range(commits):
            here.write(range(number, number + 1))
        code, status = run_engine("index", "status", str(here.table.folder))

        assert "record_index" not in here.properties()["hoodie.table.metadata.partitions"]
        told = next(kind for kind in status["indexes"] if kind["index"] == "record_index")
        assert (code, told["state"]) == (0, "deleted by a writer"), commits
        assert "hoodie.metadata.auto.delete.partitions=false" in told["reason"]
    assert here.build()[0] == 0
    here.require_right()


def test_5_what_javas_indexer_left_when_it_was_killed_is_undone_and_the_index_built(
    scene: Callable[[str], Scene], doomed_jvm: Jvm
) -> None:
    here = scene("1.2.0")
    holds = doomed_jvm.holds
    holds.put_on("first shard", r"^create .*/metadata/record_index/record-index-")
    indexing = threading.Thread(target=_index_until_killed, args=(doomed_jvm, here))
    indexing.start()
    wait_until(
        lambda: holds.has("first shard") or not indexing.is_alive(),
        what="Java's indexer: its first shard",
        found=lambda: f"its steps: {holds.steps[-20:]}",
    )
    assert "record_index" in here.properties()[IN_FLIGHT], holds.steps[-20:]

    doomed_jvm.kill()
    indexing.join()
    _age(here.table.folder, *_OF_JAVAS_INDEXER)
    code, report = here.build()

    assert code == 0, report
    here.require_right()


def test_6_commits_that_failed_because_the_flags_came_first_do_not_hold_the_build_up(
    scene: Callable[[str], Scene],
) -> None:
    here = scene("1.2.0")
    for numbers in (range(40, 45), range(45, 50)):
        with pytest.raises(JavaError, match="should be part of inflight metadata partitions"):
            here.jvm.commit(
                table=here.described({**_ON, "hoodie.metadata.index.async": "true"}),
                rows=[{"id": f"k{n}", "part": "p0", "seen": n} for n in numbers],
                how="upsert",
            )

    back_date_heartbeats(here.table.folder)  # else the last beats of who failed are signs of somebody who writes
    code, report = here.build()

    assert code == 0, report
    here.require_right()


@pytest.mark.parametrize("version", and_in_soak(["1.2.0"], ["0.15.0", "1.0.2"]))
def test_an_index_of_a_table_with_archived_commits_hides_no_other_and_is_kept(
    scene: Callable[[str], Scene], version: str
) -> None:
    here = scene(version)
    for number in range(12):
        here.write(range(number, number + 3), _ARCHIVING)

    code, report = here.build()
    files = base_files(here.table.folder)
    for number in range(30, 34):
        here.write(range(number, number + 20), _ARCHIVING | _BY_RECORD_INDEX)

    assert code == 0, report
    assert not any("_00000000000000" in name for name in files), "nothing was archived, so nothing could be hidden"
    here.require_right()
    require_not_rebuilt(here.table.folder, files)


def test_a_stream_that_began_in_flight_and_leaves_the_index_out_is_waited_for(scene: Callable[[str], Scene]) -> None:
    here = scene("1.2.0")
    table = here.described(_STREAMS | _FILE_LOCK)
    first = here.jvm.begin_commit(table=table, rows=here.noted(range(50, 55)))
    with here.build_held() as engine:
        assert engine.pauses(HELD_IN_FLIGHT.name)
        later = here.jvm.begin_commit(table=table, rows=here.noted(range(60, 65)))
        engine.go_on(HELD_IN_FLIGHT.name)
        was_waiting = [engine.says("waiting for 2 pending")]
        here.jvm.end_commit(name=first)
        was_waiting.append(engine.says("waiting for 1 pending"))
        here.jvm.end_commit(name=later)
        ended = engine.end()

    assert was_waiting == [True, True], "it was complete while a commit was pending that leaves it out"
    assert ended.code == 0, ended
    here.require_right()


def test_an_index_by_partition_built_beside_a_commit_is_found_and_kept_by_java(scene: Callable[[str], Scene]) -> None:
    here = scene("1.2.0")
    folder, truth = here.table.folder, set(here.book.items())
    # Of a key that is in both partitions each has its own row.
    truth |= here.write_pairs([(f"k{n}", f"p{p}") for n in range(30, 50) for p in (0, 1)], _IN_PARTITION)
    beside = [(f"k{n}", "p1") for n in range(50, 60)]

    name = here.jvm.begin_commit(table=here.described(_STREAMS | _FILE_LOCK), rows=_rows(beside))
    with here.build_held("--partitioned") as engine:
        assert engine.pauses(HELD_IN_FLIGHT.name)
        here.jvm.end_commit(name=name)
        engine.go_on(HELD_IN_FLIGHT.name)
        ended = engine.end()
    truth |= set(beside)

    assert ended.code == 0, ended
    here.require_right_by_partition(truth)
    built = base_files(folder)
    for number in range(_COMMITS):
        # One partition at a time: where a key comes for both, Java puts a new one to the other's row.
        pairs = [(f"k{n}", f"p{number % 2}") for n in range(number * 6, number * 6 + 12)]
        truth |= here.write_pairs(pairs, _BY_PARTITION)
    here.require_right_by_partition(truth)
    require_not_rebuilt(folder, built)


def _rows(pairs: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"id": key, "part": part, "seen": 1} for key, part in pairs]


def _age(table: Path, *patterns: str) -> None:
    """Nothing of these files was written within the lease of a writer.

    They are older by minutes: by an hour they would be of a writer in another zone.
    """
    for pattern in patterns:
        for file in (table / ".hoodie").glob(pattern):
            os.utime(file, (time.time() - _LONGER_THAN_A_LEASE_SECONDS,) * 2)


def _index_until_killed(jvm: Jvm, here: Scene) -> None:
    with suppress(JavaError, BrokenPipeError, ValueError, AssertionError):
        jvm.index_by_java(table=here.described({}))
