"""Time that passes only once every task of a test waits for it."""

import asyncio
import heapq
from collections.abc import Sequence
from itertools import count


class HandTime:
    """`pause` is what tasks wait by, `seconds` their clock; `pass_until` lets time pass for them."""

    def __init__(self) -> None:
        self._now = 0.0
        self._numbers = count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def seconds(self) -> float:
        return self._now

    async def pause(self, seconds: float) -> None:
        until = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self._now + seconds, next(self._numbers), until))
        await until

    async def pass_until(self, end: float, *tasks: asyncio.Task[None]) -> None:
        """The tasks that have not ended wait for a later moment when this returns."""
        while True:
            await self._all_wait(tasks)
            if not self._waiting or self._waiting[0][0] > end:
                self._now = end
                return
            self._now, _, until = heapq.heappop(self._waiting)
            until.set_result(None)

    async def _all_wait(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        while len(self._waiting) < sum(not task.done() for task in tasks):
            await asyncio.sleep(0.001)
