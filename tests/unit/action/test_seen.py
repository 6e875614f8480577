"""What a look at a table finds of its indexes, at each step of a build."""

import json

import pytest

from hudi_engine.action.attempts import FOLDER
from hudi_engine.action.base import build_base
from hudi_engine.action.drop import run_drop
from hudi_engine.action.execute import Run, execute_plan
from hudi_engine.action.flags import unflag
from hudi_engine.action.index import Ready, build
from hudi_engine.action.metadata_disable import disable_metadata_table
from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.publish import publish
from hudi_engine.action.schedule import IndexRequest, schedule
from hudi_engine.action.seen import look
from hudi_engine.action.site import Site
from hudi_engine.action.status import KindState, KindStatus, status_of
from hudi_engine.clock import HandClock
from hudi_engine.concurrency.heartbeat import Heartbeats, Lease, by_hand
from hudi_engine.index.kinds import IndexKind
from hudi_engine.storage.memory import MemoryStorage
from tests.golden.in_memory import UNPACKED_AT_MS, golden_in_memory
from tests.unit.action.sites import site_of

WANTED = IndexRequest((IndexKind.RECORD_INDEX,))
NAME = "record_index"
each_version = pytest.mark.parametrize("golden", ["v6_cow_orders", "v8_mor_orders", "v9_mor_orders"])


def statuses(storage: MemoryStorage) -> dict[str, KindStatus]:
    table = site_of(storage).table()
    # The store has stood still since the table was copied, and so have the times of the heartbeats in it.
    heartbeats = Heartbeats(storage, HandClock(UNPACKED_AT_MS), Lease(5_000, 4), by_hand)
    found = [status_of(seen, UNPACKED_AT_MS, table.zone) for seen in look(table, heartbeats)]
    return {status.name: status for status in found}


def scheduled(site: Site) -> IndexPlan:
    plan = schedule(site, WANTED)
    assert isinstance(plan, IndexPlan)
    return plan


@each_version
def test_each_step_of_a_build_is_seen(golden: str) -> None:
    storage = golden_in_memory(golden)
    site = site_of(storage)
    before = statuses(storage)
    plan = scheduled(site)
    asked = statuses(storage)[NAME]
    during: dict[str, KindStatus] = {}

    def publish_and_look(run: Run) -> None:
        during["begun"] = statuses(storage)[NAME]
        publish(run, build_base(run, plan.indexes))
        during["published"] = statuses(storage)[NAME]

    execute_plan(site, plan.requested_at, publish_and_look)
    left = statuses(storage)[NAME]
    outcome = build(site, WANTED)
    done = statuses(storage)[NAME]

    assert NAME not in before
    assert (asked.state, asked.plan, asked.runner) == (KindState.SCHEDULED, plan.requested_at, None)
    for status, phase in ((during["begun"], "base"), (during["published"], "catch-up, 0 of 0 commits")):
        assert (status.state, status.progress.phase) == (KindState.IN_FLIGHT, phase)
        assert status.runner is not None
        assert (status.runner.attempt, status.runner.is_live, status.reason) == (1, True, "")
    assert left.state is KindState.IN_FLIGHT
    assert "nobody runs it now" in left.reason
    assert isinstance(outcome, Ready)
    assert (done.state, done.plan, done.progress.base) == (KindState.COMPLETE, plan.requested_at, outcome.ends[0].upto)
    assert done.runner is None


@each_version
def test_an_index_that_is_dropped_is_absent_and_one_that_a_writer_deletes_is_deleted(golden: str) -> None:
    storage = golden_in_memory(golden)
    site = site_of(storage)
    build(site, WANTED)

    run_drop(site, [NAME])
    dropped = statuses(storage)
    build(site, WANTED)
    unflag(site.table(), [NAME])
    deleted = statuses(storage)

    assert dropped[NAME].state is KindState.ABSENT
    assert deleted[NAME].state is KindState.DELETED


def test_a_note_of_before_that_says_not_what_its_index_is_caught_up_to_tells_of_a_loss_all_the_same() -> None:
    storage = golden_in_memory("v9_mor_orders")
    build(site_of(storage), WANTED)
    note = f"{FOLDER}/built/{NAME}.json"
    told = json.loads(storage.read(note))
    assert told.pop("caught_up_to")
    storage.replace(note, json.dumps(told).encode())

    unflag(site_of(storage).table(), [NAME])

    assert statuses(storage)[NAME].state is KindState.DELETED


def test_a_table_whose_metadata_table_was_disabled_has_nothing_that_was_lost() -> None:
    storage = golden_in_memory("v9_mor_orders")
    build(site_of(storage), WANTED)

    disable_metadata_table(site_of(storage))

    assert {status.state for status in statuses(storage).values()} == {KindState.ABSENT}


def test_a_table_without_a_metadata_table_can_be_looked_at() -> None:
    storage = golden_in_memory("v9_mor_orders")
    disable_metadata_table(site_of(storage))

    assert list(statuses(storage)) == ["files", NAME]


def test_a_build_that_ends_while_it_is_looked_at_is_not_taken_for_one_that_nobody_works_on() -> None:
    site = site_of(golden_in_memory("v9_mor_orders"))
    plan = scheduled(site)
    execute_plan(site, plan.requested_at, lambda run: None)

    class EndedMeanwhile(Heartbeats):
        """Asked for after the timeline was read."""

        def age_ms(self, instant: str) -> int | None:
            build(site, WANTED)
            return Heartbeats.age_ms(self, instant)

    heart = site.heartbeats
    (seen,) = look(site.table(), EndedMeanwhile(heart.storage, heart.clock, heart.lease, heart.pace), (NAME,))

    assert (seen.is_listed, seen.plan, seen.runner) == (True, None, None)


def test_only_what_is_asked_for_is_looked_at() -> None:
    site = site_of(golden_in_memory("v9_mor_indexed"))

    (seen,) = look(site.table(), site.heartbeats, (NAME,))

    assert (seen.name, seen.is_listed, seen.trouble) == (NAME, True, "")
