"""How tests wait for what happens in another process or thread."""

import time
import traceback
from collections.abc import Callable
from typing import Final

_POLL_SECONDS: Final = 0.02
_LONGEST_SECONDS: Final = 240.0


def wait_until(
    holds: Callable[[], bool], seconds: float = _LONGEST_SECONDS, *, what: str = "", found: Callable[[], str] = str
) -> None:
    """Returns as soon as it holds. Else the error says `what` was waited for, and what is `found` instead.

    Without `what` the error quotes the line that called.
    """
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() >= end:
            raise AssertionError(f"waited {seconds:g} seconds for {what or _line_of_the_caller()}\n{found()}".rstrip())
        time.sleep(_POLL_SECONDS)


def _line_of_the_caller() -> str:
    caller = traceback.extract_stack()[-3]
    return f"`{caller.line}` ({caller.filename}:{caller.lineno})"
