"""Ctrl-C and SIGTERM: work stops where it is, what surrounds it is undone, and the exit code says which it was."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM: somebody, Kubernetes for one, wants the process to end."""


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM raises `Terminated`, as Ctrl-C raises `KeyboardInterrupt`; a second one finds the undoing under way."""
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        # The handler of `hudi_engine.start` ends the process at once, but what was done is still to be reported.
        signal.signal(signal.SIGTERM, signal.SIG_IGN if callable(before) else before)


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
