"""Work by several threads of this process, given up together when one of them fails."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")


def in_threads(threads: int, works: Iterable[Callable[[Event], Result]]) -> Generator[Result]:
    """What each returns, as they finish; all are told to stop when the first one fails or nobody wants more."""
    is_over = Event()
    pool = ThreadPoolExecutor(threads)
    try:
        for done in as_completed([pool.submit(work, is_over) for work in works]):
            yield done.result()
    finally:
        is_over.set()
        pool.shutdown(cancel_futures=True)
