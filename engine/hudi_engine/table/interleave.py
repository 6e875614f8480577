"""Several sources read at once, their items in an order that does not depend on which thread was quicker."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from queue import Full, Queue
from typing import Generic, TypeVar

Item = TypeVar("Item")

# Items that a source may be ahead of the reader: enough to keep it busy, few enough to forget about their memory.
_AHEAD = 4
_LOOK_UP_SECONDS = 0.1


def interleave(sources: Iterable[Callable[[], Iterator[Item]]], workers: int) -> Iterator[Item]:
    """One item of each of `workers` sources in turn; where one ends the next source takes its place.

    A failing source raises here, when its turn comes. Whoever stops reading early stops the threads.
    """
    waiting = iter(sources)
    is_over = threading.Event()
    with ThreadPoolExecutor(workers) as pool:
        try:
            turns = deque(_Feed.of(source, pool, is_over) for source in islice(waiting, workers))
            while turns:
                feed = turns.popleft()
                item = feed.queue.get()
                if item is not None:
                    yield item
                    turns.append(feed)
                    continue
                feed.work.result()
                if (source := next(waiting, None)) is not None:
                    turns.append(_Feed.of(source, pool, is_over))
        finally:
            is_over.set()


@dataclass(frozen=True, slots=True)
class _Feed(Generic[Item]):
    """A source at work: what it has ready, None when there is no more, and how it ended."""

    queue: Queue[Item | None]
    work: Future[None]

    @classmethod
    def of(
        cls, source: Callable[[], Iterator[Item]], pool: ThreadPoolExecutor, is_over: threading.Event
    ) -> "_Feed[Item]":
        queue: Queue[Item | None] = Queue(_AHEAD)
        return cls(queue, pool.submit(_fill, queue, source, is_over))


def _fill(queue: Queue[Item | None], source: Callable[[], Iterator[Item]], is_over: threading.Event) -> None:
    try:
        for item in source():
            if not _put(queue, item, is_over):
                return
    finally:
        _put(queue, None, is_over)


def _put(queue: Queue[Item | None], item: Item | None, is_over: threading.Event) -> bool:
    """Whether the reader still wants it."""
    while not is_over.is_set():
        try:
            queue.put(item, timeout=_LOOK_UP_SECONDS)
        except Full:
            continue
        return True
    return False
