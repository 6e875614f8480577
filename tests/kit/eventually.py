"""How tests wait for the state of a resource, of a table or of a process."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

# No test waits this long unless something is wrong: a busy machine takes a tenth of it.
LONGEST_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.05
_LONGEST_WORDS: Final = 4_000

Found = TypeVar("Found")


def eventually(
    what: str,
    look: Callable[[], Found],
    holds: Callable[[Found], object] = bool,
    *,
    seconds: float = LONGEST_SECONDS,
    told: Callable[[], str] = str,
) -> Found:
    """What `look` finds, once that `holds`. Else the error says what was waited for, what was seen last, and `told`."""
    end = time.monotonic() + seconds
    while not holds(found := look()):
        if time.monotonic() >= end:
            seen = f"waited {seconds:g} seconds for {what}\nseen last: {str(found)[:_LONGEST_WORDS]}\n{told()}"
            raise AssertionError(seen.rstrip())
        time.sleep(_POLL_SECONDS)
    return found
