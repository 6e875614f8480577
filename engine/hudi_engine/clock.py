"""Time as an argument: the system's, and one moved by hand."""

import time
from typing import Protocol


class Clock(Protocol):
    """What a caller may ask of time. Nothing below the command line looks at the system's clock itself."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own time."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class HandClock:
    """A time that moves only when told to, or when somebody sleeps: nobody waits."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def sleep(self, seconds: float) -> None:
        self.advance(round(seconds * 1000))

    def advance(self, milliseconds: int) -> None:
        self._now_ms += milliseconds
