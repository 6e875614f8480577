import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from hudi_engine.contract import Action, Grant, IndexState, ObserveRequest, TableSeen, TableUnseen, UnseenReason
from hudi_operator.metrics import Counts, families
from hudi_operator.names import FINALIZER
from hudi_operator.policy import Policy, Rules
from hudi_operator.reconcile import HomeError, Loop
from hudi_operator.resources.unreadable import Stored, Unreadable
from hudi_operator.runs import RunPhase, RunSeen
from tests.unit.operator.reconcile.around import INDEX, NOW, ORDERS, RECORDS, TABLE, Scene, seen

UNREADABLE = Unreadable(INDEX.meta, 'spec.indexType: Unsupported value: "Guess"')
RUN = RunSeen("run", RECORDS, "uid-2", "orders", Action.BUILD, "g1.1", 1, RunPhase.RUNNING, NOW)


@dataclass(slots=True)
class Eyes:
    """An observer that sees what it is told to."""

    sight: TableSeen | TableUnseen = field(default_factory=lambda: seen(IndexState.COMPLETE))
    looks: Counter[str] = field(default_factory=Counter)
    grants: set[Grant | None] = field(default_factory=set)

    async def look(self, request: ObserveRequest) -> TableSeen | TableUnseen:
        self.looks[request.table] += 1
        self.grants.add(request.grant)
        return self.sight


@dataclass(frozen=True, slots=True)
class Running:
    scene: Scene
    loop: Loop
    eyes: Eyes

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_so():
                await asyncio.sleep(0.01)


def play(
    story: Callable[[Running], Coroutine[None, None, None]],
    *resources: Stored,
    prepare: Callable[[Scene], object] = lambda scene: None,
    policy: Policy | None = None,
) -> None:
    async def played() -> None:
        scene, eyes = Scene.of(policy=policy), Eyes()
        prepare(scene)
        loop = Loop(scene.reconciler, eyes, Counts(NOW))  # type: ignore[arg-type]  # as far as it is used
        await loop.fill([(resource, {}) for resource in resources])
        working = asyncio.create_task(loop.run())
        try:
            await story(Running(scene, loop, eyes))
            assert not working.done()
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working

    asyncio.run(played())


def test_what_is_there_is_brought_to_where_its_status_says_so() -> None:
    async def story(at: Running) -> None:
        await at.until(lambda: at.scene.around.statuses.get(RECORDS, {}).get("state") == "Ready")
        assert at.eyes.looks["s3://lake/orders"] >= 1

    play(story, TABLE, INDEX)


def test_a_resource_that_comes_later_is_worked_on_and_one_that_goes_is_not() -> None:
    async def story(at: Running) -> None:
        at.loop.put(TABLE, {})
        await at.until(lambda: at.scene.around.statuses.get(ORDERS, {}).get("state") == "Ready")
        at.loop.removed(ORDERS)
        said = len(at.scene.around.said)
        at.loop.table_changed(ORDERS)
        await asyncio.sleep(0.05)
        assert len(at.scene.around.said) == said

    play(story)


@pytest.mark.thorough
def test_an_error_of_the_home_is_counted_and_the_work_goes_on() -> None:
    def break_it(scene: Scene) -> None:
        scene.around.status_fails = HomeError("the API is away")

    async def story(at: Running) -> None:
        counted = at.loop.counts.values
        await at.until(lambda: counted()[families.RECONCILES][("HudiTable", "error")] != 0)
        at.scene.around.status_fails = None
        await at.until(lambda: at.scene.around.statuses.get(RECORDS, {}).get("state") == "Ready")

    play(story, TABLE, INDEX, prepare=break_it)


@pytest.mark.thorough
def test_a_bug_that_one_resource_meets_ends_nothing() -> None:
    def break_it(scene: Scene) -> None:
        scene.around.status_fails = ZeroDivisionError("a bug")

    async def story(at: Running) -> None:
        await at.until(lambda: len(at.scene.around.said) >= 2)
        at.scene.around.status_fails = None
        await at.until(lambda: ORDERS in at.scene.around.statuses)

    play(story, TABLE, INDEX, prepare=break_it)


