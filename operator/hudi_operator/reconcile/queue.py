"""Work that is due: each resource once, never two of the same table at a time, and none too often."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from hudi_operator.resources.model import Ref

# So often a resource may be worked on within so many seconds; what is more waits.
BURST, BURST_SECONDS = 10, 15.0


@dataclass(slots=True)
class Schedule:
    """Which resources are due when. Pure but for what it holds: the time is told.

    `key_of` says what a resource must have for itself while it is worked on.
    """

    key_of: Callable[[Ref], str]
    _due: dict[Ref, float] = field(default_factory=dict)
    _heap: list[tuple[float, Ref]] = field(default_factory=list)
    _starts: dict[Ref, deque[float]] = field(default_factory=dict)
    _keys: dict[Ref, str] = field(default_factory=dict)
    _parked: dict[str, list[Ref]] = field(default_factory=dict)

    def add(self, ref: Ref, at: float) -> None:
        """Due then, or earlier if it was already."""
        starts = self._starts.get(ref)
        if starts is not None and len(starts) == BURST:
            at = max(at, starts[0] + BURST_SECONDS)
        if at < self._due.get(ref, float("inf")):
            self._due[ref] = at
            heappush(self._heap, (at, ref))

    def take(self, now: float) -> tuple[Ref, float] | None:
        """The resource that is due the longest and may be worked on, and since when it was due."""
        while self._heap and self._heap[0][0] <= now:
            at, ref = heappop(self._heap)
            if self._due.get(ref) != at:
                continue
            # What is worked on keeps the key that it was taken by, though its table may be gone meanwhile.
            key = self._keys.get(ref) or self.key_of(ref)
            if key in self._keys.values():
                self._parked.setdefault(key, []).append(ref)
                continue
            del self._due[ref]
            self._keys[ref] = key
            self._starts.setdefault(ref, deque(maxlen=BURST)).append(now)
            return ref, at
        return None

    def done(self, ref: Ref) -> None:
        key = self._keys.pop(ref)
        for waiting in self._parked.pop(key, ()):
            if waiting in self._due:
                heappush(self._heap, (self._due[waiting], waiting))

    def forget(self, ref: Ref) -> None:
        self._due.pop(ref, None)
        self._starts.pop(ref, None)

    def tidy(self, now: float) -> None:
        """Forgets when that was begun which no longer counts."""
        self._starts = {ref: starts for ref, starts in self._starts.items() if starts[-1] + BURST_SECONDS > now}

    def next_at(self) -> float | None:
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def waiting(self, now: float) -> list[Ref]:
        """Those that are due and not worked on."""
        return [ref for ref, at in self._due.items() if at <= now]


@dataclass(slots=True)
class Queue:
    """The schedule by the event loop's clock, for workers that wait."""

    schedule: Schedule
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, ref: Ref, in_seconds: float = 0.0) -> None:
        self.schedule.add(ref, asyncio.get_running_loop().time() + in_seconds)
        self._news.set()

    async def take(self) -> tuple[Ref, float]:
        """The next resource to work on, and how long it waited since it was due; `done` it afterwards."""
        clock = asyncio.get_running_loop().time
        while True:
            taken = self.schedule.take(clock())
            if taken is not None:
                return taken[0], clock() - taken[1]
            self._news.clear()
            due = self.schedule.next_at()
            with_limit = asyncio.timeout(None if due is None else max(due - clock(), 0.0))
            try:
                async with with_limit:
                    await self._news.wait()
            except TimeoutError:
                continue

    def done(self, ref: Ref) -> None:
        self.schedule.done(ref)
        self._news.set()
