import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

import pytest

from hudi_operator.kube.client import Client
from hudi_operator.kube.lease import Lease, LeaseLost, Terms
from tests.unit.operator.kube.hand_time import HandTime
from tests.unit.operator.kube.objects import NOW, Objects, client_of

PATH = "/apis/coordination.k8s.io/v1/namespaces/ours/leases/hudi-operator"
TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Stage:
    """One API server, one time, and any number of operators."""

    objects: Objects
    time: HandTime
    client: Client

    def lease(self, identity: str) -> Lease:
        return Lease(
            self.client, "ours", identity, lambda: NOW, TERMS, seconds=self.time.seconds, pause=self.time.pause
        )

    @property
    def holder(self) -> object:
        return self.objects.there[PATH]["spec"]["holderIdentity"]


def play(scene: Callable[[Stage], Coroutine[None, None, None]]) -> None:
    async def played() -> None:
        objects = Objects()
        async with client_of(objects) as client:
            await scene(Stage(objects, HandTime(), client))

    asyncio.run(played())


def test_the_first_operator_leads_and_the_second_waits() -> None:
    async def scene(stage: Stage) -> None:
        first, second = stage.lease("first"), stage.lease("second")
        await first.acquire()
        waiting = asyncio.create_task(second.acquire())
        await stage.time.pass_until(TERMS.deadline_seconds - 1, waiting)
        assert (first.is_held(), second.is_held(), stage.holder) == (True, False, "first")
        waiting.cancel()

    play(scene)


def test_a_holder_that_is_silent_for_the_leases_duration_is_replaced_and_not_before() -> None:
    async def scene(stage: Stage) -> None:
        dead, second = stage.lease("dead"), stage.lease("second")
        await dead.acquire()
        waiting = asyncio.create_task(second.acquire())
        await stage.time.pass_until(TERMS.duration_seconds, waiting)
        assert (waiting.done(), stage.holder) == (False, "dead")
        await stage.time.pass_until(TERMS.duration_seconds + TERMS.retry_seconds, waiting)
        assert (waiting.done(), dead.is_held(), stage.holder) == (True, False, "second")
        assert stage.objects.there[PATH]["spec"]["leaseTransitions"] == 1

    play(scene)


def test_a_holder_that_renews_is_not_replaced() -> None:
    async def scene(stage: Stage) -> None:
        first, second = stage.lease("first"), stage.lease("second")
        await first.acquire()
        tasks = asyncio.create_task(first.keep()), asyncio.create_task(second.acquire())
        await stage.time.pass_until(3 * TERMS.duration_seconds, *tasks)
        assert (first.is_held(), stage.holder) == (True, "first")
        for task in tasks:
            task.cancel()

    play(scene)


def test_a_lease_that_was_released_is_taken_at_once() -> None:
    async def scene(stage: Stage) -> None:
        first, second = stage.lease("first"), stage.lease("second")
        await first.acquire()
        await first.release()
        assert not first.is_held()
        await second.acquire()
        assert (stage.time.seconds(), stage.holder) == (0.0, "second")

    play(scene)


def test_a_lease_that_another_took_is_lost_by_the_second_renewal() -> None:
    """The first one meets a conflict and learns of nothing but that."""

    async def scene(stage: Stage) -> None:
        first = stage.lease("first")
        await first.acquire()
        spec = {**stage.objects.there[PATH]["spec"], "holderIdentity": "thief"}
        stage.objects.put(PATH, spec=spec)
        keeping = asyncio.create_task(first.keep())
        await stage.time.pass_until(2 * TERMS.retry_seconds, keeping)
        with pytest.raises(LeaseLost):
            keeping.result()

    play(scene)


def test_a_lease_that_cannot_be_renewed_is_lost_before_another_can_take_it() -> None:
    async def scene(stage: Stage) -> None:
        first = stage.lease("first")
        await first.acquire()
        del stage.objects.there[PATH]
        stage.objects.refusal = (403, "Forbidden")
        keeping = asyncio.create_task(first.keep())
        await stage.time.pass_until(TERMS.duration_seconds - 0.1, keeping)
        with pytest.raises(LeaseLost):
            keeping.result()

    play(scene)