@pytest.mark.thorough
def test_a_table_is_looked_at_again_once_a_run_on_it_has_ended() -> None:
    def begin(scene: Scene) -> None:
        scene.around.listed = [RUN]

    async def story(at: Running) -> None:
        table = replace(TABLE, observe_interval_seconds=3600)
        at.loop.put(table, {})
        await at.until(lambda: at.eyes.looks["s3://lake/orders"] >= 1)
        at.scene.around.listed = [replace(RUN, phase=RunPhase.ENDED, ended_at=NOW, exit_code=0)]
        await at.until(lambda: not at.scene.store.live_tables())
        looks = at.eyes.looks["s3://lake/orders"]
        await at.until(lambda: at.eyes.looks["s3://lake/orders"] > looks)

    play(story, INDEX, prepare=begin)


def test_runs_of_resources_that_no_longer_exist_are_ended_at_the_start() -> None:
    def begin(scene: Scene) -> None:
        scene.around.listed = [RUN]

    async def story(at: Running) -> None:
        await at.until(lambda: "stop run" in at.scene.around.said)

    play(story, prepare=begin)


def test_a_resource_that_cannot_be_read_keeps_its_run_and_says_what_is_wrong() -> None:
    async def story(at: Running) -> None:
        await at.until(lambda: RECORDS in at.scene.around.statuses)
        assert at.scene.around.statuses[RECORDS]["state"] == "Failed"
        assert at.scene.conditions(RECORDS)["Stalled"] == ("True", "InvalidSpec")
        at.loop.runs_changed()
        await asyncio.sleep(0.05)
        assert "stop run" not in at.scene.around.said
        assert at.scene.around.said.count("status of orders-records") == 1

        at.loop.removed(RECORDS)
        await at.until(lambda: "stop run" in at.scene.around.said)

    def begin(scene: Scene) -> None:
        scene.around.listed = [RUN]

    play(story, TABLE, UNREADABLE, prepare=begin)


def test_a_resource_that_cannot_be_read_can_be_deleted() -> None:
    meta = replace(UNREADABLE.meta, finalizers=(FINALIZER,), deleting_since=NOW)

    async def story(at: Running) -> None:
        await at.until(lambda: "finalizer of orders-records: False" in at.scene.around.said)
        assert any("its finalizer is removed" in event.message for event in at.scene.around.events)
        await asyncio.sleep(0.05)
        assert at.scene.around.said.count("finalizer of orders-records: False") == 1

    play(story, TABLE, replace(UNREADABLE, meta=meta))


def test_a_table_that_can_no_longer_be_seen_is_said_to_be_so() -> None:
    async def story(at: Running) -> None:
        await at.until(lambda: at.scene.around.statuses.get(ORDERS, {}).get("state") == "Ready")
        at.eyes.sight = TableUnseen(UnseenReason.ACCESS_DENIED, "no rights", retry=False, observed_ms=1)
        at.loop.tables.hurry(ORDERS)
        await at.until(lambda: at.scene.conditions(ORDERS)["Reachable"] == ("False", "AccessDenied"))

    play(story, TABLE)


def test_nothing_is_at_work_when_all_is_done() -> None:
    async def story(at: Running) -> None:
        await at.until(lambda: ORDERS in at.scene.around.statuses)
        await at.until(lambda: at.loop.oldest_work_seconds() == 0)

    play(story, TABLE)


@pytest.mark.parametrize("policy", [Policy(is_given=False), Policy({"bank": Rules((Grant("s3://lake"),))})])
def test_a_table_that_the_policy_does_not_open_is_not_looked_at_and_says_so(policy: Policy) -> None:
    async def story(at: Running) -> None:
        await at.until(lambda: ORDERS in at.scene.around.statuses and RECORDS in at.scene.around.statuses)
        await at.until(lambda: at.scene.conditions(ORDERS)["Stalled"] == ("True", "NotAllowed"))
        await at.until(lambda: at.scene.conditions(RECORDS)["Stalled"] == ("True", "TableNotReady"))
        assert at.eyes.looks == Counter()
        assert at.scene.around.ordered == []

    play(story, TABLE, INDEX, policy=policy)


def test_a_look_has_the_grant_that_the_policy_gives_the_tables_namespace() -> None:
    grant = Grant("s3://lake", ("https://minio",))

    async def story(at: Running) -> None:
        await at.until(lambda: at.scene.around.statuses.get(RECORDS, {}).get("state") == "Ready")
        assert at.eyes.grants == {grant}

    play(story, TABLE, INDEX, policy=Policy({"shop": Rules((grant,)), "*": Rules((Grant("*"),))}))
