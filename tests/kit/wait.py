"""A wait for a claim about another process or thread; `eventually` waits for a value."""

import traceback
from collections.abc import Callable
from typing import Final

from tests.kit.eventually import eventually

_LONGEST_SECONDS: Final = 240.0


def wait_until(
    holds: Callable[[], bool], seconds: float = _LONGEST_SECONDS, *, what: str = "", found: Callable[[], str] = str
) -> None:
    """Returns as soon as it holds. Else the error says `what` was waited for, and what is `found` instead.

    Without `what` the error quotes the line that called.
    """
    eventually(what or _line_of_the_caller(), holds, seconds=seconds, told=found)


def _line_of_the_caller() -> str:
    caller = traceback.extract_stack()[-3]
    return f"`{caller.line}` ({caller.filename}:{caller.lineno})"
