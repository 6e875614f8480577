"""Who is waited for, who is dead, and who is never taken for dead."""

import pytest

from hudi_engine.action.pending import Vigil, awaited, sentence
from hudi_engine.clock import HandClock
from hudi_engine.concurrency.heartbeat import FOLDER, Heartbeats, Lease, by_hand
from hudi_engine.errors import StorageUnavailable
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.format.service_records import RecordName, encode
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import FileStat
from tests.worlds.world import World, world_of
from tests.worlds.writer import Writer

TIME = "20260101120000000"
LEASE = Lease(60_000, 2)
COMMIT = Instant(InstantTime(TIME), Action.COMMIT, State.INFLIGHT)
CLUSTERING = Instant(InstantTime(TIME), Action.CLUSTERING, State.INFLIGHT)


class Unreachable(MemoryStorage):
    """A store that does not say what lies in its folders."""

    def list(self, folder: str) -> tuple[FileStat, ...]:
        raise StorageUnavailable(f"{folder}: no answer")


def vigil_of(storage: MemoryStorage, clock: HandClock) -> Vigil:
    return Vigil(Heartbeats(storage, clock, LEASE, by_hand))


@pytest.fixture
def clock() -> HandClock:
    return HandClock(10**12)


@pytest.fixture
def storage(clock: HandClock) -> MemoryStorage:
    return MemoryStorage(clock)


def lives(vigil: Vigil, instant: Instant) -> bool:
    return vigil.living([instant]) == (instant,)


def test_whoever_beats_lives(storage: MemoryStorage, clock: HandClock) -> None:
    vigil = vigil_of(storage, clock)
    for _ in range(20):
        storage.replace(f"{FOLDER}/{TIME}", b"")
        clock.advance(LEASE.lasts_ms)
        assert lives(vigil, COMMIT)


def test_a_silent_heart_is_dead_at_the_second_look_and_not_before(storage: MemoryStorage, clock: HandClock) -> None:
    vigil = vigil_of(storage, clock)
    storage.replace(f"{FOLDER}/{TIME}", b"")
    clock.advance(LEASE.lasts_ms + 1)

    assert lives(vigil, COMMIT)
    assert not lives(vigil, COMMIT)


def test_one_that_was_dead_and_beats_again_lives(storage: MemoryStorage, clock: HandClock) -> None:
    vigil = vigil_of(storage, clock)
    storage.replace(f"{FOLDER}/{TIME}", b"")
    clock.advance(LEASE.lasts_ms + 1)
    assert lives(vigil, COMMIT)
    assert not lives(vigil, COMMIT)

    storage.replace(f"{FOLDER}/{TIME}", b"")

    assert lives(vigil, COMMIT)
    clock.advance(LEASE.lasts_ms + 1)
    assert lives(vigil, COMMIT)


def test_no_heartbeat_file_is_no_proof_of_death_before_a_lease_is_over(
    storage: MemoryStorage, clock: HandClock
) -> None:
    """Field failure 20: a writer deletes its heartbeat when it has committed, and we may not have seen that yet."""
    vigil = vigil_of(storage, clock)
    assert lives(vigil, COMMIT)
    assert vigil.is_undecided(COMMIT)
    clock.advance(LEASE.lasts_ms)
    assert lives(vigil, COMMIT)

    clock.advance(1)

    assert not lives(vigil, COMMIT)


def test_an_instant_that_was_gone_meanwhile_is_judged_anew(storage: MemoryStorage, clock: HandClock) -> None:
    vigil = vigil_of(storage, clock)
    vigil.living([COMMIT])
    clock.advance(LEASE.lasts_ms + 1)
    vigil.living([])

    assert lives(vigil, COMMIT)


def test_a_heartbeat_of_the_future_proves_nothing(clock: HandClock) -> None:
    ahead = HandClock(clock.now_ms() + 10 * LEASE.lasts_ms)
    skewed = MemoryStorage(ahead)
    skewed.replace(f"{FOLDER}/{TIME}", b"")
    vigil = vigil_of(skewed, clock)

    assert lives(vigil, COMMIT)
    clock.advance(LEASE.lasts_ms)
    assert lives(vigil, COMMIT)


def test_a_store_that_does_not_answer_proves_nothing_for_a_lease(clock: HandClock) -> None:
    vigil = vigil_of(Unreachable(clock), clock)

    assert lives(vigil, COMMIT)
    clock.advance(LEASE.lasts_ms)
    assert lives(vigil, COMMIT)


def test_clustering_without_a_heartbeat_is_never_taken_for_dead(storage: MemoryStorage, clock: HandClock) -> None:
    vigil = vigil_of(storage, clock)
    for _ in range(5):
        assert lives(vigil, CLUSTERING)
        clock.advance(LEASE.lasts_ms + 1)
    assert not vigil.is_undecided(CLUSTERING)


def test_the_sentence_names_who_is_waited_for(storage: MemoryStorage, clock: HandClock) -> None:
    vigil = vigil_of(storage, clock)
    storage.replace(f"{FOLDER}/{TIME}", b"")
    clock.advance(7_000)

    assert sentence(vigil, [COMMIT]) == f"waiting for 1 pending: {TIME} (commit, inflight, heartbeat 7 s old)"
    assert sentence(vigil, [COMMIT] * 7).endswith(" and 2 more")


@pytest.fixture(params=["v6_cow", "v9_mor"])
def world(request: pytest.FixtureRequest) -> World:
    return world_of(request.param)


def test_a_pending_write_is_waited_for(world: World) -> None:
    write = Writer(world).begin()

    assert [each.requested_at for each in awaited(world.table(), world.table().timeline())] == [write.instant]


def test_a_replacement_is_waited_for_and_a_clustering_only_once_it_runs(world: World) -> None:
    write = Writer(world).begin("replacecommit")
    table = world.table()
    folder = table.config.timeline_folder

    assert [each.requested_at for each in awaited(table, table.timeline())] == [write.instant]

    action = "clustering" if table.config.layout == 2 else "replacecommit"
    plan = _clustering_plan(table.config.version)
    world.storage.create(f"{folder}/20990101000000000.{action}.requested", plan)
    assert [each.requested_at for each in awaited(table, table.timeline())] == [write.instant]
    world.storage.create(f"{folder}/20990101000000000.{action}.inflight", b"")
    found = awaited(table, table.timeline())
    assert [each.requested_at for each in found] == [write.instant, "20990101000000000"]
    assert found[-1].action is Action.CLUSTERING


@pytest.mark.parametrize("name", ["compaction", "logcompaction", "clean", "indexing", "rollback"])
def test_what_moves_no_record_is_not_waited_for(name: str) -> None:
    world = world_of("v9_mor")
    table = world.table()
    world.storage.create(f"{table.config.timeline_folder}/20990101000000000.{name}.requested", b"")
    world.storage.create(f"{table.config.timeline_folder}/20990101000000000.{name}.inflight", b"")

    assert awaited(table, table.timeline()) == ()


def _clustering_plan(version: int) -> bytes:
    return encode(RecordName.REQUESTED_REPLACE, {"operationType": "CLUSTER"}, version)
