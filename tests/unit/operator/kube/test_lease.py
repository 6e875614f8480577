import asyncio
from collections.abc import Callable, Coroutine

import pytest

from hudi_operator.kube.lease import Lease, LeaseLost, Terms
from tests.unit.operator.kube.objects import NOW, Objects, client_of

PATH = "/apis/coordination.k8s.io/v1/namespaces/ours/leases/hudi-operator"
QUICK = Terms(duration_seconds=1, deadline_seconds=0.6, retry_seconds=0.05)


def play(scene: Callable[[Objects, Callable[[str], Lease]], Coroutine[None, None, None]]) -> None:
    async def played() -> None:
        objects = Objects()
        async with client_of(objects) as client:
            await scene(objects, lambda identity: Lease(client, "ours", identity, lambda: NOW, QUICK))

    asyncio.run(played())


def holder(objects: Objects) -> object:
    return objects.there[PATH]["spec"]["holderIdentity"]


def test_the_first_one_leads_and_the_second_one_waits() -> None:
    async def scene(objects: Objects, lease: Callable[[str], Lease]) -> None:
        first, second = lease("first"), lease("second")
        await first.acquire()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await second.acquire()
        assert (first.is_held(), second.is_held(), holder(objects)) == (True, False, "first")

    play(scene)


def test_who_is_not_heard_of_for_the_leases_duration_is_replaced() -> None:
    async def scene(objects: Objects, lease: Callable[[str], Lease]) -> None:
        dead, second = lease("dead"), lease("second")
        await dead.acquire()
        began = asyncio.get_running_loop().time()
        await second.acquire()
        waited = asyncio.get_running_loop().time() - began
        assert waited >= QUICK.duration_seconds
        assert (dead.is_held(), holder(objects)) == (False, "second")
        assert objects.there[PATH]["spec"]["leaseTransitions"] == 1

    play(scene)


def test_who_renews_is_not_replaced() -> None:
    async def scene(objects: Objects, lease: Callable[[str], Lease]) -> None:
        first, second = lease("first"), lease("second")
        await first.acquire()
        keeping = asyncio.create_task(first.keep())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.6):
                await second.acquire()
        assert first.is_held()
        keeping.cancel()

    play(scene)


def test_a_lease_that_was_released_is_taken_at_once() -> None:
    async def scene(objects: Objects, lease: Callable[[str], Lease]) -> None:
        first, second = lease("first"), lease("second")
        await first.acquire()
        await first.release()
        assert not first.is_held()
        async with asyncio.timeout(0.5):
            await second.acquire()

    play(scene)


def test_a_lease_that_another_took_is_lost_as_soon_as_that_is_seen() -> None:
    async def scene(objects: Objects, lease: Callable[[str], Lease]) -> None:
        first = lease("first")
        await first.acquire()
        spec = {**objects.there[PATH]["spec"], "holderIdentity": "thief"}
        objects.put(PATH, spec=spec)
        with pytest.raises(LeaseLost):
            async with asyncio.timeout(0.5):
                await first.keep()

    play(scene)


def test_a_lease_that_cannot_be_renewed_is_lost_before_another_can_take_it() -> None:
    async def scene(objects: Objects, lease: Callable[[str], Lease]) -> None:
        first = lease("first")
        await first.acquire()
        del objects.there[PATH]
        objects.refusal = (403, "Forbidden")
        began = asyncio.get_running_loop().time()
        with pytest.raises(LeaseLost):
            await first.keep()
        assert asyncio.get_running_loop().time() - began < QUICK.duration_seconds

    play(scene)
