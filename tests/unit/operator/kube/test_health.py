import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

import aiohttp

from hudi_operator.kube.handlers import WATCH_SECONDS
from hudi_operator.kube.health import Health, serve_health
from hudi_operator.kube.session import Traffic
from hudi_operator.metrics import Counts
from tests.unit.operator.kube.objects import NOW


@dataclass(slots=True)
class Work:
    seconds: float = 0.0

    def oldest_work_seconds(self) -> float:
        return self.seconds


@dataclass(slots=True)
class Scene:
    health: Health
    work: Work
    traffic: Traffic
    is_leading: bool = True


def play(story: Callable[[Scene, Callable[[str], Coroutine[None, None, int]]], Coroutine[None, None, None]]) -> None:
    async def played() -> None:
        work, traffic = Work(), Traffic(Counts(NOW), lambda: NOW)
        health = Health(traffic, work, is_leading=lambda: scene.is_leading)  # type: ignore[arg-type]  # as far as it is used
        scene = Scene(health, work, traffic)
        async with serve_health(0, health) as port, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:

            async def answer(path: str) -> int:
                async with session.get(path) as response:
                    return response.status

            await story(scene, answer)

    asyncio.run(played())


def silent_for(scene: Scene, seconds: float) -> None:
    scene.traffic.heard["huditables"] = asyncio.get_running_loop().time() - seconds


def test_it_is_ready_once_all_was_listed() -> None:
    async def story(scene: Scene, answer: Callable[[str], Coroutine[None, None, int]]) -> None:
        assert (await answer("/livez"), await answer("/readyz")) == (200, 503)
        scene.health.is_ready = True
        assert (await answer("/livez"), await answer("/readyz")) == (200, 200)

    play(story)


def test_it_is_dead_if_a_watch_is_silent_for_three_times_its_time() -> None:
    async def story(scene: Scene, answer: Callable[[str], Coroutine[None, None, int]]) -> None:
        silent_for(scene, 2.9 * WATCH_SECONDS)
        assert await answer("/livez") == 200
        silent_for(scene, 3.1 * WATCH_SECONDS)
        assert await answer("/livez") == 500

    play(story)


def test_it_is_dead_if_a_worker_is_stuck() -> None:
    async def story(scene: Scene, answer: Callable[[str], Coroutine[None, None, int]]) -> None:
        scene.work.seconds = 301.0
        assert await answer("/livez") == 500

    play(story)


def test_who_waits_for_the_lease_has_no_watches_to_be_silent() -> None:
    async def story(scene: Scene, answer: Callable[[str], Coroutine[None, None, int]]) -> None:
        scene.is_leading = False
        silent_for(scene, 10_000)
        assert await answer("/livez") == 200

    play(story)
